/*
 * bf_text_float.c
 *	  The text of floating-point numbers: the double or the real that is nearest.
 *
 * C's strtod would do, but it reads by the program's locale, and WebAssembly has
 * none.  The digits are kept as decimal digits and multiplied or divided by powers
 * of two until the binary digits that the type has stand before the point: that is
 * exact, so the one rounding at the end is the right one.
 */
#include <float.h>
#include <string.h>

#include "bf_text_number.h"
#include "bf_text_read.h"

/*
 * More digits than these only matter for being there or not: two neighbouring
 * doubles and the middle between them have at most 768.
 */
#define MOST_DIGITS 800

/* Digits are multiplied by powers of two up to this, which fit beside a digit. */
#define MOST_BITS	59

/* Digits that 2^MOST_BITS has. */
#define MORE_DIGITS 18

/* Outside these there are only infinities, and zeros, of either type. */
#define LARGEST_POINT	310
#define LEAST_POINT		(-330)

static const char bad_float[] = "it must be a decimal number, NaN, Infinity or -Infinity";
static const char bad_range[] = "it is out of the type's range";

/* 0.d1d2d3... times 10^point */
typedef struct digits
{
	int			count;
	int			point;
	bool		more;			/* others than 0 were cut off at the end */
	uint8_t		digit[MOST_DIGITS + MORE_DIGITS];
} digits;

/* How a type has its numbers: so many binary digits, and the least exponent. */
typedef struct binary_format
{
	int			bits;
	int			least;			/* of 1.xxx times 2^exponent */
	int			most;
} binary_format;

static const binary_format double_format = {53, -1022, 1023};
static const binary_format real_format = {24, -126, 127};

/* Cuts what is too long, and zeros at the end. */
static void
trim(digits *number)
{
	while (number->count > MOST_DIGITS)
		if (number->digit[--number->count] != 0)
			number->more = true;
	while (number->count > 0 && number->digit[number->count - 1] == 0)
		number->count--;
}

/* Takes over the digits from the first that is not 0; false if there is none. */
static bool
take_digits(const bf_decimal *decimal, digits *number)
{
	size_t		count = decimal->integer_digits + decimal->fraction_digits;
	size_t		first = 0;
	size_t		place;
	int64_t		point;

	while (first < count && bf_text_digit(decimal, first) == '0')
		first++;
	number->count = 0;
	number->more = false;
	for (place = first; place < count; place++)
	{
		char		digit = bf_text_digit(decimal, place);

		if (number->count < MOST_DIGITS)
			number->digit[number->count++] = (uint8_t) (digit - '0');
		else if (digit != '0')
			number->more = true;
	}
	trim(number);
	point = (int64_t) decimal->integer_digits - (int64_t) first + decimal->exponent;
	number->point = point > LARGEST_POINT ? LARGEST_POINT + 1 :
		point < LEAST_POINT ? LEAST_POINT - 1 : (int) point;
	return number->count > 0;
}

/* Divides by 2^bits: by hand, from the left. */
static void
divide(digits *number, int bits)
{
	uint64_t	mask = (UINT64_C(1) << bits) - 1;
	uint64_t	rest = 0;
	int			taken = 0;
	int			count = 0;
	bool		more = number->more;

	/* The first digit of the result that is not 0. */
	for (; rest >> bits == 0; taken++)
		rest = rest * 10 + (taken < number->count ? number->digit[taken] : 0);
	number->point -= taken - 1;
	for (;;)
	{
		uint8_t		digit = (uint8_t) (rest >> bits);

		if (count < MOST_DIGITS)
			number->digit[count++] = digit;
		else if (digit != 0)
			more = true;
		rest &= mask;
		if (rest == 0 && taken >= number->count)
			break;
		rest = rest * 10 + (taken < number->count ? number->digit[taken] : 0);
		taken++;
	}
	number->count = count;
	number->more = more;
	trim(number);
}

/* Multiplies by 2^bits: by hand, from the right. */
static void
multiply(digits *number, int bits)
{
	uint64_t	carry = 0;
	int			unused = 0;
	int			i;

	for (i = number->count - 1; i >= 0; i--)
	{
		carry += (uint64_t) number->digit[i] << bits;
		number->digit[i + MORE_DIGITS] = (uint8_t) (carry % 10);
		carry /= 10;
	}
	for (i = MORE_DIGITS - 1; i >= 0; i--)
	{
		number->digit[i] = (uint8_t) (carry % 10);
		carry /= 10;
	}
	number->count += MORE_DIGITS;
	while (number->digit[unused] == 0)
		unused++;
	number->count -= unused;
	number->point += MORE_DIGITS - unused;
	memmove(number->digit, number->digit + unused, (size_t) number->count);
	trim(number);
}

/* Multiplies by 2^bits, or divides where bits are negative. */
static void
shift(digits *number, int bits)
{
	for (; bits > MOST_BITS; bits -= MOST_BITS)
		multiply(number, MOST_BITS);
	for (; bits < -MOST_BITS; bits += MOST_BITS)
		divide(number, MOST_BITS);
	if (bits > 0)
		multiply(number, bits);
	else if (bits < 0)
		divide(number, -bits);
}

/* Bits that may be taken off a number with so many digits before the point, and leave one. */
static int
safe_bits(int point)
{
	int			bits = point * 3;	/* 2^3 < 10 */

	return bits < MOST_BITS ? bits : MOST_BITS;
}

/* Brings a number to at least 1/2 and less than 1; returns the power of two that it lost. */
static int
normalize(digits *number)
{
	int			power = 0;

	while (number->point > 0)
	{
		int			bits = safe_bits(number->point);

		divide(number, bits);
		power += bits;
	}
	while (number->point < 0 || number->digit[0] < 5)
	{
		int			bits = number->point < 0 ? safe_bits(-number->point) : 1;

		multiply(number, bits);
		power -= bits;
	}
	return power;
}

/* The whole number that is nearest; of two, the even one. */
static uint64_t
nearest_integer(const digits *number)
{
	uint64_t	value = 0;
	int			next = number->point;
	bool		up;
	int			i;

	for (i = 0; i < number->point; i++)
		value = value * 10 + (i < number->count ? number->digit[i] : 0);
	if (next < 0 || next >= number->count)
		return value;
	up = number->digit[next] >= 5;
	if (number->digit[next] == 5 && next + 1 == number->count && !number->more)
		up = value & 1;
	return value + up;
}

/* mantissa times 2^power, which is a double. */
static double
scale(uint64_t mantissa, int power)
{
	uint64_t	bits;
	double		value;

	if (mantissa >> 52 == 0)	/* below the least double of all its bits */
		return (double) mantissa * 0x1p-1022 * 0x1p-52;
	bits = (uint64_t) (power + 52 + 1023) << 52 | (mantissa & ((UINT64_C(1) << 52) - 1));
	memcpy(&value, &bits, sizeof value);
	return value;
}

/* False where the nearest number is an infinity, or 0, which the text is not. */
static bool
nearest(digits *number, const binary_format *format, double *value)
{
	int			power;
	int			last;			/* power of two of the last bit */
	uint64_t	mantissa;

	if (number->point > LARGEST_POINT || number->point < LEAST_POINT)
		return false;
	power = normalize(number) - 1;
	last = (power < format->least ? format->least : power) - (format->bits - 1);
	shift(number, power + 1 - last);
	mantissa = nearest_integer(number);
	if (mantissa == 0)
		return false;
	while (mantissa >> 52 == 0 && last > -1074)
	{
		mantissa <<= 1;
		last--;
	}
	if (mantissa >> 53 != 0)
	{
		mantissa >>= 1;
		last++;
	}
	*value = scale(mantissa, last);
	return last + 52 <= format->most;
}

/*
 * The common case: up to 19 digits that fit the bits of a double, and a power of
 * ten that is one.  Then the only rounding is that of one operation.
 */
static bool
nearest_at_once(const digits *number, double *value)
{
	static const double powers[] = {
		1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12,
		1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22
	};
	int			power = number->point - number->count;
	uint64_t	whole = 0;
	int			i;

	if (FLT_EVAL_METHOD != 0 || number->count > 19 || power < -22 || power > 22)
		return false;
	for (i = 0; i < number->count; i++)
		whole = whole * 10 + number->digit[i];
	if (whole >> 53 != 0)
		return false;
	*value = power < 0 ? (double) whole / powers[-power] : (double) whole * powers[power];
	return true;
}

static const char *
read_float(const char *text, size_t length, const binary_format *format,
		   uint8_t *bytes, size_t *key_length)
{
	const uint64_t infinity = UINT64_C(0x7ff0000000000000);
	const char *special = bf_text_special(text, length);
	bf_decimal	decimal;
	digits		number;
	double		value = 0;

	if (special != NULL)
	{
		uint64_t	sign = (uint64_t) (special[0] == '-') << 63;
		uint64_t	nan = (uint64_t) (special[0] == 'N') << 51;

		bf_store_le64(bytes, sign | infinity | nan);
		*key_length = sizeof infinity;
		return NULL;
	}
	if (!bf_text_decimal(text, length, &decimal))
		return bad_float;
	if (take_digits(&decimal, &number) &&
		!(format == &double_format && nearest_at_once(&number, &value)) &&
		!nearest(&number, format, &value))
		return bad_range;
	*key_length = bf_key_float(decimal.negative ? -value : value, bytes);
	return NULL;
}

const char *
bf_text_float(const char *text, size_t length, uint8_t *bytes,
			  size_t *key_length)
{
	return read_float(text, length, &double_format, bytes, key_length);
}

const char *
bf_text_real(const char *text, size_t length, uint8_t *bytes,
			 size_t *key_length)
{
	return read_float(text, length, &real_format, bytes, key_length);
}
