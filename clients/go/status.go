package bloomfilter

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// Status tells which content of which list a filter is, and how fresh: what
// "bloomfilter pull" wrote beside its file, or a follower into the working copy. Zero
// values are what isn't known.
type Status struct {
	List, Identity string
	Serial         int64 // of the content: a later one is greater
	Built          time.Time
	Looked         time.Time // at the server, the last time that it went well
	Changed        time.Time // the file, by pull
	TrueAt         time.Time // of a working copy: what was committed before is in it
	Failures       uint64    // looks that failed since
	Failed         time.Time
	Error          string // of the last look that failed
	Refused        string // why pull refused what the server has, in a word
	Server         string
}

const (
	statusLine = "bloomfilter-status 1"
	mostStatus = 16384
)

// Status reads FILE.status anew.
func (f *Filter) Status() Status {
	if f.source == nil {
		return Status{}
	}
	values := readStatus(f.source.path + ".status")
	s := Status{
		Looked:  timeOf(values["looked"]),
		Changed: timeOf(values["changed"]),
		Failed:  timeOf(values["failed"]),
		Error:   values["error"],
		Refused: values["refused"],
		Server:  values["server"],
	}
	s.Failures, _ = strconv.ParseUint(values["failures"], 10, 64)
	if f.working != nil {
		s.List = values["list"]
		s.takeWorking(f.working)
		return s
	}
	if f.source.notes["serial"] != "" {
		s.takeOrigin(f.source.notes, "")
		return s
	}
	// Before a new filter takes the file's name, what comes is noted under "next_".
	switch f.checksum() {
	case values["next_checksum"]:
		s.takeOrigin(values, "next_")
	case values["checksum"]:
		s.takeOrigin(values, "")
	}
	return s
}

func (s *Status) takeOrigin(values map[string]string, prefix string) {
	s.List = values[prefix+"list"]
	s.Identity = values[prefix+"identity"]
	s.Serial, _ = strconv.ParseInt(values[prefix+"serial"], 10, 64)
	s.Built = timeOf(values[prefix+"built"])
}

func (s *Status) takeWorking(w *working) {
	s.Identity = w.identity
	s.Serial = int64(w.load(wordSerial))
	s.TrueAt = moment(w.load(wordTrueAt))
	if looked := moment(w.load(wordLooked)); !looked.IsZero() {
		s.Looked = looked
		s.Failures = w.load(wordFailures)
	}
}

// readStatus returns no values where there is no such file, or another.
func readStatus(path string) map[string]string {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	text, _ := readStart(file, mostStatus)
	lines := strings.Split(string(text), "\n")
	if lines[0] != statusLine {
		return nil
	}
	return valuesOf(lines[1:], "")
}

// valuesOf takes lines "name value" that begin with a prefix.
func valuesOf(lines []string, prefix string) map[string]string {
	values := make(map[string]string)
	for _, line := range lines {
		if !strings.HasPrefix(line, prefix) {
			continue
		}
		if name, value, found := strings.Cut(line[len(prefix):], " "); found {
			values[name] = value
		}
	}
	return values
}

func timeOf(text string) time.Time {
	t, err := time.Parse("2006-01-02T15:04:05Z", text)
	if err != nil {
		return time.Time{}
	}
	return t
}

func moment(microseconds uint64) time.Time {
	if microseconds == 0 {
		return time.Time{}
	}
	return time.UnixMicro(int64(microseconds)).UTC()
}
