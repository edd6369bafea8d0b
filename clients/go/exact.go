package bloomfilter

import "encoding/binary"

// Exact filters, format version 2: right for every key of the universe that they were built
// of. doc/FORMAT.md describes the three levels.

const (
	// exactBytes is what stands before the blocks: a header of level 1, and a directory.
	exactBytes = 128

	directoryChecksumAt = 120
)

// readDirectory reads levels 2 and 3, and checks them in the format's order; b has the first
// 128 bytes, or all if there are fewer.
func (h *header) readDirectory(b []byte) error {
	if len(b) < exactBytes ||
		binary.LittleEndian.Uint64(b[directoryChecksumAt:]) != hashOfBoth(b[:checksumAt], b[headerBytes:directoryChecksumAt], 0) {
		return invalid("directory", "directory of levels is damaged")
	}
	if b[65] != 3 || !allZero(b[66:72]) {
		return invalid("levels", "directory is not that of three levels")
	}
	h.salt, h.others = b[64], binary.LittleEndian.Uint64(b[72:])
	for _, at := range []int{80, 100} {
		level, err := readLevel(b[at:][:20])
		if err != nil {
			return err
		}
		h.upper = append(h.upper, level)
	}
	return nil
}

// readLevel reads what a header has, but of the key type.
func readLevel(b []byte) (*header, error) {
	l := &header{
		probes:    b[0],
		log2Block: b[1],
		blocks:    binary.LittleEndian.Uint32(b[4:]),
		bitsSet:   binary.LittleEndian.Uint64(b[12:]),
	}
	if b[2] != 0 || b[3] != 0 {
		return nil, invalid("levels", "directory is not that of three levels")
	}
	err := l.checkGeometry()
	if err == nil && l.bitsSet > l.blocksBytes()*8 {
		err = invalid("bits_set", "number of set bits does not match the blocks")
	}
	return l, err
}

// levelHash is a key's hash for level 2 or 3, which is i 0 or 1.
func (p *part) levelHash(i int, hash uint64) uint64 {
	hash += (uint64(i+1) + 64*uint64(p.header.salt)*uint64(i)) * probeMultiplier
	hash = (hash ^ hash>>30) * 0xbf58476d1ce4e5b9
	hash = (hash ^ hash>>27) * 0x94d049bb133111eb
	return hash ^ hash>>31
}

// confirms is the answer for a key that level 1 lets in.
func (p *part) confirms(hash uint64) bool {
	return !p.upper[0].levelContains(p.levelHash(0, hash)) || p.upper[1].levelContains(p.levelHash(1, hash))
}
