/*
 * bf_text_read.h
 *	  The readers of single types, and what they share.
 *
 * Each reader writes a key's bytes to where there is room for them and sets
 * *key_length, or returns why the text is no key of its type.
 */
#ifndef BF_TEXT_READ_H
#define BF_TEXT_READ_H

#include "bf_text.h"

typedef const char *bf_text_reader(const char *text, size_t length, uint8_t *bytes, size_t *key_length);

extern bf_text_reader bf_text_integer;
extern bf_text_reader bf_text_numeric;
extern bf_text_reader bf_text_float;
extern bf_text_reader bf_text_real;
extern bf_text_reader bf_text_bytea;
extern bf_text_reader bf_text_uuid;
extern bf_text_reader bf_text_date;
extern bf_text_reader bf_text_timestamp;
extern bf_text_reader bf_text_timestamptz;
extern bf_text_reader bf_text_inet;
extern bf_text_reader bf_text_macaddr;

/* The pieces of a decimal number that is written as text. */
typedef struct bf_decimal
{
	bool		negative;
	const char *integer;		/* digits before the point */
	size_t		integer_digits;
	const char *fraction;		/* digits after it */
	size_t		fraction_digits;
	int64_t		exponent;
} bf_decimal;

/* [+-]digits[.digits][e[+-]digits], with a digit before or after the point. */
extern bool bf_text_decimal(const char *text, size_t length, bf_decimal *number);

/* The digit at a place of integer and fraction taken together, '0' beyond them. */
extern char bf_text_digit(const bf_decimal *number, size_t place);

/* "NaN", "Infinity", "-Infinity" as PostgreSQL prints them, or NULL. */
extern const char *bf_text_special(const char *text, size_t length);

/* Room for the key of a numeric, which an exponent makes longer than its text. */
extern size_t bf_text_numeric_room(const char *text, size_t length);

/* Whether text is this word of lower-case letters, in whatever case. */
extern bool bf_text_is_word(const char *text, size_t length, const char *word);

static inline bool
bf_text_is_digit(char character)
{
	return character >= '0' && character <= '9';
}

/*
 * The value of a hexadecimal digit, or -1.  Digits and letters come as they like in
 * a key, and a branch for each would be guessed wrong half the time.
 */
static inline int
bf_text_hex_digit(char character)
{
	static const uint8_t value_plus_one[256] = {
		['0'] = 1, ['1'] = 2, ['2'] = 3, ['3'] = 4, ['4'] = 5, ['5'] = 6,
		['6'] = 7, ['7'] = 8, ['8'] = 9, ['9'] = 10, ['a'] = 11, ['b'] = 12,
		['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
		['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16
	};

	return value_plus_one[(unsigned char) character] - 1;
}

#endif							/* BF_TEXT_READ_H */
