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
func keyOfSQL(t *testing.T, r vector) (Key, bool) {
	t.Helper()
	if strings.HasPrefix(r["sql"], "ROW(") {
		return rowOfSQL(t, r["sql"])
	}
	return valueOfSQL(t, r["sql"])
}

// rowOfSQL takes rows of literals, none of which has a comma and a space in it.
func rowOfSQL(t *testing.T, sql string) (Key, bool) {
	t.Helper()
	var columns []Key
	for _, column := range strings.Split(sql[len("ROW("):len(sql)-1], ", ") {
		key, ok := valueOfSQL(t, column)
		if !ok {
			return Key{}, false
		}
		columns = append(columns, key)
	}
	key, err := RowKey(columns...)
	if err != nil {
		t.Errorf("%s: %v", sql, err)
	}
	return key, err == nil
}

var sqlTypes = map[string]KeyType{
	"smallint": Integer, "integer": Integer, "bigint": Integer, "text": Text, "varchar": Text,
	"char": Text, "name": Text, "bytea": Bytea, "uuid": UUID, "numeric": Numeric, "real": Float,
	"double precision": Float, "date": Date, "timestamp": Timestamp, "timestamptz": Timestamptz,
	"inet": Inet, "cidr": Inet, "macaddr": Macaddr, "macaddr8": Macaddr,
}

func valueOfSQL(t *testing.T, sql string) (Key, bool) {
	t.Helper()
	fields := literal.FindStringSubmatch(sql)
	if fields == nil || strings.Contains(fields[1], "Europe/") || strings.ContainsAny(fields[1], "()") {
		return Key{}, false
	}
	text, sqlType := fields[1], fields[2]
	keyType, known := sqlTypes[sqlType]
	if !known {
		return Key{}, false
	}
	switch sqlType {
	case "char":
		text = strings.TrimRight(text, " ")
	case "real":
		return realKey(t, text), true
	}
	key, err := ParseKey(keyType, text)
	if err != nil {
		t.Errorf("%s: %v", sql, err)
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
