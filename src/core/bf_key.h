/*
 * bf_key.h
 *	  Key types and the bytes of a key.
 *
 * Equal in SQL means equal bytes, whatever the type's spelling.  Each function
 * here writes the canonical bytes of a value that the caller has in C's own
 * types; text, bytea and uuid are hashed as they are and need none.  A new key
 * type is a new number here, a row in the table of bf_key.c, and an encoder.
 */
#ifndef BF_KEY_H
#define BF_KEY_H

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
	BF_KEY_LAST = BF_KEY_MACADDR
} bf_key_type;

/* Bytes that the longest fixed-size key takes: inet's 2 + 16. */
#define BF_KEY_MAX_FIXED	18

/* The name of a key type as users see it, "none" for 0, NULL if unknown. */
extern const char *bf_key_type_name(unsigned key_type);

/* The key type of a name, or -1. */
extern int	bf_key_type_of_name(const char *name);

/* integer, date, timestamp, timestamptz: 8 bytes, two's complement. */
static inline size_t
bf_key_integer(int64_t value, uint8_t *bytes)
{
	bf_store_le64(bytes, (uint64_t) value);
	return 8;
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
