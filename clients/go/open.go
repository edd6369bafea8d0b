package bloomfilter

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
)

// Option changes how files are opened.
type Option func(*config)

type config struct {
	trust    bool
	inMemory bool
}

// NoVerify leaves out the pass over all blocks that counts their bits and
// compares the checksum. Opening then takes the same time for every size, and
// damage of the blocks goes unseen. For files that were checked after they were
// copied.
func NoVerify() Option { return func(c *config) { c.trust = true } }

// Copy reads files into memory of the process instead of mapping them. Such
// a filter keeps answering whatever happens to its file.
func Copy() Option { return func(c *config) { c.inMemory = true } }

func configOf(options []Option) (c config) {
	for _, option := range options {
		option(&c)
	}
	return c
}

// Open opens the filter at path, which is one of
//   - a file with one filter, whole or a part of a set;
//   - a set's manifest: a text file with the line "bloomfilter-set 1" and the
//     names of the parts' files, one per line, in the order of the parts;
//   - a folder, which stands for its file "manifest".
//
// All bytes are checked before it returns, and the first broken rule is an
// InvalidFilterError.
func Open(path string, options ...Option) (*Filter, error) {
	f, err := openPath(path, configOf(options))
	if err != nil {
		return nil, fmt.Errorf("open bloomfilter %s: %w", path, err)
	}
	return f, nil
}

// FromBytes checks a filter in memory. The bytes are used where they lie and
// must not change afterwards.
func FromBytes(b []byte, options ...Option) (*Filter, error) {
	p, err := parse(b, !configOf(options).trust)
	if err != nil {
		return nil, err
	}
	return single(&loaded{part: p}), nil
}

// loaded is a filter and the mapping that it lies in, if it does.
type loaded struct {
	part *part
	mem  *mapping
}

// single makes a Filter of a filter that was opened alone.
func single(l *loaded) *Filter {
	h := l.part.header
	f := &Filter{
		parts:   []*part{l.part},
		first:   uint64(h.part),
		total:   uint64(h.parts),
		seed:    h.seed,
		keyType: h.keyType,
	}
	f.hold(l)
	return f
}

func (f *Filter) hold(l *loaded) {
	if l.mem != nil {
		f.mapped = append(f.mapped, l.mem)
	}
}

func openPath(path string, c config) (*Filter, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return openFolder(path, c)
	}
	isSet, err := isManifest(path)
	if err != nil {
		return nil, err
	}
	if isSet {
		return openManifest(path, c)
	}
	l, err := loadFile(path, c)
	if err != nil {
		return nil, err
	}
	return single(l), nil
}

// openRegular opens a file of which the size means something. It asks before it
// opens, as opening a pipe would wait for a writer.
func openRegular(path string) (*os.File, int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("not a regular file")
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

// loadFile opens one filter's file.
func loadFile(path string, c config) (*loaded, error) {
	file, size, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	start, err := readStart(file, headerBytes)
	if err != nil {
		return nil, err
	}
	// Nothing is allocated or mapped before the header fits the file's size.
	if _, err := readHeader(start, uint64(size)); err != nil {
		return nil, err
	}
	mem, err := readOrMap(file, int(size), c)
	if err != nil {
		return nil, err
	}
	p, err := parseMemory(mem.bytes, !c.trust)
	if err != nil {
		mem.release()
		return nil, err
	}
	if !mem.isMapped {
		mem = nil
	}
	return &loaded{p, mem}, nil
}

// readOrMap returns the file's bytes. Where files can't be mapped it reads them.
func readOrMap(file *os.File, size int, c config) (*mapping, error) {
	if !c.inMemory {
		if mem, err := mapFile(file, size); err == nil {
			return mem, nil
		}
	}
	bytes := make([]byte, size)
	if _, err := io.ReadFull(io.NewSectionReader(file, 0, int64(size)), bytes); err != nil {
		return nil, fmt.Errorf("file was cut short while it was read: %w", err)
	}
	return &mapping{bytes: bytes}, nil
}

// parseMemory is parse for bytes that may be mapped.
func parseMemory(b []byte, thorough bool) (p *part, err error) {
	defer catchFault(debug.SetPanicOnFault(true), &err)
	return parse(b, thorough)
}

func isManifest(path string) (bool, error) {
	file, _, err := openRegular(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	start, err := readStart(file, len(manifestWord))
	return strings.HasPrefix(string(start), manifestWord), err
}
