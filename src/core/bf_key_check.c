/*
 * bf_key_check.c
 *	  Whether bytes are a key of a type, and whether text is UTF-8.
 *
 * Bytes that no key has are refused and never hashed.  A filter can't hold them,
 * so "no" would be the answer, and a caller who spelled a key wrongly would take
 * it for an absent one.
 *
 * Text that is not has no key bytes: no filter can hold it, and asking for it is
 * the caller's mistake (another encoding, cut off in a character).
 */
#include "bf_key.h"

#include <string.h>

/* Length of the run of ASCII at the start, in whole words of 8. */
static size_t
ascii_run(const uint8_t *bytes, size_t length)
{
	size_t		at = 0;
	uint64_t	word;

	while (length - at >= sizeof word)
	{
		memcpy(&word, bytes + at, sizeof word);
		if ((word & UINT64_C(0x8080808080808080)) != 0)
			break;
		at += sizeof word;
	}
	return at;
}

/*
 * The bytes that follow a first byte, 0 if it is none.  *low and *high are the
 * bounds of the second byte, which exclude overlong forms, surrogates, and what
 * is beyond U+10FFFF.
 */
static size_t
sequence(uint8_t first, uint8_t *low, uint8_t *high)
{
	*low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
	*high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
	if (first >= 0xc2 && first <= 0xdf)
		return 1;
	if (first >= 0xe0 && first <= 0xef)
		return 2;
	if (first >= 0xf0 && first <= 0xf4)
		return 3;
	return 0;
}

/* The length of the character at the start, 0 if it is not valid. */
static size_t
character(const uint8_t *bytes, size_t length)
{
	uint8_t		low;
	uint8_t		high;
	size_t		following;
	size_t		i;

	if (bytes[0] < 0x80)
		return 1;
	following = sequence(bytes[0], &low, &high);
	if (following == 0 || following >= length || bytes[1] < low || bytes[1] > high)
		return 0;
	for (i = 2; i <= following; i++)
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
	return following + 1;
}

bool
bf_utf8_valid(const uint8_t *bytes, size_t length)
{
	size_t		at = 0;

	while (at < length)
	{
		size_t		step = ascii_run(bytes + at, length - at);

		if (step == 0)
			step = character(bytes + at, length - at);
		if (step == 0)
			return false;
		at += step;
	}
	return true;
}

static bool
is_text(const uint8_t *bytes, size_t length)
{
	return bf_key_text(bytes, length) == length && bf_utf8_valid(bytes, length);
}

static size_t
digits(const uint8_t *bytes, size_t length)
{
	size_t		count = 0;

	while (count < length && bytes[count] >= '0' && bytes[count] <= '9')
		count++;
	return count;
}

static bool
is_named_numeric(const uint8_t *bytes, size_t length)
{
	static const char *const names[] = {"NaN", "Infinity", "-Infinity"};
	size_t		i;

	for (i = 0; i < sizeof names / sizeof names[0]; i++)
		if (length == strlen(names[i]) && memcmp(bytes, names[i], length) == 0)
			return true;
	return false;
}

/* [-]digits[.digits] in its shortest form, or a name. */
static bool
is_numeric(const uint8_t *bytes, size_t length)
{
	size_t		sign = length > 0 && bytes[0] == '-';
	size_t		whole = digits(bytes + sign, length - sign);
	size_t		at = sign + whole;
	size_t		fraction = 0;

	if (at < length && bytes[at] == '.')
	{
		fraction = digits(bytes + at + 1, length - at - 1);
		at += 1 + fraction;
	}
	if (at != length || whole == 0)
		return is_named_numeric(bytes, length);
	/* no zero that could go, no point without a fraction, and no sign of zero alone */
	return (whole == 1 || bytes[sign] != '0') && bytes[length - 1] != '.' &&
		(fraction == 0 || bytes[length - 1] != '0') && !(sign == 1 && length == 2 && bytes[1] == '0');
}

static bool
is_float(const uint8_t *bytes, size_t length)
{
	uint64_t	bits;
	double		value;
	uint8_t		canonical[8];

	(void) length;
	bits = bf_load_le64(bytes);
	memcpy(&value, &bits, sizeof value);
	bf_key_float(value, canonical);
	return memcmp(bytes, canonical, 8) == 0;
}

static bool
is_inet(const uint8_t *bytes, size_t length)
{
	return (length == 6 && bytes[0] == 4 && bytes[1] <= 32) ||
		(length == 18 && bytes[0] == 6 && bytes[1] <= 128);
}

static bool
is_macaddr(const uint8_t *bytes, size_t length)
{
	return length == 6 ||
		(length == 8 && !(bytes[3] == 0xff && bytes[4] == 0xfe));
}

typedef struct key_form
{
	size_t		length;			/* of all keys of a type; 0: they have several */
	bool		(*check) (const uint8_t *bytes, size_t length);	/* NULL: all bytes of this length are keys */
} key_form;

static const key_form forms[] = {
	{0, NULL}, {8, NULL}, {0, is_text}, {0, NULL}, {16, NULL}, {0, is_numeric}, {8, is_float},
	{8, NULL}, {8, NULL}, {8, NULL}, {0, is_inet}, {0, is_macaddr}
};

/* Doesn't compile unless each type has its form. */
typedef char bf_all_types_have_forms[sizeof forms / sizeof forms[0] == BF_KEY_LAST + 1 ? 1 : -1];

/* Of any type but row. */
static bool
is_key(uint32_t type, const uint8_t *bytes, size_t length)
{
	const key_form *form = &forms[type];

	return (form->length == 0 || length == form->length) && (form->check == NULL || form->check(bytes, length));
}

/* Whether bytes are columns one after the other, each canonical; *full gets their types. */
static bool
is_row(const uint8_t *bytes, size_t length, uint32_t *full)
{
	const uint8_t *end = bytes + length;
	bf_row_column column;

	*full = BF_KEY_ROW;
	while (bytes < end)
		if (!bf_key_row_next(&bytes, end, &column) ||
			!is_key(column.type, column.bytes, column.length) ||
			!bf_key_row_add(full, column.type))
			return false;
	return bf_key_columns_valid(*full);
}

bool
bf_key_check(uint32_t type, const void *bytes, size_t *length, uint32_t *full)
{
	if (type == BF_KEY_ROW)
		return is_row(bytes, *length, full);
	*full = type;
	if (type == BF_KEY_TEXT)
		*length = bf_key_text(bytes, *length);
	return is_key(type, bytes, *length);
}
