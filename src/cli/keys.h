/*
 * keys.h
 *	  From the text of a key to its bytes.
 *
 * The syntax is what PostgreSQL prints for a value of the type, and the other
 * common spellings that can mean nothing else; see the man page.  There is no
 * white space around a key, and no session setting that it depends on.  Text
 * that is no key of the type is refused: to answer "no" for it would be wrong as
 * soon as its sender meant a key that exists.
 */
#ifndef CLI_KEYS_H
#define CLI_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../lib/libbloomfilter.h"
#include "lines.h"

/* Bytes of the longest numeric that PostgreSQL has: sign, digits, point, digits. */
#define NUMERIC_INTEGER_DIGITS	131072
#define NUMERIC_FRACTION_DIGITS 16383
#define NUMERIC_MAX_BYTES		(NUMERIC_INTEGER_DIGITS + NUMERIC_FRACTION_DIGITS + 4)

/*
 * A writer of key bytes.  bytes has room for key_bytes_needed; *length is set.
 * NULL, or why the text is no key of the type: half a sentence that goes on from
 * "is not a key of type date: ".  text[length] may be read (see text_line).
 */
typedef const char *(*key_encoder) (const char *text, size_t length,
									uint8_t *bytes, size_t *key_length);

extern const char *encode_integer(const char *text, size_t length,
								  uint8_t *bytes, size_t *key_length);
extern const char *encode_numeric(const char *text, size_t length,
								  uint8_t *bytes, size_t *key_length);
extern const char *encode_float(const char *text, size_t length,
								uint8_t *bytes, size_t *key_length);
extern const char *encode_bytea(const char *text, size_t length,
								uint8_t *bytes, size_t *key_length);
extern const char *encode_uuid(const char *text, size_t length,
							   uint8_t *bytes, size_t *key_length);
extern const char *encode_date(const char *text, size_t length,
							   uint8_t *bytes, size_t *key_length);
extern const char *encode_timestamp(const char *text, size_t length,
									uint8_t *bytes, size_t *key_length);
extern const char *encode_timestamptz(const char *text, size_t length,
									  uint8_t *bytes, size_t *key_length);
extern const char *encode_inet(const char *text, size_t length,
							   uint8_t *bytes, size_t *key_length);
extern const char *encode_macaddr(const char *text, size_t length,
								  uint8_t *bytes, size_t *key_length);

/* Whether text is this word, in whatever case. */
extern bool is_word(const char *text, size_t length, const char *word);

/* The value of a hexadecimal digit, or -1. */
extern int	hex_digit(char character);

/* Keys of one type on their way to the library, as many as it likes at once. */
#define KEY_BATCH	512

typedef struct key_batch
{
	int			key_type;
	size_t		count;
	bloomfilter_slice keys[KEY_BATCH];
	uint8_t    *arena;			/* bytes of the keys that are not used as text */
	size_t		capacity;
	size_t		used;
} key_batch;

extern void key_batch_init(key_batch *batch, int key_type);
extern void key_batch_clear(key_batch *batch);
extern void key_batch_free(key_batch *batch);

/*
 * Adds keys of lines until all are added, the batch is full, or one is no key:
 * then *reason says why.  Returns how many were added.  Text is not copied, so
 * the lines must stay until the batch is cleared.  An empty batch takes one key
 * at least.
 */
extern size_t key_batch_add(key_batch *batch, const text_line *lines, size_t count,
							const char **reason);

#endif							/* CLI_KEYS_H */
