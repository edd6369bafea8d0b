package bloomfilter

import (
	"encoding/hex"
	"errors"
	"math"
	"math/rand"
	"net"
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

func TestTypedValues(t *testing.T) {
	east := time.FixedZone("east", 5*3600+1800)
	checkBytes(t, IntegerKey(-1), nil, "ffffffffffffffff")
	checkBytes(t, FloatKey(math.Copysign(0, -1)), nil, "0000000000000000")
	checkBytes(t, FloatKey(-math.NaN()), nil, "000000000000f87f")
	checkBytes(t, UUIDKey([16]byte{1, 2, 15: 16}), nil, "01020000000000000000000000000010")

	key, err := DateKey(time.Date(2000, 1, 1, 0, 0, 0, 0, east))
	checkBytes(t, key, err, "cd2a000000000000")
	key, err = TimestampKey(time.Date(2024, 2, 29, 12, 34, 56, 500000000, east))
	checkBytes(t, key, err, "20fda57c84120600")
	key, err = TimestamptzKey(time.Date(1970, 1, 1, 5, 30, 0, 1000, east))
	checkBytes(t, key, err, "0100000000000000")
	key, err = AddrKey(netip.MustParseAddr("10.0.0.1"))
	checkBytes(t, key, err, "04200a000001")
	key, err = AddrKey(netip.MustParseAddr("::ffff:1.2.3.4"))
	checkBytes(t, key, err, "068000000000000000000000ffff01020304")
	key, err = PrefixKey(netip.MustParsePrefix("10.0.0.1/8"))
	checkBytes(t, key, err, "04080a000001")
	key, err = MACKey(net.HardwareAddr{8, 0, 0x2b, 0xff, 0xfe, 1, 2, 3})
	checkBytes(t, key, err, "08002b010203")
}

func TestBlanksAtTheEnd(t *testing.T) {
	for _, text := range []string{"", "ab", "größe", "\U0001f600", strings.Repeat("é", 300)} {
		key, err := TextKey(text)
		if err != nil {
			t.Fatal(err)
		}
		row, err := RowKey(key, IntegerKey(7))
		if err != nil {
			t.Fatal(err)
		}
		f := mustParse(t, shape{keyType: Text}.build(key))
		rows := mustParse(t, shape{keyType: RowType(Text, Integer)}.build(row))
		for _, blanks := range []int{0, 1, 7, 300} {
			padded := text + strings.Repeat(" ", blanks)
			raw, rawErr := RawKey(Text, []byte(padded))
			own, ownErr := TextKey(padded)
			paddedRow, rowErr := RowKey(own, IntegerKey(7))
			if rawErr != nil || ownErr != nil || rowErr != nil ||
				raw != key || own != key || paddedRow != row {
				t.Errorf("%q and %d blanks is another key", text, blanks)
			}
			found := make([]bool, 1)
			if err := f.ContainsManyString([]string{padded}, found); err != nil || !found[0] {
				t.Errorf("a batch returns false for %q and %d blanks; error %v", text, blanks, err)
			}
			if found, err := f.ContainsString(padded); err != nil || !found {
				t.Errorf("false for %q and %d blanks; error %v", text, blanks, err)
			}
			if found, err := rows.Contains(paddedRow); err != nil || !found {
				t.Errorf("false for a row with %q and %d blanks; error %v", text, blanks, err)
			}
		}
	}
}

func TestOnlyBlanksAndOnlyOfTexts(t *testing.T) {
	a, _ := TextKey("a")
	f := mustParse(t, shape{keyType: Text}.build(a))
	for _, other := range []string{" a", "a\t", "a\r", "a\n", "a \t", "a\u00a0", "a\u2002", "a\u3000", "a\v "} {
		if found, err := f.ContainsString(other); err != nil || found {
			t.Errorf("%q is found; error %v", other, err)
		}
	}
	one, _ := ByteaKey([]byte("a"))
	two, _ := ByteaKey([]byte("a "))
	if one == two {
		t.Error("bytea loses a blank")
	}
	if _, err := RawKey(RowType(Text), []byte{2, 2, 0, 0, 0, 'a', ' '}); err == nil {
		t.Error("a row's text with a blank at its end is taken")
	}
}

func TestValuesWithoutKeyBytes(t *testing.T) {
	noon := time.Date(2024, 1, 31, 12, 0, 0, 0, time.UTC)
	fine := time.Date(2024, 1, 31, 0, 0, 0, 1, time.UTC)
	old := time.Date(-4713, 11, 23, 0, 0, 0, 0, time.UTC)
	late := time.Date(294277, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, make := range map[string]func() (Key, error){
		"broken UTF-8":    func() (Key, error) { return TextKey("a\xff") },
		"surrogate":       func() (Key, error) { return TextKey("\xed\xa0\x80") },
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

func TestNumericSpellings(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "-0": "0", "0.00": "0", "-0.0": "0", "-00.00": "0", "1.50": "1.5", "001.10": "1.1",
		"-00.10": "-0.1", "-0.5": "-0.5", "-007": "-7", "-007.0": "-7", "1000": "1000", "100.00": "100",
		"NaN": "NaN", "Infinity": "Infinity", "-Infinity": "-Infinity", "00": "0", "-5": "-5", "0.001": "0.001",
		"1" + strings.Repeat("0", 131071):       "1" + strings.Repeat("0", 131071),
		"0." + strings.Repeat("0", 16382) + "1": "0." + strings.Repeat("0", 16382) + "1",
		"-10.01000":                             "-10.01",
	} {
		key, err := NumericKey(text)
		checkBytes(t, key, err, hex.EncodeToString([]byte(want)))
	}
}

func TestBadNumerics(t *testing.T) {
	for _, text := range []string{"", "-", ".", "1.", ".5", "+1", "1e3", "e5", "1 ", "0x10", "--1", "1.2.3", "1_0",
		"nan", "-NaN", "inf", "1" + strings.Repeat("0", 131072), "0." + strings.Repeat("0", 16383) + "1"} {
		var keyErr *KeyValueError
		if _, err := NumericKey(text); !errors.As(err, &keyErr) {
			t.Errorf("%q: error %v", text, err)
		}
	}
}

// Each typed method finds its key in a filter of its type, and any other filter
// refuses it.
func TestEachTypeInEachFilter(t *testing.T) {
	day := time.Date(2024, 1, 31, 0, 0, 0, 0, time.UTC)
	addr, prefix := netip.MustParseAddr("::1"), netip.MustParsePrefix("::/0")
	mac, uuid := net.HardwareAddr{1, 2, 3, 4, 5, 6}, [16]byte{1}
	made := func(key Key, err error) Key {
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	keys := []Key{Integer: IntegerKey(7), Text: made(TextKey("")), Bytea: made(ByteaKey(nil)), UUID: UUIDKey(uuid),
		Numeric: made(NumericKey("7")), Float: FloatKey(7), Date: made(DateKey(day)), Timestamp: made(TimestampKey(day)),
		Timestamptz: made(TimestamptzKey(day)), Inet: made(PrefixKey(prefix)), Macaddr: made(MACKey(mac))}
	ask := func(f *Filter, t KeyType) (bool, error) {
		switch t {
		case Integer:
			return f.ContainsInt64(7)
		case Text:
			return f.ContainsString("")
		}
		return f.Contains(keys[t])
	}
	for holds := Integer; holds <= lastKeyType; holds++ {
		f := mustParse(t, shape{}.build(keys[holds]))
		for asked := Integer; asked <= lastKeyType; asked++ {
			found, err := ask(f, asked)
			var typeErr *KeyTypeError
			if asked == holds && (!found || err != nil) {
				t.Errorf("%s: %v, %v", holds, found, err)
			}
			if asked != holds && !errors.As(err, &typeErr) {
				t.Errorf("%s asked for %s: %v, %v", holds, asked, found, err)
			}
		}
	}
	empty := mustParse(t, shape{}.build())
	for asked := Integer; asked <= lastKeyType; asked++ {
		if found, err := ask(empty, asked); found || err != nil {
			t.Errorf("empty filter asked for %s: %v, %v", asked, found, err)
		}
	}
	if _, err := mustParse(t, sound()).Contains(made(AddrKey(addr))); err == nil {
		t.Error("address in a filter of integers")
	}
}

func TestRows(t *testing.T) {
	text, _ := TextKey("x")
	number := IntegerKey(7)
	key, err := RowKey(number, text)
	checkBytes(t, key, err, "01080000000700000000000000"+"020100000078")
	if key.Type() != RowType(Integer, Text) || key.Type().String() != "row(integer, text)" {
		t.Errorf("type %s", key.Type())
	}
	f := mustParse(t, shape{}.build(key))
	if found, err := f.Contains(key); !found || err != nil {
		t.Errorf("%v, %v", found, err)
	}
	other, _ := RowKey(IntegerKey(8), text)
	if found, err := f.Contains(other); found || err != nil {
		t.Errorf("another row: %v, %v", found, err)
	}
	for _, columns := range [][]Key{{number}, {text, number}, {number, text, text}} {
		other, _ := RowKey(columns...)
		var typeErr *KeyTypeError
		if found, err := f.Contains(other); !errors.As(err, &typeErr) {
			t.Errorf("%s: %v, %v", other.Type(), found, err)
		}
	}
	if _, err := f.ContainsInt64(7); err == nil || err.Error() != "bloomfilter holds row(integer, text) keys, not integer" {
		t.Errorf("error %v", err)
	}
	for _, columns := range [][]Key{nil, {key}, {{}}, {number, number, number, number, number, number, number}} {
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

func TestHashOfWords(t *testing.T) {
	random := rand.New(rand.NewSource(4))
	for i := 0; i < 10000; i++ {
		word, seed := random.Uint64(), random.Uint64()
		key := wordKey(Integer, word)
		if hashWord(word, seed) != key.hash(seed) {
			t.Fatalf("word %x, seed %x", word, seed)
		}
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

func TestInfo(t *testing.T) {
	info := mustParts(t, buildSet(3, 500)).Info()
	if info.Parts != 3 || len(info.Filters) != 3 || info.KeyType != Integer || info.N != 3000 {
		t.Errorf("%+v", info)
	}
	one := info.Filters[2]
	if one.Part != 2 || one.Hashes != 7 || one.BlockBits != 512 || one.Blocks != 22 || one.P != 0.01 {
		t.Errorf("%+v", one)
	}
}

// It is the same in all readers and on the command line.
func TestOneChecksumForASet(t *testing.T) {
	first, err := hex.DecodeString(
		"424c4d46010709000100000000000200000000000000000032000000000000007b" +
			"14ae47e17a843f0000000000000000010000007fa7c6555f1e5710152920cf" + strings.Repeat("00", 64))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range readRows(t, "filters.tsv") {
		if r["name"] != "empty_part_1_of_2" {
			continue
		}
		set, err := FromParts([][]byte{first, r.bytes(t, "filter_hex")})
		if err != nil {
			t.Fatal(err)
		}
		info := set.Info()
		got := info.Checksum + info.Filters[0].Checksum + info.Filters[1].Checksum
		if want := "aad0582a58c07fa2" + "cf20291510571e5f" + r["checksum_hex"]; got != want {
			t.Errorf("%s, not %s", got, want)
		}
		return
	}
	t.Error("the vector is missing")
}

func TestRawKeys(t *testing.T) {
	for i, r := range readRows(t, "keys.tsv") {
		keyType := KeyType(r.number(t, "key_type"))
		raw := r.bytes(t, "key_hex")
		if keyType == row {
			columns, ok := columnsOf(raw)
			if !ok {
				t.Errorf("row %d: no columns", i)
			}
			keyType = RowType(columns...)
		}
		if key, err := RawKey(keyType, raw); err != nil || key.hash(1) != hashOf(raw, 1) {
			t.Errorf("row %d: %v", i, err)
		}
	}
	for i, c := range []struct {
		keyType KeyType
		bytes   string
	}{
		{Numeric, "1.50"}, {Numeric, "01"}, {Numeric, "-0"}, {Numeric, ""}, {Numeric, "1\n"},
		{Integer, "\x2a\x00\x00\x00"}, {UUID, "short"}, {Text, "\xff"}, {Float, "\x00\x00\x00\x00\x00\x00\x00\x80"},
		{Inet, "\x04\x21\x01\x02\x03\x04"}, {Inet, "\x05\x20\x01\x02\x03\x04"}, {Macaddr, "12345"},
		{Macaddr, "abc\xff\xfeabc"}, {None, ""}, {row, "\x01\x08\x00\x00\x00"},
		{RowType(Integer), "\x02\x01\x00\x00\x00a"}, {RowType(Integer), "\x01\xff\xff\xff\xffabcdefgh"},
	} {
		var keyErr *KeyValueError
		if _, err := RawKey(c.keyType, []byte(c.bytes)); !errors.As(err, &keyErr) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func TestRealKeys(t *testing.T) {
	if RealKey(0.1) == FloatKey(0.1) || RealKey(0.5) != FloatKey(0.5) {
		t.Error("a real is the float64 that it is widened to")
	}
}

// A million digits are refused, and 131,072 read, without being divided.
func TestLongNumerics(t *testing.T) {
	if _, err := NumericKey(strings.Repeat("9", 1000000)); err == nil {
		t.Error("a million nines are no numeric")
	}
	long := "1" + strings.Repeat("0", 131071)
	if key, err := NumericKey(long); err != nil || key.long != long {
		t.Error(err)
	}
}
