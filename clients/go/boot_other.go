//go:build !linux

package bloomfilter

func bootClock() (microseconds uint64, known bool) { return 0, false }
