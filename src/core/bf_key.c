/*
 * bf_key.c
 *	  The canonical bytes of keys; see doc/FORMAT.md for the table.
 */
#include "bf_key.h"

#include <string.h>

/* What every NaN is hashed as: the positive quiet NaN without a payload. */
#define CANONICAL_NAN UINT64_C(0x7ff8000000000000)

static const char *const names[] = {
	"none", "integer", "text", "bytea", "uuid", "numeric", "float", "date",
	"timestamp", "timestamptz", "inet", "macaddr"
};

#define ROW_NAME "row"

/* Doesn't compile unless each kind has its name. */
typedef char bf_all_kinds_have_names[sizeof names / sizeof names[0] == BF_KEY_LAST + 1 ? 1 : -1];

/* Copies a name and returns where it ends. */
static char *
append(char *at, const char *name)
{
	size_t		length = strlen(name);

	memcpy(at, name, length + 1);
	return at + length;
}

const char *
bf_key_type_name(uint32_t key_type)
{
	if (bf_key_kind(key_type) == BF_KEY_ROW)
		return ROW_NAME;
	return key_type <= BF_KEY_LAST ? names[key_type] : NULL;
}

int
bf_key_type_of_name(const char *name)
{
	int			i;

	for (i = BF_KEY_NONE + 1; i <= BF_KEY_LAST; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return strcmp(name, ROW_NAME) == 0 ? (int) BF_KEY_ROW : -1;
}

const char *
bf_key_type_text(uint32_t key_type, char *text)
{
	const char *name = bf_key_type_name(key_type);
	char	   *at = text;
	unsigned	i;

	at = append(at, name != NULL ? name : "unknown");
	for (i = 0; bf_key_column(key_type, i) != 0; i++)
	{
		at = append(at, i == 0 ? "(" : ", ");
		at = append(at, bf_key_is_column(bf_key_column(key_type, i)) ? names[bf_key_column(key_type, i)] : "unknown");
	}
	if (i > 0)
		append(at, ")");
	return text;
}

bool
bf_key_row_next(const uint8_t **at, const uint8_t *end, bf_row_column *column)
{
	const uint8_t *bytes = *at;
	size_t		left = (size_t) (end - bytes);

	if (left < BF_KEY_COLUMN_HEAD)
		return false;
	column->type = bytes[0];
	column->length = (size_t) bf_load_le(bytes + 1, 4);
	column->bytes = bytes + BF_KEY_COLUMN_HEAD;
	if (!bf_key_is_column(column->type) ||
		column->length > left - BF_KEY_COLUMN_HEAD)
		return false;
	*at = column->bytes + column->length;
	return true;
}

uint64_t
bf_key_float_word(double value)
{
	uint64_t	bits;

	if (value == 0.0)
		return 0;				/* -0 = 0 */
	if (value != value)
		return CANONICAL_NAN;
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

size_t
bf_key_inet(int family, unsigned prefix, const uint8_t *address, uint8_t *bytes)
{
	size_t		length = family == 4 ? 4 : 16;

	bytes[0] = (uint8_t) family;
	bytes[1] = (uint8_t) prefix;
	memcpy(bytes + 2, address, length);
	return 2 + length;
}

size_t
bf_key_macaddr(const uint8_t *address, size_t length, uint8_t *bytes)
{
	if (length == 8 && address[3] == 0xff && address[4] == 0xfe)
	{
		memcpy(bytes, address, 3);
		memcpy(bytes + 3, address + 5, 3);
		return 6;
	}
	memcpy(bytes, address, length);
	return length;
}

size_t
bf_key_numeric(char *decimal, size_t length)
{
	size_t		sign = length > 0 && decimal[0] == '-';
	size_t		zeros = sign;

	if (length == sign || decimal[sign] < '0' || decimal[sign] > '9')
		return length;			/* NaN, Infinity */
	if (memchr(decimal, '.', length) != NULL)
	{
		while (decimal[length - 1] == '0')
			length--;
		if (decimal[length - 1] == '.')
			length--;
	}
	while (zeros + 1 < length && decimal[zeros] == '0' && decimal[zeros + 1] != '.')
		zeros++;
	memmove(decimal + sign, decimal + zeros, length - zeros);
	length -= zeros - sign;
	if (sign && length == 2 && decimal[1] == '0')
	{
		decimal[0] = '0';
		length = 1;
	}
	return length;
}
