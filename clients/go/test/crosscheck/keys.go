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

// keyOf makes a key as a program would of a value that it has, read here from how PostgreSQL
// prints it.
func keyOf(typeName, text string) (key bloomfilter.Key, err error) {
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
			return bloomfilter.ByteaKey(value)
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
