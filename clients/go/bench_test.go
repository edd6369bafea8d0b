package bloomfilter

import (
	"encoding/binary"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
)

// The benchmarks' filter has the size of 100 million keys at 1 %: 124 MB.
// BENCH_KEYS changes the number of keys, of the filter and of the map beside it.
const (
	benchKeys       = 100000000
	benchKeysPerMiB = 845625
)

var bench struct {
	once    sync.Once
	folder  string
	mapped  *Filter
	memory  *Filter
	set     map[int64]struct{}
	texts   *Filter
	members []int64
	others  []int64
}

func TestMain(m *testing.M) {
	status := m.Run()
	os.RemoveAll(bench.folder)
	os.Exit(status)
}

func benchCount() int64 {
	if count, err := strconv.ParseInt(os.Getenv("BENCH_KEYS"), 10, 64); err == nil && count > 0 {
		return count
	}
	return benchKeys
}

// prepare builds the filter once for all benchmarks.
func prepare(b *testing.B) {
	b.Helper()
	bench.once.Do(func() {
		count := benchCount()
		raw := buildLarge(count)
		bench.folder, _ = os.MkdirTemp("", "bloomfilter-bench")
		path := writeFile(b, filepath.Join(bench.folder, "bench.bloom"), raw)
		bench.mapped = mustOpen(b, path)
		bench.memory = mustOpen(b, path, Copy())
		raw[7] = byte(Text)
		sealPart(raw)
		bench.texts = mustParse(b, raw)
		random := rand.New(rand.NewSource(3))
		for i := 0; i < 1<<20; i++ {
			bench.members = append(bench.members, random.Int63n(count))
			bench.others = append(bench.others, count+random.Int63n(1<<40))
		}
	})
	b.ResetTimer()
}

func buildLarge(count int64) []byte {
	s := shape{probes: 6, keyType: Integer, capacity: uint64(count),
		blocks: uint32((count*1024*1024/benchKeysPerMiB + 63) / 64)}
	raw := s.build()
	s = s.filled()
	for i := int64(0); i < count; i++ {
		s.add(raw, hashWord(uint64(i), 0))
	}
	sealPart(raw)
	return raw
}

func eachKind(b *testing.B, run func(b *testing.B, keys []int64)) {
	prepare(b)
	b.Run("members", func(b *testing.B) { run(b, bench.members) })
	b.Run("others", func(b *testing.B) { run(b, bench.others) })
}

func BenchmarkInt64Mapped(b *testing.B) {
	eachKind(b, func(b *testing.B, keys []int64) { askSingly(b, bench.mapped, keys) })
}

func BenchmarkInt64Copy(b *testing.B) {
	eachKind(b, func(b *testing.B, keys []int64) { askSingly(b, bench.memory, keys) })
}

func askSingly(b *testing.B, f *Filter, keys []int64) {
	for i := 0; i < b.N; i++ {
		if _, err := f.ContainsInt64(keys[i&(len(keys)-1)]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkInt64Batch(b *testing.B) {
	eachKind(b, func(b *testing.B, keys []int64) {
		const size = 1024
		found := make([]bool, size)
		for i := 0; i < b.N; i += size {
			from := i & (len(keys) - 1)
			if err := bench.mapped.ContainsManyInt64(keys[from:from+size], found); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkStrings(b *testing.B) {
	prepare(b)
	keys := make([]string, 1<<16)
	for i := range keys {
		keys[i] = fmt.Sprintf("user-%d@example.com", i)
	}
	b.Run("single", func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			if _, err := bench.texts.ContainsString(keys[i&(len(keys)-1)]); err != nil {
				b.Fatal(err)
			}
		}
	})
}

var sink int

// The set that Go programs would use instead, with the same keys.
func BenchmarkMap(b *testing.B) {
	prepare(b)
	if bench.set == nil {
		bench.set = make(map[int64]struct{}, benchCount())
		for i := int64(0); i < benchCount(); i++ {
			bench.set[i] = struct{}{}
		}
	}
	eachKind(b, func(b *testing.B, keys []int64) {
		for i := 0; i < b.N; i++ {
			if _, ok := bench.set[keys[i&(len(keys)-1)]]; ok {
				sink++
			}
		}
	})
}

// Opening with and without the pass over all blocks.
func BenchmarkOpen(b *testing.B) {
	prepare(b)
	path := filepath.Join(bench.folder, "bench.bloom")
	for name, options := range map[string][]Option{
		"checked": nil, "trusted": {NoVerify()}, "checked in memory": {Copy()},
	} {
		b.Run(name, func(b *testing.B) {
			size := binary.Size(bench.mapped.parts[0].blocks)
			b.SetBytes(int64(size))
			for i := 0; i < b.N; i++ {
				mustOpen(b, path, options...)
			}
		})
	}
}
