/*
 * keys.c
 *	  Keys of one type on their way to the library.
 */
#include "keys.h"

#include <stdlib.h>

#include "messages.h"

/* Bytes of the keys of a batch, at first: enough for all but long numerics. */
#define ARENA_BYTES ((size_t) 64 * 1024)

void
key_batch_init(key_batch *batch, int text_type)
{
	batch->text_type = text_type;
	batch->key_type = bloomfilter_text_key_type(text_type);
	if (batch->key_type < 0)
		fail("keys of several columns can't be read from text");
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

size_t
key_batch_add(key_batch *batch, const text_line *lines, size_t count,
			  bloomfilter_detail *detail)
{
	size_t		i;

	detail->code = BLOOMFILTER_OK;
	for (i = 0; i < count && batch->count < KEY_BATCH; i++)
	{
		const text_line *line = &lines[i];
		bloomfilter_slice *key = &batch->keys[batch->count];
		size_t		room = bloomfilter_text_room(batch->text_type, line->text, line->length);

		if (!arena_reserve(batch, room) ||
			bloomfilter_text_key(batch->text_type, line->text, line->length,
								 batch->arena + batch->used, room, key, detail) < 0)
			break;
		if (key->bytes != line->text)
			batch->used += key->length;
		batch->count++;
	}
	return i;
}
