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

// numbersOf are by what a file is known where it lies.
func numbersOf(info os.FileInfo) (device, inode uint64, known bool) {
	stat, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0, 0, false
	}
	return uint64(stat.Dev), uint64(stat.Ino), true
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
