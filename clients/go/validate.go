package bloomfilter

import (
	"encoding/binary"
	"math/bits"
)

// parse returns a valid filter over b, which it does not copy, or the first
// broken rule. Without thorough it trusts what is stored about the blocks: the
// number of bits set and the checksum.
func parse(b []byte, thorough bool) (*part, error) {
	h, err := readHeader(b, uint64(len(b)))
	if err != nil {
		return nil, err
	}
	var set uint64
	rest := b[h.front():]
	for _, level := range append([]*header{h}, h.upper...) {
		blocks := rest[:level.blocksBytes()]
		if level.bitsSet > uint64(len(blocks))*8 || thorough && countBits(blocks) != level.bitsSet {
			return nil, invalid("bits_set", "number of set bits does not match the blocks")
		}
		set += level.bitsSet
		rest = rest[len(blocks):]
	}
	if h.keyType == None && set != 0 {
		return nil, invalid("empty_key_type", "bits are set but there is no key type")
	}
	if thorough && hashOfBoth(b[:checksumAt], b[headerBytes:], 0) != h.checksum {
		return nil, invalid("checksum", "checksum does not match")
	}
	return newPart(h, b[h.front():]), nil
}

// countBits needs a length that is a multiple of 8, as that of blocks is.
func countBits(blocks []byte) (sum uint64) {
	for ; len(blocks) >= 8; blocks = blocks[8:] {
		sum += uint64(bits.OnesCount64(binary.LittleEndian.Uint64(blocks)))
	}
	return sum
}
