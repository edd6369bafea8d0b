package bloomfilter

import (
	"net"
	"net/netip"
	"time"
)

// ContainsInt64 asks for a key of type smallint, integer or bigint.
func (f *Filter) ContainsInt64(key int64) (bool, error) {
	// What is asked most, without the calls that find out which part and which block.
	if f.plain != nil && f.keyType == Integer {
		return f.plain.lineContains(hashWord(uint64(key), f.seed)), nil
	}
	if err := f.checkType(Integer); err != nil {
		return false, err
	}
	return f.ask(hashWord(uint64(key), f.seed))
}

// ContainsString asks for a key of type text. It must be valid UTF-8.
func (f *Filter) ContainsString(key string) (bool, error) {
	if err := f.checkType(Text); err != nil {
		return false, err
	}
	text, err := textOf(key)
	if err != nil {
		return false, err
	}
	return f.ask(hashOf(text, f.seed))
}

// ContainsBytes asks for a key of type bytea.
func (f *Filter) ContainsBytes(key []byte) (bool, error) {
	if err := f.checkType(Bytea); err != nil {
		return false, err
	}
	if err := checkLength(Bytea, len(key)); err != nil {
		return false, err
	}
	return f.ask(hashOf(key, f.seed))
}

// ContainsUUID asks for a key of type uuid, its bytes in the order of the text.
func (f *Filter) ContainsUUID(key [16]byte) (bool, error) {
	return f.Contains(UUIDKey(key))
}

// ContainsNumeric asks for a key of type numeric: a decimal such as "-1.50" or
// "1e3", "NaN", "Infinity" or "-Infinity".
func (f *Filter) ContainsNumeric(key string) (bool, error) {
	return f.containsKey(NumericKey(key))
}

// ContainsFloat64 asks for a key of type double precision, or of real widened:
// float64(float32(x)).
func (f *Filter) ContainsFloat64(key float64) (bool, error) {
	if err := f.checkType(Float); err != nil {
		return false, err
	}
	return f.ask(hashWord(floatBits(key), f.seed))
}

// ContainsDate asks for a key of type date: the year, month and day that the
// time has in its own location. Its clock must show midnight.
func (f *Filter) ContainsDate(key time.Time) (bool, error) {
	return f.containsKey(DateKey(key))
}

// ContainsTimestamp asks for a key of type timestamp: the date and the clock
// that the time shows in its own location. It must be whole microseconds.
func (f *Filter) ContainsTimestamp(key time.Time) (bool, error) {
	return f.containsKey(TimestampKey(key))
}

// ContainsTimestamptz asks for a key of type timestamptz: the instant, whatever
// its location. It must be whole microseconds.
func (f *Filter) ContainsTimestamptz(key time.Time) (bool, error) {
	return f.containsKey(TimestamptzKey(key))
}

// ContainsAddr asks for a key of type inet or cidr, a single address.
func (f *Filter) ContainsAddr(key netip.Addr) (bool, error) {
	return f.containsKey(AddrKey(key))
}

// ContainsPrefix asks for a key of type inet or cidr with its prefix length.
// The bits beyond the prefix count.
func (f *Filter) ContainsPrefix(key netip.Prefix) (bool, error) {
	return f.containsKey(PrefixKey(key))
}

// ContainsMAC asks for a key of type macaddr or macaddr8: 6 or 8 bytes.
func (f *Filter) ContainsMAC(key net.HardwareAddr) (bool, error) {
	return f.containsKey(MACKey(key))
}

// Contains asks for a key of any type.
func (f *Filter) Contains(key Key) (bool, error) {
	if err := f.checkKey(&key); err != nil {
		return false, err
	}
	return f.ask(key.hash(f.seed))
}

// containsKey takes what the functions that make keys return.
func (f *Filter) containsKey(key Key, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	return f.Contains(key)
}

// checkKey also refuses the zero Key, which stands for no value.
func (f *Filter) checkKey(key *Key) error {
	if key.keyType == None {
		return keyError(None, "the zero Key holds no value")
	}
	return f.checkType(key.keyType)
}
