package bloomfilter

import (
	"encoding/binary"
	"encoding/hex"
	"path/filepath"
	"strings"
	"testing"
)

// keysOf reads a list of keys of the vectors.
func keysOf(t *testing.T, r vector, column string) (keys []Key) {
	t.Helper()
	if r[column] == "-" {
		return nil
	}
	for _, text := range strings.Split(r[column], ",") {
		b, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		keyType := Integer
		if r["key_type"] == "2" {
			keyType = Text
		}
		key, err := RawKey(keyType, b)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	return keys
}

// answers counts the keys that get another answer, one by one and in a batch.
func wrongAnswers(t *testing.T, f *Filter, keys []Key, want bool) (wrong int) {
	t.Helper()
	found := make([]bool, len(keys))
	if err := f.ContainsMany(keys, found); err != nil && len(keys) > 0 {
		t.Fatal(err)
	}
	for i, key := range keys {
		is, err := f.Contains(key)
		if err != nil || is != want || found[i] != want {
			wrong++
		}
		if key.Type() == Integer {
			is, err = f.ContainsInt64(int64(binary.LittleEndian.Uint64(key.AppendTo(nil))))
		} else {
			is, err = f.ContainsString(string(key.AppendTo(nil)))
		}
		if err != nil || is != want {
			wrong++
		}
	}
	return wrong
}

func TestExactVectors(t *testing.T) {
	valid := 0
	for _, r := range readRows(t, "exact.tsv") {
		b := r.bytes(t, "filter_hex")
		if r["word"] != "-" {
			_, err := FromBytes(b)
			checkRule(t, err, r["word"])
			_, err = Open(tempFile(t, "broken.bloom", b))
			checkRule(t, err, r["word"])
			continue
		}
		valid++
		path := filepath.Join(t.TempDir(), "followed.bloom")
		filters := []*Filter{mustParse(t, b), mustOpen(t, tempFile(t, "mapped.bloom", b))}
		if !strings.HasPrefix(r["name"], "part_") {
			keep(t, path, page(t, [][]byte{b}), thisBoot())
			filters = append(filters, mustOpen(t, path), mustOpen(t, path, Copy()), mustOpen(t, tempFile(t, "set", page(t, [][]byte{b}))))
		}
		for i, f := range filters {
			wrong := wrongAnswers(t, f, keysOf(t, r, "members_hex"), true) +
				wrongAnswers(t, f, keysOf(t, r, "others_hex"), false) + wrongAnswers(t, f, keysOf(t, r, "strangers_hex"), false)
			if info := f.Info(); wrong != 0 || info.FormatVersion != 2 || info.Bytes != uint64(len(b)) {
				t.Errorf("%s, opened in way %d: %d wrong answers, %+v", r["name"], i, wrong, info)
			}
		}
	}
	if valid < 10 {
		t.Errorf("only %d valid filters", valid)
	}
}
