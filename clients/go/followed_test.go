package bloomfilter

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// vectorFile is the file of a row of pages.tsv, of which that of one part has the integers 1 to 5, or of tables.tsv.
func vectorFile(t *testing.T, vectors, name string) []byte {
	t.Helper()
	for _, row := range readRows(t, vectors) {
		if row["name"] == name {
			return row.bytes(t, "file_hex")
		}
	}
	t.Fatalf("%s has no row %s", vectors, name)
	return nil
}

func vectorPage(t *testing.T, name string) []byte { return vectorFile(t, "pages.tsv", name) }

// sealPage makes the checksums right again.
func sealPage(b []byte) {
	binary.LittleEndian.PutUint64(b[whoChecksumAt:], hashOf(b[:whoChecksumAt], 0))
	saved := append(append([]byte(nil), b[savedAt:savedChecksumAt]...), b[24:32]...)
	binary.LittleEndian.PutUint64(b[savedChecksumAt:], hashOf(append(saved, b[inodeAt:inodeAt+8]...), 0))
}

// keep puts a file where the vectors say that its reader stands: here is where its follower keeps it.
func keep(t *testing.T, path string, b []byte, where string) {
	t.Helper()
	info, err := os.Stat(writeFile(t, path+".new", b))
	if err != nil {
		t.Fatal(err)
	}
	device, inode, known := numbersOf(info)
	boot := thisBoot()
	if !known || boot == noBoot {
		t.Skip("this system tells no place")
	}
	switch where {
	case "boot":
		boot = strings.Repeat("b", 16)
	case "device":
		device++
	case "copy":
		inode++
	}
	copy(b[bootAt:], boot)
	binary.LittleEndian.PutUint64(b[deviceAt:], device)
	binary.LittleEndian.PutUint64(b[inodeAt:], inode)
	isSaved := load64(b, savedChecksumAt) != 0
	sealPage(b)
	if !isSaved {
		copy(b[savedChecksumAt:], make([]byte, 8))
	}
	if err := os.Rename(writeFile(t, path+".new", b), path); err != nil {
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
	places := map[string]Place{"here": Here, "boot": OtherBoot, "nobody": NoPlace, "copy": Copied, "device": Copied}
	for _, row := range readRows(t, "pages.tsv") {
		t.Run(row["name"], func(t *testing.T) {
			b := row.bytes(t, "file_hex")
			path := tempFile(t, "f.bloom", b)
			if row["word"] != "-" {
				if row["where"] != "-" && row["where"] != "nobody" {
					keep(t, path, b, row["where"])
				}
				_, err := Open(path)
				checkRule(t, err, row["word"])
				if row["word"] == "sum" {
					mustOpen(t, path, NoVerify())
				}
				return
			}
			place := places[row["where"]]
			if place != NoPlace {
				keep(t, path, b, row["where"])
			}
			for _, options := range [][]Option{nil, {Copy()}} {
				f := mustOpen(t, path, options...)
				s := f.Status()
				if s.Place != place || fmt.Sprint(s.Serial) != row["told"] {
					t.Errorf("%v, serial %d", s.Place, s.Serial)
				}
				if trueAt := s.TrueAt.UnixMicro(); s.TrueAt.IsZero() != (row["true_at"] == "0") || !s.TrueAt.IsZero() && fmt.Sprint(trueAt) != row["true_at"] {
					t.Errorf("true at %v, not %s", s.TrueAt, row["true_at"])
				}
				if s.Reason != row["reason"] || row["message"] != "" && s.Message != row["message"] {
					t.Errorf("%q, %q, not %q, %q", s.Reason, s.Message, row["reason"], row["message"])
				}
				for _, key := range numbersIn(t, row["keys"]) {
					if !isIn(t, f, key) {
						t.Errorf("key %d is not in", key)
					}
				}
				// Those that an exact list knows and that are no members.
				for key := int64(1000); strings.HasPrefix(row["name"], "exact") && key < 1600; key++ {
					if isIn(t, f, key) {
						t.Errorf("key %d is in", key)
					}
				}
			}
		})
	}
}

// Another list that is copied over the same inode, or bits that its follower found to be others than they should
// be, are an error until the follower has made a new file.
func TestOverwrittenOrLost(t *testing.T) {
	for name, harm := range map[string]func(string){
		"overwritten": func(path string) {
			other := vectorPage(t, "here")
			copy(other[nameAt:], "others")
			copy(other[pageBytes+headerBytes:], make([]byte, 640))
			sealPage(other)
			poke(t, path, 0, other...)
		},
		"lost": func(path string) {
			pokeNumber(t, path, supersededAt, lost)
			_, err := Open(path)
			checkRule(t, err, "lost")
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f.bloom")
			b := vectorPage(t, "here")
			keep(t, path, b, "here")
			mapped := mustWatch(t, path, OnError(func(error) {}))
			watched := []*WatchedFilter{mapped}
			if name == "overwritten" {
				watched = append(watched, mustWatch(t, path, Copy(), OnError(func(error) {})))
			}
			harm(path)
			var changed *ChangedFileError
			for _, w := range watched {
				if fresh, err := w.Reload(); fresh || !errors.As(err, &changed) {
					t.Errorf("%v, %v", fresh, err)
				}
			}
			if _, err := mapped.Current().ContainsInt64(1); !errors.As(err, &changed) {
				t.Errorf("a look-up: %v", err)
			}
			if err := mapped.Current().ContainsManyInt64([]int64{1}, make([]bool, 1)); !errors.As(err, &changed) {
				t.Errorf("a batch: %v", err)
			}
			if s := mapped.Status(); s.Reason != "damaged" || s.List != "" {
				t.Errorf("%+v", s)
			}
			for _, copied := range watched[1:] {
				if !isIn(t, copied.Current(), 1) {
					t.Error("the copy has lost a key")
				}
			}
			keep(t, path, b, "here")
			for _, w := range watched {
				if fresh, err := w.Reload(); !fresh || err != nil || !isIn(t, w.Current(), 1) {
					t.Errorf("the new file: %v, %v", fresh, err)
				}
			}
		})
	}
}

func TestIdentity(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.bloom")
	b := vectorPage(t, "here")
	keep(t, path, b, "here")
	w := mustWatch(t, path, Identity("0F8FAD5B-d9cb-469f-a165-70867728950e"), OnError(func(error) {}))
	b[32]++
	sealPage(b)
	keep(t, path, b, "here")
	_, err := w.Reload()
	checkRule(t, err, "identity")
	if !isIn(t, w.Current(), 1) || w.Status().Identity != "0f8fad5b-d9cb-469f-a165-70867728950e" {
		t.Errorf("%+v", w.Status())
	}
	_, err = Open(tempFile(t, "g.bloom", sound()), Identity("0f8fad5b-d9cb-469f-a165-70867728950e"))
	checkRule(t, err, "identity")
}

func TestStatus(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.bloom")
	keep(t, path, vectorPage(t, "here"), "here")
	// by the numbers of FEED.md, and not by the reader's own
	for i, number := range []uint64{1795395600000000, 0, 4, 2000000, 20000000, 1795395700000000, 1795395500000000} {
		pokeNumber(t, path, 1536+8*i, number)
	}
	poke(t, path, 1592, []byte("no-look")...)
	poke(t, path, 1608, []byte("could not connect\x1b[2J")...)
	pokeNumber(t, path, 536, 1795395655100000)
	s := mustOpen(t, path).Status()
	if s.List != "public.users_filter" || s.Reason != "no-look" || s.Message != "could not connect?[2J" ||
		s.Identity != "0f8fad5b-d9cb-469f-a165-70867728950e" || s.TrueAt.UnixMicro() != 1795395655100000 ||
		s.Looked.UnixMicro() != 1795395600000000 || s.Failures != 4 || s.Every != 2*time.Second || s.Heartbeat != 20*time.Second ||
		s.Expires.UnixMicro() != 1795395700000000 || s.Since.UnixMicro() != 1795395500000000 {
		t.Errorf("%+v", s)
	}
	// the second by a clock that was set back since the look
	for _, age := range []time.Duration{5 * time.Second, -time.Hour} {
		pokeNumber(t, path, lookedAt, uint64(time.Now().Add(-age).UnixMicro()))
		if s := mustOpen(t, path).Status(); s.Age < age || s.Age > age+time.Minute {
			t.Errorf("age %v, not %v", s.Age, age)
		}
	}
}

// Keys come in while the file is mapped; a copy stays, and a watched one is made anew.
func TestKeysComeIn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.bloom")
	b := vectorPage(t, "here")
	keep(t, path, b, "here")
	mapped, copied := mustOpen(t, path), mustOpen(t, path, Copy())
	watched := mustWatch(t, path, Copy())
	before := copied.Status().Serial
	blocks := bytes.Repeat([]byte{0xff}, len(b)-pageBytes-headerBytes)
	poke(t, path, pageBytes+headerBytes, blocks...)
	pokeNumber(t, path, serialAt, before+1)
	if !isIn(t, mapped, 6) || mapped.Status().Serial != before+1 {
		t.Error("the mapped file does not have the new key")
	}
	if isIn(t, copied, 6) || copied.Status().Serial != before {
		t.Error("the copy has changed")
	}
	if got := mapped.Info(); got.BitsSet != countBits(blocks) {
		t.Errorf("%d bits are set", got.BitsSet)
	}
	if changed, err := watched.Reload(); !changed || err != nil || !isIn(t, watched.Current(), 6) ||
		watched.Status().Serial != before+1 {
		t.Error("the watched copy does not have the new key", changed, err)
	}
	if err := os.Truncate(path, 0); err != nil || mapped.Status().Reason != "damaged" || mapped.isSuperseded() {
		t.Error("a file that was cut short tells something", err)
	}
}

// A file that another one took the place of is left at once, and kept while that can't be opened.
func TestSuperseded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.bloom")
	b := vectorPage(t, "here")
	keep(t, path, b, "here")
	watched := mustWatch(t, path, OnError(func(error) {}))
	first := watched.Current()
	old := path + ".old"
	if err := os.Link(path, old); err != nil {
		t.Fatal(err)
	}
	watched.next.Store(time.Now().Add(lookBetween).UnixNano()) // only the word tells
	pokeNumber(t, old, supersededAt, 1)
	if watched.Current() != first {
		t.Error("it was opened again though it is the same file")
	}
	binary.LittleEndian.PutUint64(b[serialAt:], 30)
	keep(t, path, b, "here")
	if watched.Current() == first || watched.Status().Serial != 30 {
		t.Error("the new file was not taken at once")
	}
	pokeNumber(t, path, supersededAt, 1)
	replace(t, path, []byte("no filter"))
	if !isIn(t, watched.Current(), 1) || !watched.Status().Superseded {
		t.Error("the old file is not kept, or does not say that it is old")
	}
}

func TestSets(t *testing.T) {
	info := mustOpen(t, tempFile(t, "f.bloom", vectorPage(t, "here_pair"))).Info()
	if info.Parts != 2 || len(info.Filters) != 2 || info.Filters[1].Part != 1 || info.Checksum != "f1b2a5fbdc00231d" {
		t.Errorf("%+v", info)
	}
}
