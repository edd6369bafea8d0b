//go:build unix

package bloomfilter

import (
	"os"
	"runtime"
	"syscall"
)

// mapFile maps a file for reading. The mapping ends when nobody can reach it any
// more: only then no look-up can be running in it.
func mapFile(file *os.File, size int) (*mapping, error) {
	bytes, err := syscall.Mmap(int(file.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	m := &mapping{bytes: bytes, isMapped: true}
	runtime.SetFinalizer(m, (*mapping).release)
	return m, nil
}

func sameOwner(a, b os.FileInfo) bool {
	return a.Sys().(*syscall.Stat_t).Uid == b.Sys().(*syscall.Stat_t).Uid
}

// release unmaps at once what no filter uses.
func (m *mapping) release() {
	if m.isMapped {
		runtime.SetFinalizer(m, nil)
		m.isMapped = false
		syscall.Munmap(m.bytes)
		m.bytes = nil
	}
}
