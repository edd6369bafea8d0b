package bloomfilter

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var literal = regexp.MustCompile(`^\(?'?([^']*)'?\)?::([a-z0-9 ]+?)(\(\d+(,\d+)?\))?$`)

// keyOfSQL makes a key of the value in a vector's SQL expression, if it is a
// literal that needs no database.
func keyOfSQL(t *testing.T, r row) (Key, bool) {
	t.Helper()
	fields := literal.FindStringSubmatch(r["sql"])
	if fields == nil || strings.Contains(fields[1], "Europe/") || strings.ContainsAny(fields[1], "()") {
		return Key{}, false
	}
	text, sqlType := fields[1], fields[2]
	keyType := KeyType(r.number(t, "key_type"))
	switch sqlType {
	case "char":
		text = strings.TrimRight(text, " ")
	case "real":
		return realKey(t, text), true
	}
	key, err := ParseKey(keyType, text)
	if err != nil {
		t.Errorf("%s: %v", r["sql"], err)
		return Key{}, false
	}
	return key, true
}

func realKey(t *testing.T, text string) Key {
	t.Helper()
	value, err := strconv.ParseFloat(text, 32)
	if err != nil {
		t.Error(err)
	}
	return FloatKey(value)
}
