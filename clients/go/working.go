package bloomfilter

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"unsafe"
)

// The working copy of a host: a file in memory in which a follower sets bits while
// readers look keys up. Section 18 of doc/FORMAT.md.

const (
	workingEnding = ".working"
	workingPage   = 4096

	workingChecksumAt = 120
	workingBootAt     = 48
	workingBoot       = 16

	wordSerial     = 128
	wordBase       = 136
	wordTrueAt     = 144
	wordLooked     = 152
	wordFailures   = 168
	wordSuperseded = 176
)

// working is an open working copy, or what stays known of one that was copied.
type working struct {
	mem      *mapping // nil: copied
	serial   uint64   // of a copy
	identity string
}

// load reads a word that the follower may change meanwhile, in one load.
func (w *working) load(at int) uint64 {
	if w.mem == nil {
		if at == wordSerial {
			return w.serial
		}
		return 0
	}
	value := atomic.LoadUint64((*uint64)(unsafe.Pointer(&w.mem.bytes[at])))
	runtime.KeepAlive(w)
	var native [8]byte
	*(*uint64)(unsafe.Pointer(&native)) = value
	return binary.LittleEndian.Uint64(native[:])
}

// workingStamp is what a working copy was when it was looked at. Its bits and its time
// change, and it stays the same one.
type workingStamp struct {
	info             os.FileInfo // nil: there is none
	base, superseded uint64
}

func (s workingStamp) equal(other workingStamp) bool {
	if s.info == nil || other.info == nil {
		return s.info == nil && other.info == nil
	}
	return os.SameFile(s.info, other.info) && s.base == other.base && s.superseded == other.superseded
}

func lookAtWorking(path string) (s workingStamp) {
	file, _, err := openOwned(path + workingEnding)
	if err != nil {
		return
	}
	defer file.Close()
	if s.info, err = file.Stat(); err != nil {
		return workingStamp{}
	}
	if start, err := readStart(file, wordSuperseded+8); err == nil && len(start) == wordSuperseded+8 {
		s.base = binary.LittleEndian.Uint64(start[wordBase:])
		s.superseded = binary.LittleEndian.Uint64(start[wordSuperseded:])
	}
	return
}

// openWorking returns nil where there is no working copy, or none in use.
func (s *source) openWorking(c config) (*Filter, error) {
	base, known := s.base()
	if !known {
		return nil, nil
	}
	path := s.path + workingEnding
	mem, err := mapWorking(path)
	if mem == nil || err != nil {
		return nil, inFile(path, err)
	}
	w := &working{mem: mem}
	parts, boot, err := w.check()
	if err != nil {
		return nil, inFile(path, err)
	}
	if boot != thisBoot() || w.load(wordSuperseded) != 0 || w.load(wordBase) != base {
		return nil, nil
	}
	if c.inMemory || !mem.isMapped {
		// Before the blocks: a copy has everything of this serial.
		copied := &working{serial: w.load(wordSerial), identity: w.identity}
		for i, l := range parts {
			if parts[i], err = l.part.snapshot(mem.bytes); err != nil {
				return nil, inFile(path, err)
			}
		}
		w = copied
	}
	f, err := assemble(parts)
	if err != nil {
		return nil, inFile(path, err)
	}
	if w.mem != nil {
		f.mapped = []*mapping{mem}
	}
	f.working = w
	return f, nil
}

// base is what a working copy of these files has in its field base.
func (s *source) base() (base uint64, known bool) {
	files := s.files
	if s.names != nil {
		files = files[1:]
	}
	checksums := make([]byte, 0, 8*len(files))
	for _, file := range files {
		if len(file.start) < headerBytes {
			return 0, false
		}
		checksums = append(checksums, file.start[checksumAt:headerBytes]...)
	}
	return hashOf(checksums, 0), true
}

// openOwned opens a working copy that is of the same user as its name. A link may lead to
// a name that any user can take: what another one put there is none.
func openOwned(path string) (*os.File, int64, error) {
	file, size, err := openRegular(path)
	if err != nil {
		return nil, 0, err
	}
	own, err := file.Stat()
	if err == nil {
		var link os.FileInfo
		if link, err = os.Lstat(path); err == nil && !sameOwner(own, link) {
			err = os.ErrNotExist
		}
	}
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	return file, size, nil
}

func mapWorking(path string) (*mapping, error) {
	file, size, err := openOwned(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if size < workingPage {
		return nil, invalid("length", "a working copy is not so short")
	}
	return readOrMap(file, int(size), config{})
}

// check returns the parts of a sound working copy, and the boot that it is of.
func (w *working) check() (parts []*loaded, boot string, err error) {
	b := w.mem.bytes
	count := binary.LittleEndian.Uint32(b[16:])
	switch {
	case string(b[:4]) != "BLML":
		return nil, "", invalid("magic", "a working copy starts with BLML")
	case binary.LittleEndian.Uint32(b[4:]) != 1:
		return nil, "", invalid("version", "unsupported version of a working copy")
	case binary.LittleEndian.Uint64(b[workingChecksumAt:]) != hashOf(b[:workingChecksumAt], 0):
		return nil, "", invalid("header_checksum", "header checksum of the working copy does not match")
	case binary.LittleEndian.Uint64(b[8:]) != uint64(len(b)):
		return nil, "", invalid("length", "the working copy has another length than it says")
	case count < 1 || count > maxParts || !allZero(b[20:24]) || !allZero(b[64:workingChecksumAt]):
		return nil, "", invalid("header", "a field of the working copy's header is wrong")
	}
	id := hex.EncodeToString(b[32:48])
	w.identity = strings.Join([]string{id[:8], id[8:12], id[12:16], id[16:20], id[20:]}, "-")
	at := workingPage
	for i := uint32(0); i < count; i++ {
		p, err := workingPart(b, at)
		if err != nil {
			return nil, "", err
		}
		if uint32(p.header.part) != i || uint32(p.header.parts) != count ||
			len(parts) > 0 && p.header.seed != parts[0].part.header.seed {
			return nil, "", invalid("part", fmt.Sprintf("part %d of the working copy is not of its set", i))
		}
		parts = append(parts, &loaded{part: p})
		at += headerBytes + len(p.blocks)
		if i+1 < count {
			at = (at + workingPage - 1) / workingPage * workingPage
		}
	}
	if at != len(b) {
		return nil, "", invalid("part", "the working copy goes on behind its last part")
	}
	return parts, string(b[workingBootAt : workingBootAt+workingBoot]), nil
}

func allZero(b []byte) bool { return strings.Trim(string(b), "\x00") == "" }

func workingPart(b []byte, at int) (*part, error) {
	if at+headerBytes > len(b) {
		return nil, invalid("part", "a part of the working copy is missing")
	}
	start := b[at : at+headerBytes]
	length := uint64(headerBytes)
	if start[6] >= minLog2Block && start[6] <= maxLog2Block {
		length += uint64(binary.LittleEndian.Uint32(start[8:])) << (start[6] - 3)
	}
	h, err := readHeader(start, length)
	if err != nil {
		return nil, invalid("part", err.Error())
	}
	if length > uint64(len(b)-at) {
		return nil, invalid("part", "a part of the working copy goes on behind its end")
	}
	h.at = at
	return newPart(h, b[at+headerBytes:at+int(length)]), nil
}

// snapshot is a part of a working copy as it is now, in memory of its own.
func (p *part) snapshot(file []byte) (l *loaded, err error) {
	b := append([]byte(nil), file[p.header.at:p.header.at+headerBytes+len(p.blocks)]...)
	sealWorking(b)
	own, err := parse(b, false)
	return &loaded{part: own}, err
}

// sealWorking puts in what the header of a part in a working copy leaves out.
func sealWorking(b []byte) {
	binary.LittleEndian.PutUint64(b[40:], countBits(b[headerBytes:]))
	binary.LittleEndian.PutUint32(b[headerChecksumAt:], headerChecksum(b))
	binary.LittleEndian.PutUint64(b[checksumAt:], checksum(b))
}

// thisBoot is all zeros where the system has none.
func thisBoot() string {
	text, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	id, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(string(text)), "-", ""))
	if err != nil || len(id) != workingBoot {
		return string(make([]byte, workingBoot))
	}
	return string(id)
}

// headers are those of the parts; in a working copy what changes is counted now.
func (f *Filter) headers() []*header {
	headers := make([]*header, len(f.parts))
	for i, p := range f.parts {
		headers[i] = p.header
		if f.working != nil && f.working.mem != nil {
			headers[i] = f.working.header(p)
		}
	}
	return headers
}

func (w *working) header(p *part) *header {
	h := *p.header
	start := append([]byte(nil), w.mem.bytes[h.at:h.at+headerBytes]...)
	h.bitsSet = countBits(p.blocks)
	binary.LittleEndian.PutUint64(start[40:], h.bitsSet)
	binary.LittleEndian.PutUint32(start[headerChecksumAt:], headerChecksum(start))
	h.checksum = hashOfBoth(start[:checksumAt], p.blocks, 0)
	runtime.KeepAlive(w)
	return &h
}
