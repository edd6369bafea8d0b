package main

import (
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"example.org/bloomfilter"
)

// noValue says that Go's own parsers make nothing of a text.
type noValue struct{ error }

var types = map[string]bloomfilter.KeyType{
	"integer": bloomfilter.Integer, "text": bloomfilter.Text, "bytea": bloomfilter.Bytea, "uuid": bloomfilter.UUID,
	"numeric": bloomfilter.Numeric, "float": bloomfilter.Float, "date": bloomfilter.Date, "timestamp": bloomfilter.Timestamp,
	"timestamptz": bloomfilter.Timestamptz, "inet": bloomfilter.Inet, "macaddr": bloomfilter.Macaddr,
}

// keyOf makes the key of a question, and its value where Filter has methods for such.
func keyOf(field string) (key bloomfilter.Key, value any, err error) {
	typeName, text, _ := strings.Cut(field, " ")
	switch form, rest, _ := strings.Cut(typeName, ":"); form {
	case "raw":
		if key, err = rawKey(strings.Split(rest, ":"), text); err == nil && key.Type() == bloomfilter.Integer {
			value = load64(key.AppendTo(nil))
		}
		return key, value, err
	case "row":
		key, err = rowKey(strings.Fields(text))
		return key, nil, err
	case "hex":
		bytes, err := hex.DecodeString(text)
		if err != nil {
			return key, nil, err
		}
		typeName, text = rest, string(bytes)
	}
	switch typeName {
	case "integer":
		var number int64
		if number, err = strconv.ParseInt(text, 10, 64); err == nil {
			value = number
		}
	case "text":
		value = text
	}
	key, err = typedKey(typeName, text)
	if err != nil && kindOf(err) == "BloomFilterError" {
		err = noValue{err}
	}
	return key, value, err
}

func rawKey(names []string, digits string) (bloomfilter.Key, error) {
	bytes, err := hex.DecodeString(digits)
	if err != nil {
		return bloomfilter.Key{}, err
	}
	if names[0] != "row" {
		return bloomfilter.RawKey(types[names[0]], bytes)
	}
	var columns []bloomfilter.KeyType
	for _, name := range names[1:] {
		columns = append(columns, types[name])
	}
	return bloomfilter.RawKey(bloomfilter.RowType(columns...), bytes)
}

func rowKey(fields []string) (key bloomfilter.Key, err error) {
	columns := make([]bloomfilter.Key, len(fields))
	for i, field := range fields {
		name, digits, _ := strings.Cut(field, ":")
		if columns[i], err = rawKey([]string{name}, digits); err != nil {
			return key, err
		}
	}
	return bloomfilter.RowKey(columns...)
}

// typedKey makes a key as a program would of a value that it has, read here from how PostgreSQL
// prints it.
func typedKey(typeName, text string) (key bloomfilter.Key, err error) {
	switch typeName {
	case "integer":
		var value int64
		value, err = strconv.ParseInt(text, 10, 64)
		return bloomfilter.IntegerKey(value), err
	case "text":
		return bloomfilter.TextKey(text)
	case "bytea":
		var value []byte
		if value, err = hex.DecodeString(strings.TrimPrefix(text, `\x`)); err == nil {
			return bloomfilter.ByteaKey(value), nil
		}
	case "uuid":
		var value [16]byte
		if _, err = hex.Decode(value[:], []byte(strings.ReplaceAll(text, "-", ""))); err == nil {
			return bloomfilter.UUIDKey(value), nil
		}
	case "numeric":
		return bloomfilter.NumericKey(text)
	case "float":
		var value float64
		value, err = strconv.ParseFloat(text, 64)
		return bloomfilter.FloatKey(value), err
	case "real":
		var value float64
		value, err = strconv.ParseFloat(text, 32)
		return bloomfilter.RealKey(float32(value)), err
	case "date", "timestamp", "timestamptz":
		return momentOf(typeName, text)
	case "inet":
		return addressOf(text)
	case "macaddr":
		var value net.HardwareAddr
		if value, err = net.ParseMAC(text); err == nil {
			return bloomfilter.MACKey(value)
		}
	default:
		err = fmt.Errorf("unknown key type %q", typeName)
	}
	return key, err
}

func momentOf(typeName, text string) (key bloomfilter.Key, err error) {
	form, make := "2006-01-02", bloomfilter.DateKey
	switch typeName {
	case "timestamp":
		form, make = "2006-01-02 15:04:05.999999", bloomfilter.TimestampKey
	case "timestamptz":
		form, make = "2006-01-02 15:04:05.999999-07", bloomfilter.TimestamptzKey
	}
	value, err := time.Parse(form, text)
	if err != nil {
		return key, err
	}
	return make(value)
}

func addressOf(text string) (key bloomfilter.Key, err error) {
	if strings.Contains(text, "/") {
		value, err := netip.ParsePrefix(text)
		if err != nil {
			return key, err
		}
		return bloomfilter.PrefixKey(value)
	}
	value, err := netip.ParseAddr(text)
	if err != nil {
		return key, err
	}
	return bloomfilter.AddrKey(value)
}
