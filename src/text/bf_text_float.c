/*
 * bf_text_float.c
 *	  The text of floating-point numbers: the double or the real that is nearest.
 *
 * C's strtod and strtof say which, as in PostgreSQL.  They get a whole number of all digits and
 * an exponent: no decimal point, which they read by the program's locale.
 */
#include <math.h>
#include <stdlib.h>

#include "bf_text_read.h"

/*
 * More digits than these only matter for being there or not: two neighbouring
 * doubles and the middle between them have at most 768.
 */
#define MOST_DIGITS 800

/* With a larger exponent a number of so many digits is an infinity, with a lower one 0. */
#define EXPONENT_DIGITS 4
#define MOST_EXPONENT	9999

static const char bad_float[] = "it must be a decimal number, NaN, Infinity or -Infinity";
static const char bad_range[] = "it is out of the type's range";

static void
write_exponent(int64_t exponent, char *text)
{
	int			rest = exponent > MOST_EXPONENT ? MOST_EXPONENT :
		exponent < -MOST_EXPONENT ? MOST_EXPONENT : (int) (exponent < 0 ? -exponent : exponent);
	int			i;

	*text++ = 'e';
	*text++ = exponent < 0 ? '-' : '+';
	text[EXPONENT_DIGITS] = '\0';
	for (i = EXPONENT_DIGITS - 1; i >= 0; i--, rest /= 10)
		text[i] = (char) ('0' + rest % 10);
}

/* Without the sign.  False where the nearest number is an infinity, or 0, which the text is not. */
static bool
nearest(const bf_decimal *decimal, bool real, double *value)
{
	char		text[MOST_DIGITS + 1 + 2 + EXPONENT_DIGITS + 1];
	size_t		digits = decimal->integer_digits + decimal->fraction_digits;
	size_t		first = 0;
	size_t		count = 0;
	size_t		place;
	bool		more = false;

	while (first < digits && bf_text_digit(decimal, first) == '0')
		first++;
	*value = 0;
	if (first == digits)
		return true;
	for (place = first; place < digits; place++)
		if (count < MOST_DIGITS)
			text[count++] = bf_text_digit(decimal, place);
		else if (bf_text_digit(decimal, place) != '0')
			more = true;
	if (more)
		text[count++] = '1';
	write_exponent(decimal->exponent + (int64_t) decimal->integer_digits - (int64_t) (first + count), text + count);
	*value = real ? strtof(text, NULL) : strtod(text, NULL);
	return *value != 0 && !isinf(*value);
}

static const char *
read_float(const char *text, size_t length, bool real, uint8_t *bytes, size_t *key_length)
{
	const char *special = bf_text_special(text, length);
	bf_decimal	decimal;
	double		value;

	if (special != NULL)
		value = special[0] == 'N' ? (double) NAN : (double) INFINITY;
	else if (!bf_text_decimal(text, length, &decimal))
		return bad_float;
	else if (!nearest(&decimal, real, &value))
		return bad_range;
	*key_length = bf_key_float(text[0] == '-' ? -value : value, bytes);
	return NULL;
}

const char *
bf_text_float(const char *text, size_t length, uint8_t *bytes,
			  size_t *key_length)
{
	return read_float(text, length, false, bytes, key_length);
}

const char *
bf_text_real(const char *text, size_t length, uint8_t *bytes,
			 size_t *key_length)
{
	return read_float(text, length, true, bytes, key_length);
}
