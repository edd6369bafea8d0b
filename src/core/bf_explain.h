/*
 * bf_explain.h
 *	  What a look-up of one key computes and sees, as text.
 *
 * Every program that can look a key up prints these same lines, so that two outputs
 * side by side show where two programs differ: doc/FORMAT.md, "Explaining a look-up".
 * Lines end with a newline but for the last, and the text with a zero byte.
 */
#ifndef BF_EXPLAIN_H
#define BF_EXPLAIN_H

#include <stddef.h>
#include <stdint.h>

#include "bf_exact.h"

/* Room that is enough for what these functions write together. */
#define BF_EXPLAIN_ROOM	2048

/* Bytes of a key that are shown; of a longer one a row of points says that there are more. */
#define BF_EXPLAIN_SHOWN 64

/* The answer of a single part to a key of another one, beside false and true. */
#define BF_EXPLAIN_OTHER_PART (-1)

/*
 * Each writes to text, which is where the last one ended, and returns its own end.  The
 * key's type has a row's columns, as in bf_key.h.  hash is the key's hash.
 */
extern char *bf_explain_key(char *text, const bf_header *header, uint32_t key_type,
							const void *key, size_t length, uint64_t hash);
extern char *bf_explain_probes(char *text, const bf_header *header, uint64_t hash,
							   const uint8_t *block);
extern char *bf_explain_answer(char *text, int answer);

/* A line of a name and a number, for what only some filters have. */
extern char *bf_explain_number(char *text, const char *name, uint64_t number);

/*
 * All of it for one filter with its blocks; of an exact one with the probes of each level that
 * is looked at.  change is the state of a key that was changed by day, version * 2 + value,
 * whose answer holds then, or 0.  Returns the answer.
 */
extern int	bf_explain(char *text, const bf_shape *shape, const uint8_t *blocks,
					   uint32_t key_type, const void *key, size_t length, uint64_t change);

#endif							/* BF_EXPLAIN_H */
