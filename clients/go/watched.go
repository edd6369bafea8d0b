package bloomfilter

import (
	"errors"
	"log"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// WatchedFilter is a filter that is replaced while it is in use. Any number of
// goroutines may ask it; they take no lock.
type WatchedFilter struct {
	path    string
	options []Option
	current atomic.Pointer[Filter]
	reloads sync.Mutex // one at a time, so that an older file never comes last
	source  *source    // what current was read from

	follows sync.Mutex
	stop    chan struct{} // nil: nobody follows
}

// OpenWatched opens path as Open does.
func OpenWatched(path string, options ...Option) (*WatchedFilter, error) {
	// The path stays right when the program changes its folder. It is not cleaned, as a
	// folder in it may be a link.
	if !filepath.IsAbs(path) {
		here, err := os.Getwd()
		if err != nil {
			return nil, err
		}
		path = here + string(filepath.Separator) + path
	}
	l := &WatchedFilter{path: path, options: options}
	if _, err := l.Reload(); err != nil {
		return nil, err
	}
	return l, nil
}

// Status tells which content of which list the present filter is, and how fresh.
func (l *WatchedFilter) Status() Status { return l.Current().Status() }

// waitBetween is the time between two looks of WaitFor.
const waitBetween = 100 * time.Millisecond

// WaitFor is OpenWatched as soon as there is a file, for a program that starts before
// the first one has come. After timeout it returns the last error.
func WaitFor(path string, timeout time.Duration, options ...Option) (*WatchedFilter, error) {
	for end := time.Now().Add(timeout); ; time.Sleep(waitBetween) {
		l, err := OpenWatched(path, options...)
		if err == nil || !time.Now().Before(end) {
			return l, err
		}
	}
}

// Current returns the present filter. Keep it for one piece of work, such as a
// request: all its answers then come from the same filter.
func (l *WatchedFilter) Current() *Filter { return l.current.Load() }

// Reload takes what is at the path now, and says whether that is another filter.
// Where no file was replaced (the same file, size, time and header) nothing else is
// read. On any error the old filter stays. Look-ups that run keep the filter that
// they have begun with.
func (l *WatchedFilter) Reload() (bool, error) {
	l.reloads.Lock()
	defer l.reloads.Unlock()
	found, err := findSource(l.path)
	if err == nil && found.equal(l.source) {
		return false, nil
	}
	f, found, err := openPath(l.path, configOf(l.options))
	if err != nil {
		return false, err
	}
	l.source = found
	// Also of the same bytes it is taken: the old file may have been damaged in place.
	before := l.current.Swap(f)
	return before == nil || before.working != f.working || !before.sameBytes(f), nil
}

// sameBytes compares checksums.
func (f *Filter) sameBytes(other *Filter) bool {
	if len(f.parts) != len(other.parts) {
		return false
	}
	for i := range f.parts {
		if *f.parts[i].header != *other.parts[i].header {
			return false
		}
	}
	return true
}

// Follow reloads every so often, in a goroutine of its own, until Close. report is
// told of each new filter and of each error; if it is nil, an error is logged when it
// is another one than the time before, and a lasting one again each minute. What report gets with an error is nil.
func (l *WatchedFilter) Follow(every time.Duration, report func(*Filter, error)) error {
	if every <= 0 {
		return errors.New("bloomfilter: the time between two looks must be positive")
	}
	if report == nil {
		report = logChanges()
	}
	l.follows.Lock()
	defer l.follows.Unlock()
	l.end()
	l.stop = make(chan struct{})
	go l.look(every, report, l.stop)
	return nil
}

func (l *WatchedFilter) look(every time.Duration, report func(*Filter, error), stop <-chan struct{}) {
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticks.C:
		}
		changed, err := l.Reload()
		if err != nil {
			report(nil, err)
		} else if changed {
			report(l.Current(), nil)
		}
	}
}

// logAgain is the time between two lines about a lasting error.
var logAgain = time.Minute

func logChanges() func(*Filter, error) {
	last := ""
	var again time.Time
	return func(_ *Filter, err error) {
		text := ""
		if err != nil {
			text = err.Error()
		}
		if now := time.Now(); text != "" && (text != last || !now.Before(again)) {
			again = now.Add(logAgain)
			log.Printf("bloomfilter: the filter stays the old one: %v", err)
		}
		last = text
	}
}

// Close ends following. The present filter stays, and answers.
func (l *WatchedFilter) Close() {
	l.follows.Lock()
	defer l.follows.Unlock()
	l.end()
}

// end stops who follows; the caller holds the lock.
func (l *WatchedFilter) end() {
	if l.stop != nil {
		close(l.stop)
		l.stop = nil
	}
}
