package bloomfilter

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// A followed file: a page of facts and the parts of a list, whose bits a follower sets in
// place while readers have the file mapped. doc/FEED.md describes it.

const (
	pageBytes   = 4096
	pageOf      = 2 // versions of the page
	trackedPage = 3 // of a list that is tracked

	maxParts = 65535

	whoChecksumAt = 504
	whoBytes      = 512
	bootAt        = 48
	deviceAt      = 64
	inodeAt       = 72
	bornAt        = 80
	bornSumAt     = 88
	nameAt        = 136
	nameBytes     = 216
	maxName       = 200

	serialAt        = 520
	trueAtAt        = 536
	supersededAt    = 600
	savedAt         = 1024
	savedChecksumAt = 1080
	lookedAt        = 1536
	lookedBootAt    = 1544
	failuresAt      = 1552
	everyAt         = 1560
	heartbeatAt     = 1568
	expiresAt       = 1576
	sinceAt         = 1584
	wordAt          = 1592
	wordBytes       = 16
	textAt          = 1608
	textBytes       = 256

	missedLooks = 3
	clockAhead  = time.Minute // that a clock may be
)

// Place tells what a followed file's serial can be believed to be.
type Place int

const (
	// NoPlace is that of a filter that nobody follows.
	NoPlace Place = iota
	// Here is where the follower keeps the file: the serial is that of the bits.
	Here
	// OtherBoot is a file of before this boot: the serial is the one that was saved.
	OtherBoot
	// Copied is a copy, a backup or another mount: the serial is the one that it was made with.
	Copied
)

func (p Place) String() string {
	return [...]string{"none", "here", "other boot", "copy"}[p]
}

// followed is an open followed file.
type followed struct {
	mem   *mapping
	file  *os.File // of a copy, so that no other file gets its numbers; closed when nobody holds it
	place Place
	told  uint64 // the serial, where it is not the page's
}

func (w *followed) load(at int) uint64 {
	value := loadWord(w.mem.bytes, at)
	runtime.KeepAlive(w)
	return value
}

func (w *followed) serial() uint64 {
	if w.place == Here {
		return w.load(serialAt)
	}
	return w.told
}

// openFollowed opens a followed file, which is mapped unless that can't be.
func openFollowed(file *os.File, info os.FileInfo, c config) (f *Filter, err error) {
	if info.Size() < pageBytes {
		return nil, invalid("short", "a followed file has at least 4096 bytes")
	}
	mem, err := readOrMap(file, int(info.Size()), config{})
	if err != nil {
		return nil, err
	}
	w := &followed{mem: mem}
	// Who tries again and again would have a mapping for each try until memory is collected.
	defer func() {
		if err != nil || w.mem != mem {
			mem.release()
		}
	}()
	parts, err := w.check(info, c)
	if err != nil {
		return nil, err
	}
	if c.inMemory && mem.isMapped {
		if parts, err = w.copy(parts); err != nil {
			return nil, err
		}
	}
	if f, err = assemble(parts); err != nil {
		return nil, err
	}
	if w.mem.isMapped {
		f.mapped = w.mem
	}
	f.followed = w
	f.changes = changesOf(w.mem.bytes)
	return f, nil
}

// check returns the parts of a sound file, and finds out what it tells of its serial.
func (w *followed) check(info os.FileInfo, c config) ([]*part, error) {
	b := w.mem.bytes
	count := binary.LittleEndian.Uint32(b[16:])
	table, hasTable := tableBytes(b)
	name, rest, _ := bytes.Cut(b[nameAt:whoChecksumAt], []byte{0})
	switch {
	case string(b[:4]) != "BLML":
		return nil, invalid("magic", "does not start with BLMF or BLML")
	case binary.LittleEndian.Uint32(b[4:]) != pageOf && binary.LittleEndian.Uint32(b[4:]) != trackedPage:
		return nil, invalid("version", "unsupported version %d of a followed file", binary.LittleEndian.Uint32(b[4:]))
	case binary.LittleEndian.Uint64(b[whoChecksumAt:]) != hashOf(b[:whoChecksumAt], 0):
		return nil, invalid("checksum", "checksum of the page does not match")
	case binary.LittleEndian.Uint64(b[8:]) != uint64(len(b)):
		return nil, invalid("length", "the file has another length than it says")
	case count < 1 || count > maxParts:
		return nil, invalid("who", "the number of parts is not between 1 and 65535")
	case !hasTable || len(name) > maxName || !allZero(rest):
		return nil, invalid("who", "a field of the page is not 0 that must be")
	}
	if w.isLost() {
		return nil, invalid("lost", "%v", &ChangedFileError{})
	}
	if id := identityOf(b); c.identity != nil && *c.identity != id {
		return nil, invalid("identity", "it is of list %s, %s, and not %s", printable(name), id, *c.identity)
	}
	parts, err := partsOf(b, count, table, !c.trust)
	if err != nil {
		return nil, err
	}
	w.findPlace(info)
	if isNobodys(b) && !c.trust && sumOf(parts, b) != binary.LittleEndian.Uint64(b[bornSumAt:]) {
		return nil, invalid("sum", "the parts are not those that the page was written for")
	}
	return parts, nil
}

func partsOf(b []byte, count uint32, table int, thorough bool) (parts []*part, err error) {
	at := pageBytes
	for i := uint32(0); i < count; i++ {
		p, err := partAt(b, at, thorough)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
		at += int(p.header.bytes())
		if i+1 < count || table != 0 {
			at = (at + pageBytes - 1) / pageBytes * pageBytes
		}
	}
	if at+table != len(b) {
		return nil, invalid("part", "the file goes on behind its last part")
	}
	return parts, nil
}

// partAt checks an exact part as a filter is, as its bits don't change.
func partAt(b []byte, at int, thorough bool) (*part, error) {
	if at+headerBytes > len(b) {
		return nil, invalid("part", "a part is missing")
	}
	h, err := readHeader(b[at:], asStated)
	if err != nil {
		return nil, invalid("part", "%v", err)
	}
	if h.bytes() > uint64(len(b)-at) {
		return nil, invalid("part", "a part goes on behind the file's end")
	}
	own := b[at:][:h.bytes()]
	p := newPart(h, own[h.front():])
	if h.upper != nil {
		p, err = parse(own, thorough)
	} else if h.bitsSet != 0 || h.checksum != 0 {
		err = invalid("part", "a part's header says of its bits what changes")
	}
	if err != nil {
		return nil, invalid("part", "%v", err)
	}
	p.header.at = at
	return p, nil
}

// isNobodys says whether no follower keeps the file: then it never changes.
func isNobodys(b []byte) bool {
	return allZero(b[bootAt : inodeAt+8])
}

func allZero(b []byte) bool { return strings.Trim(string(b), "\x00") == "" }

// findPlace decides by boot, device and inode, which a copy does not keep.
func (w *followed) findPlace(info os.FileInfo) {
	b := w.mem.bytes
	w.place, w.told = Copied, binary.LittleEndian.Uint64(b[bornAt:])
	if isNobodys(b) {
		w.place = NoPlace
		return
	}
	device, inode, known := numbersOf(info)
	boot := thisBoot()
	if !known || boot == "" || inode != binary.LittleEndian.Uint64(b[inodeAt:]) {
		return
	}
	switch {
	case string(b[bootAt:bootAt+16]) != boot:
		w.place = OtherBoot
		saved := string(b[savedAt:savedChecksumAt]) + string(b[24:32]) + string(b[inodeAt:inodeAt+8])
		if hashOf(saved, 0) == binary.LittleEndian.Uint64(b[savedChecksumAt:]) {
			w.told = load64(saved, 0)
		}
	case device == binary.LittleEndian.Uint64(b[deviceAt:]):
		w.place = Here
	}
}

// sumOf is what the page has of all parts: of pieces of 4096 bytes of the blocks, of an exact part of all
// of its bytes; and of what a plain one's header says of the places of bits.
func sumOf(parts []*part, b []byte) (sum uint64) {
	for i, p := range parts {
		rest := b[p.header.at:][:p.header.bytes()]
		if p.upper == nil {
			sum += hashOf(string(rest[:24])+string(rest[48:headerChecksumAt]), uint64(i)<<32|math.MaxUint32)
			rest = p.blocks
		}
		for n := uint64(0); len(rest) > 0; n++ {
			length := pageBytes
			if len(rest) < length {
				length = len(rest)
			}
			sum += hashOf(rest[:length], uint64(i)<<32|n)
			rest = rest[length:]
		}
	}
	return sum
}

// copy takes the page first and then the parts, so that these have everything of its serial.
func (w *followed) copy(parts []*part) (copies []*part, err error) {
	serial := w.serial()
	page := append([]byte(nil), w.mem.bytes[:pageBytes]...)
	for _, p := range parts {
		b := append([]byte(nil), w.mem.bytes[p.header.at:][:p.header.bytes()]...)
		if p.upper == nil {
			seal(b, b[headerBytes:])
		}
		own, err := parse(b, false)
		if err != nil {
			return nil, err
		}
		copies = append(copies, own)
	}
	table, _ := tableBytes(page)
	page = append(page, w.mem.bytes[len(w.mem.bytes)-table:]...)
	binary.LittleEndian.PutUint64(page[serialAt:], serial)
	w.mem = &mapping{bytes: page}
	return copies, nil
}

// seal puts in what the header of a part in a followed file leaves out.
func seal(header, blocks []byte) {
	binary.LittleEndian.PutUint64(header[40:], countBits(blocks))
	binary.LittleEndian.PutUint32(header[headerChecksumAt:], headerChecksum(header))
	binary.LittleEndian.PutUint64(header[checksumAt:], hashOfBoth(header[:checksumAt], blocks, 0))
}

// thisBoot is empty on a system that does not tell its boots apart.
func thisBoot() string {
	text, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	id, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(string(text)), "-", ""))
	if err != nil || len(id) != 16 {
		return ""
	}
	return string(id)
}

// headerOf is a part's header; in a followed file what changes is counted now.
func (f *Filter) headerOf(p *part) *header {
	if f.followed == nil || f.mapped == nil || p.upper != nil {
		return p.header
	}
	h := *p.header
	start := append([]byte(nil), f.mapped.bytes[h.at:h.at+headerBytes]...)
	seal(start, p.blocks)
	h.bitsSet = binary.LittleEndian.Uint64(start[40:])
	h.checksum = binary.LittleEndian.Uint64(start[checksumAt:])
	runtime.KeepAlive(f)
	return &h
}

// Status tells which content of which list a followed file has, and how fresh it is. Zero
// values are what isn't known; of a filter that nobody follows all are.
type Status struct {
	List, Identity string
	Serial         uint64        // microseconds since 1970 of its publish; a later one is greater
	Place          Place         // whose word the serial is
	TrueAt         time.Time     // what was committed before is in it; known where the place is Here
	Looked         time.Time     // the follower's last good look
	Age            time.Duration // since then; below zero: a clock is wrong
	Every          time.Duration // between two looks
	Heartbeat      time.Duration // between two manifests at most
	Expires        time.Time
	Failures       uint64    // looks that failed since the last good one
	Since          time.Time // when the reason came
	Reason         string    // what is wrong: one of the reasons of "bloomfilter status"; empty: nothing
	Message        string    // it in a sentence
	Superseded     bool      // another file took its place
	Changes        uint64    // keys that were changed by day since the list was published
}

// Status reads the page anew.
func (f *Filter) Status() (s Status) {
	w := f.followed
	if w == nil {
		return s
	}
	err := guarded(func() {
		b := w.mem.bytes
		s = Status{
			List:     printable(b[nameAt : nameAt+nameBytes]),
			Identity: identityOf(b),
			Serial:   w.serial(),
			Place:    w.place,
		}
		if f.changes != nil {
			s.Changes = f.changes.count()
		}
		if w.place == Here {
			s.TrueAt = moment(w.load(trueAtAt))
		}
		if w.place != NoPlace {
			w.health(&s)
		}
	})
	runtime.KeepAlive(f)
	if err != nil || f.overwritten.Load() {
		return Status{Place: w.place, Reason: "damaged", Message: (&ChangedFileError{}).Error()}
	}
	return s
}

// lost is superseded of a file whose bits its follower found to be others than they should be.
const lost = 2

func (w *followed) isLost() bool { return w.load(supersededAt) == lost && !isNobodys(w.mem.bytes) }

// identityOf is the list's, as a UUID.
func identityOf(page []byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", page[32:36], page[36:38], page[38:40], page[40:42], page[42:48])
}

// health is what the follower says of its looks, and what one that is no more can't say.
func (w *followed) health(s *Status) {
	b := w.mem.bytes
	looked := w.load(lookedAt)
	s.Looked = moment(looked)
	s.Every = duration(w.load(everyAt))
	s.Heartbeat = duration(w.load(heartbeatAt))
	s.Expires = moment(w.load(expiresAt))
	s.Failures = w.load(failuresAt)
	s.Since = moment(w.load(sinceAt))
	s.Reason = ascii(b[wordAt : wordAt+wordBytes])
	s.Message = ascii(b[textAt : textAt+textBytes])
	s.Superseded = w.load(supersededAt) != 0
	if looked == 0 {
		return
	}
	s.Age = time.Since(s.Looked)
	// The clock of the boot is set by nobody.
	then := w.load(lookedBootAt)
	boot := uptime() - time.Duration(then)*time.Microsecond
	if then != 0 && w.place == Here && boot > s.Age {
		s.Age = boot
	}
	switch {
	case s.Reason != "":
	case s.Age < -clockAhead:
		s.Reason, s.Message = "clock", fmt.Sprintf("the last look is %d s in the future", -s.Age/time.Second)
	case s.Every != 0 && s.Age/missedLooks > s.Every:
		s.Reason, s.Message = "old", fmt.Sprintf("no look for %d s", s.Age/time.Second)
	}
}

// ascii is a text up to its first zero byte; bytes that aren't printable become question marks.
func ascii(b []byte) string {
	text, _, _ := bytes.Cut(b, []byte{0})
	text = append([]byte(nil), text...)
	for i, c := range text {
		if c < ' ' || c >= 0x7f {
			text[i] = '?'
		}
	}
	return string(text)
}

// uptime is the time since this boot, by a clock that goes on while the host sleeps; 0 where the system doesn't tell it.
func uptime() time.Duration {
	text, _ := os.ReadFile("/proc/uptime")
	seconds, _, _ := strings.Cut(string(text), " ")
	value, _ := strconv.ParseFloat(seconds, 64)
	return time.Duration(value * float64(time.Second))
}

func moment(microseconds uint64) time.Time {
	if microseconds == 0 || microseconds > 1<<62 {
		return time.Time{}
	}
	return time.UnixMicro(int64(microseconds)).UTC()
}

func duration(microseconds uint64) time.Duration {
	if microseconds > 1<<52 {
		return 0
	}
	return time.Duration(microseconds) * time.Microsecond
}

// printable is a text up to its first zero byte, fit for a log.
func printable(b []byte) string {
	text, _, _ := strings.Cut(string(b), "\x00")
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == 0xfffd {
			return '?'
		}
		return r
	}, text)
}
