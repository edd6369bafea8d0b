//go:build !unix

package bloomfilter

import (
	"errors"
	"os"
)

func mapFile(file *os.File, size int) (*mapping, error) {
	return nil, errors.New("files are not mapped on this system")
}

func numbersOf(info os.FileInfo) (device, inode uint64, known bool) { return 0, 0, false }

func (m *mapping) release() {}
