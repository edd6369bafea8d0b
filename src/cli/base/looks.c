/*
 * looks.c
 *	  The loop of programs that look: once, or again and again until a signal comes.
 *
 * Signals are noted until a wait or a loop looks for them.  They are let in while nothing else can
 * happen but the end of a wait: so none is missed between a test and the wait.
 */
#define _GNU_SOURCE				/* ppoll */
#include "looks.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <time.h>

#include "system.h"

/* Seconds that are waited after the first failure, and at most; and where a server says how long. */
#define FIRST_WAIT 1.0
#define LONGEST_WAIT 60.0
#define LONGEST_RETRY 3600.0

static volatile sig_atomic_t stopped_by;

void
stop_die(void)
{
	signal(stopped_by, SIG_DFL);
	raise(stopped_by);
}

static void
note_stop(int signal_number)
{
	stopped_by = signal_number;
}

void
stop_catch(void)
{
	signal(SIGINT, note_stop);
	signal(SIGTERM, note_stop);
	signal(SIGHUP, note_stop);
}

bool
stop_requested(void)
{
	return stopped_by != 0;
}

bool
stop_wait(int fd, double seconds)
{
	struct pollfd wanted = {fd, POLLIN, 0};
	double		left = fmax(seconds, 0);
	struct timespec time = {(time_t) left, (long) ((left - floor(left)) * 1e9)};
	sigset_t	all;
	sigset_t	before;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	/* only a signal interrupts it, and every signal that is caught stops */
	if (!stop_requested() && ppoll(&wanted, 1, &time, &before) < 0)
		wanted.revents = 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return wanted.revents != 0;
}

/* ------------------------------------------------------------------------
 * Looks
 * ------------------------------------------------------------------------ */

/* Seconds to the next look: a fixed period while all goes well, longer after each failure.  *wait is 0 before the first. */
static double
next_wait(const look_loop *l, bool well, double begun, double *wait)
{
	if (well)
	{
		*wait = 0;
		return fmax(0, begun + l->period - monotonic_seconds());
	}
	if (l->retry > 0)
		return fmin((double) l->retry, LONGEST_RETRY);
	*wait = fmin(fmax(FIRST_WAIT, *wait * 2), LONGEST_WAIT);
	return *wait * (0.5 + 0.5 * random_share());
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
