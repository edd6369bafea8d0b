/*
 * bf_key_check.c
 *	  Whether bytes are a key of a type.
 *
 * Bytes that no key has are refused and never hashed.  A filter can't hold them,
 * so "no" would be the answer, and a caller who spelled a key wrongly would take
 * it for an absent one.
 */
#include "bf_key.h"

#include <string.h>

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
