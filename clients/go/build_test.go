package bloomfilter

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// shape is what a test filter is made of; zero fields take ordinary values.
type shape struct {
	keyType     KeyType
	probes      uint8
	log2Block   uint8
	blocks      uint32
	part, parts uint16
	seed        uint64
	capacity    uint64
}

func (s shape) filled() shape {
	if s.probes == 0 {
		s.probes = 7
	}
	if s.log2Block == 0 {
		s.log2Block = 9
	}
	if s.blocks == 0 {
		s.blocks = 20
	}
	if s.parts == 0 {
		s.parts = 1
	}
	if s.capacity == 0 {
		s.capacity = 1000
	}
	return s
}

// build makes a filter's bytes of the keys that belong to its part.
func (s shape) build(keys ...Key) []byte {
	s = s.filled()
	b := make([]byte, headerBytes+int(s.blocks)<<(s.log2Block-3))
	copy(b, "BLMF\x01")
	b[5], b[6], b[48] = s.probes, s.log2Block, 1
	if len(keys) > 0 && s.keyType == None {
		s.keyType = keys[0].Type()
	}
	b[7] = byte(s.keyType)
	b[49], b[50], b[51] = byte(s.keyType>>8), byte(s.keyType>>16), byte(s.keyType>>24)
	binary.LittleEndian.PutUint32(b[8:], s.blocks)
	binary.LittleEndian.PutUint16(b[12:], s.part)
	binary.LittleEndian.PutUint16(b[14:], s.parts)
	binary.LittleEndian.PutUint64(b[16:], s.seed)
	binary.LittleEndian.PutUint64(b[24:], s.capacity)
	binary.LittleEndian.PutUint64(b[32:], math.Float64bits(0.01))
	for i := range keys {
		s.add(b, keys[i].hash(s.seed))
	}
	seal(b, b[headerBytes:])
	return b
}

func (s shape) add(b []byte, hash uint64) {
	if partOf(hash, uint64(s.parts)) != uint64(s.part) {
		return
	}
	p := newPart(&header{log2Block: s.log2Block, blocks: s.blocks}, b[headerBytes:])
	block := p.block(hash)
	for probe, n := hash, s.probes; n > 0; n-- {
		probe *= probeMultiplier
		bit := probe >> (64 - s.log2Block)
		block[bit>>3] |= 1 << (bit & 7)
	}
}

func sealHeader(b []byte) {
	binary.LittleEndian.PutUint32(b[headerChecksumAt:], headerChecksum(b))
}

func integers(from, to int64) (keys []Key) {
	for i := from; i < to; i++ {
		keys = append(keys, IntegerKey(i))
	}
	return keys
}

func writeFile(t testing.TB, path string, content []byte) string {
	t.Helper()
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func tempFile(t testing.TB, name string, content []byte) string {
	t.Helper()
	return writeFile(t, filepath.Join(t.TempDir(), name), content)
}

func mustOpen(t testing.TB, path string, options ...Option) *Filter {
	t.Helper()
	f, err := Open(path, options...)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func mustParse(t testing.TB, b []byte) *Filter {
	t.Helper()
	f, err := FromBytes(b)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func mustWatch(t testing.TB, path string, options ...Option) *WatchedFilter {
	t.Helper()
	w, err := OpenWatched(path, options...)
	if err != nil {
		t.Fatal(err)
	}
	return w
}
