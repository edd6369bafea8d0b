package bloomfilter

import (
	"errors"
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
//   - a folder, of which its file "manifest" is opened.
//
// All bytes are checked before it returns, and the first broken rule is an
// InvalidFilterError. A set that is replaced meanwhile is read again.
func Open(path string, options ...Option) (*Filter, error) {
	f, _, err := openPath(path, configOf(options))
	return f, err
}

// mostAttempts is how often a set may be replaced while it is being opened.
const mostAttempts = 8

// openPath also returns what the files were before they were read. Between a
// manifest and its parts a writer may put another manifest in its place, and delete
// the old parts: then it is read again.
func openPath(path string, c config) (*Filter, *source, error) {
	for attempt := 1; ; attempt++ {
		found, err := findSource(path)
		if err != nil {
			return nil, nil, inFile(path, err)
		}
		f, err := found.open(c)
		if err == nil {
			f.source = found
			return f, found, nil
		}
		now, again := findSource(path)
		if attempt == mostAttempts || again != nil || now.equal(found) {
			return nil, nil, err
		}
	}
}

func (s *source) open(c config) (*Filter, error) {
	if s.working.info != nil {
		f, err := s.openWorking(c)
		if f != nil || err != nil {
			return f, err
		}
		// None is in use; or the follower has just changed both.
		if now, err := findSource(s.path); err == nil && !now.equal(s) {
			return nil, setError("was replaced while it was opened")
		}
	}
	if s.names != nil {
		return s.openSet(c)
	}
	l, err := loadFile(s.path, c)
	if err != nil {
		return nil, err
	}
	return single(l), nil
}

// inFile puts a file's name before what is wrong with it. The system's errors have it.
func inFile(path string, err error) error {
	var system *os.PathError
	if err == nil || errors.As(err, &system) || strings.HasPrefix(err.Error(), path+": ") {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
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

// FromParts makes one filter of all parts of a set, in their order, as FromBytes
// does of one.
func FromParts(parts [][]byte, options ...Option) (*Filter, error) {
	var files []*loaded
	for i, b := range parts {
		p, err := parse(b, !configOf(options).trust)
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", i, err)
		}
		files = append(files, &loaded{part: p})
	}
	return assemble(files)
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
	if f.total == 1 && f.mapped == nil && h.log2Block == log2Line {
		f.plain = l.part
	}
	return f
}

func (f *Filter) hold(l *loaded) {
	if l.mem != nil {
		f.mapped = append(f.mapped, l.mem)
	}
}

// loadFile opens one filter's file. Errors name it.
func loadFile(path string, c config) (*loaded, error) {
	l, err := load(path, c)
	return l, inFile(path, err)
}

func load(path string, c config) (*loaded, error) {
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
