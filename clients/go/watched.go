package bloomfilter

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// lookBetween is the time between two looks at the path of a WatchedFilter that is in use.
const lookBetween = time.Second

// WatchedFilter is a filter that is replaced while it is in use. Any number of
// goroutines may ask it; they take no lock. It needs no goroutine of its own.
type WatchedFilter struct {
	path    string
	config  config
	current atomic.Pointer[Filter]
	next    atomic.Int64 // when the path is looked at again, in nanoseconds since 1970
	reloads sync.Mutex   // one at a time, so that an older file never comes last
	said    string       // the last error that was logged
	again   time.Time    // when a lasting one is logged again
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
	w := &WatchedFilter{path: path, config: configOf(options)}
	if _, err := w.Reload(); err != nil {
		return nil, err
	}
	return w, nil
}

// waitBetween is the time between two looks of WaitFor.
const waitBetween = 100 * time.Millisecond

// WaitFor is OpenWatched as soon as there is a file, for a program that starts before
// the first one has come. After timeout it returns the last error.
func WaitFor(path string, timeout time.Duration, options ...Option) (*WatchedFilter, error) {
	for end := time.Now().Add(timeout); ; time.Sleep(waitBetween) {
		w, err := OpenWatched(path, options...)
		if err == nil || !time.Now().Before(end) {
			return w, err
		}
	}
}

// Current returns the present filter. Keep it for one piece of work, such as a
// request: all its answers then come from the same filter.
//
// Once a second, and at once where a followed file says that another one took its place, it
// looks at the path, and one of the callers opens what is there. On an error the old filter
// stays, and the error goes to the option OnError.
func (w *WatchedFilter) Current() *Filter {
	f := w.current.Load()
	now := time.Now().UnixNano()
	next := w.next.Load()
	if now < next && next-now <= int64(lookBetween) && !f.isSuperseded() {
		return f
	}
	if w.reloads.TryLock() {
		defer w.reloads.Unlock()
		w.report(w.reload())
	}
	return w.current.Load()
}

// isSuperseded says whether a follower has put another file in the place of this one.
func (f *Filter) isSuperseded() (is bool) {
	if f.followed == nil || f.mapped == nil {
		return false
	}
	_ = guarded(func() { is = f.followed.load(supersededAt) != 0 })
	return is
}

// Status tells which content of which list the present filter is, and how fresh.
func (w *WatchedFilter) Status() Status { return w.Current().Status() }

// Reload takes what is at the path now, and says whether that is another filter. Where
// the file is the same nothing else is read. On any error the old filter stays. Look-ups
// that run keep the filter that they have begun with.
func (w *WatchedFilter) Reload() (bool, error) {
	w.reloads.Lock()
	defer w.reloads.Unlock()
	return w.reload()
}

// reload needs the lock.
func (w *WatchedFilter) reload() (bool, error) {
	w.next.Store(time.Now().Add(lookBetween).UnixNano())
	old := w.current.Load()
	if old != nil {
		now, err := lookAt(w.path)
		old.checkWho()
		switch {
		case err == nil && old.overwritten.Load() && os.SameFile(old.stamp.info, now.info), err == nil && old.stamp.isOverwritten(now):
			return false, fmt.Errorf("%s: %w", w.path, &ChangedFileError{})
		case err == nil && old.stamp.is(now):
			return false, nil
		}
	}
	f, err := openPath(w.path, w.config)
	if err != nil {
		return false, err
	}
	if old != nil && old.stamp.isOverwritten(f.stamp) {
		return false, fmt.Errorf("%s: %w", w.path, &ChangedFileError{})
	}
	w.current.Store(f)
	return true, nil
}

// checkWho finds out whether somebody has written another file over the followed one that is mapped:
// its answers are errors from then on, as they may be wrong.
func (f *Filter) checkWho() {
	if f.followed == nil || f.mapped == nil {
		return
	}
	isSame := false
	_ = guarded(func() { isSame = string(f.mapped.bytes[:whoBytes]) == f.stamp.start && !f.followed.isLost() })
	runtime.KeepAlive(f)
	if !isSame {
		f.overwritten.Store(true)
	}
}

// logAgain is the time between two lines about a lasting error.
var logAgain = time.Minute

// report needs the lock. An error is told when it is another one than the last, and a
// lasting one again each minute.
func (w *WatchedFilter) report(_ bool, err error) {
	if err == nil {
		w.said = ""
		return
	}
	if now := time.Now(); err.Error() != w.said || !now.Before(w.again) {
		w.said, w.again = err.Error(), now.Add(logAgain)
		w.config.tell(err)
	}
}

func logError(err error) {
	log.Printf("bloomfilter: the filter stays the old one: %v", err)
}

// OnError is told why a WatchedFilter could not take what is at its path; without it that is
// logged.
func OnError(tell func(error)) Option { return func(c *config) { c.tell = tell } }
