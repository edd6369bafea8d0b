/*
 * looks.c
 *	  The loop of programs that look: once, or again and again until a signal comes.
 */
#include "looks.h"

#include <math.h>

#include "messages.h"
#include "stop.h"
#include "system.h"

#define LONGEST_RETRY 3600.0

/* Seconds to the next look: a fixed period while all goes well. */
static double
next_wait(const look_loop *l, bool well, double begun, double *wait)
{
	if (well)
	{
		*wait = 0;
		return fmax(0, begun + l->period - monotonic_seconds());
	}
	return l->retry > 0 ? fmin((double) l->retry, LONGEST_RETRY) : longer_wait(wait);
}

bool
keep_looking(look_loop *l)
{
	double		wait = 0;
	bool		well = false;

	do
	{
		double		begun;

		if (l->rest != NULL)
			l->rest(l->state, l->due);
		else
			stop_wait(-1, l->due);
		if (l->over || stop_requested())
			break;
		begun = monotonic_seconds();
		well = l->look(l->state);
		l->due = next_wait(l, well, begun, &wait);
	}
	while (l->follow && !l->over && !stop_requested());
	return well;
}
