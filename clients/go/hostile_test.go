package bloomfilter

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

func sound() []byte {
	return shape{seed: 77}.build(integers(0, 200)...)
}

// A header that promises much, and a file that is as long, must cost nothing before they are compared.
func TestLyingSizesAllocateNothing(t *testing.T) {
	b := sound()
	sparse := tempFile(t, "sparse.bloom", b)
	if err := os.Truncate(sparse, 17<<30); err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint32(b[8:], 8388543)
	sealHeader(b)
	for _, path := range []string{tempFile(t, "big.bloom", b), sparse} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Open(path, Copy())
		checkRule(t, err, "size")
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
			t.Errorf("%s: %d bytes were allocated", path, grown)
		}
	}
}

func TestNotAFile(t *testing.T) {
	folder := t.TempDir()
	pipe := filepath.Join(folder, "pipe.bloom")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		filepath.Join(folder, "missing"), "", folder + "/a\x00b", pipe, folder, "/dev/null",
	} {
		if _, err := Open(path); err == nil {
			t.Errorf("%q was opened", path)
		}
	}
}

// A file cut short under a mapped filter is an error for the blocks that are
// gone, and the process lives; a copy answers.
func TestCutShortWhileMapped(t *testing.T) {
	path := tempFile(t, "x.bloom", shape{blocks: 1000}.build(integers(0, 1000)...))
	f, copied := mustOpen(t, path), mustOpen(t, path, Copy())
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if !isIn(t, copied, 1) {
		t.Error("the copy has lost a key")
	}
	if f.mapped == nil {
		t.Skip("files are not mapped here")
	}
	var fault *ChangedFileError
	if _, err := f.ContainsInt64(1); !errors.As(err, &fault) {
		t.Errorf("error %v", err)
	}
	if err := f.ContainsManyInt64(make([]int64, 100), make([]bool, 100)); !errors.As(err, &fault) {
		t.Errorf("error of a batch %v", err)
	}
}

// Filters that nobody can reach give their address space back.
func TestMappingsAreReleased(t *testing.T) {
	path := tempFile(t, "released.bloom", sound())
	for i := 0; i < 50; i++ {
		mustOpen(t, path)
	}
	for i := 0; i < 100 && countMappings(t, path) > 1; i++ {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
	}
	if left := countMappings(t, path); left > 1 {
		t.Errorf("%d mappings are left", left)
	}
}

func countMappings(t *testing.T, path string) int {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skip("no /proc here")
	}
	return strings.Count(string(maps), path)
}

func TestUserPanicsAreNotSwallowed(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a wrong length of found was accepted")
		}
	}()
	_ = mustParse(t, sound()).ContainsManyInt64([]int64{1, 2}, make([]bool, 1))
}
