package bloomfilter

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeSet writes a set's files as part-N.bloom and a manifest of this text,
// unless it is empty.
func writeSet(t *testing.T, files [][]byte, manifest string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for i, b := range files {
		// Names whose order is not the parts' order.
		writeFile(t, filepath.Join(folder, fmt.Sprintf("part-%d.bloom", (i+2)%len(files))), b)
	}
	if manifest != "" {
		writeFile(t, filepath.Join(folder, "manifest"), []byte(manifest))
	}
	return folder
}

const goodManifest = "bloomfilter-set 1\npart-2.bloom\npart-0.bloom\npart-1.bloom\n"

func checkWholeSet(t *testing.T, f *Filter) {
	t.Helper()
	keys := make([]int64, 3000)
	for i := range keys {
		keys[i] = int64(i)
	}
	found := make([]bool, len(keys))
	if err := f.ContainsManyInt64(keys, found); err != nil {
		t.Fatal(err)
	}
	perhaps := 0
	for i, key := range keys {
		one, err := f.ContainsInt64(key)
		if err != nil || one != found[i] || i < 500 && !one {
			t.Fatal(i, one, found[i], err)
		}
		if i >= 500 && one {
			perhaps++
		}
	}
	if perhaps > 300 {
		t.Errorf("%d of 2500 absent keys are perhaps there", perhaps)
	}
}

func TestSetByManifestAndFolder(t *testing.T) {
	files := buildSet(3, 500)
	for name, manifest := range map[string]string{
		"manifest": goodManifest, "no newline at the end": strings.TrimSuffix(goodManifest, "\n"),
	} {
		t.Run(name, func(t *testing.T) {
			folder := writeSet(t, files, manifest)
			checkWholeSet(t, mustOpen(t, folder))
			checkWholeSet(t, mustOpen(t, folder, Copy(), NoVerify()))
			if manifest != "" {
				checkWholeSet(t, mustOpen(t, filepath.Join(folder, "manifest")))
			}
		})
	}
}

func TestNotesInManifest(t *testing.T) {
	notes := strings.Replace(goodManifest, "part-0", "# generation 17\npart-0", 1)
	checkWholeSet(t, mustOpen(t, writeSet(t, buildSet(3, 500), notes)))
}

func TestPartOfAnotherBuild(t *testing.T) {
	files := buildSet(3, 500)
	folder := writeSet(t, files, "")
	manifest := "bloomfilter-set 1\n"
	var names []string
	for _, file := range files {
		name := fmt.Sprintf("p.%016x.bloom", binary.LittleEndian.Uint64(file[checksumAt:]))
		writeFile(t, filepath.Join(folder, name), file)
		names = append(names, name)
		manifest += name + "\n"
	}
	writeFile(t, filepath.Join(folder, "manifest"), []byte(manifest))
	checkWholeSet(t, mustOpen(t, folder))
	writeFile(t, filepath.Join(folder, names[1]), buildSet(3, 400)[1])
	if _, err := Open(folder); err == nil || !strings.Contains(err.Error(), "another filter than its name says") {
		t.Error(err)
	}
}

// Without a manifest nothing tells which files are of one build.
func TestFolderNeedsAManifest(t *testing.T) {
	for _, files := range [][][]byte{{sound()}, buildSet(3, 500)} {
		var setErr *InvalidSetError
		if _, err := Open(writeSet(t, files, "")); !errors.As(err, &setErr) {
			t.Error(err)
		}
	}
}

// A set is replaced all the while as bloomfilter_write does it: new names, the
// manifest by rename, then the old parts go. The writer gets one turn an opening and
// saves up one at most, so that an opening meets two changes, never mostAttempts.
func TestSetIsReplacedWhileItIsOpened(t *testing.T) {
	folder := t.TempDir()
	manifest := filepath.Join(folder, "manifest")
	publish := func(generation int) (names []string) {
		lines := "bloomfilter-set 1\n"
		for i, b := range buildSet(8, int64(500+generation%2)) {
			name := fmt.Sprintf("g%d-%d.bloom", generation, i)
			writeFile(t, filepath.Join(folder, name), b)
			names = append(names, name)
			lines += name + "\n"
		}
		if err := os.Rename(writeFile(t, manifest+".next", []byte(lines)), manifest); err != nil {
			t.Error(err)
		}
		return names
	}
	before := publish(0)
	turns := make(chan struct{}, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for generation := 1; generation <= 150; generation++ {
			if _, more := <-turns; !more {
				return
			}
			now := publish(generation)
			for _, name := range before {
				os.Remove(filepath.Join(folder, name))
			}
			before = now
		}
	}()
	defer func() {
		close(turns)
		<-done
	}()
	for {
		select {
		case <-done:
			return
		case turns <- struct{}{}:
		default:
		}
		f, err := Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		if wrong := askAll(f); wrong != 0 {
			t.Fatal(wrong)
		}
	}
}

func TestBadManifests(t *testing.T) {
	files := buildSet(3, 500)
	for name, manifest := range map[string]string{
		"other version":   strings.Replace(goodManifest, "set 1", "set 2", 1),
		"no parts":        "bloomfilter-set 1\n",
		"wrong order":     "bloomfilter-set 1\npart-0.bloom\npart-1.bloom\npart-2.bloom\n",
		"part missing":    "bloomfilter-set 1\npart-2.bloom\npart-0.bloom\n",
		"part twice":      "bloomfilter-set 1\npart-2.bloom\npart-0.bloom\npart-0.bloom\n",
		"too many":        goodManifest + "part-0.bloom\n",
		"file missing":    "bloomfilter-set 1\npart-2.bloom\npart-0.bloom\npart-3.bloom\n",
		"empty line":      goodManifest + "\n",
		"carriage return": strings.ReplaceAll(goodManifest, "\n", "\r\n"),
		"slash":           "bloomfilter-set 1\n./part-2.bloom\npart-0.bloom\npart-1.bloom\n",
		"folder":          "bloomfilter-set 1\n.\npart-0.bloom\npart-1.bloom\n",
		"parent":          "bloomfilter-set 1\n..\npart-0.bloom\npart-1.bloom\n",
		"itself":          "bloomfilter-set 1\nmanifest\npart-0.bloom\npart-1.bloom\n",
		"zero byte":       "bloomfilter-set 1\npart-2.bloom\x00\npart-0.bloom\npart-1.bloom\n",
		"a filter":        string(files[0]),
		"empty":           " ",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Open(writeSet(t, files, manifest)); err == nil {
				t.Error("was opened")
			}
		})
	}
}

func TestBadSets(t *testing.T) {
	const twoParts = "bloomfilter-set 1\npart-0.bloom\npart-1.bloom\n"

	good := buildSet(3, 500)
	text, _ := TextKey("x")
	other := map[string][]byte{
		"other seed":     shape{part: 1, parts: 3, seed: 5}.build(integers(0, 500)...),
		"other parts":    shape{part: 1, parts: 4}.build(integers(0, 500)...),
		"other key type": shape{part: 1, parts: 3}.build(text),
		"part twice":     good[0],
		"whole filter":   sound(),
		"damaged":        good[1][:len(good[1])-1],
	}
	for name, b := range other {
		t.Run(name, func(t *testing.T) {
			if _, err := Open(writeSet(t, [][]byte{good[0], b, good[2]}, goodManifest)); err == nil {
				t.Error("was opened")
			}
		})
	}
	t.Run("part missing", func(t *testing.T) {
		var set *InvalidSetError
		if _, err := Open(writeSet(t, good[:2], twoParts)); !errors.As(err, &set) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("empty folder", func(t *testing.T) {
		if _, err := Open(t.TempDir()); err == nil {
			t.Error("was opened")
		}
	})
	t.Run("folder as part", func(t *testing.T) {
		folder := writeSet(t, good[:2], twoParts+"x.bloom\n")
		if err := os.Mkdir(filepath.Join(folder, "x.bloom"), 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(folder); err == nil {
			t.Error("was opened")
		}
	})
}

func TestEmptyPartTakesTheSetsType(t *testing.T) {
	files := buildSet(3, 500)
	files[1] = shape{part: 1, parts: 3}.build()
	f := mustOpen(t, writeSet(t, files, goodManifest))
	if f.KeyType() != Integer {
		t.Errorf("key type %s", f.KeyType())
	}
	for i := 0; i < 100; i++ {
		if _, err := f.ContainsString(fmt.Sprint(i)); err == nil {
			t.Fatalf("text %d was answered", i)
		}
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
	var batch *BatchError
	if err := f.ContainsManyInt64(make([]int64, 1000), make([]bool, 1000)); err != nil && !errors.As(err, &batch) {
		t.Errorf("error %v", err)
	}
}

// A manifest of many lines is refused by the first part's header, before the other
// files are looked at.
func TestManyLinesInAManifest(t *testing.T) {
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, "p"), sound())
	manifest := filepath.Join(folder, "manifest")
	writeFile(t, manifest, []byte("bloomfilter-set 1\n"+strings.Repeat("p\n", 65535)))
	if s, err := findSource(manifest); err == nil {
		t.Fatalf("%d files were looked at", len(s.files))
	}
	var invalid *InvalidSetError
	if _, err := Open(folder); !errors.As(err, &invalid) {
		t.Error(err)
	}
}
