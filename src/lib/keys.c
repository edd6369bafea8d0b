/*
 * keys.c
 *	  From a caller's value to the canonical bytes of a key, checked.
 *
 * Bytes that no key has are refused and never hashed.  A filter can't hold them,
 * so "no" would be the answer, and a caller who spelled a key wrongly would take
 * it for an absent one.
 */
#include "keys.h"

#include <stdlib.h>
#include <string.h>

#include "bf_bytes.h"
#include "bf_utf8.h"

/* A part of the key types has one form of check. */
typedef bool (*key_check) (const uint8_t *bytes, size_t length);

static bool
is_8_bytes(const uint8_t *bytes, size_t length)
{
	(void) bytes;
	return length == 8;
}

static bool
is_text(const uint8_t *bytes, size_t length)
{
	return bf_key_text(bytes, length) == length && bf_utf8_valid(bytes, length);
}

static bool
is_bytea(const uint8_t *bytes, size_t length)
{
	(void) bytes;
	(void) length;
	return true;
}

static bool
is_uuid(const uint8_t *bytes, size_t length)
{
	(void) bytes;
	return length == 16;
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

/* [-]digits[.digits] or a name */
static bool
is_decimal(const uint8_t *bytes, size_t length)
{
	size_t		at = length > 0 && bytes[0] == '-';
	size_t		count = digits(bytes + at, length - at);

	at += count;
	if (count > 0 && at < length && bytes[at] == '.')
	{
		count = digits(bytes + at + 1, length - at - 1);
		at += 1 + count;
	}
	return (count > 0 && at == length) || is_named_numeric(bytes, length);
}

/* The same in its shortest form: what bf_key_numeric would leave as it is. */
static bool
is_numeric(const uint8_t *bytes, size_t length)
{
	size_t		sign = length > 0 && bytes[0] == '-';
	const uint8_t *point = length > 0 ? memchr(bytes, '.', length) : NULL;

	if (!is_decimal(bytes, length))
		return false;
	if (length - sign >= 2 && bytes[sign] == '0' && bytes[sign + 1] != '.')
		return false;
	if (point != NULL && bytes[length - 1] == '0')
		return false;
	return !(sign == 1 && length == 2 && bytes[1] == '0');
}

static bool
is_float(const uint8_t *bytes, size_t length)
{
	uint64_t	bits;
	double		value;
	uint8_t		canonical[8];

	if (length != 8)
		return false;
	bits = bf_load_le(bytes, 8);
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

static const key_check checks[] = {
	NULL, is_8_bytes, is_text, is_bytea, is_uuid, is_numeric, is_float,
	is_8_bytes, is_8_bytes, is_8_bytes, is_inet, is_macaddr
};

_Static_assert(sizeof checks / sizeof checks[0] == BF_KEY_LAST_COLUMN + 1, "each kind has its check");

/* Whether bytes are columns one after the other, each canonical; *full gets their types. */
static bool
is_row(const uint8_t *bytes, size_t length, uint32_t *full)
{
	const uint8_t *end = bytes + length;
	bf_row_column column;

	*full = BF_KEY_ROW;
	while (bytes < end)
		if (!bf_key_row_next(&bytes, end, &column) ||
			!checks[column.type](column.bytes, column.length) ||
			!bf_key_row_add(full, column.type))
			return false;
	return bf_key_columns_valid(*full);
}

int
lbf_key_check(int type, const void *bytes, size_t *length, uint32_t *full)
{
	bool		valid;

	if (type <= BF_KEY_NONE || type > BF_KEY_LAST || (bytes == NULL && *length > 0))
		return BLOOMFILTER_ERR_ARGUMENT;
	if (bytes == NULL)
		bytes = "";
	*full = (uint32_t) type;
	if (type == BF_KEY_TEXT)
		*length = bf_key_text(bytes, *length);
	if (type == BF_KEY_ROW)
		valid = is_row(bytes, *length, full);
	else
		valid = checks[type](bytes, *length);
	return valid ? BLOOMFILTER_OK : BLOOMFILTER_ERR_KEY;
}

/* A key whose bytes are these. */
static int
set_key(lbf_key *key, uint32_t type, const void *bytes, size_t length)
{
	key->type = type;
	key->bytes = bytes;
	key->length = length;
	key->allocated = NULL;
	return BLOOMFILTER_OK;
}

int
lbf_key_bytes(lbf_key *key, int type, const void *bytes, size_t length)
{
	uint32_t	full;
	int			code = lbf_key_check(type, bytes, &length, &full);

	return code == BLOOMFILTER_OK ? set_key(key, full, bytes, length) : code;
}

int
lbf_key_count(lbf_key *key, uint32_t type, int64_t value)
{
	return set_key(key, type, key->buffer, bf_key_integer(value, key->buffer));
}

int
lbf_key_double(lbf_key *key, double value)
{
	return set_key(key, BF_KEY_FLOAT, key->buffer, bf_key_float(value, key->buffer));
}

int
lbf_key_numeric(lbf_key *key, const char *decimal, size_t length)
{
	char	   *copy = (char *) key->buffer;
	void	   *allocated = NULL;

	if (decimal == NULL)
		return BLOOMFILTER_ERR_ARGUMENT;
	if (!is_decimal((const uint8_t *) decimal, length))
		return BLOOMFILTER_ERR_KEY;
	if (length > sizeof key->buffer)
	{
		copy = allocated = malloc(length);
		if (copy == NULL)
			return BLOOMFILTER_ERR_NO_MEMORY;
	}
	memcpy(copy, decimal, length);
	set_key(key, BF_KEY_NUMERIC, copy, bf_key_numeric(copy, length));
	key->allocated = allocated;
	return BLOOMFILTER_OK;
}

int
lbf_key_inet(lbf_key *key, int family, unsigned prefix, const uint8_t *address)
{
	if (address == NULL || (family != 4 && family != 6))
		return BLOOMFILTER_ERR_ARGUMENT;
	if (prefix > (family == 4 ? 32u : 128u))
		return BLOOMFILTER_ERR_KEY;
	return set_key(key, BF_KEY_INET, key->buffer,
				   bf_key_inet(family, prefix, address, key->buffer));
}

int
lbf_key_macaddr(lbf_key *key, const uint8_t *address, size_t length)
{
	if (address == NULL)
		return BLOOMFILTER_ERR_ARGUMENT;
	if (length != 6 && length != 8)
		return BLOOMFILTER_ERR_KEY;
	return set_key(key, BF_KEY_MACADDR, key->buffer,
				   bf_key_macaddr(address, length, key->buffer));
}

void
lbf_key_free(lbf_key *key)
{
	free(key->allocated);
}

const char *
bloomfilter_key_type_name(int key_type)
{
	return key_type < 0 ? NULL : bf_key_type_name((unsigned) key_type);
}

int
bloomfilter_key_type_of_name(const char *name)
{
	int			type = name == NULL ? -1 : bf_key_type_of_name(name);

	return type < 0 ? BLOOMFILTER_ERR_ARGUMENT : type;
}
