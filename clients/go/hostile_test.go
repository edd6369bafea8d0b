package bloomfilter

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

func sound() []byte {
	return shape{seed: 77}.build(integers(0, 200)...)
}

// every door through which bytes come in
func refuse(t *testing.T, b []byte) error {
	t.Helper()
	_, err := FromBytes(b)
	if err == nil {
		t.Errorf("%d damaged bytes were accepted", len(b))
	}
	path := tempFile(t, "x.bloom", b)
	for _, options := range [][]Option{nil, {Copy()}} {
		if _, openErr := Open(path, options...); openErr == nil {
			t.Errorf("a file of %d damaged bytes was accepted", len(b))
		}
	}
	return err
}

func TestTruncatedAtEachHeaderByte(t *testing.T) {
	for length := 0; length <= headerBytes+1; length++ {
		refuse(t, sound()[:length])
	}
}

func TestTrailingBytes(t *testing.T) {
	refuse(t, append(sound(), 0))
	refuse(t, append(sound(), make([]byte, 64)...))
}

func TestEachHeaderBitFlipped(t *testing.T) {
	for bit := 0; bit < headerBytes*8; bit++ {
		b := sound()
		b[bit>>3] ^= 1 << (bit & 7)
		if _, err := FromBytes(b); err == nil {
			t.Errorf("flipped header bit %d was accepted", bit)
		}
	}
}

func TestFlippedBits(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	b := sound()
	for i := 0; i < 100000; i++ {
		bit := random.Intn(len(b) * 8)
		b[bit>>3] ^= 1 << (bit & 7)
		if _, err := FromBytes(b); err == nil {
			t.Fatalf("flipped bit %d was accepted", bit)
		}
		b[bit>>3] ^= 1 << (bit & 7)
	}
}

func TestRandomBytes(t *testing.T) {
	random := rand.New(rand.NewSource(2))
	for i := 0; i < 20000; i++ {
		b := sound()[:headerBytes+random.Intn(200)]
		random.Read(b[4:])
		if _, err := FromBytes(b); err == nil {
			t.Fatalf("%x was accepted", b)
		}
	}
}

// A header that promises much must cost nothing before it is compared.
func TestLyingHeaderAllocatesNothing(t *testing.T) {
	b := sound()
	binary.LittleEndian.PutUint32(b[8:], 8388543)
	sealHeader(b)
	path := tempFile(t, "big.bloom", b)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Open(path, Copy())
	checkRule(t, err, "size")
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("%d bytes were allocated", grown)
	}
}

func TestTooLargeFile(t *testing.T) {
	path := tempFile(t, "sparse.bloom", sound()[:headerBytes])
	if err := os.Truncate(path, 17<<30); err != nil {
		t.Skip("no sparse files here")
	}
	_, err := Open(path)
	checkRule(t, err, "size")
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

func TestNoVerifyTrustsOnlyTheBlocks(t *testing.T) {
	b := sound()
	b[len(b)-1] ^= 1
	if _, err := FromBytes(b, NoVerify()); err != nil {
		t.Error(err)
	}
	_, err := FromBytes(b[:len(b)-1], NoVerify())
	checkRule(t, err, "size")
	binary.LittleEndian.PutUint64(b[40:], 1<<40)
	sealHeader(b)
	_, err = FromBytes(b, NoVerify())
	checkRule(t, err, "bits_set")
	binary.LittleEndian.PutUint64(b[40:], 1)
	b[7] = 0
	sealHeader(b)
	_, err = FromBytes(b, NoVerify())
	checkRule(t, err, "empty_key_type")
}

// A file cut short under a mapped filter is an error for the blocks that are
// gone, and the process lives.
func TestCutShortWhileMapped(t *testing.T) {
	path := tempFile(t, "x.bloom", shape{blocks: 1000}.build(integers(0, 1000)...))
	f := mustOpen(t, path)
	if f.mapped == nil {
		t.Skip("files are not mapped here")
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	var fault *FaultError
	if _, err := f.ContainsInt64(1); !errors.As(err, &fault) {
		t.Errorf("error %v", err)
	}
	if err := f.ContainsManyInt64(make([]int64, 100), make([]bool, 100)); !errors.As(err, &fault) {
		t.Errorf("error of a batch %v", err)
	}
}

func TestCopyDoesNotNeedTheFile(t *testing.T) {
	path := tempFile(t, "x.bloom", sound())
	f := mustOpen(t, path, Copy())
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if found, err := f.ContainsInt64(1); !found || err != nil {
		t.Error(found, err)
	}
}

func TestReplacedByRename(t *testing.T) {
	path := tempFile(t, "x.bloom", sound())
	f := mustOpen(t, path)
	next := writeFile(t, path+".next", shape{}.build(integers(5000, 5001)...))
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
	for i := int64(0); i < 200; i++ {
		if found, err := f.ContainsInt64(i); !found || err != nil {
			t.Fatal(i, found, err)
		}
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
	return countLines(string(maps), path)
}

func TestUserPanicsAreNotSwallowed(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a wrong length of found was accepted")
		}
	}()
	_ = mustParse(t, sound()).ContainsManyInt64([]int64{1, 2}, make([]bool, 1))
}

func ExampleKeyTypeError() {
	f, _ := FromBytes(shape{}.build(integers(0, 1)...))
	_, err := f.ContainsString("42")
	fmt.Println(err)
	// Output: bloomfilter holds integer keys, not text
}
