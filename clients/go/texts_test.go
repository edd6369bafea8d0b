package bloomfilter

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// The texts that PostgreSQL was the judge of.
func TestTextVectors(t *testing.T) {
	for i, r := range readRows(t, "texts.tsv") {
		t.Run(fmt.Sprint(i), func(t *testing.T) { checkTextVector(t, r) })
	}
}

func checkTextVector(t *testing.T, r vector) {
	text := r["text"]
	if strings.HasPrefix(text, "hex:") {
		raw, err := hex.DecodeString(text[4:])
		if err != nil {
			t.Fatal(err)
		}
		text = string(raw)
	}
	key, err := parseByName(t, r["type"], text)
	want := r["key_hex"]
	if want == "-" {
		var refused *KeyValueError
		if !errors.As(err, &refused) {
			t.Errorf("%s %.60q: %v, not refused", r["type"], text, err)
		}
		return
	}
	if err != nil {
		t.Fatalf("%s %.60q: %v", r["type"], text, err)
	}
	got := hex.EncodeToString(key.AppendTo(nil))
	if strings.HasPrefix(want, "xxh64:") {
		got = fmt.Sprintf("xxh64:%016x", key.hash(0))
	}
	if got != want {
		t.Errorf("%s %.60q: %s, not %s", r["type"], text, got, want)
	}
}

func parseByName(t *testing.T, name, text string) (Key, error) {
	if name == "real" {
		return ParseRealKey(text)
	}
	keyType, ok := KeyTypeByName(name)
	if !ok {
		t.Fatalf("type %s", name)
	}
	return ParseKey(keyType, text)
}
