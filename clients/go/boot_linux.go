package bloomfilter

import (
	"syscall"
	"unsafe"
)

// clockBoottime goes on while the host sleeps.
const clockBoottime = 7

// bootClock is the microseconds since this boot.
func bootClock() (microseconds uint64, known bool) {
	var now syscall.Timespec
	_, _, err := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockBoottime, uintptr(unsafe.Pointer(&now)), 0)
	return uint64(now.Sec)*1000000 + uint64(now.Nsec)/1000, err == 0
}
