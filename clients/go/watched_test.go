package bloomfilter

import (
	"log"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func replace(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.Rename(writeFile(t, path+".next", b), path); err != nil {
		t.Fatal(err)
	}
}

// Two builds share the keys below 100. While they take turns, nobody may see a
// wrong "no" for them, nor an error.
func TestReloadUnderReaders(t *testing.T) {
	builds := [][]byte{
		shape{blocks: 40}.build(integers(0, 300)...),
		shape{blocks: 9, seed: 8, log2Block: 10}.build(integers(0, 100)...),
	}
	path := tempFile(t, "watched.bloom", builds[0])
	watched := mustWatch(t, path)
	var stop atomic.Bool
	var asked, wrong atomic.Int64
	var readers sync.WaitGroup
	for i := 0; i < 4; i++ {
		readers.Add(1)
		go func() {
			defer readers.Done()
			for !stop.Load() {
				asked.Add(100)
				wrong.Add(askAll(watched.Current()))
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

func askAll(f *Filter) (wrong int64) {
	for key := int64(0); key < 100; key++ {
		if found, err := f.ContainsInt64(key); !found || err != nil {
			wrong++
		}
	}
	return wrong
}

func TestReloadKeepsTheOldFilterOnErrors(t *testing.T) {
	path := tempFile(t, "watched.bloom", sound())
	watched := mustWatch(t, path)
	for _, b := range [][]byte{{}, sound()[:100], []byte("bloomfilter-set 1\nmissing\n")} {
		replace(t, path, b)
		if _, err := watched.Reload(); err == nil {
			t.Errorf("%d bad bytes were loaded", len(b))
		}
		if wrong := askAll(watched.Current()); wrong != 0 {
			t.Errorf("%d wrong answers", wrong)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := watched.Reload(); err == nil || askAll(watched.Current()) != 0 {
		t.Error("the old filter is gone with its file")
	}
	replace(t, path, sound())
	if _, err := watched.Reload(); err != nil {
		t.Error(err)
	}
}

func TestReloadSaysWhetherItChangedSomething(t *testing.T) {
	path := tempFile(t, "watched.bloom", sound())
	watched := mustWatch(t, path)
	before := watched.Current()
	expect := func(want bool, what string) {
		t.Helper()
		if changed, err := watched.Reload(); changed != want || err != nil {
			t.Errorf("%s: %v, %v", what, changed, err)
		}
	}
	expect(false, "nothing happened")
	replace(t, path, sound())
	expect(true, "the same bytes in another file")
	if watched.Current() == before {
		t.Error("the old file is held on to, though it may have been damaged")
	}
	replace(t, path, shape{blocks: 9}.build(integers(0, 100)...))
	expect(true, "other bytes")
	expect(false, "nothing happened again")
}

// Current takes what is at the path by itself, within a second, and tells of errors.
func TestCurrentLooks(t *testing.T) {
	path := tempFile(t, "watched.bloom", sound())
	told := make(chan error, 100)
	watched := mustWatch(t, path, OnError(func(err error) { told <- err }))
	first := watched.Current()
	until := func(what string, done func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal(what)
			}
		}
	}
	replace(t, path, shape{blocks: 9}.build(integers(0, 100)...))
	until("the new file is not taken", func() bool { return watched.Current() != first })
	replace(t, path, []byte("no filter"))
	until("the error is not told", func() bool { watched.Current(); return len(told) > 0 })
	if wrong := askAll(watched.Current()); wrong != 0 {
		t.Error("the old filter is gone")
	}
}

func TestWatchedRelativePath(t *testing.T) {
	path := tempFile(t, "watched.bloom", sound())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	defer os.Chdir(here)
	if err := os.Chdir(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	watched := mustWatch(t, "watched.bloom")
	if err := os.Chdir("/"); err != nil {
		t.Fatal(err)
	}
	replace(t, path, shape{blocks: 9}.build(integers(0, 100)...))
	if changed, err := watched.Reload(); !changed || err != nil {
		t.Error(changed, err)
	}
}

func TestWaitFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if _, err := WaitFor(path, time.Millisecond); !os.IsNotExist(err) {
		t.Error(err)
	}
	go func() {
		time.Sleep(50 * time.Millisecond)
		replace(t, path, sound())
	}()
	if _, err := WaitFor(path, time.Minute); err != nil {
		t.Error(err)
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
