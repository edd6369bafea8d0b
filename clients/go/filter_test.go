package bloomfilter

import (
	"encoding/hex"
	"errors"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// What Go alone has: its memory, goroutines and log. The rest is asked by test/readers.

// vector is a filter of filters.tsv.
func vector(t testing.TB, name string) []byte {
	t.Helper()
	rows, err := os.ReadFile("../../test/vectors/filters.tsv")
	if err != nil {
		t.Fatal(err)
	}
	_, row, _ := strings.Cut(string(rows), "\n"+name+"\t")
	b, err := hex.DecodeString(strings.Split(row, "\t")[14])
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func filterOf(t testing.TB, name string) *Filter {
	t.Helper()
	f, err := FromBytes(vector(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func replace(t testing.TB, path string, b []byte) string {
	t.Helper()
	err := os.WriteFile(path+".next", b, 0o644)
	if err == nil {
		err = os.Rename(path+".next", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Two filters take turns: nobody may see a wrong answer, nor an error.
func TestReloadUnderReaders(t *testing.T) {
	builds := [][]byte{vector(t, "integer"), vector(t, "empty")}
	path := replace(t, filepath.Join(t.TempDir(), "f"), builds[0])
	if _, err := OpenWatched(path, Identity("")); err == nil {
		t.Error("no identity is taken for any")
	}
	watched, err := OpenWatched(path)
	if err != nil {
		t.Fatal(err)
	}
	var stop atomic.Bool
	var asked, wrong atomic.Int64
	var readers sync.WaitGroup
	for i := 0; i < 4; i++ {
		readers.Add(1)
		go func() {
			defer readers.Done()
			for !stop.Load() {
				f, found := watched.Current(), make([]bool, 2)
				one, err := f.ContainsInt64(42)
				if f.ContainsManyInt64([]int64{42, -1}, found) != nil || err != nil || one != found[0] || one != found[1] || one == (f.keyType == None) {
					wrong.Add(1)
				}
				asked.Add(1)
			}
		}()
	}
	for i := 1; i <= 100; i++ {
		replace(t, path, builds[i%2])
		if _, err := watched.Reload(); err != nil {
			t.Error(err)
		}
	}
	stop.Store(true)
	readers.Wait()
	if wrong.Load() != 0 || asked.Load() == 0 {
		t.Errorf("%d wrong answers of %d", wrong.Load(), asked.Load())
	}
}

func TestLastingErrorIsLoggedAgain(t *testing.T) {
	var logged strings.Builder
	log.SetOutput(&logged)
	defer log.SetOutput(os.Stderr)
	before := logAgain
	defer func() { logAgain = before }()
	watched := &WatchedFilter{config: configOf(nil)}
	report := func(err error) { watched.report(false, err) }
	for i := 0; i < 3; i++ {
		report(os.ErrNotExist)
	}
	logAgain = 0
	report(os.ErrClosed)
	report(os.ErrClosed)
	report(os.ErrClosed)
	if strings.Count(logged.String(), "stays") != 4 {
		t.Error(logged.String())
	}
}

// Filters that nobody can reach give their address space back.
func TestMappingsAreReleased(t *testing.T) {
	path := replace(t, filepath.Join(t.TempDir(), "released"), vector(t, "integer"))
	for i := 0; i < 50; i++ {
		if _, err := Open(path); err != nil {
			t.Fatal(err)
		}
	}
	left := func() int {
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Skip("no /proc here")
		}
		return strings.Count(string(maps), path)
	}
	for i := 0; i < 100 && left() > 1; i++ {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
	}
	if count := left(); count > 1 {
		t.Errorf("%d mappings are left", count)
	}
}

// A file cut short under a mapped filter is an error, and the process lives; a copy answers.
func TestCutShortWhileMapped(t *testing.T) {
	path := replace(t, filepath.Join(t.TempDir(), "f"), vector(t, "integer"))
	f, err := Open(path)
	copied, copyErr := Open(path, Copy())
	if err == nil && copyErr == nil {
		err = os.Truncate(path, 0)
	}
	if err != nil || copyErr != nil {
		t.Fatal(err, copyErr)
	}
	if found, err := copied.ContainsInt64(42); !found || err != nil {
		t.Errorf("the copy has lost a key: %v", err)
	}
	if f.mapped == nil {
		t.Skip("files are not mapped here")
	}
	var fault *ChangedFileError
	if _, err := f.ContainsInt64(42); !errors.As(err, &fault) {
		t.Errorf("error %v", err)
	}
	if err := f.ContainsManyInt64(make([]int64, 100), make([]bool, 100)); !errors.As(err, &fault) {
		t.Errorf("error of a batch %v", err)
	}
}

func TestNoAllocations(t *testing.T) {
	f, text, numeric := filterOf(t, "integer"), filterOf(t, "text"), filterOf(t, "numeric")
	keys, texts, found := make([]int64, 1000), make([]string, 1000), make([]bool, 1000)
	for name, ask := range map[string]func(){
		"integer":       func() { f.ContainsInt64(5) },
		"integer batch": func() { f.ContainsManyInt64(keys, found) },
		"text":          func() { text.ContainsString("some text") },
		"text batch":    func() { text.ContainsManyString(texts, found) },
		"numeric":       func() { key, _ := NumericKey("-17.50"); numeric.Contains(key) },
	} {
		if count := testing.AllocsPerRun(100, ask); count != 0 {
			t.Errorf("%s: %v allocations", name, count)
		}
	}
}

func TestUserPanicsAreNotSwallowed(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a wrong length of found was accepted")
		}
	}()
	_ = filterOf(t, "integer").ContainsManyInt64([]int64{1, 2}, make([]bool, 1))
}
