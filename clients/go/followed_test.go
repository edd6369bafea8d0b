package bloomfilter

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// page makes a followed file of these filters, with serial 20, saved 15 and born 10.
func page(t *testing.T, filters [][]byte) []byte {
	t.Helper()
	b := make([]byte, pageBytes)
	var parts []*loaded
	for _, filter := range filters {
		p, err := parse(filter, true)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, &loaded{part: p})
		b = append(b, make([]byte, (pageBytes-len(b)%pageBytes)%pageBytes)...)
		at := len(b)
		b = append(b, filter...)
		p.header.at = at
		if filter[4] == 2 {
			continue
		}
		copy(b[at+40:], make([]byte, 8))
		sealHeader(b[at:])
		copy(b[at+checksumAt:], make([]byte, 8))
	}
	put := func(at int, value uint64) { binary.LittleEndian.PutUint64(b[at:], value) }
	copy(b, "BLML")
	binary.LittleEndian.PutUint32(b[4:], pageOf)
	put(8, uint64(len(b)))
	binary.LittleEndian.PutUint32(b[16:], uint32(len(filters)))
	put(24, 5)
	copy(b[32:], strings.Repeat("\xab", 16))
	put(bornAt, 10)
	put(bornSumAt, sumOf(parts, b))
	copy(b[nameAt:], "public.users")
	put(serialAt, 20)
	put(trueAtAt, 1795395655100000)
	now := uint64(time.Now().UnixMicro())
	put(lookedAt, now-5000000)
	put(everyAt, 1000000)
	put(failuresAt, 3)
	copy(b[wordAt:], "no-look")
	copy(b[textAt:], "could not connect\x1b[2J")
	sealPage(b)
	return b
}

// sealPage makes the checksums right again.
func sealPage(b []byte) {
	binary.LittleEndian.PutUint64(b[whoChecksumAt:], hashOf(b[:whoChecksumAt], 0))
	saved := append(append([]byte(nil), b[savedAt:savedChecksumAt]...), b[24:32]...)
	binary.LittleEndian.PutUint64(b[savedChecksumAt:], hashOf(append(saved, b[inodeAt:inodeAt+8]...), 0))
}

// keep writes a file as its follower does: with its own place, or that of a boot before.
func keep(t *testing.T, path string, b []byte, boot string) {
	t.Helper()
	writeFile(t, path+".new", b)
	info, err := os.Stat(path + ".new")
	if err != nil {
		t.Fatal(err)
	}
	device, inode, known := numbersOf(info)
	if !known || thisBoot() == noBoot {
		t.Skip("this system tells no place")
	}
	copy(b[bootAt:], boot)
	binary.LittleEndian.PutUint64(b[deviceAt:], device)
	binary.LittleEndian.PutUint64(b[inodeAt:], inode)
	binary.LittleEndian.PutUint64(b[savedAt:], 15)
	sealPage(b)
	file, err := os.OpenFile(path+".new", os.O_WRONLY, 0)
	if err == nil {
		_, err = file.WriteAt(b, 0)
		file.Close()
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// poke changes a file in place, as a follower does.
func poke(t *testing.T, path string, at int, value ...byte) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_, err = file.WriteAt(value, int64(at))
		file.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func pokeNumber(t *testing.T, path string, at int, value uint64) {
	t.Helper()
	poke(t, path, at, binary.LittleEndian.AppendUint64(nil, value)...)
}

func isIn(t *testing.T, f *Filter, key int64) bool {
	t.Helper()
	found, err := f.ContainsInt64(key)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Every page of the vectors: which rule it breaks, or what it tells where it stands.
func TestPageVectors(t *testing.T) {
	otherBoot := strings.Repeat("b", 16)
	for _, row := range readRows(t, "pages.tsv") {
		t.Run(row["name"], func(t *testing.T) {
			b, path := row.bytes(t, "file_hex"), filepath.Join(t.TempDir(), "f.bloom")
			writeFile(t, path, b)
			if row["word"] != "-" {
				var broken *InvalidFilterError
				if _, err := Open(path); !errors.As(err, &broken) || broken.Rule != row["word"] {
					t.Errorf("got %v", err)
				}
				return
			}
			place := map[string]Place{"here": Here, "boot": OtherBoot, "nobody": NoPlace}[row["where"]]
			if row["where"] == "copy" || row["where"] == "device" {
				place = Copied
			}
			if place != NoPlace {
				put(t, path, b, row["where"], otherBoot)
			}
			f := mustOpen(t, path)
			if s := f.Status(); s.Place != place || fmt.Sprint(s.Serial) != row["told"] {
				t.Errorf("%v, serial %d", s.Place, s.Serial)
			}
			for _, key := range strings.Split(row["keys"], ",") {
				if number, err := strconv.ParseInt(key, 10, 64); err != nil || !isIn(t, f, number) {
					t.Errorf("key %s: %v", key, err)
				}
			}
		})
	}
}

// put makes the page one that stands where the vector says.
func put(t *testing.T, path string, b []byte, where, otherBoot string) {
	t.Helper()
	isSaved := binary.LittleEndian.Uint64(b[savedChecksumAt:]) != 0
	info, err := os.Stat(path)
	device, inode, known := numbersOf(info)
	if err != nil || !known || thisBoot() == noBoot {
		t.Skip("this system tells no place")
	}
	copy(b[bootAt:], thisBoot())
	switch where {
	case "boot":
		copy(b[bootAt:], otherBoot)
	case "device":
		device++
	case "copy":
		inode++
	}
	binary.LittleEndian.PutUint64(b[deviceAt:], device)
	binary.LittleEndian.PutUint64(b[inodeAt:], inode)
	sealPage(b)
	if !isSaved {
		copy(b[savedChecksumAt:], make([]byte, 8))
	}
	poke(t, path, 0, b...)
}

// Another list that is copied over the same inode is another list.
func TestAnotherListInTheSameFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.bloom")
	b := page(t, buildSet(1, 100))
	writeFile(t, path, b)
	w, err := OpenWatched(path)
	if err != nil {
		t.Fatal(err)
	}
	copy(b[nameAt:], "public.others")
	sealPage(b)
	poke(t, path, 0, b...)
	if fresh, err := w.Reload(); !fresh || err != nil || w.Status().List != "public.others" {
		t.Errorf("%v, %v, %s", fresh, err, w.Status().List)
	}
	if fresh, err := w.Reload(); fresh || err != nil {
		t.Errorf("again: %v, %v", fresh, err)
	}
}

// Which serial a file tells depends on where it is.
func TestPlaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.bloom")
	status := func() Status { return mustOpen(t, path).Status() }

	keep(t, path, page(t, buildSet(1, 100)), thisBoot())
	s := status()
	if s.Place != Here || s.Serial != 20 || s.List != "public.users" || s.Failures != 3 ||
		s.Word != "no-look" || s.Text != "could not connect?[2J" || s.Every != time.Second ||
		s.TrueAt.UnixMicro() != 1795395655100000 || s.Identity != "abababab-abab-abab-abab-abababababab" {
		t.Errorf("here: %+v", s)
	}
	if s.Age < 5*time.Second || s.Age > time.Hour {
		t.Errorf("age %v", s.Age)
	}
	// by the numbers of FEED.md, and not by the reader's own
	for i, number := range []uint64{1795395600000000, 0, 4, 2000000, 20000000, 1795395700000000, 1795395500000000} {
		pokeNumber(t, path, 1536+8*i, number)
	}
	s = status()
	if s.Looked.UnixMicro() != 1795395600000000 || s.Failures != 4 || s.Every != 2*time.Second || s.Heartbeat != 20*time.Second ||
		s.Expires.UnixMicro() != 1795395700000000 || s.Since.UnixMicro() != 1795395500000000 {
		t.Errorf("how it goes: %+v", s)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	replace(t, path, whole)
	if s = status(); s.Place != Copied || s.Serial != 10 {
		t.Errorf("a copy: %+v", s)
	}
	keep(t, path, page(t, buildSet(1, 100)), strings.Repeat("b", 16))
	if s = status(); s.Place != OtherBoot || s.Serial != 15 {
		t.Errorf("another boot: %+v", s)
	}
	pokeNumber(t, path, savedAt, 999)
	if s = status(); s.Place != OtherBoot || s.Serial != 10 {
		t.Errorf("saved is torn: %+v", s)
	}
	// a clock that was set back since the look
	pokeNumber(t, path, lookedAt, uint64(time.Now().Add(time.Hour).UnixMicro()))
	if s = status(); s.Age > -time.Minute {
		t.Errorf("age %v", s.Age)
	}
}

// A file that no follower keeps is checked as a filter is.
func TestNobodysFile(t *testing.T) {
	b := page(t, buildSet(3, 500))
	f := mustOpen(t, tempFile(t, "set", b))
	if s := f.Status(); s.Place != NoPlace || s.Serial != 10 {
		t.Errorf("%+v", s)
	}
	for i := int64(0); i < 500; i++ {
		if !isIn(t, f, i) {
			t.Fatal(i)
		}
	}
	b[len(b)-1] ^= 1
	path := tempFile(t, "damaged", b)
	_, err := Open(path)
	checkRule(t, err, "sum")
	mustOpen(t, path, NoVerify())
}

// Every bit of who the file is counts.
func TestDamagedPages(t *testing.T) {
	b := page(t, buildSet(2, 100))
	for bit := 0; bit < (whoChecksumAt+8)*8; bit++ {
		b[bit>>3] ^= 1 << (bit & 7)
		if _, err := Open(writeFile(t, filepath.Join(t.TempDir(), "f"), b)); err == nil {
			t.Errorf("flipped bit %d was accepted", bit)
		}
		b[bit>>3] ^= 1 << (bit & 7)
	}
	for name, change := range map[string]func(b []byte) []byte{
		"cut":           func(b []byte) []byte { return b[:len(b)-1] },
		"one page":      func(b []byte) []byte { return b[:pageBytes-1] },
		"empty":         func(b []byte) []byte { return nil },
		"longer":        func(b []byte) []byte { return append(b, 0) },
		"part's header": func(b []byte) []byte { b[pageBytes+8] ^= 1; return b },
		"most parts":    func(b []byte) []byte { b[16], b[17] = 0xff, 0xff; sealPage(b); return b },
		"no parts":      func(b []byte) []byte { b[16] = 0; sealPage(b); return b },
		"version 1":     func(b []byte) []byte { b[4] = 1; sealPage(b); return b },
	} {
		if _, err := Open(tempFile(t, "f", change(append([]byte(nil), b...)))); err == nil {
			t.Errorf("%s: was accepted", name)
		}
	}
}

// Keys come in while the file is mapped; a copy stays, and a watched one is made anew.
func TestKeysComeIn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.bloom")
	before, after := shape{}.build(integers(0, 100)...), shape{}.build(integers(0, 200)...)
	keep(t, path, page(t, [][]byte{before}), thisBoot())
	mapped, copied := mustOpen(t, path), mustOpen(t, path, Copy())
	watched, err := OpenWatched(path, Copy())
	if err != nil {
		t.Fatal(err)
	}
	missing := int64(100)
	for isIn(t, mapped, missing) {
		missing++
	}
	poke(t, path, pageBytes+headerBytes, after[headerBytes:]...)
	pokeNumber(t, path, serialAt, 21)
	if !isIn(t, mapped, missing) || mapped.Status().Serial != 21 {
		t.Error("the mapped file does not have the new key")
	}
	if isIn(t, copied, missing) || copied.Status().Serial != 20 {
		t.Error("the copy has changed")
	}
	if got := mapped.Info(); got.BitsSet != countBits(after[headerBytes:]) {
		t.Errorf("%d bits are set", got.BitsSet)
	}
	if changed, err := watched.Reload(); !changed || err != nil || !isIn(t, watched.Current(), missing) ||
		watched.Status().Serial != 21 {
		t.Error("the watched copy does not have the new key", changed, err)
	}
}

// A file that another one took the place of is left at once, and kept while that can't be opened.
func TestSuperseded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.bloom")
	keep(t, path, page(t, [][]byte{sound()}), thisBoot())
	watched, err := OpenWatched(path, OnError(func(error) {}))
	if err != nil {
		t.Fatal(err)
	}
	first := watched.Current()
	old := path + ".old"
	if err := os.Link(path, old); err != nil {
		t.Fatal(err)
	}
	next := page(t, [][]byte{shape{blocks: 9}.build(integers(0, 100)...)})
	binary.LittleEndian.PutUint64(next[serialAt:], 30)
	watched.next.Store(time.Now().Add(lookBetween).UnixNano()) // only the word tells
	pokeNumber(t, old, supersededAt, 1)
	if watched.Current() != first {
		t.Error("it was opened again though it is the same file")
	}
	keep(t, path, []byte(next), thisBoot())
	if watched.Current() == first || watched.Status().Serial != 30 {
		t.Error("the new file was not taken at once")
	}
	pokeNumber(t, path, supersededAt, 1)
	replace(t, path, []byte("no filter"))
	if wrong := askAll(watched.Current()); wrong != 0 || !watched.Status().Superseded {
		t.Error("the old file is not kept, or does not say that it is old")
	}
}

func TestBadSets(t *testing.T) {
	good := buildSet(3, 500)
	text, _ := TextKey("x")
	for name, parts := range map[string][][]byte{
		"other seed":     {good[0], shape{part: 1, parts: 3, seed: 5}.build(integers(0, 500)...), good[2]},
		"other parts":    {good[0], shape{part: 1, parts: 4}.build(integers(0, 500)...), good[2]},
		"other key type": {good[0], shape{part: 1, parts: 3}.build(text), good[2]},
		"part twice":     {good[0], good[0], good[2]},
		"whole filter":   {good[0], sound(), good[2]},
		"part missing":   good[:2],
		"none":           nil,
	} {
		var set *InvalidSetError
		if _, err := FromParts(parts); !errors.As(err, &set) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestEmptyPartTakesTheSetsType(t *testing.T) {
	files := buildSet(3, 500)
	files[1] = shape{part: 1, parts: 3}.build()
	f := mustParts(t, files)
	if _, err := f.ContainsString("x"); f.KeyType() != Integer || err == nil {
		t.Errorf("key type %s", f.KeyType())
	}
}

func TestSinglePart(t *testing.T) {
	f := mustParse(t, buildSet(3, 500)[1])
	refused := 0
	for i := int64(0); i < 500; i++ {
		found, err := f.ContainsInt64(i)
		var part *PartError
		if errors.As(err, &part) {
			refused++
		} else if !found || err != nil {
			t.Fatal(i, found, err)
		}
	}
	if refused < 250 || refused > 420 {
		t.Errorf("%d of 500 keys are of other parts", refused)
	}
}
