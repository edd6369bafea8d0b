package bloomfilter

import (
	"encoding/binary"
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
	identity *string
	tell     func(error)
}

// NoVerify leaves out the pass over all blocks that counts their bits and
// compares the checksum. Opening then takes the same time for every size, and
// damage of the blocks goes unseen. For files that were checked after they were
// copied.
func NoVerify() Option { return func(c *config) { c.trust = true } }

// Copy reads files into memory of the process instead of mapping them. Such
// a filter keeps answering whatever happens to its file.
func Copy() Option { return func(c *config) { c.inMemory = true } }

// Identity insists on the list with this identity, a UUID: the file of another list is refused,
// and so is one of no list.
func Identity(uuid string) Option {
	uuid = strings.ToLower(uuid)
	return func(c *config) { c.identity = &uuid }
}

func configOf(options []Option) (c config) {
	c.tell = logError
	for _, option := range options {
		option(&c)
	}
	return c
}

// Open opens the file at path: a filter, whole or a part of a set, or a file that
// "bloomfilter pull" keeps, to which keys come while it is open.
//
// All bytes of a filter are checked before it returns, and the first broken rule is an
// InvalidFilterError. Of a followed file page and headers are: its follower checks the
// bits. One that nobody follows is checked as a filter is.
func Open(path string, options ...Option) (*Filter, error) {
	return openPath(path, configOf(options))
}

// mapping is a file's bytes, mapped or read.
type mapping struct {
	bytes    []byte
	isMapped bool
}

// openPath notes what the file was before it was read. Errors name it.
func openPath(path string, c config) (*Filter, error) {
	file, s, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	f, err := openFile(file, s, c)
	if err == nil && f.followed != nil && f.mapped == nil {
		f.followed.file = file
	} else {
		file.Close()
	}
	if err != nil {
		var system *os.PathError // which has the name
		if errors.As(err, &system) {
			return nil, err
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if f.followed != nil && f.mapped == nil {
		s.serial, s.to = f.followed.load(serialAt), f.followed.load(tableTo)
	}
	f.stamp = s
	return f, nil
}

func isFollowed(start string) bool { return strings.HasPrefix(start, "BLML") }

func openFile(file *os.File, s stamp, c config) (f *Filter, err error) {
	defer catchFault(debug.SetPanicOnFault(true), &err)
	if isFollowed(s.start) {
		return openFollowed(file, s.info, c)
	}
	if c.identity != nil {
		return nil, invalid("identity", "it is of no list")
	}
	// Nothing is allocated or mapped before the header fits the file's size.
	size := s.info.Size()
	if _, err := readHeader([]byte(s.start), uint64(size)); err != nil {
		return nil, err
	}
	mem, err := readOrMap(file, int(size), c)
	if err != nil {
		return nil, err
	}
	if f, err = single(mem, c); err != nil {
		mem.release()
	}
	return f, err
}

// stamp is what a file was when it was looked at.
type stamp struct {
	info   os.FileInfo
	start  string // its first bytes; of a followed file those that never change
	serial uint64 // that a copy of a followed file has, else 0
	to     uint64 // up to where such a copy has the changes by day
}

// is says whether a file that is looked at later has the same bytes, or is the same followed one.
func (s stamp) is(now stamp) bool {
	if !os.SameFile(s.info, now.info) || s.start != now.start {
		return false
	}
	if isFollowed(s.start) {
		return s.serial == 0 || s.serial == now.serial && s.to == now.to
	}
	return s.info.Size() == now.info.Size() && s.info.ModTime().Equal(now.info.ModTime())
}

// isOverwritten says whether a followed file has other bytes now: its follower would have made another file.
func (s stamp) isOverwritten(now stamp) bool {
	return os.SameFile(s.info, now.info) && isFollowed(s.start) && !isNobodys([]byte(s.start)) && s.start != now.start
}

// lookAt opens nothing but the first bytes.
func lookAt(path string) (stamp, error) {
	file, s, err := openRegular(path)
	if err != nil {
		return stamp{}, err
	}
	defer file.Close()
	if page, err := readStart(file, pageBytes); err == nil && len(page) == pageBytes {
		s.serial = binary.LittleEndian.Uint64(page[serialAt:])
		s.to = binary.LittleEndian.Uint64(page[tableTo:])
	}
	return s, nil
}

// openRegular opens a file of which the size means something. It asks before it
// opens, as opening a pipe would wait for a writer.
func openRegular(path string) (*os.File, stamp, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, stamp{}, err
	}
	if !info.Mode().IsRegular() {
		return nil, stamp{}, fmt.Errorf("%s: not a regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, stamp{}, err
	}
	info, err = file.Stat()
	var start []byte
	if err == nil {
		start, err = readStart(file, whoBytes)
	}
	if err != nil {
		file.Close()
		return nil, stamp{}, err
	}
	return file, stamp{info: info, start: string(start)}, nil
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

// FromBytes checks a filter in memory. The bytes are used where they lie and
// must not change afterwards.
func FromBytes(b []byte, options ...Option) (*Filter, error) {
	return single(&mapping{bytes: b}, configOf(options))
}

// newFilter makes a Filter of parts that follow each other.
func newFilter(parts ...*part) *Filter {
	h := parts[0].header
	return &Filter{parts: parts, first: uint64(h.part), total: uint64(h.parts), seed: h.seed, keyType: h.keyType}
}

// single checks a filter that is opened alone.
func single(mem *mapping, c config) (*Filter, error) {
	p, err := parse(mem.bytes, !c.trust)
	if err != nil {
		return nil, err
	}
	f := newFilter(p)
	if mem.isMapped {
		f.mapped = mem
	} else if f.total == 1 && p.header.log2Block == log2Line && p.upper == nil {
		f.plain = p
	}
	return f, nil
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

// assemble makes one Filter of parts in their order, if they are all of a set. Parts
// without keys have no key type.
func assemble(parts []*part) (*Filter, error) {
	f := newFilter(parts...)
	if f.total != uint64(len(parts)) {
		return nil, invalid("part", "%d parts are there, but the set has %d", len(parts), f.total)
	}
	for number, p := range parts {
		h := p.header
		switch {
		case uint64(h.parts) != f.total:
			return nil, invalid("part", "part %d is of a set of %d parts, not %d", number, h.parts, f.total)
		case int(h.part) != number:
			return nil, invalid("part", "part %d is where part %d should be", h.part, number)
		case h.seed != f.seed:
			return nil, invalid("part", "part %d has another seed than part 0", number)
		case h.keyType != None && f.keyType != None && h.keyType != f.keyType:
			return nil, invalid("part", "part %d holds %s keys, not %s", number, h.keyType, f.keyType)
		}
		if h.keyType != None {
			f.keyType = h.keyType
		}
	}
	return f, nil
}
