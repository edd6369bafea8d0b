// Command crosscheck asks a filter for keys, one per line of standard input,
// and prints 1 or 0 for each. Tests compare its output with the answers of SQL.
//
//	crosscheck FILE TYPE [describe] <keys >answers
//	crosscheck FILE integer watch <ranges >answers
//
// TYPE is a name such as integer or timestamptz. Keys are spelled as PostgreSQL
// prints them, bytea in hex; "real" is a type here, too. With watch a line has ranges
// such as 1-20, and the answer is the serial of the list and how many of these it then lacks.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"example.org/bloomfilter"
)

func main() {
	err := errors.New("usage: crosscheck FILE TYPE [describe | watch]")
	switch {
	case len(os.Args) == 3:
		err = run(os.Args[1], os.Args[2], ask)
	case len(os.Args) == 4 && os.Args[3] == "describe":
		err = run(os.Args[1], os.Args[2], describe)
	case len(os.Args) == 4 && os.Args[3] == "watch":
		err = watch(os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "crosscheck:", err)
		os.Exit(2)
	}
}

type answerer func(filter *bloomfilter.Filter, key bloomfilter.Key) (string, error)

func run(path, typeName string, answerOf answerer) error {
	filter, err := bloomfilter.Open(path)
	if err != nil {
		return err
	}
	answers := bufio.NewWriter(os.Stdout)
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF && line == "" {
			return answers.Flush()
		}
		if err != nil && err != io.EOF {
			return err
		}
		key, err := keyOf(typeName, strings.TrimSuffix(line, "\n"))
		if err != nil {
			return err
		}
		answer, err := answerOf(filter, key)
		if err != nil {
			return err
		}
		answers.WriteString(answer)
	}
}

func watch(path string) error {
	watched, err := bloomfilter.OpenWatched(path)
	if err != nil {
		return err
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		serial, lacking := watched.Status().Serial, 0
		for _, text := range strings.Fields(lines.Text()) {
			var first, last int64
			if _, err := fmt.Sscanf(text, "%d-%d", &first, &last); err != nil {
				return err
			}
			for ; first <= last; first++ {
				if found, err := watched.Current().ContainsInt64(first); err != nil {
					return err
				} else if !found {
					lacking++
				}
			}
		}
		fmt.Println(serial, lacking)
	}
	return nil
}

func describe(_ *bloomfilter.Filter, key bloomfilter.Key) (string, error) {
	return key.Describe() + "\n", nil
}

func ask(filter *bloomfilter.Filter, key bloomfilter.Key) (string, error) {
	found, err := filter.Contains(key)
	if found {
		return "1\n", err
	}
	return "0\n", err
}
