package bloomfilter

import "strings"

// KeyType says which SQL types a filter's keys come from. That of a row has its
// columns in it: two are equal if keys of one can be asked of the other.
type KeyType uint32

// The key types. None is the type of a filter to which no key was added yet; it
// answers "no" to keys of every type.
const (
	None        KeyType = 0
	Integer     KeyType = 1
	Text        KeyType = 2
	Bytea       KeyType = 3
	UUID        KeyType = 4
	Numeric     KeyType = 5
	Float       KeyType = 6
	Date        KeyType = 7
	Timestamp   KeyType = 8
	Timestamptz KeyType = 9
	Inet        KeyType = 10
	Macaddr     KeyType = 11

	// row has the columns' types above it, in 4 bits each, the first one lowest.
	row KeyType = 15

	lastKeyType = Macaddr // that a column may be of, which has 4 bits
	maxColumns  = 6
)

var keyTypeNames = [...]string{
	"none", "integer", "text", "bytea", "uuid", "numeric", "float", "date",
	"timestamp", "timestamptz", "inet", "macaddr",
}

// Doesn't compile unless each type has its name.
var _ = [1]struct{}{}[len(keyTypeNames)-1-int(lastKeyType)]

// isColumn tells whether a type is one of keys that are no rows, which columns have, too.
func (t KeyType) isColumn() bool {
	return t > None && t <= lastKeyType
}

func (t KeyType) String() string {
	if t <= lastKeyType {
		return keyTypeNames[t]
	}
	var names []string
	for _, column := range t.Columns() {
		names = append(names, column.String())
	}
	if len(names) == 0 {
		return "unknown"
	}
	return "row(" + strings.Join(names, ", ") + ")"
}

// RowType is the type of a row with columns of these types, of which there may be
// one to six; None if there can be no such row.
func RowType(columns ...KeyType) KeyType {
	t := row
	for i, column := range columns {
		if i == maxColumns || !column.isColumn() {
			return None
		}
		t |= column << (8 + 4*i)
	}
	if len(columns) == 0 {
		return None
	}
	return t
}

// Columns returns the types of a row's columns, nothing for other types.
func (t KeyType) Columns() (columns []KeyType) {
	if t&0xff != row {
		return nil
	}
	for rest := t >> 8; rest&15 != None; rest >>= 4 {
		columns = append(columns, rest&15)
	}
	return columns
}
