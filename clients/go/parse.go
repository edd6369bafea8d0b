package bloomfilter

import (
	"encoding/hex"
	"net/netip"
	"strconv"
	"strings"
)

// ParseKey makes a key from text, by the grammar of doc/KEYS.md: as PostgreSQL
// prints values of the type, and in the other spellings that mean the same in every
// session. bytea must begin with \x and timestamptz must have its offset from UTC.
// A value of a column of type real is read by ParseRealKey.
func ParseKey(t KeyType, text string) (Key, error) {
	if t == None || t > lastKeyType {
		return Key{}, keyError(t, "keys of this type have no form as text")
	}
	return keyParsers[t](text)
}

var keyParsers = [...]func(text string) (Key, error){
	Integer:     parseInteger,
	Text:        parseText,
	Bytea:       parseBytea,
	UUID:        parseUUID,
	Numeric:     NumericKey,
	Float:       func(text string) (Key, error) { return parseFloat(text, 64) },
	Date:        parseDate,
	Timestamp:   parseTimestamp,
	Timestamptz: parseTimestamptz,
	Inet:        parseInet,
	Macaddr:     parseMAC,
}

// ParseRealKey makes a key of a column of type real from its text. ParseKey would
// take 0.1 for the double precision number, which is another.
func ParseRealKey(text string) (Key, error) { return parseFloat(text, 32) }

func parseInteger(text string) (Key, error) {
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return Key{}, keyError(Integer, "%.60q is not a whole number of 64 bits", text)
	}
	return IntegerKey(value), nil
}

func parseText(text string) (Key, error) {
	if strings.IndexByte(text, 0) >= 0 {
		return Key{}, keyError(Text, "PostgreSQL's text has no zero byte")
	}
	return TextKey(text)
}

func parseBytea(text string) (Key, error) {
	if !strings.HasPrefix(text, `\x`) {
		return Key{}, keyError(Bytea, `%.60q does not begin with \x: set bytea_output to hex`, text)
	}
	value, err := hex.DecodeString(text[2:])
	if err != nil {
		return Key{}, keyError(Bytea, `%.60q is not \x and two hexadecimal digits for each byte`, text)
	}
	return ByteaKey(value)
}

// A uuid may have a hyphen after each group of so many digits.
const uuidGroup = 4

func parseUUID(text string) (Key, error) {
	digits := text
	if strings.HasPrefix(digits, "{") && strings.HasSuffix(digits, "}") && len(digits) > 1 {
		digits = digits[1 : len(digits)-1]
	}
	var value [16]byte
	for i := range value {
		if i > 0 && i*2%uuidGroup == 0 && strings.HasPrefix(digits, "-") {
			digits = digits[1:]
		}
		if len(digits) < 2 {
			return Key{}, keyError(UUID, "%.60q is not a uuid", text)
		}
		if _, err := hex.Decode(value[i:i+1], []byte(digits[:2])); err != nil {
			return Key{}, keyError(UUID, "%.60q is not a uuid", text)
		}
		digits = digits[2:]
	}
	if digits != "" {
		return Key{}, keyError(UUID, "%.60q is longer than a uuid", text)
	}
	return UUIDKey(value), nil
}

// parseFloat reads a number of so many bits. It refuses what would be an infinity, or
// zero, without being that: PostgreSQL does, too.
func parseFloat(text string, bits int) (Key, error) {
	number, isName := specialNumber(text)
	if !isName {
		d, ok := splitDecimal(text)
		if !ok {
			return Key{}, keyError(Float, "%.60q is not a number", text)
		}
		if d.isZero() {
			return FloatKey(0), nil
		}
		number = text
	}
	value, err := strconv.ParseFloat(number, bits)
	if err != nil || value == 0 {
		return Key{}, keyError(Float, "%.60q is out of range", text)
	}
	return FloatKey(value), nil
}

func parseInet(text string) (Key, error) {
	address, prefix, hasPrefix := strings.Cut(text, "/")
	value, err := netip.ParseAddr(address)
	if err != nil || hasLongGroup(address) {
		return Key{}, keyError(Inet, "%.60q is not an address", text)
	}
	bits := value.BitLen()
	if hasPrefix {
		digits, rest := splitDigits(prefix)
		number, err := strconv.Atoi(digits)
		if err != nil || rest != "" || len(digits) > 1 && digits[0] == '0' || number > bits {
			return Key{}, keyError(Inet, "%.60q has no prefix length from 0 to %d", text, bits)
		}
		bits = number
	}
	return inetKey(value, bits)
}

// hasLongGroup finds what netip takes and PostgreSQL does not: more than four digits.
func hasLongGroup(address string) bool {
	for _, group := range strings.Split(address, ":") {
		if len(group) > 4 && !strings.Contains(group, ".") {
			return true
		}
	}
	return false
}

// parseMAC reads six or eight bytes, with one kind of separator between some or all
// of them.
func parseMAC(text string) (Key, error) {
	var value []byte
	rest := text
	separator := strings.IndexAny(text, ":-.")
	for len(rest) >= 2 {
		if len(value) > 0 && separator >= 0 && rest[0] == text[separator] {
			rest = rest[1:]
		}
		if len(rest) < 2 {
			break
		}
		own, err := hex.DecodeString(rest[:2])
		if err != nil {
			return Key{}, keyError(Macaddr, "%.60q is not a hardware address", text)
		}
		value = append(value, own[0])
		rest = rest[2:]
	}
	if rest != "" || len(value) != 6 && len(value) != 8 {
		return Key{}, keyError(Macaddr, "%.60q is not six or eight bytes", text)
	}
	return MACKey(value)
}
