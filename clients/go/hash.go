package bloomfilter

import "math/bits"

// XXH64, from its specification: the same value on every machine. It is here and
// not in a library because it is small, and a reader of files needs nothing else.

// The multipliers of XXH64.
const (
	xxhPrime1 = 0x9e3779b185ebca87
	xxhPrime2 = 0xc2b2ae3d27d4eb4f
	xxhPrime3 = 0x165667b19e3779f9
	xxhPrime4 = 0x85ebca77c2b2ae63
	xxhPrime5 = 0x27d4eb2f165667c5
)

// stripe is how many bytes the four lanes take at a time.
const stripe = 32

// octets is what can be hashed without a copy: the bytes of a key or its text.
type octets interface{ ~[]byte | ~string }

// load64 and load32 read little-endian numbers, in one instruction each where the
// machine can.
func load64[B octets](b B, at int) uint64 {
	return uint64(load32(b, at)) | uint64(load32(b, at+4))<<32
}

func load32[B octets](b B, at int) uint32 {
	c := b[at : at+4]
	return uint32(c[0]) | uint32(c[1])<<8 | uint32(c[2])<<16 | uint32(c[3])<<24
}

// lanes are the four sums that stripes go into.
type lanes [4]uint64

func newLanes(seed uint64) lanes {
	const both = (xxhPrime1 + xxhPrime2) & (1<<64 - 1)
	return lanes{seed + both, seed + xxhPrime2, seed, seed - xxhPrime1}
}

func round(sum, word uint64) uint64 {
	return bits.RotateLeft64(sum+word*xxhPrime2, 31) * xxhPrime1
}

// addStripes takes the whole stripes of b and returns how many bytes those are.
func addStripes[B octets](l *lanes, b B) (at int) {
	v0, v1, v2, v3 := l[0], l[1], l[2], l[3]
	for ; at+stripe <= len(b); at += stripe {
		v0 = round(v0, load64(b, at))
		v1 = round(v1, load64(b, at+8))
		v2 = round(v2, load64(b, at+16))
		v3 = round(v3, load64(b, at+24))
	}
	*l = lanes{v0, v1, v2, v3}
	return at
}

func (l *lanes) merged() uint64 {
	sum := bits.RotateLeft64(l[0], 1) + bits.RotateLeft64(l[1], 7) +
		bits.RotateLeft64(l[2], 12) + bits.RotateLeft64(l[3], 18)
	for _, lane := range l {
		sum = (sum^round(0, lane))*xxhPrime1 + xxhPrime4
	}
	return sum
}

// finish adds the length and what is left of b after the stripes.
func finish[B octets](sum, length uint64, b B, at int) uint64 {
	sum += length
	for ; at+8 <= len(b); at += 8 {
		sum = bits.RotateLeft64(sum^round(0, load64(b, at)), 27)*xxhPrime1 + xxhPrime4
	}
	if at+4 <= len(b) {
		sum = bits.RotateLeft64(sum^uint64(load32(b, at))*xxhPrime1, 23)*xxhPrime2 + xxhPrime3
		at += 4
	}
	for ; at < len(b); at++ {
		sum = bits.RotateLeft64(sum^uint64(b[at])*xxhPrime5, 11) * xxhPrime1
	}
	return avalanche(sum)
}

func avalanche(sum uint64) uint64 {
	sum = (sum ^ sum>>33) * xxhPrime2
	sum = (sum ^ sum>>29) * xxhPrime3
	return sum ^ sum>>32
}

// hashOf is XXH64 of all of b.
func hashOf[B octets](b B, seed uint64) uint64 {
	if len(b) < stripe {
		return finish(seed+xxhPrime5, uint64(len(b)), b, 0)
	}
	l := newLanes(seed)
	at := addStripes(&l, b)
	return finish(l.merged(), uint64(len(b)), b, at)
}

// hashWord is hashOf the 8 bytes of an integer or a float, written out for this one
// length, as most keys have it.
func hashWord(word, seed uint64) uint64 {
	sum := seed + 8 + xxhPrime5
	sum ^= round(0, word)
	sum = bits.RotateLeft64(sum, 27)*xxhPrime1 + xxhPrime4
	return avalanche(sum)
}

// hashOfBoth is hashOf head and body one after the other. The head is at least a
// stripe long, and with the body two.
func hashOfBoth(head, body []byte, seed uint64) uint64 {
	l := newLanes(seed)
	at := addStripes(&l, head)
	var joint [stripe]byte
	held := copy(joint[:], head[at:])
	taken := copy(joint[held:], body)
	addStripes(&l, joint[:])
	rest := body[taken:]
	at = addStripes(&l, rest)
	return finish(l.merged(), uint64(len(head)+len(body)), rest, at)
}
