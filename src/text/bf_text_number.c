/*
 * bf_text_number.c
 *	  The text of integers and numerics, and the pieces of any decimal number.
 *
 * Decimal digits only: PostgreSQL 16 reads 0x1f and 1_000 too, but never prints
 * them.
 */
#include "bf_text_read.h"

#include <string.h>

/* Digits before and after the point that a numeric has at most. */
#define INTEGER_DIGITS	131072
#define FRACTION_DIGITS 16383

/* Exponents beyond are beyond every type's range, whatever the digits. */
#define MAX_EXPONENT	INT64_C(10000000000)

/* PostgreSQL reads no numeric with this exponent, not even of zero. */
#define END_EXPONENT	(INT32_MAX / 2)

static size_t
count_digits(const char *text, const char *end)
{
	const char *at = text;

	while (at < end && bf_text_is_digit(*at))
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

bool
bf_text_decimal(const char *text, size_t length, bf_decimal *number)
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
bf_text_integer(const char *text, size_t length, uint8_t *bytes,
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

const char *
bf_text_special(const char *text, size_t length)
{
	size_t		sign = length > 0 && (text[0] == '-' || text[0] == '+');

	if (bf_text_is_word(text, length, "nan"))
		return "NaN";
	if (!bf_text_is_word(text + sign, length - sign, "infinity") &&
		!bf_text_is_word(text + sign, length - sign, "inf"))
		return NULL;
	return text[0] == '-' ? "-Infinity" : "Infinity";
}

char
bf_text_digit(const bf_decimal *number, size_t place)
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
write_plain(const bf_decimal *number, size_t first, int64_t point, char *plain)
{
	size_t		digits = number->integer_digits + number->fraction_digits;
	size_t		length = 0;
	int64_t		place;

	if (number->negative)
		plain[length++] = '-';
	if (point <= (int64_t) first)
		plain[length++] = '0';
	for (place = (int64_t) first; place < point; place++)
		plain[length++] = bf_text_digit(number, (size_t) place);
	if (point < (int64_t) digits)
	{
		plain[length++] = '.';
		for (place = point; place < (int64_t) digits; place++)
			plain[length++] = place < (int64_t) first ? '0' :
				bf_text_digit(number, (size_t) place);
	}
	return length;
}

const char *
bf_text_numeric(const char *text, size_t length, uint8_t *bytes,
				size_t *key_length)
{
	const char *special = bf_text_special(text, length);
	char	   *plain = (char *) bytes;
	bf_decimal	number;
	size_t		first = 0;
	size_t		digits;
	int64_t		point;

	if (special != NULL)
	{
		*key_length = strlen(special);
		memcpy(plain, special, *key_length);
		return NULL;
	}
	if (!bf_text_decimal(text, length, &number))
		return "it must be a decimal number, NaN, Infinity or -Infinity";
	if (number.exponent >= END_EXPONENT || number.exponent <= -END_EXPONENT)
		return "its exponent is out of numeric's range";
	digits = number.integer_digits + number.fraction_digits;
	while (first < digits && bf_text_digit(&number, first) == '0')
		first++;
	point = (int64_t) number.integer_digits + number.exponent;
	if ((int64_t) number.fraction_digits - number.exponent > FRACTION_DIGITS)
		return "it has more digits after the point than numeric can have";
	if (first == digits)
	{
		plain[0] = '0';
		*key_length = 1;
		return NULL;
	}
	if (point - (int64_t) first > INTEGER_DIGITS)
		return "it has more digits before the point than numeric can have";
	*key_length = bf_key_numeric(plain, write_plain(&number, first, point, plain));
	return NULL;
}

size_t
bf_text_numeric_room(const char *text, size_t length)
{
	bf_decimal	number;
	size_t		most = INTEGER_DIGITS + FRACTION_DIGITS;
	size_t		zeros;

	if (!bf_text_decimal(text, length, &number))
		return BF_TEXT_ROOM;
	zeros = (size_t) (number.exponent < 0 ? -number.exponent : number.exponent);
	most += length;
	return (zeros < most ? zeros + length : most) + BF_TEXT_ROOM;
}
