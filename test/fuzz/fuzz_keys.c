/*
 * fuzz_keys.c
 *	  The text of keys, as the command line reads it.
 *
 * The first byte, a digit, chooses the type, the rest is the text, in memory that ends one
 * byte after it.  A key that is accepted has the length that its type allows.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/cli/keys.h"

typedef struct reader
{
	key_encoder encode;
	size_t		least;			/* length of the key; 0, 0: by the text */
	size_t		most;
} reader;

static const reader readers[] = {
	{encode_integer, 8, 8}, {encode_numeric, 0, 0}, {encode_float, 8, 8},
	{encode_bytea, 0, 0}, {encode_uuid, 16, 16}, {encode_date, 8, 8},
	{encode_timestamp, 8, 8}, {encode_timestamptz, 8, 8}, {encode_inet, 6, 18},
	{encode_macaddr, 6, 8}
};

/* The room that the command line gives to a key: bytes_needed in its keys.c. */
static size_t
room(const reader *r, const char *text, size_t length)
{
	if (r->encode == encode_bytea)
		return length / 2 + 1;
	if (r->encode != encode_numeric)
		return 24;
	if (memchr(text, 'e', length) != NULL || memchr(text, 'E', length) != NULL)
		return NUMERIC_MAX_BYTES;
	return length + sizeof "-Infinity";
}

/* Reads a key from text that ends with a zero byte. */
static void
read_key(const reader *r, const char *text, size_t length)
{
	size_t		key_length = 0;
	size_t		most = room(r, text, length);
	uint8_t    *key = malloc(most);

	if (key != NULL && r->encode(text, length, key, &key_length) == NULL &&
		(key_length > most ||
		 (r->most > 0 && (key_length < r->least || key_length > r->most))))
		abort();
	free(key);
}

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char	   *text = size > 0 ? malloc(size) : NULL;

	if (text == NULL)
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	read_key(&readers[(uint8_t) (data[0] - '0') % (sizeof readers / sizeof *readers)], text, size - 1);
	free(text);
	return 0;
}
