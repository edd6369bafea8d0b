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
	blocks := b[h.front():]
	if h.bitsSet > h.blocksBytes()*8 || thorough && countBits(blocks[:h.blocksBytes()]) != h.bitsSet {
		return nil, invalid("bits_set", "number of set bits does not match the blocks")
	}
	if d := h.directory; d != nil {
		if err := d.countUpper(blocks[h.blocksBytes():]); thorough && err != nil {
			return nil, err
		}
		if h.keyType == None && d.upper[0].bitsSet+d.upper[1].bitsSet != 0 {
			return nil, invalid("empty_key_type", "bits are set but there is no key type")
		}
	}
	if h.keyType == None && h.bitsSet != 0 {
		return nil, invalid("empty_key_type", "bits are set but there is no key type")
	}
	if thorough && checksum(b) != h.checksum {
		return nil, invalid("checksum", "checksum does not match")
	}
	return newPart(h, blocks), nil
}

// countBits needs a length that is a multiple of 8, as that of blocks is.
func countBits(blocks []byte) (sum uint64) {
	for ; len(blocks) >= 8; blocks = blocks[8:] {
		sum += uint64(bits.OnesCount64(binary.LittleEndian.Uint64(blocks)))
	}
	return sum
}

// checksum covers everything but its own 8 bytes.
func checksum(b []byte) uint64 {
	return hashOfBoth(b[:checksumAt], b[headerBytes:], 0)
}
