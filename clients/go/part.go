package bloomfilter

import (
	"encoding/binary"
	"math"
	"math/bits"
)

const (
	probeMultiplier = 0x9e3779b97f4a7c15
	partMultiplier  = 0xd6e8feb86659fd93

	// log2Line is of the bits of the smallest block, a cache line.
	log2Line = 9
)

// part is one filter, with the numbers that a look-up needs side by side.
type part struct {
	blocks     []byte
	count      uint64 // blocks
	blockShift uint8  // log2 of a block's bytes
	bitShift   uint8  // from a probe to its bit
	probes     uint8
	header     *header
	upper      []*part // levels 2 and 3 of an exact filter, or nil
}

// newPart takes the bytes behind the header, and behind an exact filter's directory.
func newPart(h *header, blocks []byte) *part {
	p := &part{
		blocks:     blocks[:h.blocksBytes()],
		count:      uint64(h.blocks),
		blockShift: h.log2Block - 3,
		bitShift:   64 - h.log2Block,
		probes:     h.probes,
		header:     h,
	}
	rest := blocks[h.blocksBytes():]
	for _, level := range h.upper {
		p.upper = append(p.upper, newPart(level, rest))
		rest = rest[level.blocksBytes():]
	}
	return p
}

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

// partOf returns the part of a hash in a set of so many.
func partOf(hash uint64, parts uint64) uint64 {
	hash ^= hash >> 32
	hash *= partMultiplier
	hash ^= hash >> 32
	number, _ := bits.Mul64(hash, parts)
	return number
}

// block returns the only block that the bits of a hash can be in.
func (p *part) block(hash uint64) []byte {
	number, _ := bits.Mul64(hash, p.count)
	shift := p.blockShift & 63
	return p.blocks[number<<shift:][:1<<shift]
}

// contains asks the upper levels of an exact filter only for keys that level 1 lets in.
func (p *part) contains(hash uint64) bool {
	return p.levelContains(hash) && (p.upper == nil || p.confirms(hash))
}

func (p *part) levelContains(hash uint64) bool {
	if p.bitShift == 64-log2Line {
		return p.lineContains(hash)
	}
	block := p.block(hash)
	for probe, n := hash, p.probes; n > 0; n-- {
		probe *= probeMultiplier
		bit := probe >> (p.bitShift & 63)
		if block[bit>>3]&(1<<(bit&7)) == 0 {
			return false
		}
	}
	return true
}

// lineContains is levelContains for blocks of one cache line, as most filters have: two
// probes a branch, and no index that the compiler could not see to be in range.
func (p *part) lineContains(hash uint64) bool {
	number, _ := bits.Mul64(hash, p.count)
	line := (*[1 << (log2Line - 3)]byte)(p.blocks[number<<(log2Line-3):])
	probe, n := hash, p.probes
	for ; n >= 2; n -= 2 {
		one := probe * probeMultiplier
		probe *= probeMultiplier * probeMultiplier & math.MaxUint64
		if line[one>>58]>>(one>>55&7)&(line[probe>>58]>>(probe>>55&7))&1 == 0 {
			return false
		}
	}
	if n == 0 {
		return true
	}
	probe *= probeMultiplier
	return line[probe>>58]>>(probe>>55&7)&1 != 0
}

// firstByte returns the byte that contains looks at first.
func (p *part) firstByte(hash uint64) byte {
	number, _ := bits.Mul64(hash, p.count)
	bit := hash * probeMultiplier >> (p.bitShift & 63)
	return p.blocks[number<<(p.blockShift&63)+bit>>3]
}
