package bloomfilter

import (
	"encoding/binary"
	"math"
	"unicode/utf8"
)

// RawKey is a key of these bytes, as section 3 of doc/FORMAT.md defines them. Bytes
// that no key of the type has are refused: no filter can hold them. A text loses the
// blanks at its end. The type of a row is RowType of its columns.
func RawKey(t KeyType, key []byte) (Key, error) {
	if t == Text {
		key = withoutBlanks(key)
	}
	if t&0xff == row {
		columns, ok := columnsOf(key)
		if !ok || RowType(columns...) != t {
			return Key{}, keyError(t, "these are the bytes of no such row")
		}
	} else if !isKey(t, key) {
		return Key{}, keyError(t, "these are the bytes of no key of this type")
	}
	return Key{keyType: t, long: string(key)}, nil
}

// withoutBlanks is a text without the blanks at its end, U+0020 and nothing else, which are no part of its key.
func withoutBlanks[B octets](text B) B {
	for len(text) > 0 && text[len(text)-1] == ' ' {
		text = text[:len(text)-1]
	}
	return text
}

func isKey(t KeyType, key []byte) bool {
	switch t {
	case Integer, Date, Timestamp, Timestamptz:
		return len(key) == 8
	case Text:
		return utf8.Valid(key) && len(withoutBlanks(key)) == len(key)
	case Bytea:
		return true
	case UUID:
		return len(key) == 16
	case Numeric:
		canonical, err := NumericKey(string(key))
		return err == nil && canonical.long == string(key)
	case Float:
		if len(key) != 8 {
			return false
		}
		word := binary.LittleEndian.Uint64(key)
		return floatBits(math.Float64frombits(word)) == word
	case Inet:
		return len(key) == 6 && key[0] == 4 && key[1] <= 32 ||
			len(key) == 18 && key[0] == 6 && key[1] <= 128
	case Macaddr:
		return len(key) == 6 || len(key) == 8 && (key[3] != 0xff || key[4] != 0xfe)
	}
	return false
}

// columnsOf reads a row's bytes column by column.
func columnsOf(key []byte) (columns []KeyType, ok bool) {
	const columnHead = 1 + 4

	for len(key) >= columnHead {
		column := KeyType(key[0])
		length := uint64(binary.LittleEndian.Uint32(key[1:]))
		key = key[columnHead:]
		if length > uint64(len(key)) || !isKey(column, key[:length]) {
			return nil, false
		}
		columns = append(columns, column)
		key = key[length:]
	}
	return columns, len(key) == 0
}
