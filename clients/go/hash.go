package bloomfilter

import "math/bits"

// The multipliers of XXH64.
const (
	xxhPrime1 = 0x9e3779b185ebca87
	xxhPrime2 = 0xc2b2ae3d27d4eb4f
	xxhPrime3 = 0x165667b19e3779f9
	xxhPrime4 = 0x85ebca77c2b2ae63
	xxhPrime5 = 0x27d4eb2f165667c5
)

// hashWord is XXH64 of the 8 bytes of an integer or a float. It is written out
// for this one length, as most keys have it: three times as fast as the general
// function, which hashes all others.
func hashWord(word, seed uint64) uint64 {
	hash := seed + 8 + xxhPrime5
	hash ^= bits.RotateLeft64(word*xxhPrime2, 31) * xxhPrime1
	hash = bits.RotateLeft64(hash, 27)*xxhPrime1 + xxhPrime4
	hash = (hash ^ hash>>33) * xxhPrime2
	hash = (hash ^ hash>>29) * xxhPrime3
	return hash ^ hash>>32
}
