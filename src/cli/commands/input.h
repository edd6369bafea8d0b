/*
 * input.h
 *	  What a subcommand is given: a filter, keys as lines, keys as arguments.
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
#include "options.h"
#include "system.h"

/* ------------------------------------------------------------------------
 * filter.c
 * ------------------------------------------------------------------------ */

/* Opens and checks a filter or a set, as these flags say, or ends the program. */
extern bloomfilter *open_filter(const char *path, unsigned flags);

/* What is in it; part -1: in all open parts together. */
extern bloomfilter_info filter_info(const bloomfilter *filter, int64_t part);

/* "about", to stand before its estimated keys; "more than" where its bits can't tell any more. */
extern const char *estimate_word(const bloomfilter_info *info);

/*
 * The types that the text of keys for a filter is read as: its keys', or what is wanted, which
 * must be another way to write these.  A filter without keys takes what is wanted, and text by
 * default.
 */
extern text_types filter_text_types(const bloomfilter *filter, const text_types *wanted);

/* Writes it to a file in one step, or ends the program. */
extern void write_filter(const bloomfilter *filter, const char *path);

/* ------------------------------------------------------------------------
 * input.c
 * ------------------------------------------------------------------------ */

#define KEY_BATCH	512

/*
 * A text of so many bytes: text[length] may be read, as it is a delimiter or a zero byte.  So
 * functions that stop at the first foreign character, as strtod does, need no copy.
 */
typedef struct text_line
{
	const char *text;			/* NULL: COPY's \N */
	size_t		length;
} text_line;

typedef struct key_batch
{
	int			key_type;
	size_t		count;
	bloomfilter_slice keys[KEY_BATCH];
	text_line	lines[KEY_BATCH];	/* that they were read from, as they are */
} key_batch;

/*
 * Takes a batch.  Returns 0 to go on, 1 to be given no more, or an error of the library: that
 * of the key *done.
 */
typedef int (*key_sink) (void *state, const key_batch *batch, size_t *done);

typedef struct key_feed
{
	text_types	types;			/* how keys are read */
	bool		copy;			/* lines are rows of COPY, which end with newlines */
	bool		null;			/* lines end with a zero byte */
	key_sink	sink;
	void	   *state;
} key_feed;

/* What came. */
typedef struct fed_lines
{
	uint64_t	keys;
	uint64_t	nulls;			/* of COPY: rows with a \N, which are no keys */
	bool		byte_order_mark;	/* the first line begins with one */
	uint64_t	returns;		/* lines that end with a carriage return, ... */
	uint64_t	like_nulls;		/* ... and those that are \N, where rows of COPY are not read */
} fed_lines;

/* Feeds all lines of a file, or of standard input; what is no key ends the program.  Keys that are NULL are told. */
extern fed_lines feed_lines(const key_feed *feed, const char *path);
extern void feed_arguments(const key_feed *feed, char **keys, size_t count);

#endif							/* CLI_INPUT_H */
