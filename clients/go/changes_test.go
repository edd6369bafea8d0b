package bloomfilter

import (
	"encoding/binary"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func numbersIn(t *testing.T, list string) (numbers []int64) {
	t.Helper()
	for _, text := range strings.Split(strings.TrimPrefix(list, "-"), ",") {
		if text == "" {
			continue
		}
		number, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, number)
	}
	return numbers
}

func TestTableVectors(t *testing.T) {
	for _, row := range readRows(t, "tables.tsv") {
		t.Run(row["name"], func(t *testing.T) {
			b := row.bytes(t, "file_hex")
			path := filepath.Join(t.TempDir(), "f.bloom")
			keep(t, path, b, "here")
			if row["word"] != "-" {
				_, err := Open(path)
				checkRule(t, err, row["word"])
				return
			}
			for _, options := range [][]Option{nil, {Copy()}} {
				f := mustOpen(t, path, options...)
				if f.Status().Changes != binary.LittleEndian.Uint64(b[608:]) {
					t.Errorf("%d changes", f.Status().Changes)
				}
				for want, column := range map[bool]string{true: "keys", false: "absent"} {
					for _, number := range numbersIn(t, row[column]) {
						found := []bool{!want}
						err := f.ContainsManyInt64([]int64{number}, found)
						if one, _ := f.Contains(IntegerKey(number)); err != nil || isIn(t, f, number) != want || one != want || found[0] != want {
							t.Errorf("key %d: not %v, %v", number, want, err)
						}
					}
				}
				if row["errors"] == "-" {
					checkMany(t, f)
				}
				for _, number := range numbersIn(t, row["errors"]) {
					var damage *ChangesError
					if _, err := f.ContainsInt64(number); !errors.As(err, &damage) {
						t.Errorf("key %d: %v", number, err)
					}
					if err := f.ContainsManyInt64([]int64{number}, make([]bool, 1)); !errors.As(err, &damage) {
						t.Errorf("key %d of a batch: %v", number, err)
					}
				}
			}
		})
	}
}

// checkMany compares a batch, whose keys wait for memory together, with its keys one by one.
func checkMany(t *testing.T, f *Filter) {
	t.Helper()
	keys, found := make([]int64, 100), make([]bool, 100)
	for i := range keys {
		keys[i] = int64(i)
	}
	if err := f.ContainsManyInt64(keys, found); err != nil {
		t.Error(err)
	}
	for i, key := range keys {
		if found[i] != isIn(t, f, key) {
			t.Errorf("key %d of a batch: %v", key, found[i])
		}
	}
}

// A change that comes in is known at once, and to a watched copy at its next look.
func TestChangesComeIn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.bloom")
	after := vectorFile(t, "tables.tsv", "changed")
	keep(t, path, vectorFile(t, "tables.tsv", "empty_table"), "here")
	mapped, copied, watched := mustOpen(t, path), mustOpen(t, path, Copy()), mustWatch(t, path, Copy())
	table := len(after) - (slotBytes+1)<<10
	poke(t, path, table, after[table:]...)
	if !isIn(t, mapped, 1) {
		t.Error("the table is read before it counts")
	}
	pokeNumber(t, path, tableTo, 1<<60)
	pokeNumber(t, path, tableCount, 4)
	if isIn(t, mapped, 1) || !isIn(t, mapped, 2) || mapped.Status().Changes != 4 {
		t.Error("the change is not known")
	}
	if !isIn(t, copied, 1) || copied.Status().Changes != 0 {
		t.Error("the copy has changed")
	}
	if fresh, err := watched.Reload(); !fresh || err != nil || isIn(t, watched.Current(), 1) {
		t.Error("the watched copy does not have the change", fresh, err)
	}
	text, _ := TextKey("1")
	var other *KeyTypeError
	if _, err := mapped.Contains(text); !errors.As(err, &other) {
		t.Errorf("a key of another type: %v", err)
	}
}
