package bloomfilter

import (
	"encoding/hex"
	"errors"
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func checkBytes(t *testing.T, key Key, err error, want string) {
	t.Helper()
	if got := hex.EncodeToString(key.AppendTo(nil)); err != nil || got != want {
		t.Errorf("bytes %s, not %s; error %v", got, want, err)
	}
}

// What the texts of the vectors don't have.
func TestTypedValues(t *testing.T) {
	east := time.FixedZone("east", 5*3600+1800)
	checkBytes(t, FloatKey(-math.NaN()), nil, "000000000000f87f")
	key, err := DateKey(time.Date(2000, 1, 1, 0, 0, 0, 0, east))
	checkBytes(t, key, err, "cd2a000000000000")
	key, err = TimestampKey(time.Date(2024, 2, 29, 12, 34, 56, 500000000, east))
	checkBytes(t, key, err, "20fda57c84120600")
	key, err = TimestamptzKey(time.Date(1970, 1, 1, 5, 30, 0, 1000, east))
	checkBytes(t, key, err, "0100000000000000")
}

func TestDescribe(t *testing.T) {
	text, _ := TextKey("x")
	empty, _ := TextKey(" ")
	pair, _ := RowKey(IntegerKey(7), text)
	for want, key := range map[string]Key{
		"integer 2a00000000000000": IntegerKey(42),
		"text -":                   empty,
		"row 01080000000700000000000000020100000078": pair,
	} {
		if got := key.Describe(); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}

func TestBlanksAtTheEnd(t *testing.T) {
	for _, text := range []string{"", "größe", strings.Repeat("é", 300)} {
		key, err := TextKey(text)
		if err != nil {
			t.Fatal(err)
		}
		f := mustParse(t, shape{}.build(key))
		for _, padded := range []string{text, text + " ", text + strings.Repeat(" ", 300)} {
			if raw, err := RawKey(Text, []byte(padded)); err != nil || raw != key {
				t.Errorf("%q is another key; error %v", padded, err)
			}
			many := make([]bool, 1)
			batchErr := f.ContainsManyString([]string{padded}, many)
			if one, err := f.ContainsString(padded); err != nil || batchErr != nil || !one || !many[0] {
				t.Errorf("false for %q: %v, %v; errors %v, %v", padded, one, many[0], err, batchErr)
			}
		}
	}
}

func TestValuesWithoutKeyBytes(t *testing.T) {
	noon := time.Date(2024, 1, 31, 12, 0, 0, 0, time.UTC)
	fine := time.Date(2024, 1, 31, 0, 0, 0, 1, time.UTC)
	old := time.Date(-4713, 11, 23, 0, 0, 0, 0, time.UTC)
	late := time.Date(294277, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, make := range map[string]func() (Key, error){
		"date with clock": func() (Key, error) { return DateKey(noon) },
		"date with nanos": func() (Key, error) { return DateKey(fine) },
		"old date":        func() (Key, error) { return DateKey(old) },
		"late date":       func() (Key, error) { return DateKey(time.Date(5874898, 1, 1, 0, 0, 0, 0, time.UTC)) },
		"nanoseconds":     func() (Key, error) { return TimestampKey(fine) },
		"nanoseconds tz":  func() (Key, error) { return TimestamptzKey(fine) },
		"old timestamp":   func() (Key, error) { return TimestampKey(old) },
		"late timestamp":  func() (Key, error) { return TimestamptzKey(late) },
		"no address":      func() (Key, error) { return AddrKey(netip.Addr{}) },
		"no prefix":       func() (Key, error) { return PrefixKey(netip.Prefix{}) },
		"zone":            func() (Key, error) { return AddrKey(netip.MustParseAddr("fe80::1%eth0")) },
		"long MAC":        func() (Key, error) { return MACKey(make([]byte, 20)) },
		"no MAC":          func() (Key, error) { return MACKey(nil) },
	} {
		t.Run(name, func(t *testing.T) {
			var keyErr *KeyValueError
			if _, err := make(); !errors.As(err, &keyErr) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// A million digits are refused, and 131,072 read, without being divided.
func TestNumerics(t *testing.T) {
	zeros := strings.Repeat("0", 131071)
	for text, want := range map[string]string{
		"-0.0": "0", "-00.00": "0", "001.10": "1.1", "-00.10": "-0.1", "-007.0": "-7", "-10.01000": "-10.01",
		"1" + zeros: "1" + zeros, "0." + zeros[:16382] + "1": "0." + zeros[:16382] + "1",
	} {
		key, err := NumericKey(text)
		checkBytes(t, key, err, hex.EncodeToString([]byte(want)))
	}
	for _, text := range []string{"1.", ".5", "+1", "1e3", "nan", "inf", "1" + zeros + "0", "0." + zeros[:16383] + "1",
		strings.Repeat("9", 1000000)} {
		var keyErr *KeyValueError
		if _, err := NumericKey(text); !errors.As(err, &keyErr) {
			t.Errorf("%q: error %v", text, err)
		}
	}
}

func TestRows(t *testing.T) {
	number := IntegerKey(7)
	pair, err := RowKey(number, number)
	if err != nil || pair.Type().String() != "row(integer, integer)" {
		t.Errorf("type %s, error %v", pair.Type(), err)
	}
	for _, columns := range [][]Key{nil, {pair}, {{}}, {number, number, number, number, number, number, number}} {
		var keyErr *KeyValueError
		if _, err := RowKey(columns...); !errors.As(err, &keyErr) {
			t.Errorf("%d columns: error %v", len(columns), err)
		}
	}
}

func TestBatchErrors(t *testing.T) {
	text, _ := TextKey("x")
	f := mustParse(t, shape{}.build(text))
	keys := make([]string, 40)
	keys[35] = "\xff"
	var batch *BatchError
	if err := f.ContainsManyString(keys, make([]bool, 40)); !errors.As(err, &batch) || batch.Index != 35 {
		t.Errorf("error %v", err)
	}
	if err := f.ContainsManyInt64([]int64{1}, make([]bool, 1)); err == nil {
		t.Error("integers in a filter of texts")
	}
	mixed := []Key{text, IntegerKey(1)}
	if err := f.ContainsMany(mixed, make([]bool, 2)); !errors.As(err, &batch) || batch.Index != 1 {
		t.Errorf("error %v", err)
	}
	if _, err := f.Contains(Key{}); err == nil {
		t.Error("the zero Key was answered")
	}
}

func TestNoAllocations(t *testing.T) {
	text, _ := TextKey("some text")
	number, _ := NumericKey("1.50")
	filters := []*Filter{
		mustOpen(t, tempFile(t, "x", sound())), mustParse(t, shape{}.build(text)), mustParse(t, shape{}.build(number)),
	}
	keys, found := make([]int64, 1000), make([]bool, 1000)
	texts := make([]string, 1000)
	for name, ask := range map[string]func(){
		"integer":       func() { filters[0].ContainsInt64(5) },
		"integer batch": func() { filters[0].ContainsManyInt64(keys, found) },
		"text":          func() { filters[1].ContainsString("some text") },
		"text batch":    func() { filters[1].ContainsManyString(texts, found) },
		"numeric":       func() { key, _ := NumericKey("-17.50"); filters[2].Contains(key) },
	} {
		if count := testing.AllocsPerRun(100, ask); count != 0 {
			t.Errorf("%s: %v allocations", name, count)
		}
	}
}

func TestRawBytesOfNoKey(t *testing.T) {
	for i, c := range []struct {
		keyType KeyType
		bytes   string
	}{
		{Numeric, "1.50"}, {Numeric, "01"}, {Numeric, "-0"}, {Numeric, ""}, {Numeric, "1\n"},
		{Integer, "\x2a\x00\x00\x00"}, {UUID, "short"}, {Text, "\xff"}, {Float, "\x00\x00\x00\x00\x00\x00\x00\x80"},
		{Inet, "\x04\x21\x01\x02\x03\x04"}, {Inet, "\x05\x20\x01\x02\x03\x04"}, {Macaddr, "12345"},
		{Macaddr, "abc\xff\xfeabc"}, {None, ""}, {row, "\x01\x08\x00\x00\x00"},
		{RowType(Integer), "\x02\x01\x00\x00\x00a"}, {RowType(Integer), "\x01\xff\xff\xff\xffabcdefgh"},
		{RowType(Text), "\x02\x02\x00\x00\x00a "},
	} {
		var keyErr *KeyValueError
		if _, err := RawKey(c.keyType, []byte(c.bytes)); !errors.As(err, &keyErr) {
			t.Errorf("%d: %v", i, err)
		}
	}
}
