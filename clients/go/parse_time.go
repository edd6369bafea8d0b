package bloomfilter

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	dateForm   = `(\d{4,7})-(\d\d)-(\d\d)`
	clockForm  = `(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?`
	offsetForm = `(Z|[+-]\d\d(?:\d\d|:\d\d(?::\d\d)?)?)`
	christForm = `( (?i:BC))?`
)

var (
	dateText        = regexp.MustCompile(`^` + dateForm + christForm + `$`)
	timestampText   = regexp.MustCompile(`^` + dateForm + `[ T]` + clockForm + `()` + christForm + `$`)
	timestamptzText = regexp.MustCompile(`^` + dateForm + `[ T]` + clockForm + offsetForm + christForm + `$`)
)

func parseDate(text string) (Key, error) {
	if key, ok := parseInfinity(Date, text); ok {
		return key, nil
	}
	fields := dateText.FindStringSubmatch(text)
	if fields == nil {
		return Key{}, keyError(Date, "%.60q is not an ISO date", text)
	}
	value, ok := dateOf(fields[1], fields[2], fields[3], fields[4] != "")
	if !ok {
		return Key{}, keyError(Date, "%.60q is no day of the calendar", text)
	}
	return DateKey(value)
}

// An offset from UTC is needed for timestamptz and refused for timestamp, so that
// none is ever guessed or ignored.

func parseTimestamp(text string) (Key, error) {
	return parseTime(Timestamp, text, timestampText, "an ISO timestamp without an offset")
}

func parseTimestamptz(text string) (Key, error) {
	return parseTime(Timestamptz, text, timestamptzText, "an ISO timestamp with its offset from UTC")
}

func parseTime(t KeyType, text string, form *regexp.Regexp, wanted string) (Key, error) {
	if key, ok := parseInfinity(t, text); ok {
		return key, nil
	}
	fields := form.FindStringSubmatch(text)
	if fields == nil {
		return Key{}, keyError(t, "%.60q is not %s", text, wanted)
	}
	day, dayOK := dateOf(fields[1], fields[2], fields[3], fields[9] != "")
	clock, clockOK := clockOf(fields[4], fields[5], fields[6], fields[7])
	offset, offsetOK := offsetOf(fields[8])
	if !dayOK || !clockOK || !offsetOK {
		return Key{}, keyError(t, "%.60q is no time of the calendar", text)
	}
	// The range is that of the instant: the offset may lead into it.
	return microsecondsKey(t, day.Add(clock).Add(-offset))
}

func parseInfinity(t KeyType, text string) (Key, bool) {
	if !strings.EqualFold(text, "infinity") && !strings.EqualFold(text, "-infinity") {
		return Key{}, false
	}
	return infinityKey(t, text[0] == '-'), true
}

// dateOf takes years before Christ as PostgreSQL prints them: there is no year 0.
func dateOf(year, month, day string, beforeChrist bool) (time.Time, bool) {
	y, m, d := number(year), number(month), number(day)
	if y == 0 {
		return time.Time{}, false
	}
	if beforeChrist {
		y = 1 - y
	}
	date := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	return date, int(date.Month()) == m && date.Day() == d
}

// clockOf allows 24:00:00 as the end of a day, as PostgreSQL does.
func clockOf(hours, minutes, seconds, fraction string) (time.Duration, bool) {
	micros := number((fraction + "000000")[:6])
	clock := time.Duration(number(hours))*time.Hour +
		time.Duration(number(minutes))*time.Minute +
		time.Duration(number(seconds))*time.Second +
		time.Duration(micros)*time.Microsecond
	return clock, clock <= 24*time.Hour && number(minutes) < 60 && number(seconds) < 60
}

// offsetOf reads Z, +02, +0230, -04:30 and +05:53:28.
func offsetOf(text string) (time.Duration, bool) {
	if text == "" || text == "Z" {
		return 0, true
	}
	digits := strings.ReplaceAll(text[1:], ":", "")
	sum, unit := time.Duration(0), time.Hour
	for ; digits != ""; digits = digits[2:] {
		field := number(digits[:2])
		if unit < time.Hour && field >= 60 {
			return 0, false
		}
		sum += time.Duration(field) * unit
		unit /= 60
	}
	if text[0] == '-' {
		sum = -sum
	}
	return sum, sum > -16*time.Hour && sum < 16*time.Hour
}

// number reads digits that a pattern has found; there are at most seven.
func number(digits string) int {
	value, _ := strconv.Atoi(digits)
	return value
}
