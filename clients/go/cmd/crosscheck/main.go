// Command crosscheck asks a filter for keys, one per line of standard input,
// and prints 1 or 0 for each. Tests compare its output with the answers of SQL.
//
//	crosscheck FILE TYPE <keys >answers
//
// TYPE is a name such as integer or timestamptz. Keys are spelled as PostgreSQL
// prints them, bytea in hex; "real" is a type here, too.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"example.org/bloomfilter"
)

func main() {
	if len(os.Args) != 3 {
		fail(fmt.Errorf("usage: crosscheck FILE TYPE"))
	}
	if err := run(os.Args[1], os.Args[2], os.Stdin, os.Stdout); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "crosscheck:", err)
	os.Exit(2)
}

func run(path, typeName string, in io.Reader, out io.Writer) error {
	parse, err := parserOf(typeName)
	if err != nil {
		return err
	}
	filter, err := bloomfilter.Open(path)
	if err != nil {
		return err
	}
	answers := bufio.NewWriter(out)
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF && line == "" {
			return answers.Flush()
		}
		if err != nil && err != io.EOF {
			return err
		}
		answer, err := ask(filter, parse, strings.TrimSuffix(line, "\n"))
		if err != nil {
			return err
		}
		answers.WriteString(answer)
	}
}

type parser func(text string) (bloomfilter.Key, error)

func parserOf(typeName string) (parser, error) {
	if typeName == "real" {
		return bloomfilter.ParseRealKey, nil
	}
	keyType, ok := bloomfilter.KeyTypeByName(typeName)
	if !ok {
		return nil, fmt.Errorf("unknown key type %q", typeName)
	}
	return func(text string) (bloomfilter.Key, error) { return bloomfilter.ParseKey(keyType, text) }, nil
}

func ask(filter *bloomfilter.Filter, parse parser, text string) (string, error) {
	key, err := parse(text)
	if err != nil {
		return "", err
	}
	found, err := filter.Contains(key)
	if found {
		return "1\n", err
	}
	return "0\n", err
}
