package bloomfilter

import (
	"sync"
	"sync/atomic"
)

// LiveFilter is a filter that is replaced while it is in use. Any number of goroutines
// may ask it; they take no lock.
type LiveFilter struct {
	path    string
	options []Option
	current atomic.Pointer[Filter]
	reloads sync.Mutex // one at a time, so that an older file never comes last
}

// OpenLive opens path as Open does.
func OpenLive(path string, options ...Option) (*LiveFilter, error) {
	l := &LiveFilter{path: path, options: options}
	if err := l.Reload(); err != nil {
		return nil, err
	}
	return l, nil
}

// Filter returns the present filter. Keep it for one piece of work, such as a
// request: all its answers then come from the same filter.
func (l *LiveFilter) Filter() *Filter { return l.current.Load() }

// Reload opens the path again and swaps the filters at once. On any error the
// old filter stays. Look-ups that run keep the filter that they have begun with.
func (l *LiveFilter) Reload() error {
	l.reloads.Lock()
	defer l.reloads.Unlock()
	f, err := Open(l.path, l.options...)
	if err != nil {
		return err
	}
	l.current.Store(f)
	return nil
}
