/*
 * looks.h
 *	  The loop of programs that look: once, or again and again until a signal comes.
 *
 * SIGINT, SIGTERM and SIGHUP end these programs cleanly: temporary files go first.
 */
#ifndef CLI_LOOKS_H
#define CLI_LOOKS_H

#include <stdbool.h>
#include <stdint.h>

/* From now on the signals are only noted, and stop_wait returns. */
extern void stop_catch(void);
extern bool stop_requested(void);

/*
 * Waits until fd (-1: none) can be read, a signal comes or the time is over
 * (below zero it is).  True if fd can be read.
 */
extern bool stop_wait(int fd, double seconds);

/* Ends the program as the signal that came would have. */
extern void stop_die(void);

typedef struct look_loop
{
	bool		(*look) (void *state);	/* false if it didn't go well */
	void		(*rest) (void *state, double seconds);	/* until the next one is due, or a signal comes; NULL: nothing else is to be done */
	void	   *state;
	bool		follow;			/* not only once */
	double		due;			/* seconds to the first one */
	double		period;			/* between the begins of two that go well, seconds; a look may change it */
	int64_t		retry;			/* seconds after which a server that failed wants to be asked again, or 0 */
	bool		over;			/* nothing can be done any more */
} look_loop;

/* Whether the last look went well. */
extern bool keep_looking(look_loop *l);

#endif							/* CLI_LOOKS_H */
