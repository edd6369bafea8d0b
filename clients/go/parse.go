package bloomfilter

import (
	"encoding/hex"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// ParseKey makes a key from text, spelled as PostgreSQL prints values of the
// type: integers in decimal, bytea and uuid in hex, dates and times in ISO form
// with BC and infinity, timestamptz with its offset from UTC. Text is taken as
// it is.
func ParseKey(t KeyType, text string) (Key, error) {
	if t == None || t > lastKeyType {
		return Key{}, keyError(t, "no values of this type exist")
	}
	key, err := keyParsers[t](text)
	if err != nil {
		if _, ok := err.(*KeyValueError); !ok {
			err = keyError(t, "%.60q: %v", text, err)
		}
		return Key{}, err
	}
	return key, nil
}

var keyParsers = [...]func(text string) (Key, error){
	Integer:     parseInteger,
	Text:        TextKey,
	Bytea:       parseBytea,
	UUID:        parseUUID,
	Numeric:     NumericKey,
	Float:       parseFloat,
	Date:        parseDate,
	Timestamp:   parseTimestamp,
	Timestamptz: parseTimestamptz,
	Inet:        parseInet,
	Macaddr:     parseMAC,
}

func parseInteger(text string) (Key, error) {
	value, err := strconv.ParseInt(text, 10, 64)
	return IntegerKey(value), err
}

func parseBytea(text string) (Key, error) {
	value, err := hex.DecodeString(strings.TrimPrefix(text, `\x`))
	if err != nil {
		return Key{}, err
	}
	return ByteaKey(value)
}

var uuidForm = regexp.MustCompile(
	`^(?:[0-9a-fA-F]{32}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$`)

func parseUUID(text string) (Key, error) {
	if strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}") {
		text = text[1 : len(text)-1]
	}
	if !uuidForm.MatchString(text) {
		return Key{}, keyError(UUID, "%.60q is not a uuid", text)
	}
	var value [16]byte
	_, err := hex.Decode(value[:], []byte(strings.ReplaceAll(text, "-", "")))
	return UUIDKey(value), err
}

func parseFloat(text string) (Key, error) {
	if strings.ContainsAny(text, "xX_") {
		return Key{}, keyError(Float, "%.60q is not a decimal", text)
	}
	value, err := strconv.ParseFloat(text, 64)
	return FloatKey(value), err
}

func parseInet(text string) (Key, error) {
	if strings.Contains(text, "/") {
		value, err := netip.ParsePrefix(text)
		if err != nil {
			return Key{}, err
		}
		return PrefixKey(value)
	}
	value, err := netip.ParseAddr(text)
	if err != nil {
		return Key{}, err
	}
	return AddrKey(value)
}

func parseMAC(text string) (Key, error) {
	if len(text) == 12 || len(text) == 16 {
		if value, err := hex.DecodeString(text); err == nil {
			return MACKey(value)
		}
	}
	value, err := net.ParseMAC(text)
	if err != nil {
		return Key{}, err
	}
	return MACKey(value)
}

const dateForm = `(\d{4,7})-(\d\d)-(\d\d)`

var (
	dateText = regexp.MustCompile(`^` + dateForm + `( BC)?$`)
	timeText = regexp.MustCompile(`^` + dateForm + `[ T](\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?` +
		`(Z|[+-]\d\d(?::\d\d){0,2})?( BC)?$`)
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

func parseTimestamp(text string) (Key, error) {
	return parseTime(Timestamp, text)
}

func parseTimestamptz(text string) (Key, error) {
	return parseTime(Timestamptz, text)
}

// parseTime reads the form of both types. An offset from UTC is needed for
// timestamptz and refused for timestamp, so that none is ever ignored.
func parseTime(t KeyType, text string) (Key, error) {
	if key, ok := parseInfinity(t, text); ok {
		return key, nil
	}
	fields := timeText.FindStringSubmatch(text)
	if fields == nil || (fields[8] != "") != (t == Timestamptz) {
		return Key{}, keyError(t, "%.60q is not an ISO %s", text, t)
	}
	day, dayOK := dateOf(fields[1], fields[2], fields[3], fields[9] != "")
	clock, clockOK := clockOf(fields[4], fields[5], fields[6], fields[7])
	offset, offsetOK := offsetOf(fields[8])
	if !dayOK || !clockOK || !offsetOK {
		return Key{}, keyError(t, "%.60q is no time of the calendar", text)
	}
	return microsecondsKey(t, day.Add(clock).Add(-offset))
}

func parseInfinity(t KeyType, text string) (Key, bool) {
	if text != "infinity" && text != "-infinity" {
		return Key{}, false
	}
	return infinityKey(t, text[0] == '-'), true
}

// dateOf takes digits and refuses days such as February 30.
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

// offsetOf reads Z, +02, -04:30 and +05:53:28.
func offsetOf(text string) (time.Duration, bool) {
	if text == "" || text == "Z" {
		return 0, true
	}
	sum, unit := time.Duration(0), time.Hour
	for i, field := range strings.Split(text[1:], ":") {
		if i > 0 && number(field) >= 60 {
			return 0, false
		}
		sum += time.Duration(number(field)) * unit
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
