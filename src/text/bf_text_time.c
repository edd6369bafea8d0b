/*
 * bf_text_time.c
 *	  The text of dates and timestamps.
 *
 * What PostgreSQL prints with DateStyle ISO, and nothing that would need a time
 * zone, a DateStyle or today's date to be understood.  The calendar is the
 * proleptic Gregorian one; the year before 1 is 1 BC.
 */
#include "bf_text_read.h"

#define SECONDS_PER_DAY		86400
#define MICROSECONDS		INT64_C(1000000)

/* Days from 1970-01-01 to 2000-01-01, from which PostgreSQL counts. */
#define POSTGRES_EPOCH_DAYS 10957

/* PostgreSQL's first day, 4714-11-24 BC, and the last of date, from 1970. */
#define FIRST_DAY			INT64_C(-2440588)
#define LAST_DATE			INT64_C(2145042905)

/* The end of timestamps, 294277-01-01, in microseconds from 2000. */
#define END_TIMESTAMP		INT64_C(9223371331200000000)

/* PostgreSQL's offsets from UTC are smaller, in hours. */
#define MAX_OFFSET_HOURS	15

static const char bad_date[] = "it must be a date such as 2024-02-29, 0044-03-15 BC, infinity or -infinity";
static const char bad_timestamp[] = "it must be a timestamp such as 2024-02-29 12:34:56.789";
static const char bad_timestamptz[] = "it must be a timestamp with an offset from UTC, such as 2024-02-29 12:34:56.789+01";
static const char bad_range[] = "it is out of the type's range";

typedef struct scanner
{
	const char *at;
	const char *end;
} scanner;

/* A number of min to max digits. */
static bool
scan_number(scanner *text, int min, int max, int64_t *value)
{
	int			digits = 0;

	for (*value = 0; text->at < text->end && digits < max; digits++)
	{
		unsigned	digit = (unsigned) (unsigned char) *text->at - '0';

		if (digit > 9)
			break;
		*value = *value * 10 + digit;
		text->at++;
	}
	return digits >= min;
}

static bool
scan_character(scanner *text, char character)
{
	if (text->at == text->end || *text->at != character)
		return false;
	text->at++;
	return true;
}

/* " BC" at the end, which is cut off. */
static bool
cut_bc(scanner *text)
{
	size_t		length = (size_t) (text->end - text->at);

	if (length < 3 || !bf_text_is_word(text->end - 3, 3, " bc"))
		return false;
	text->end -= 3;
	return true;
}

static bool
is_leap_year(int64_t year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int64_t
days_of_month(int64_t year, int64_t month)
{
	static const int64_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

	return days[month - 1] + (month == 2 && is_leap_year(year));
}

static int64_t
floor_divide(int64_t dividend, int64_t divisor)
{
	return dividend / divisor - (dividend % divisor < 0);
}

/*
 * Days since 1970-01-01.  Years are counted from March, so that the leap day is
 * the last one, and months then have 30.6 days on average.
 */
static int64_t
days_since_1970(int64_t year, int64_t month, int64_t day)
{
	int64_t		from_march = (month + 9) % 12;

	year -= month <= 2;
	return year * 365 + floor_divide(year, 4) - floor_divide(year, 100) +
		floor_divide(year, 400) + (from_march * 153 + 2) / 5 + day - 1 - 719468;
}

/* YYYY-MM-DD with four or more digits for the year. */
static bool
scan_date(scanner *text, bool bc, int64_t *days)
{
	int64_t		year;
	int64_t		month;
	int64_t		day;

	if (!scan_number(text, 4, 7, &year) || !scan_character(text, '-') ||
		!scan_number(text, 2, 2, &month) || !scan_character(text, '-') ||
		!scan_number(text, 2, 2, &day) || year == 0)
		return false;
	if (bc)
		year = 1 - year;
	if (month < 1 || month > 12 || day < 1 || day > days_of_month(year, month))
		return false;
	*days = days_since_1970(year, month, day);
	return true;
}

/* .ffffff: one to six digits, if there is a point. */
static bool
scan_fraction(scanner *text, int64_t *microseconds)
{
	const char *begin = text->at + 1;
	int64_t		unit;

	*microseconds = 0;
	if (!scan_character(text, '.'))
		return true;
	if (!scan_number(text, 1, 6, microseconds))
		return false;
	for (unit = text->at - begin; unit < 6; unit++)
		*microseconds *= 10;
	return true;
}

/* HH:MM:SS[.ffffff] up to 24:00:00, in microseconds. */
static bool
scan_time(scanner *text, int64_t *microseconds)
{
	int64_t		hour;
	int64_t		minute;
	int64_t		second;
	int64_t		fraction;

	if (!scan_number(text, 2, 2, &hour) || !scan_character(text, ':') ||
		!scan_number(text, 2, 2, &minute) || !scan_character(text, ':') ||
		!scan_number(text, 2, 2, &second) || !scan_fraction(text, &fraction) ||
		minute > 59 || second > 59)
		return false;
	*microseconds = ((hour * 60 + minute) * 60 + second) * MICROSECONDS + fraction;
	return *microseconds <= SECONDS_PER_DAY * MICROSECONDS;
}

/* HH, HHMM, HH:MM or HH:MM:SS. */
static bool
scan_offset_time(scanner *text, int64_t *hour, int64_t *minute, int64_t *second)
{
	*minute = 0;
	*second = 0;
	if (!scan_number(text, 2, 2, hour))
		return false;
	if (!scan_character(text, ':'))
		return text->at == text->end || scan_number(text, 2, 2, minute);
	return scan_number(text, 2, 2, minute) &&
		(!scan_character(text, ':') || scan_number(text, 2, 2, second));
}

/* Z, or + and a time east of Greenwich, or -, in seconds. */
static bool
scan_offset(scanner *text, int64_t *seconds)
{
	int64_t		hour;
	int64_t		minute;
	int64_t		second;
	bool		west;

	*seconds = 0;
	if (scan_character(text, 'Z'))
		return true;
	west = text->at < text->end && *text->at == '-';
	if (!west && (text->at == text->end || *text->at != '+'))
		return false;
	text->at++;
	if (!scan_offset_time(text, &hour, &minute, &second) ||
		hour > MAX_OFFSET_HOURS || minute > 59 || second > 59)
		return false;
	*seconds = (hour * 60 + minute) * 60 + second;
	if (west)
		*seconds = -*seconds;
	return true;
}

static bool
read_infinity(const char *text, size_t length, uint8_t *bytes,
			  size_t *key_length)
{
	bool		minus = length > 0 && text[0] == '-';

	if (!bf_text_is_word(text + minus, length - minus, "infinity"))
		return false;
	*key_length = bf_key_integer(minus ? INT64_MIN : INT64_MAX, bytes);
	return true;
}

const char *
bf_text_date(const char *text, size_t length, uint8_t *bytes,
			 size_t *key_length)
{
	scanner		scan = {text, text + length};
	int64_t		days;

	if (read_infinity(text, length, bytes, key_length))
		return NULL;
	if (!scan_date(&scan, cut_bc(&scan), &days) || scan.at != scan.end)
		return bad_date;
	if (days < FIRST_DAY || days > LAST_DATE)
		return bad_range;
	*key_length = bf_key_integer(days, bytes);
	return NULL;
}

/*
 * Both timestamps.  Microseconds are counted from 2000 as PostgreSQL does, where
 * its whole range fits in 64 bits, and moved to 1970 at the end, where the last
 * years wrap: see doc/FORMAT.md.
 */
static const char *
read_timestamp(const char *text, size_t length, bool with_offset,
			   uint8_t *bytes, size_t *key_length)
{
	const char *bad = with_offset ? bad_timestamptz : bad_timestamp;
	scanner		scan = {text, text + length};
	int64_t		days;
	int64_t		time;
	int64_t		offset = 0;
	int64_t		since_2000;

	if (read_infinity(text, length, bytes, key_length))
		return NULL;
	if (!scan_date(&scan, cut_bc(&scan), &days) ||
		(!scan_character(&scan, ' ') && !scan_character(&scan, 'T')) ||
		!scan_time(&scan, &time) ||
		(with_offset && !scan_offset(&scan, &offset)) || scan.at != scan.end)
		return bad;
	days -= POSTGRES_EPOCH_DAYS;
	if (days < FIRST_DAY - POSTGRES_EPOCH_DAYS - 1 ||
		days > END_TIMESTAMP / (SECONDS_PER_DAY * MICROSECONDS))
		return bad_range;
	/* Below END_TIMESTAMP and two days, which 64 bits still hold. */
	since_2000 = days * SECONDS_PER_DAY * MICROSECONDS + time - offset * MICROSECONDS;
	if (since_2000 < (FIRST_DAY - POSTGRES_EPOCH_DAYS) * SECONDS_PER_DAY * MICROSECONDS ||
		since_2000 >= END_TIMESTAMP)
		return bad_range;
	*key_length = bf_key_integer((int64_t) ((uint64_t) since_2000 +
											POSTGRES_EPOCH_DAYS * UINT64_C(86400000000)),
								 bytes);
	return NULL;
}

const char *
bf_text_timestamp(const char *text, size_t length, uint8_t *bytes,
				  size_t *key_length)
{
	return read_timestamp(text, length, false, bytes, key_length);
}

const char *
bf_text_timestamptz(const char *text, size_t length, uint8_t *bytes,
					size_t *key_length)
{
	return read_timestamp(text, length, true, bytes, key_length);
}
