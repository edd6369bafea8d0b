//go:build !unix

package bloomfilter

import (
	"errors"
	"os"
)

func mapFile(file *os.File, size int) (*mapping, error) {
	return nil, errors.New("files are not mapped on this system")
}

func (m *mapping) release() {}
