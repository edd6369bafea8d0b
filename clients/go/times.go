package bloomfilter

import "time"

// The first and the last moment that PostgreSQL's types can hold.
var (
	firstDay      = time.Date(-4713, 11, 24, 0, 0, 0, 0, time.UTC)
	lastDay       = time.Date(5874897, 12, 31, 0, 0, 0, 0, time.UTC)
	lastTimestamp = time.Date(294276, 12, 31, 23, 59, 59, 999999000, time.UTC)
)

const secondsPerDay = 24 * 60 * 60

// DateKey is a key of type date: the year, month and day that the time has in
// its own location. Its clock must show midnight, so that no part of the value
// is dropped in silence.
func DateKey(value time.Time) (Key, error) {
	wall := wallClock(value)
	seconds := wall.Unix()
	switch {
	case seconds%secondsPerDay != 0 || wall.Nanosecond() != 0:
		return Key{}, keyError(Date, "the time is not midnight")
	case wall.Before(firstDay) || wall.After(lastDay):
		return Key{}, keyError(Date, "out of PostgreSQL's range")
	}
	return wordKey(Date, uint64(seconds/secondsPerDay)), nil
}

// TimestampKey is a key of type timestamp: the date and the clock that the time
// shows in its own location. It must be whole microseconds.
func TimestampKey(value time.Time) (Key, error) {
	return microsecondsKey(Timestamp, wallClock(value))
}

// TimestamptzKey is a key of type timestamptz: the instant, whatever its
// location. It must be whole microseconds.
func TimestamptzKey(value time.Time) (Key, error) {
	return microsecondsKey(Timestamptz, value)
}

// wallClock is the time in UTC at which the clock there shows what the clock of
// value shows in its own location.
func wallClock(value time.Time) time.Time {
	_, offset := value.Zone()
	return value.Add(time.Duration(offset) * time.Second).UTC()
}

func microsecondsKey(t KeyType, value time.Time) (Key, error) {
	switch {
	case value.Nanosecond()%1000 != 0:
		return Key{}, keyError(t, "the time is finer than a microsecond")
	case value.Before(firstDay) || value.After(lastTimestamp):
		return Key{}, keyError(t, "out of PostgreSQL's range")
	}
	// The last years that PostgreSQL has wrap around, as the format says.
	return wordKey(t, uint64(value.Unix())*1000000+uint64(value.Nanosecond()/1000)), nil
}
