/*
 * bf_key.h
 *	  Key types and the bytes of a key.
 *
 * Equal in SQL means equal bytes, whatever the type's spelling.  Each function
 * here writes the canonical bytes of a value that the caller has in C's own
 * types; bytea and uuid are hashed as they are and need none.  A new key
 * type is a new number here, a row in the table of bf_key.c, and an encoder.
 *
 * A row key has the columns' bytes one after the other, each behind its type and
 * its length, so that no two rows share bytes.  What kind of keys a filter holds
 * is one number: the key type in the low byte and above it, four bits each, the
 * types of a row's columns from the first on.  Two such numbers are equal if
 * keys of one can be compared with keys of the other.
 */
#ifndef BF_KEY_H
#define BF_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bf_bytes.h"

typedef enum bf_key_type
{
	BF_KEY_NONE = 0,			/* no key was added yet */
	BF_KEY_INTEGER = 1,
	BF_KEY_TEXT = 2,
	BF_KEY_BYTEA = 3,
	BF_KEY_UUID = 4,
	BF_KEY_NUMERIC = 5,
	BF_KEY_FLOAT = 6,
	BF_KEY_DATE = 7,
	BF_KEY_TIMESTAMP = 8,
	BF_KEY_TIMESTAMPTZ = 9,
	BF_KEY_INET = 10,
	BF_KEY_MACADDR = 11,
	BF_KEY_LAST = BF_KEY_MACADDR,	/* what a row's columns may be of, which have four bits */
	BF_KEY_ROW = 15
} bf_key_type;

/* Doesn't compile if the next kind of key is the row's number. */
typedef char bf_row_is_no_column[BF_KEY_LAST < BF_KEY_ROW ? 1 : -1];

/* Bytes that the longest fixed-size key takes: inet's 2 + 16. */
#define BF_KEY_MAX_FIXED	18

/* Columns of a row key: what the header has room for. */
#define BF_KEY_MAX_COLUMNS	6

/* Bytes before each column's own: its type and its length. */
#define BF_KEY_COLUMN_HEAD	5

/* Room for what bf_key_type_text writes. */
#define BF_KEY_TEXT_BYTES	96

/* The name of a key type as users see it, "none" for 0, NULL if unknown. */
extern const char *bf_key_type_name(uint32_t key_type);

/* The key type of a name, or -1. */
extern int	bf_key_type_of_name(const char *name);

/* A name with a row's columns, "row(integer, text)", in text, which is returned. */
extern const char *bf_key_type_text(uint32_t key_type, char *text);

/* The bf_key_type, without a row's columns. */
static inline unsigned
bf_key_kind(uint32_t key_type)
{
	return key_type & 0xff;
}

/* Whether a type is one of keys that are no rows, which columns of a row have, too. */
static inline bool
bf_key_is_column(uint32_t type)
{
	return type > BF_KEY_NONE && type <= BF_KEY_LAST;
}

/* Whether a type, without a row's columns, is one of keys. */
static inline bool
bf_key_is_kind(uint32_t type)
{
	return bf_key_is_column(type) || type == BF_KEY_ROW;
}

/* The type of column i of a row, 0 if it has no such column. */
static inline unsigned
bf_key_column(uint32_t key_type, unsigned i)
{
	return i < BF_KEY_MAX_COLUMNS ? key_type >> (8 + 4 * i) & 0xf : 0;
}

/*
 * Adds a column to a row's key type, which begins as BF_KEY_ROW; false if it has
 * BF_KEY_MAX_COLUMNS already or if the type is none of a column.
 */
static inline bool
bf_key_row_add(uint32_t *key_type, unsigned column)
{
	unsigned	i = 0;

	if (!bf_key_is_column(column))
		return false;
	while (bf_key_column(*key_type, i) != 0)
		i++;
	if (i == BF_KEY_MAX_COLUMNS)
		return false;
	*key_type |= (uint32_t) column << (8 + 4 * i);
	return true;
}

/* Whether there are columns as a key type demands: one or more for a row, else none. */
static inline bool
bf_key_columns_valid(uint32_t key_type)
{
	uint32_t	rebuilt = bf_key_kind(key_type);
	unsigned	i;

	if (rebuilt != BF_KEY_ROW)
		return rebuilt == key_type;
	for (i = 0; bf_key_column(key_type, i) != 0; i++)
		if (!bf_key_row_add(&rebuilt, bf_key_column(key_type, i)))
			return false;
	return i > 0 && rebuilt == key_type;
}

/* Writes the BF_KEY_COLUMN_HEAD bytes that stand before a column's bytes. */
static inline size_t
bf_key_row_head(unsigned column, uint32_t length, uint8_t *bytes)
{
	bytes[0] = (uint8_t) column;
	bf_store_le(bytes + 1, 4, length);
	return BF_KEY_COLUMN_HEAD;
}

/* One column of a row's bytes. */
typedef struct bf_row_column
{
	unsigned	type;
	const uint8_t *bytes;
	size_t		length;
} bf_row_column;

/*
 * Reads the column that begins at *at and moves *at behind it.  False if the bytes
 * up to end hold no whole column, or one of a type that no column has.
 */
extern bool bf_key_row_next(const uint8_t **at, const uint8_t *end,
							bf_row_column *column);

/*
 * Whether bytes are canonical bytes of some key of a type, from integer to row.  If so, *full is
 * that type, and of a row with its columns.  *length loses the blanks at the end of a text, which
 * are no part of the key; a text in a row must not have them.
 */
extern bool bf_key_check(uint32_t type, const void *bytes, size_t *length, uint32_t *full);

/* Whether text is UTF-8, as the Unicode Standard has it: no overlong forms, no surrogates. */
extern bool bf_utf8_valid(const uint8_t *bytes, size_t length);

/* The length of the character at the start of bytes, of which there is one; 0 if it is not valid. */
extern size_t bf_utf8_character(const uint8_t *bytes, size_t length);

/* integer, date, timestamp, timestamptz: 8 bytes, two's complement. */
static inline size_t
bf_key_integer(int64_t value, uint8_t *bytes)
{
	bf_store_le64(bytes, (uint64_t) value);
	return 8;
}

/*
 * text: how many of its bytes of UTF-8 are the key's.  The blanks at its end (U+0020
 * and nothing else) are not, as char(n) is compared without them and drivers hand its
 * values out with them.
 */
static inline size_t
bf_key_text(const void *text, size_t length)
{
	const uint8_t *bytes = (const uint8_t *) text;

	while (length > 0 && bytes[length - 1] == ' ')
		length--;
	return length;
}

/* float: 8 bytes; -0 becomes 0, every NaN the same.  The word is their number. */
extern uint64_t bf_key_float_word(double value);

static inline size_t
bf_key_float(double value, uint8_t *bytes)
{
	bf_store_le64(bytes, bf_key_float_word(value));
	return 8;
}

/* inet: family 4 or 6, prefix length in bits, then 4 or 16 address bytes. */
extern size_t bf_key_inet(int family, unsigned prefix, const uint8_t *address,
						  uint8_t *bytes);

/*
 * macaddr of 6 or 8 bytes.  Eight with FF FE in the middle are what six become
 * when they are widened, and equal to them in SQL: they are written as the six.
 */
extern size_t bf_key_macaddr(const uint8_t *address, size_t length,
							 uint8_t *bytes);

/*
 * numeric: shortens a plain decimal in place to its canonical form (no leading
 * zeros, no trailing zeros after the point, no trailing point, no minus zero) and
 * returns its new length.  "NaN", "Infinity" and "-Infinity" stay as they are.
 */
extern size_t bf_key_numeric(char *decimal, size_t length);

#endif							/* BF_KEY_H */
