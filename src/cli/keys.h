/*
 * keys.h
 *	  Keys of one type on their way to the library, as many as it likes at once.
 *
 * What their text means is the library's: see doc/KEYS.md.
 */
#ifndef CLI_KEYS_H
#define CLI_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "../lib/libbloomfilter.h"
#include "lines.h"

#define KEY_BATCH	512

typedef struct key_batch
{
	int			text_type;		/* how the text is read */
	int			key_type;		/* what it then is */
	size_t		count;
	bloomfilter_slice keys[KEY_BATCH];
	uint8_t    *arena;			/* bytes of the keys that are not used as text */
	size_t		capacity;
	size_t		used;
} key_batch;

extern void key_batch_init(key_batch *batch, int text_type);
extern void key_batch_clear(key_batch *batch);
extern void key_batch_free(key_batch *batch);

/*
 * Adds keys of lines until all are added, the batch is full, or one is no key:
 * then detail->code is not BLOOMFILTER_OK.  Returns how many were added.  Keys of
 * type text are not copied, so the lines must stay until the batch is cleared.  An
 * empty batch takes one key at least.
 */
extern size_t key_batch_add(key_batch *batch, const text_line *lines, size_t count,
							bloomfilter_detail *detail);

#endif							/* CLI_KEYS_H */
