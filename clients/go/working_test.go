package bloomfilter

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func writeWorking(t *testing.T, folder string, r vector) (path string) {
	t.Helper()
	path = filepath.Join(folder, "f")
	files := strings.Split(r["base_hex"], ",")
	manifest := "bloomfilter-set 1\n"
	for i := range files {
		part := vector{"hex": files[i]}
		name := "f"
		if len(files) > 1 {
			name = "p" + strconv.Itoa(i)
		}
		writeFile(t, filepath.Join(folder, name), part.bytes(t, "hex"))
		manifest += name + "\n"
	}
	if len(files) > 1 {
		writeFile(t, path, []byte(manifest))
	}
	writeFile(t, path+".working", workingOf(t, r))
	return path
}

func workingOf(t *testing.T, r vector) []byte {
	t.Helper()
	if r["working_hex"] == "-" {
		return nil
	}
	b := r.bytes(t, "working_hex")
	if r["boot"] == "this" && len(b) >= 128 {
		copy(b[workingBootAt:], thisBoot())
		if r["word"] != "header_checksum" {
			binary.LittleEndian.PutUint64(b[workingChecksumAt:], hashOf(b[:workingChecksumAt], 0))
		}
	}
	return b
}

func numbers(t *testing.T, text string) (keys []int64) {
	t.Helper()
	for _, word := range strings.Split(strings.Trim(text, "-"), ",") {
		if word != "" {
			key, err := strconv.ParseInt(word, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, key)
		}
	}
	return
}

// count says how many of the keys are found.
func count(t *testing.T, f *Filter, keys []int64) (found int) {
	t.Helper()
	for _, key := range keys {
		if is, err := f.ContainsInt64(key); err != nil {
			t.Fatal(err)
		} else if is {
			found++
		}
	}
	return
}

func workingRow(t *testing.T, name string) vector {
	t.Helper()
	for _, r := range readRows(t, "working.tsv") {
		if r["name"] == name {
			return r
		}
	}
	t.Fatal(name)
	return nil
}

func TestWorkingOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	path := writeWorking(t, t.TempDir(), workingRow(t, "no_bits"))
	planted := path + ".planted"
	if err := os.Rename(path+".working", planted); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(planted, path+".working"); err != nil {
		t.Fatal(err)
	}
	if mustOpen(t, path).working == nil {
		t.Error("what a link of the same user leads to is not taken")
	}
	if err := os.Chown(planted, 65534, -1); err != nil {
		t.Fatal(err)
	}
	f := mustOpen(t, path)
	if f.working != nil {
		t.Error("another user's is taken")
	}
	keys := numbers(t, workingRow(t, "one")["keys"])
	if found := count(t, f, keys); found != len(keys) {
		t.Errorf("%d of %d keys", found, len(keys))
	}
}

func TestWorkingVectors(t *testing.T) {
	for _, r := range readRows(t, "working.tsv") {
		for _, options := range [][]Option{nil, {Copy()}} {
			t.Run(r["name"], func(t *testing.T) {
				path := writeWorking(t, t.TempDir(), r)
				f, err := Open(path, options...)
				if r["word"] != "-" && r["word"] != "file" {
					var bad *InvalidFilterError
					if !errors.As(err, &bad) || bad.Rule != r["word"] {
						t.Fatal(err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				taken := r["word"] == "-"
				if (f.working != nil) != taken {
					t.Error("taken:", !taken)
				}
				keys, fresh := numbers(t, r["keys"]), numbers(t, r["new_keys"])
				if r["name"] != "no_bits" && count(t, f, keys) != len(keys) {
					t.Error("a key of the base is denied")
				}
				if found := count(t, f, fresh); taken && found != len(fresh) || !taken && found != 0 {
					t.Errorf("%d of %d new keys", found, len(fresh))
				}
				if taken && r["name"] != "no_bits" && f.Info().BitsSet == 0 {
					t.Error(f.Info())
				}
			})
		}
	}
}

// What the serial announces is there, while a follower sets bits.
func TestWorkingInPlace(t *testing.T) {
	r := workingRow(t, "no_bits")
	full := workingOf(t, workingRow(t, "one"))
	keys := numbers(t, workingRow(t, "one")["new_keys"])
	path := writeWorking(t, t.TempDir(), r)
	watched, err := OpenWatched(path)
	if err != nil {
		t.Fatal(err)
	}
	if count(t, watched.Current(), keys) != 0 {
		t.Fatal("keys are there before")
	}
	before := watched.Status().Serial
	var wrong atomic.Int64
	var all sync.WaitGroup
	for i := 0; i < 2; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for {
				announced := watched.Status().Serial
				found := 0
				for _, key := range keys {
					if is, err := watched.Current().ContainsInt64(key); err == nil && is {
						found++
					}
				}
				if announced > before {
					wrong.Add(int64(len(keys) - found))
					return
				}
			}
		}()
	}
	file, err := os.OpenFile(path+".working", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for at := workingPage + headerBytes; at < len(full); at++ {
		if _, err := file.WriteAt(full[at:at+1], int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], uint64(before+1))
	if _, err := file.WriteAt(word[:], wordSerial); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	if wrong.Load() != 0 {
		t.Error(wrong.Load(), "keys denied after the serial that has them")
	}
	if changed, err := watched.Reload(); changed || err != nil {
		t.Error(changed, err)
	}
	binary.LittleEndian.PutUint64(word[:], 1)
	if _, err := file.WriteAt(word[:], wordSuperseded); err != nil {
		t.Fatal(err)
	}
	if changed, err := watched.Reload(); !changed || err != nil {
		t.Error("superseded:", changed, err)
	}
	if watched.Current().working != nil || count(t, watched.Current(), numbers(t, r["keys"])) != len(numbers(t, r["keys"])) {
		t.Error("the base is not taken")
	}
}

func TestStatus(t *testing.T) {
	path := tempFile(t, "f.bloom", sound())
	f := mustOpen(t, path)
	if (f.Status() != Status{}) {
		t.Error(f.Status())
	}
	text := "bloomfilter-status 1\nlooked 2026-11-22T01:02:03Z\nchecksum " + f.Info().Checksum +
		"\nlist users\nidentity 0f8fad5b-d9cb-469f-a165-70867728950e\nserial 1795395655123456\n" +
		"built 2026-11-21T01:02:03Z\nfailures 2\nerror no server\nnext_checksum 0000000000000001\nnext_serial 7\n"
	writeFile(t, path+".status", []byte(text))
	s := f.Status()
	if s.List != "users" || s.Serial != 1795395655123456 || s.Failures != 2 || s.Error != "no server" ||
		s.Built.Format("2006-01-02") != "2026-11-21" || s.Looked.Format("15:04:05") != "01:02:03" {
		t.Errorf("%+v", s)
	}
	sum := f.Info().Checksum
	swapped := strings.Replace(text, "\nchecksum "+sum, "\nchecksum 2", 1)
	swapped = strings.Replace(swapped, "0000000000000001", sum, 1)
	writeFile(t, path+".status", []byte(swapped))
	if s := f.Status(); s.Serial != 7 {
		t.Errorf("%+v", s)
	}
}
