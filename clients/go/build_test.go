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
	blocks    uint32
	log2Block uint8
	seed      uint64
}

// build makes a filter's bytes of keys of one type.
func (s shape) build(keys ...Key) []byte {
	if s.blocks == 0 {
		s.blocks = 20
	}
	if s.log2Block == 0 {
		s.log2Block = 9
	}
	const probes = 7
	b := make([]byte, headerBytes+int(s.blocks)<<(s.log2Block-3))
	copy(b, "BLMF\x01")
	b[5], b[6], b[48] = probes, s.log2Block, 1
	b[7] = byte(keys[0].Type())
	binary.LittleEndian.PutUint32(b[8:], s.blocks)
	b[14] = 1
	binary.LittleEndian.PutUint64(b[16:], s.seed)
	binary.LittleEndian.PutUint64(b[24:], 1000)
	binary.LittleEndian.PutUint64(b[32:], math.Float64bits(0.01))
	p := newPart(&header{log2Block: s.log2Block, blocks: s.blocks}, b[headerBytes:])
	for i := range keys {
		probe := keys[i].hash(s.seed)
		block := p.block(probe)
		for n := 0; n < probes; n++ {
			probe *= probeMultiplier
			bit := probe >> (64 - s.log2Block)
			block[bit>>3] |= 1 << (bit & 7)
		}
	}
	seal(b, b[headerBytes:])
	return b
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
