/*
 * stop.c
 *	  Signals that end the program, noted until a wait or a loop looks for them.
 *
 * They are let in while nothing else can happen but the end of a wait: so none is missed
 * between a test and the wait.
 */
#define _GNU_SOURCE				/* ppoll */
#include "stop.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <time.h>

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
