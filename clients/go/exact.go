package bloomfilter

import (
	"encoding/binary"
	"fmt"
)

// Exact filters, format version 2: right for every key of the universe that they were built
// of. doc/FORMAT.md describes the three levels.

const (
	// exactBytes is what stands before the blocks: a header of level 1, and a directory.
	exactBytes = 128

	directoryChecksumAt = 120
)

// level is one of the upper two of an exact filter.
type level struct {
	probes, log2Block uint8
	blocks            uint32
	bitsSet           uint64
}

func (l *level) bytes() uint64 { return uint64(l.blocks) << (l.log2Block - 3) }

// directory is what an exact filter's header has besides level 1.
type directory struct {
	salt   uint8
	others uint64
	upper  [2]level
}

// readDirectory checks it in the format's order; b has the first 128 bytes, or all if there
// are fewer.
func readDirectory(b []byte, length uint64, first uint64) (*directory, error) {
	if len(b) < exactBytes ||
		binary.LittleEndian.Uint64(b[directoryChecksumAt:]) != hashOfBoth(b[:checksumAt], b[headerBytes:directoryChecksumAt], 0) {
		return nil, invalid("directory", "directory of levels is damaged")
	}
	if b[65] != 3 || !allZero(b[66:72]) {
		return nil, invalid("levels", "directory is not that of three levels")
	}
	d := &directory{salt: b[64], others: binary.LittleEndian.Uint64(b[72:])}
	size := uint64(exactBytes) + first
	for i := range d.upper {
		l := &d.upper[i]
		if err := l.read(b[80+20*i:][:20]); err != nil {
			return nil, err
		}
		size += l.bytes()
	}
	if size != length || length > maxBytes {
		return nil, invalid("size", "length does not match the number of blocks")
	}
	return d, nil
}

func (l *level) read(b []byte) error {
	l.probes, l.log2Block = b[0], b[1]
	l.blocks = binary.LittleEndian.Uint32(b[4:])
	l.bitsSet = binary.LittleEndian.Uint64(b[12:])
	switch {
	case b[2] != 0 || b[3] != 0:
		return invalid("levels", "directory is not that of three levels")
	case l.probes < 1 || l.probes > maxProbes:
		return invalid("probes", "number of probes is not between 1 and 32")
	case l.log2Block < minLog2Block || l.log2Block > maxLog2Block:
		return invalid("block_bits", "block size is not between 2^9 and 2^16 bits")
	case l.blocks < 1:
		return invalid("blocks", "number of blocks is zero")
	case l.bitsSet > l.bytes()*8:
		return invalid("bits_set", "number of set bits does not match the blocks")
	}
	return nil
}

// upperLevels are those of an exact filter that is open.
type upperLevels struct {
	salt  uint64
	parts [2]*part
}

// newUpper takes the blocks behind those of level 1.
func newUpper(d *directory, blocks []byte) *upperLevels {
	u := &upperLevels{salt: uint64(d.salt)}
	for i := range d.upper {
		l := &d.upper[i]
		u.parts[i] = newPart(&header{log2Block: l.log2Block, blocks: l.blocks, probes: l.probes}, blocks[:l.bytes()])
		blocks = blocks[l.bytes():]
	}
	return u
}

// hash is a key's hash for level 2 or 3, which is i 0 or 1.
func (u *upperLevels) hash(i int, hash uint64) uint64 {
	hash += (uint64(i+1) + 64*u.salt*uint64(i)) * probeMultiplier
	hash = (hash ^ hash>>30) * 0xbf58476d1ce4e5b9
	hash = (hash ^ hash>>27) * 0x94d049bb133111eb
	return hash ^ hash>>31
}

// confirms is the answer for a key that level 1 lets in.
func (u *upperLevels) confirms(hash uint64) bool {
	return !u.parts[0].levelContains(u.hash(0, hash)) || u.parts[1].levelContains(u.hash(1, hash))
}

// countUpper compares the bits that are set with what the directory says.
func (d *directory) countUpper(blocks []byte) error {
	for i := range d.upper {
		l := &d.upper[i]
		if countBits(blocks[:l.bytes()]) != l.bitsSet {
			return invalid("bits_set", fmt.Sprintf("number of set bits does not match the blocks of level %d", i+2))
		}
		blocks = blocks[l.bytes():]
	}
	return nil
}
