package bloomfilter

// KeyType says which SQL types a filter's keys come from.
type KeyType uint8

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

	lastKeyType = Macaddr
)

var keyTypeNames = [...]string{
	"none", "integer", "text", "bytea", "uuid", "numeric", "float", "date",
	"timestamp", "timestamptz", "inet", "macaddr",
}

func (t KeyType) String() string {
	if t > lastKeyType {
		return "unknown"
	}
	return keyTypeNames[t]
}

// KeyTypeByName returns the key type of a name such as "integer".
func KeyTypeByName(name string) (KeyType, bool) {
	for t := Integer; t <= lastKeyType; t++ {
		if keyTypeNames[t] == name {
			return t, true
		}
	}
	return None, false
}
