/*
 * bf_text.h
 *	  Keys as text: from what PostgreSQL prints and reads to a key's bytes.
 *
 * doc/KEYS.md is the grammar, test/vectors/texts.tsv has its examples.  A text is
 * read as PostgreSQL's own cast reads it, or refused: to answer "no" for a text
 * that means another key to PostgreSQL would deny a member.  Nothing here depends
 * on a locale, a time zone or the clock, allocates memory, or does input or output.
 */
#ifndef BF_TEXT_H
#define BF_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bf_key.h"

/*
 * What a text is read as: a key type, or this.  It is the text of a column of type
 * real, whose keys are of type float: 0.1 is then the real that is nearest to it,
 * which is not the double that is nearest.
 */
#define BF_TEXT_REAL	100

/* The type of the keys that are read so: BF_KEY_FLOAT for BF_TEXT_REAL. */
extern unsigned bf_text_key_type(int type);

/* The bytes of a key. */
typedef struct bf_text_slice
{
	const void *bytes;			/* in the caller's buffer, or the text itself */
	size_t		length;
} bf_text_slice;

/* Room that the bytes of most keys need at most, and of those of fixed size. */
#define BF_TEXT_ROOM	24

/* So much room is enough for the key of a text. */
extern size_t bf_text_room(int type, const char *text, size_t length);

/*
 * Reads a key.  buffer has the room for it.  NULL, or why the text is no key of
 * the type: half a sentence that goes on from "is not a key of type date: ".  key is
 * set only if it is one.  Text, which needs no buffer, stays where it is.
 */
extern const char *bf_text_key(int type, const char *text, size_t length,
							   uint8_t *buffer, bf_text_slice *key);

#endif							/* BF_TEXT_H */
