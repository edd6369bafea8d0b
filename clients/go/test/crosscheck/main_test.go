package main

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

// Values that Go reads from the texts of the vectors have the vectors' keys. Go's own parsers
// take other spellings than PostgreSQL; of texts and numerics what is no key must be refused.
func TestTexts(t *testing.T) {
	rows, err := os.ReadFile("../../../../test/vectors/texts.tsv")
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	for _, line := range strings.Split(strings.TrimSpace(string(rows)), "\n")[1:] {
		row := strings.Split(line, "\t")
		typeName, text, want := row[0], row[1], row[2]
		if strings.HasPrefix(text, "hex:") {
			raw, _ := hex.DecodeString(text[4:])
			text = string(raw)
		}
		key, err := keyOf(typeName, text)
		got := hex.EncodeToString(key.AppendTo(nil))
		switch {
		case err != nil || strings.HasPrefix(want, "xxh64:"):
		case want == "-":
			if typeName == "numeric" || typeName == "text" && !strings.Contains(text, "\x00") {
				t.Errorf("%s %q is taken", typeName, text)
			}
		case got != want:
			t.Errorf("%s %q: %s, not %s", typeName, text, got, want)
		default:
			made++
		}
	}
	if made < 300 {
		t.Errorf("only %d keys", made)
	}
}
