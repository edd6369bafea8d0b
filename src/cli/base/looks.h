/*
 * looks.h
 *	  The loop of programs that look: once, or again and again until a signal comes.
 */
#ifndef CLI_LOOKS_H
#define CLI_LOOKS_H

#include <stdbool.h>
#include <stdint.h>

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
