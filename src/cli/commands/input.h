/*
 * input.h
 *	  Keys as lines or arguments, on their way to the library.
 *
 * Lines stay where they were read, keys are read from them as the library reads
 * text (doc/KEYS.md), and go batch by batch to a function.
 */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../lib/libbloomfilter.h"

#define KEY_BATCH	512

/*
 * text[length] may be read: it is the delimiter or a zero byte, so functions
 * that stop at the first foreign character, as strtod does, need no copy.
 */
typedef struct text_line
{
	const char *text;
	size_t		length;
} text_line;

typedef struct key_batch
{
	int			key_type;
	size_t		count;
	bloomfilter_slice keys[KEY_BATCH];
	text_line	lines[KEY_BATCH];	/* that they were read from */
} key_batch;

/*
 * Takes a batch.  Returns 0 to go on, 1 to be given no more, or an error of the library: that
 * of the key *done.
 */
typedef int (*key_sink) (void *state, const key_batch *batch, size_t *done);

typedef struct key_feed
{
	int			text_type;		/* how keys are read */
	key_sink	sink;
	void	   *state;
} key_feed;

/* Whether a path is -, which stands for standard input. */
extern bool is_standard(const char *path);

/*
 * Feeds all lines of a file, or of standard input, which end with a newline or a zero byte; returns
 * how many there were.  What is no key ends the program.
 */
extern uint64_t feed_lines(const key_feed *feed, const char *path, bool null);
extern void feed_arguments(const key_feed *feed, char **keys, size_t count);

#endif							/* CLI_INPUT_H */
