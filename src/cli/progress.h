/*
 * progress.h
 *	  One line on a terminal that says how far a long run has come.
 *
 * It goes to standard error and only to a terminal, so that nothing that is kept
 * or piped has it.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct progress_bar
{
	bool		shown;
	const char *label;
	const char *unit;			/* "keys", or "bytes", which are scaled */
	double		started;		/* seconds */
	double		drawn;
} progress_bar;

/* wanted: false where the user asked for silence. */
extern void progress_start(progress_bar *progress, const char *label,
						   const char *unit, bool wanted);

/*
 * Draws, at most ten times a second: count in the unit, and the bar at done out
 * of total, which may be counted in something else; 0 if total is not known.
 */
extern void progress_update(progress_bar *progress, uint64_t count,
							uint64_t done, uint64_t total);

/* Draws no more, and clears the line. */
extern void progress_end(progress_bar *progress);

/* Clears the line, if there is one, for something else to be said. */
extern void progress_clear(void);

/* The clock that it goes by: seconds since some moment. */
extern double monotonic_seconds(void);

#endif							/* CLI_PROGRESS_H */
