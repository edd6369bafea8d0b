/*
 * keys_number.c
 *	  The text of integers, numerics and floats.
 *
 * Decimal digits only: PostgreSQL 16 reads 0x1f and 1_000 too, but never prints
 * them.
 */
#include "keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../core/bf_key.h"

/* Exponents beyond are beyond every type's range, whatever the digits. */
#define MAX_EXPONENT	1000000000

/* The pieces of a written number. */
typedef struct decimal
{
	bool		negative;
	const char *integer;		/* digits before the point */
	size_t		integer_digits;
	const char *fraction;		/* digits after it */
	size_t		fraction_digits;
	int64_t		exponent;
} decimal;

static size_t
count_digits(const char *text, const char *end)
{
	const char *at = text;

	while (at < end && *at >= '0' && *at <= '9')
		at++;
	return (size_t) (at - text);
}

/* The exponent after its e; false if there is none, or text after it. */
static bool
scan_exponent(const char *text, const char *end, int64_t *exponent)
{
	bool		negative = text < end && *text == '-';

	if (text < end && (*text == '-' || *text == '+'))
		text++;
	if (text == end || count_digits(text, end) != (size_t) (end - text))
		return false;
	for (*exponent = 0; text < end; text++)
		if (*exponent < MAX_EXPONENT)
			*exponent = *exponent * 10 + (*text - '0');
	if (negative)
		*exponent = -*exponent;
	return true;
}

/* [+-]digits[.digits][e[+-]digits], with a digit before or after the point. */
static bool
scan_decimal(const char *text, size_t length, decimal *number)
{
	const char *end = text + length;

	memset(number, 0, sizeof *number);
	number->negative = length > 0 && *text == '-';
	if (length > 0 && (*text == '-' || *text == '+'))
		text++;
	number->integer = text;
	number->integer_digits = count_digits(text, end);
	text += number->integer_digits;
	if (text < end && *text == '.')
	{
		number->fraction = ++text;
		number->fraction_digits = count_digits(text, end);
		text += number->fraction_digits;
	}
	if (number->integer_digits + number->fraction_digits == 0)
		return false;
	if (text < end && (*text == 'e' || *text == 'E'))
		return scan_exponent(text + 1, end, &number->exponent);
	return text == end;
}

const char *
encode_integer(const char *text, size_t length, uint8_t *bytes,
			   size_t *key_length)
{
	bool		negative = length > 0 && text[0] == '-';
	size_t		i = length > 0 && (text[0] == '-' || text[0] == '+');
	uint64_t	limit = (uint64_t) INT64_MAX + negative;
	uint64_t	value = 0;

	if (i == length)
		return "it must be a whole number";
	for (; i < length; i++)
	{
		unsigned	digit = (unsigned) (unsigned char) text[i] - '0';

		if (digit > 9)
			return "it must be a whole number";
		if (value > (limit - digit) / 10)
			return "it is out of bigint's range";
		value = value * 10 + digit;
	}
	*key_length = bf_key_integer((int64_t) (negative ? 0 - value : value), bytes);
	return NULL;
}

/* "NaN", "Infinity", "-Infinity" as PostgreSQL prints them, or NULL. */
static const char *
special_number(const char *text, size_t length)
{
	size_t		sign = length > 0 && (text[0] == '-' || text[0] == '+');

	if (is_word(text, length, "NaN"))
		return "NaN";
	if (!is_word(text + sign, length - sign, "Infinity") &&
		!is_word(text + sign, length - sign, "inf"))
		return NULL;
	return text[0] == '-' ? "-Infinity" : "Infinity";
}

/* The digit at a place of integer and fraction taken together, 0 beyond them. */
static char
digit_at(const decimal *number, size_t place)
{
	if (place < number->integer_digits)
		return number->integer[place];
	place -= number->integer_digits;
	return place < number->fraction_digits ? number->fraction[place] : '0';
}

/*
 * Writes a number whose point is after so many of its digits (before the first
 * if negative), and returns the length.
 */
static size_t
write_plain(const decimal *number, size_t first, int64_t point, char *plain)
{
	size_t		digits = number->integer_digits + number->fraction_digits;
	size_t		length = 0;
	int64_t		place;

	if (number->negative)
		plain[length++] = '-';
	if (point <= (int64_t) first)
		plain[length++] = '0';
	for (place = (int64_t) first; place < point; place++)
		plain[length++] = digit_at(number, (size_t) place);
	if (point < (int64_t) digits)
	{
		plain[length++] = '.';
		for (place = point; place < (int64_t) digits; place++)
			plain[length++] = place < (int64_t) first ? '0' :
				digit_at(number, (size_t) place);
	}
	return length;
}

const char *
encode_numeric(const char *text, size_t length, uint8_t *bytes,
			   size_t *key_length)
{
	const char *special = special_number(text, length);
	char	   *plain = (char *) bytes;
	decimal		number;
	size_t		first = 0;
	size_t		digits;
	int64_t		point;

	if (special != NULL)
	{
		*key_length = strlen(special);
		memcpy(plain, special, *key_length);
		return NULL;
	}
	if (!scan_decimal(text, length, &number))
		return "it must be a decimal number, NaN, Infinity or -Infinity";
	digits = number.integer_digits + number.fraction_digits;
	while (first < digits && digit_at(&number, first) == '0')
		first++;
	point = (int64_t) number.integer_digits + number.exponent;
	if ((int64_t) number.fraction_digits - number.exponent > NUMERIC_FRACTION_DIGITS)
		return "it has more digits after the point than numeric can have";
	if (first == digits)
	{
		plain[0] = '0';
		*key_length = 1;
		return NULL;
	}
	if (point - (int64_t) first > NUMERIC_INTEGER_DIGITS)
		return "it has more digits before the point than numeric can have";
	*key_length = bf_key_numeric(plain, write_plain(&number, first, point, plain));
	return NULL;
}

const char *
encode_float(const char *text, size_t length, uint8_t *bytes,
			 size_t *key_length)
{
	const char *special = special_number(text, length);
	decimal		number;
	double		value;

	if (special == NULL && !scan_decimal(text, length, &number))
		return "it must be a decimal number, NaN, Infinity or -Infinity";
	errno = 0;
	value = strtod(special != NULL ? special : text, NULL);
	if (errno == ERANGE && (value == 0 || value > 1 || value < -1))
		return "it is out of double precision's range";
	*key_length = bf_key_float(value, bytes);
	return NULL;
}
