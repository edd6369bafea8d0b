// Command crosscheck answers what test/readers asks of a reader, a line each: the top of
// test/readers/readers.py has the questions.
package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"example.org/bloomfilter"
)

// What is open, by its name.
var (
	filters = map[string]*bloomfilter.Filter{}
	watched = map[string]*bloomfilter.WatchedFilter{}
	told    = map[string]string{}
)

func main() {
	lines := bufio.NewReader(os.Stdin)
	for line, err := lines.ReadString('\n'); err == nil; line, err = lines.ReadString('\n') {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		answer, err := answerTo(fields[0], fields[1], fields[2:])
		if err != nil {
			answer = describe(err)
		}
		fmt.Println(answer)
	}
}

func answerTo(command, name string, rest []string) (string, error) {
	switch command {
	case "open":
		return "ok", open(name, rest[0], rest[1:])
	case "keep":
		filters[name] = filter(rest[0])
		return "ok", nil
	case "cd":
		return "ok", os.Chdir(name)
	case "key":
		return each(append([]string{name}, rest...), func(text string) string {
			key, _, err := keyOf(text)
			return answerOf(key.Describe(), err)
		}), nil
	case "ask":
		return each(rest, func(text string) string { return ask(filter(name), text) }), nil
	case "many":
		return askMany(filter(name), rest)
	case "lacks":
		return lacking(name, rest)
	case "info":
		return info(filter(name).Info()), nil
	case "status":
		return status(filter(name).Status()), nil
	case "reload":
		is, err := watched[name].Reload()
		return strconv.FormatBool(is), err
	case "told":
		return told[name], nil
	}
	return "?", nil
}

func filter(name string) *bloomfilter.Filter {
	if w := watched[name]; w != nil {
		return w.Current()
	}
	return filters[name]
}

func open(name, path string, words []string) (err error) {
	options := []bloomfilter.Option{bloomfilter.OnError(func(err error) { told[name] = err.Error() })}
	how, wait := "", 0.0
	for _, word := range words {
		option, value, _ := strings.Cut(word, "=")
		switch option {
		case "copy":
			options = append(options, bloomfilter.Copy())
		case "noverify":
			options = append(options, bloomfilter.NoVerify())
		case "identity":
			options = append(options, bloomfilter.Identity(value))
		case "wait":
			wait, err = strconv.ParseFloat(value, 64)
			how = option
		default:
			how = option
		}
	}
	delete(watched, name)
	switch how {
	case "watch":
		watched[name], err = bloomfilter.OpenWatched(path, options...)
	case "wait":
		watched[name], err = bloomfilter.WaitFor(path, time.Duration(wait*float64(time.Second)), options...)
	case "bytes":
		var bytes []byte
		if bytes, err = os.ReadFile(path); err == nil {
			filters[name], err = bloomfilter.FromBytes(bytes, options...)
		}
	default:
		filters[name], err = bloomfilter.Open(path, options...)
	}
	return err
}

func each(fields []string, answer func(string) string) string {
	answers := make([]string, len(fields))
	for i, field := range fields {
		answers[i] = answer(field)
	}
	return strings.Join(answers, "\t")
}

func answerOf(answer string, err error) string {
	if err != nil {
		return kindOf(err)
	}
	return answer
}

func digit(found bool) string {
	if found {
		return "1"
	}
	return "0"
}

// ask asks for a key, and for its value where there is a method for that.
func ask(f *bloomfilter.Filter, text string) string {
	key, value, err := keyOf(text)
	var found bool
	if err == nil {
		found, err = f.Contains(key)
	}
	answer := answerOf(digit(found), err)
	other := answer
	switch value := value.(type) {
	case int64:
		found, err = f.ContainsInt64(value)
		other = answerOf(digit(found), err)
	case string:
		found, err = f.ContainsString(value)
		other = answerOf(digit(found), err)
	}
	if other != answer {
		return "differ"
	}
	return answer
}

func askMany(f *bloomfilter.Filter, fields []string) (string, error) {
	var integers []int64
	var texts []string
	var keys []bloomfilter.Key
	for _, field := range fields {
		key, value, err := keyOf(field)
		switch value := value.(type) {
		case int64:
			integers = append(integers, value)
		case string:
			texts = append(texts, value)
		}
		if err == nil {
			keys = append(keys, key)
		}
	}
	var answers []string
	var first error
	in := func(err error, found []bool) {
		if answers == nil {
			first = err
		}
		answers = append(answers, answerOf(digits(found), err))
	}
	found := make([]bool, len(fields))
	if len(keys) == len(fields) {
		in(f.ContainsMany(keys, found), found)
	}
	if len(integers) == len(fields) {
		in(f.ContainsManyInt64(integers, found), found)
	}
	if len(texts) == len(fields) {
		in(f.ContainsManyString(texts, found), found)
	}
	for _, answer := range answers {
		if answer != answers[0] {
			return "differ", nil
		}
	}
	return answers[0], first
}

func digits(found []bool) string {
	var all strings.Builder
	for _, one := range found {
		all.WriteString(digit(one))
	}
	return all.String()
}

func lacking(name string, ranges []string) (string, error) {
	serial, lacking := filter(name).Status().Serial, 0
	for _, text := range ranges {
		var first, last int64
		if _, err := fmt.Sscanf(text, "%d-%d", &first, &last); err != nil {
			return "", err
		}
		for ; first <= last; first++ {
			if found, err := filter(name).ContainsInt64(first); err != nil {
				return "", err
			} else if !found {
				lacking++
			}
		}
	}
	return fmt.Sprint(serial, " ", lacking), nil
}

// info has the fields of the whole, and then those of each part.
func info(i bloomfilter.Info) string {
	fields := fmt.Sprint(i.N, "\t", i.P, "\t", i.Seed, "\t", i.Hashes, "\t", i.BlockBits, "\t", i.Blocks, "\t", i.Part, "\t", i.Parts, "\t",
		i.KeyType, "\t", i.BitsSet, "\t", i.Checksum, "\t", i.Bits, "\t", i.Bytes, "\t", i.FormatVersion, "\t", i.Others, "\t", i.Fill)
	for _, part := range i.Filters {
		fields += "\t" + info(part)
	}
	return fields
}

func status(s bloomfilter.Status) string {
	moment := func(at time.Time) any {
		if at.IsZero() {
			return ""
		}
		return at.UnixMicro()
	}
	return fmt.Sprint(s.List, "\t", s.Identity, "\t", s.Place, "\t", s.Serial, "\t", moment(s.TrueAt), "\t", moment(s.Looked), "\t",
		s.Age.Seconds(), "\t", s.Every.Microseconds(), "\t", s.Heartbeat.Microseconds(), "\t", moment(s.Expires), "\t", moment(s.Since), "\t",
		s.Failures, "\t", digit(s.Superseded), "\t", s.Changes, "\t", s.Reason, "\t", s.Message)
}

// kindOf is the error's name, as clients/README.md has it, or that there is no such value.
func kindOf(err error) string {
	for ; err != nil; err = errors.Unwrap(err) {
		kind := fmt.Sprintf("%T", err)
		switch name := strings.TrimPrefix(kind, "*bloomfilter."); {
		case name != kind && name != "BatchError":
			return name
		case kind == "*fs.PathError":
			return "SystemError"
		case kind == "main.noValue":
			return "none"
		}
	}
	return "BloomFilterError"
}

func describe(err error) string {
	rule, index := "", ""
	var invalid *bloomfilter.InvalidFilterError
	if errors.As(err, &invalid) {
		rule = invalid.Rule
	}
	var batch *bloomfilter.BatchError
	if errors.As(err, &batch) {
		index = strconv.Itoa(batch.Index)
	}
	return strings.Join([]string{kindOf(err), rule, index, strings.ReplaceAll(err.Error(), "\t", " ")}, "\t")
}

func load64(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) }
