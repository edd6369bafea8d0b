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
#include "messages.h"

/* ------------------------------------------------------------------------
 * Lines
 * ------------------------------------------------------------------------ */

/*
 * text[length] may be read: it is the delimiter or a zero byte, so functions
 * that stop at the first foreign character, as strtod does, need no copy.
 */
typedef struct text_line
{
	const char *text;
	size_t		length;
} text_line;

typedef struct line_reader
{
	const char *name;			/* for messages */
	int			fd;
	char		delimiter;
	bool		at_end;			/* nothing more to read */
	char	   *buffer;
	size_t		capacity;
	size_t		begin;			/* first byte not handed out yet */
	size_t		searched;		/* bytes from there without a delimiter */
	size_t		end;			/* after the last byte read */
	uint64_t	bytes;			/* read so far */
	uint64_t	lines;			/* handed out so far */
} line_reader;

extern void line_reader_open(line_reader *reader, const char *path,
							 char delimiter);
extern void line_reader_stdin(line_reader *reader, char delimiter);
extern void line_reader_close(line_reader *reader);

/*
 * Up to max lines that are in the buffer, without reading.  They are valid until
 * the next line_reader_fill.
 */
extern size_t line_reader_take(line_reader *reader, text_line *lines, size_t max);

/*
 * Reads once.  False at the end, when all lines have been taken.  A failure to
 * read ends the program.
 */
extern bool line_reader_fill(line_reader *reader);

/* Bytes of the file, 0 where that is not known. */
extern uint64_t line_reader_size(const line_reader *reader);

/* ------------------------------------------------------------------------
 * Keys
 * ------------------------------------------------------------------------ */

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

/* ------------------------------------------------------------------------
 * From lines to the function that takes their keys
 * ------------------------------------------------------------------------ */

/*
 * Takes a batch, whose keys come from these lines.  Returns 0 to go on, 1 to be
 * given no more, or an error of the library: that of the key *done.
 */
typedef int (*key_sink) (void *state, const key_batch *batch,
						 const text_line *lines, size_t *done);

typedef struct key_feed
{
	int			text_type;		/* how keys are read */
	key_sink	sink;
	void	   *state;
	progress_bar *progress;		/* or NULL */
	uint64_t	expected;		/* keys, 0 if not known; for the progress */
	uint64_t   *skipped;		/* counts lines that are no keys; NULL: the first ends all */
} key_feed;

/* Feeds all keys; returns how many lines there were. */
extern uint64_t feed_lines(const key_feed *feed, line_reader *reader);
extern void feed_arguments(const key_feed *feed, char **keys, size_t count);

#endif							/* CLI_INPUT_H */
