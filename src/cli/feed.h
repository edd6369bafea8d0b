/*
 * feed.h
 *	  Leads keys from lines or arguments, batch by batch, to whoever wants them.
 *
 * A key that is none ends the program with a message that names its line, after
 * all keys before it were taken care of.
 */
#ifndef CLI_FEED_H
#define CLI_FEED_H

#include "keys.h"
#include "lines.h"
#include "progress.h"

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
} key_feed;

/* Feeds all keys; returns how many lines there were. */
extern uint64_t feed_lines(const key_feed *feed, line_reader *reader);
extern void feed_arguments(const key_feed *feed, char **keys, size_t count);

#endif							/* CLI_FEED_H */
