package main

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The filter of the format's worked example, which holds the integer 42.
const example = "424c4d4601070901020000000000010000000000000000006400000000000000" +
	"7b14ae47e17a843f07000000000000000100000022af682cf8272352e84db1a4"

func exampleFile(t *testing.T) string {
	t.Helper()
	header, err := hex.DecodeString(example)
	if err != nil {
		t.Fatal(err)
	}
	filter := append(header, make([]byte, 128)...)
	for at, mask := range map[int]byte{
		0x82: 4, 0x98: 0x10, 0x9c: 8, 0xb7: 1, 0x95: 0x10, 0xb1: 8, 0x8b: 0x10,
	} {
		filter[at] = mask
	}
	path := filepath.Join(t.TempDir(), "example.bloom")
	if err := os.WriteFile(path, filter, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAnswers(t *testing.T) {
	var out bytes.Buffer
	err := run(exampleFile(t), "integer", ask, strings.NewReader("42\n1000000\n42"), &out)
	if err != nil || out.String() != "1\n0\n1\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func TestErrors(t *testing.T) {
	path := exampleFile(t)
	for _, c := range [][3]string{
		{path, "text", "42\n"}, {path, "integer", "x\n"}, {path, "none", "1\n"}, {path + "x", "integer", "1\n"},
	} {
		if err := run(c[0], c[1], ask, strings.NewReader(c[2]), &bytes.Buffer{}); err == nil {
			t.Errorf("%s: no error", c[1])
		}
	}
}
