/*
 * keys.c
 *	  From the text of a key to its bytes: the table of types, and batches.
 */
#include "keys.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "messages.h"

/* Bytes of the keys of a batch, at first: enough for all but long numerics. */
#define ARENA_BYTES ((size_t) 64 * 1024)

/* Room for every key of a fixed size. */
#define FIXED_BYTES ((size_t) 24)

/* By key type; NULL: the text is the key (the library looks at its encoding). */
static const key_encoder encoders[] = {
	NULL, encode_integer, NULL, encode_bytea, encode_uuid, encode_numeric,
	encode_float, encode_date, encode_timestamp, encode_timestamptz,
	encode_inet, encode_macaddr
};

bool
is_word(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && strncasecmp(text, word, length) == 0;
}

int
hex_digit(char character)
{
	if (character >= '0' && character <= '9')
		return character - '0';
	if (character >= 'a' && character <= 'f')
		return character - 'a' + 10;
	if (character >= 'A' && character <= 'F')
		return character - 'A' + 10;
	return -1;
}

void
key_batch_init(key_batch *batch, int key_type)
{
	batch->key_type = key_type;
	batch->count = 0;
	batch->used = 0;
	batch->capacity = ARENA_BYTES;
	batch->arena = allocate(NULL, batch->capacity, 1);
}

void
key_batch_clear(key_batch *batch)
{
	batch->count = 0;
	batch->used = 0;
}

void
key_batch_free(key_batch *batch)
{
	free(batch->arena);
	batch->arena = NULL;
}

/* At most so many bytes a key can have. */
static size_t
bytes_needed(int key_type, const text_line *text)
{
	if (key_type == BLOOMFILTER_KEY_BYTEA)
		return text->length / 2 + 1;
	if (key_type != BLOOMFILTER_KEY_NUMERIC)
		return FIXED_BYTES;
	if (memchr(text->text, 'e', text->length) != NULL ||
		memchr(text->text, 'E', text->length) != NULL)
		return NUMERIC_MAX_BYTES;
	return text->length + sizeof "-Infinity";	/* of "-inf"; or 0 of ".5" */
}

/* False where the batch must be asked and cleared first. */
static bool
arena_reserve(key_batch *batch, size_t bytes)
{
	if (bytes <= batch->capacity - batch->used)
		return true;
	if (batch->count > 0)
		return false;
	batch->capacity = bytes;
	batch->arena = allocate(batch->arena, batch->capacity, 1);
	return true;
}

/* A carriage return is by far the most frequent reason, and an invisible one. */
static const char *
explain(const char *reason, const text_line *text)
{
	if (text->length > 0 && text->text[text->length - 1] == '\r')
		return "it ends with a carriage return; remove them with tr -d '\\r'";
	if (text->length == 0)
		return "it is empty";
	if (isspace((unsigned char) text->text[0]) ||
		isspace((unsigned char) text->text[text->length - 1]))
		return "there is white space around it";
	return reason;
}

size_t
key_batch_add(key_batch *batch, const text_line *lines, size_t count,
			  const char **reason)
{
	key_encoder encoder = encoders[batch->key_type];
	size_t		i;

	*reason = NULL;
	for (i = 0; i < count && batch->count < KEY_BATCH; i++)
	{
		bloomfilter_slice *key = &batch->keys[batch->count];
		uint8_t    *bytes;

		if (encoder == NULL)
		{
			key->bytes = lines[i].text;
			key->length = lines[i].length;
			batch->count++;
			continue;
		}
		if (!arena_reserve(batch, bytes_needed(batch->key_type, &lines[i])))
			break;
		bytes = batch->arena + batch->used;
		*reason = encoder(lines[i].text, lines[i].length, bytes, &key->length);
		if (*reason != NULL)
		{
			*reason = explain(*reason, &lines[i]);
			break;
		}
		key->bytes = bytes;
		batch->used += key->length;
		batch->count++;
	}
	return i;
}
