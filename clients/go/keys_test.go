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

// What texts of the vectors don't have.
func TestTypedValues(t *testing.T) {
	east := time.FixedZone("east", 5*3600+1800)
	check := func(key Key, err error, want string) {
		t.Helper()
		if got := hex.EncodeToString(key.AppendTo(nil)); err != nil || got != want {
			t.Errorf("bytes %s, not %s; error %v", got, want, err)
		}
	}
	check(FloatKey(-math.NaN()), nil, "000000000000f87f")
	check(FloatKey(math.Copysign(0, -1)), nil, "0000000000000000")
	key, err := DateKey(time.Date(2000, 1, 1, 0, 0, 0, 0, east))
	check(key, err, "cd2a000000000000")
	key, err = TimestampKey(time.Date(2024, 2, 29, 12, 34, 56, 500000000, east))
	check(key, err, "20fda57c84120600")
	key, err = TimestamptzKey(time.Date(1970, 1, 1, 5, 30, 0, 1000, east))
	check(key, err, "0100000000000000")
	key, err = NumericKey("-0010.0100")
	check(key, err, "2d31302e3031")
}

func TestValuesWithoutKeyBytes(t *testing.T) {
	noon := time.Date(2024, 1, 31, 12, 0, 0, 0, time.UTC)
	fine := time.Date(2024, 1, 31, 0, 0, 0, 1, time.UTC)
	old := time.Date(-4713, 11, 23, 0, 0, 0, 0, time.UTC)
	late := time.Date(294277, 1, 1, 0, 0, 0, 0, time.UTC)
	number := IntegerKey(7)
	pair, err := RowKey(number, number)
	if err != nil || pair.Type().String() != "row(integer, integer)" {
		t.Errorf("type %s, error %v", pair.Type(), err)
	}
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
		"row in a row":    func() (Key, error) { return RowKey(pair) },
		"zero in a row":   func() (Key, error) { return RowKey(Key{}) },
		"other columns":   func() (Key, error) { return RawKey(RowType(Integer), []byte("\x02\x01\x00\x00\x00a")) },
		"no columns":      func() (Key, error) { return RawKey(row, []byte("\x01\x08\x00\x00\x00")) },
		"no type":         func() (Key, error) { return RawKey(None, nil) },
		"a million 9s":    func() (Key, error) { return NumericKey(strings.Repeat("9", 1000000)) },
		"zero":            func() (Key, error) { _, err := filterOf(t, "integer").Contains(Key{}); return Key{}, err },
	} {
		var keyErr *KeyValueError
		if _, err := make(); !errors.As(err, &keyErr) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
