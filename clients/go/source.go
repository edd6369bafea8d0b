package bloomfilter

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// source is what a path names, and what its files were before anything else of them
// was read. Two sources that are equal name the same bytes.
type source struct {
	path  string
	names []string // of a manifest's files; nil for a filter
	files []stamp  // the path's own first

	working workingStamp
	notes   map[string]string // of a manifest
}

// stamp is what a file was when it was looked at; without info it was not there.
type stamp struct {
	info  os.FileInfo
	start string
}

func (s stamp) equal(other stamp) bool {
	if s.info == nil || other.info == nil {
		return s.info == nil && other.info == nil
	}
	return os.SameFile(s.info, other.info) && s.info.Size() == other.info.Size() &&
		s.info.ModTime().Equal(other.info.ModTime()) && s.start == other.start
}

func (s *source) equal(other *source) bool {
	if other == nil || s.path != other.path || len(s.files) != len(other.files) ||
		!s.working.equal(other.working) {
		return false
	}
	for i := range s.files {
		if !s.files[i].equal(other.files[i]) {
			return false
		}
	}
	return true
}

// findSource looks at a file, at a manifest and the files that it names, or at the
// manifest of a folder.
func findSource(path string) (*source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		path = filepath.Join(path, manifestName)
		if _, err := os.Lstat(path); os.IsNotExist(err) {
			return nil, setError("a folder is opened by its file %q, and it has none", manifestName)
		}
	}
	own, err := look(path)
	if err != nil {
		return nil, err
	}
	s := &source{path: path, files: []stamp{own}, working: lookAtWorking(path)}
	if !info.IsDir() && !strings.HasPrefix(own.start, manifestWord) {
		return s, nil
	}
	if s.names, s.notes, err = readManifest(path); err != nil {
		return nil, err
	}
	for i, name := range s.names {
		// One that is not there shows when it is opened.
		file, _ := look(s.file(name))
		if i == 0 && file.info != nil {
			if err := checkCount(file, len(s.names)); err != nil {
				return nil, err
			}
		}
		s.files = append(s.files, file)
	}
	return s, nil
}

// checkCount believes a manifest of many lines when the first part's header says the
// same: before the other files are looked at. What else is the matter with that file
// shows when it is opened.
func checkCount(first stamp, count int) error {
	h, err := readHeader([]byte(first.start), uint64(first.info.Size()))
	if err == nil && int(h.parts) != count {
		return setError("%d files, but the set has %d parts", count, h.parts)
	}
	return nil
}

// file is the path of a file that the manifest names.
func (s *source) file(name string) string {
	return filepath.Join(filepath.Dir(s.path), name)
}

func look(path string) (stamp, error) {
	file, _, err := openRegular(path)
	if err != nil {
		return stamp{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return stamp{}, err
	}
	start, err := readStart(file, headerBytes)
	if err != nil {
		return stamp{}, err
	}
	return stamp{info, string(start)}, nil
}

// openRegular opens a file of which the size means something. It asks before it
// opens, as opening a pipe would wait for a writer.
func openRegular(path string) (*os.File, int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s: not a regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	if info, err = file.Stat(); err != nil {
		file.Close()
		return nil, 0, err
	}
	return file, info.Size(), nil
}

// readStart returns the first bytes of a file, fewer if it is shorter.
func readStart(file *os.File, count int) ([]byte, error) {
	start := make([]byte, count)
	n, err := io.ReadFull(io.NewSectionReader(file, 0, int64(count)), start)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return start[:n], err
}
