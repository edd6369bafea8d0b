package bloomfilter

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"net"
	"net/netip"
	"unicode/utf8"
)

// Key is a key of any type, as it is hashed. Make it with one of the functions
// below.
type Key struct {
	keyType KeyType
	length  uint8    // of fixed; 0: the bytes are in long
	fixed   [18]byte // inet is the longest: 2 + 16
	long    string
}

// Type returns the key's type.
func (k Key) Type() KeyType { return k.keyType }

// AppendTo appends the bytes that are hashed to b.
func (k Key) AppendTo(b []byte) []byte {
	if k.length == 0 {
		return append(b, k.long...)
	}
	return append(b, k.fixed[:k.length]...)
}

// Describe returns the type's name and the bytes in hexadecimal, "-" for none: what
// bloomfilter explain --bytes and SQL's bloom_explain take, to say how the key is looked up.
// Keys may be secrets that a log must not show, so that this isn't String.
func (k Key) Describe() string {
	name, digits := k.keyType.String(), hex.EncodeToString(k.AppendTo(nil))
	if k.keyType&0xff == row {
		name = "row"
	}
	if digits == "" {
		digits = "-"
	}
	return name + " " + digits
}

func (k *Key) hash(seed uint64) uint64 {
	if k.length == 0 {
		return hashOf(k.long, seed)
	}
	return hashOf(k.fixed[:k.length], seed)
}

func wordKey(t KeyType, word uint64) Key {
	key := Key{keyType: t, length: 8}
	binary.LittleEndian.PutUint64(key.fixed[:], word)
	return key
}

// fixedKey takes up to 18 bytes, not none.
func fixedKey(t KeyType, parts ...[]byte) Key {
	key := Key{keyType: t}
	for _, bytes := range parts {
		key.length += uint8(copy(key.fixed[key.length:], bytes))
	}
	return key
}

// RowKey is a key of several columns, as SQL's ROW(...) makes it, of one to six keys
// that are no rows themselves.
func RowKey(columns ...Key) (Key, error) {
	types := make([]KeyType, len(columns))
	var bytes []byte
	for i, column := range columns {
		own := column.AppendTo(nil)
		types[i] = column.keyType
		bytes = append(bytes, byte(column.keyType))
		bytes = binary.LittleEndian.AppendUint32(bytes, uint32(len(own)))
		bytes = append(bytes, own...)
	}
	t := RowType(types...)
	if t == None {
		return Key{}, keyError(row, "a row has one to six columns, and none of them is a row")
	}
	return Key{keyType: t, long: string(bytes)}, nil
}

// IntegerKey is a key of type smallint, integer or bigint.
func IntegerKey(value int64) Key { return wordKey(Integer, uint64(value)) }

// TextKey is a key of type text. It must be valid UTF-8. The blanks at its end, U+0020
// and nothing else, are no part of the key.
func TextKey(value string) (Key, error) {
	text, err := textOf(value)
	if err != nil {
		return Key{}, err
	}
	return Key{keyType: Text, long: text}, nil
}

// textOf is the text that is hashed.
func textOf(value string) (string, error) {
	if !utf8.ValidString(value) {
		return "", keyError(Text, "the string is not valid UTF-8")
	}
	return withoutBlanks(value), nil
}

// ByteaKey is a key of type bytea. The bytes are copied.
func ByteaKey(value []byte) Key { return Key{keyType: Bytea, long: string(value)} }

// UUIDKey is a key of type uuid, its bytes in the order of the text.
func UUIDKey(value [16]byte) Key { return fixedKey(UUID, value[:]) }

// FloatKey is a key of type double precision, or of real widened:
// float64(float32(x)).
func FloatKey(value float64) Key { return wordKey(Float, floatBits(value)) }

// floatBits gives equal floats equal bits: there is one zero and one NaN.
func floatBits(value float64) uint64 {
	switch {
	case value == 0:
		return 0
	case value != value:
		return 0x7ff8000000000000
	}
	return math.Float64bits(value)
}

// RealKey is a key of type real. A driver that gives the values of a real column as
// float64 may give another number: the one nearest to its text, 0.1 for what is
// 0.10000000149011612. RealKey(float32(x)) is right for both.
func RealKey(value float32) Key { return FloatKey(float64(value)) }

// AddrKey is a key of type inet or cidr, a single address without a zone.
func AddrKey(value netip.Addr) (Key, error) {
	return inetKey(value, value.BitLen())
}

// PrefixKey is a key of type inet or cidr. The bits beyond the prefix count.
func PrefixKey(value netip.Prefix) (Key, error) {
	return inetKey(value.Addr(), value.Bits())
}

func inetKey(address netip.Addr, bits int) (Key, error) {
	switch {
	case !address.IsValid() || bits < 0:
		return Key{}, keyError(Inet, "the address is not valid")
	case address.Zone() != "":
		return Key{}, keyError(Inet, "the address has a zone")
	case address.Is4():
		bytes := address.As4()
		return fixedKey(Inet, []byte{4, byte(bits)}, bytes[:]), nil
	}
	bytes := address.As16()
	return fixedKey(Inet, []byte{6, byte(bits)}, bytes[:]), nil
}

// MACKey is a key of type macaddr or macaddr8. Eight bytes with ff fe in the
// middle are what six become when they are widened, and equal to them in SQL.
func MACKey(value net.HardwareAddr) (Key, error) {
	switch {
	case len(value) == 8 && value[3] == 0xff && value[4] == 0xfe:
		return fixedKey(Macaddr, value[:3], value[5:]), nil
	case len(value) == 6 || len(value) == 8:
		return fixedKey(Macaddr, value), nil
	}
	return Key{}, keyError(Macaddr, "%d bytes are neither 6 nor 8", len(value))
}
