/*
 * stop.c
 *	  Ending cleanly on SIGINT, SIGTERM and SIGHUP.
 *
 * The handler writes to a pipe, which is waited for together with the server's
 * socket: so no signal is missed between a test and the wait.
 */
#include "stop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "messages.h"

static volatile sig_atomic_t stopped_by;
static volatile sig_atomic_t immediate;
static volatile sig_atomic_t clean_end;
static int	pipe_ends[2];

void
stop_die(void)
{
	if (clean_end)
		_exit(STATUS_YES);
	signal(stopped_by, SIG_DFL);
	raise(stopped_by);
}

static void
handle(int signal_number)
{
	int			saved_errno = errno;
	ssize_t		written;

	stopped_by = signal_number;
	if (immediate)
	{
		sigset_t	none;

		stop_die();
		/* the signal is blocked while it is handled, so it comes only now */
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
	}
	/* a full pipe has been written to already */
	written = write(pipe_ends[1], "", 1);
	(void) written;
	errno = saved_errno;
}

void
stop_catch(bool clean)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action;
	size_t		i;

	clean_end = clean;
	if (pipe(pipe_ends) != 0)
		fail("cannot make a pipe: %s", strerror(errno));
	for (i = 0; i < 2; i++)
	{
		fcntl(pipe_ends[i], F_SETFL, O_NONBLOCK);
		fcntl(pipe_ends[i], F_SETFD, FD_CLOEXEC);
	}
	memset(&action, 0, sizeof action);
	action.sa_handler = handle;
	action.sa_flags = SA_RESTART;
	for (i = 0; i < sizeof signals / sizeof signals[0]; i++)
		sigaction(signals[i], &action, NULL);
}

bool
stop_requested(void)
{
	return stopped_by != 0;
}

void
stop_begin_immediate(void)
{
	immediate = 1;
	if (stop_requested())
		stop_die();
}

void
stop_end_immediate(void)
{
	immediate = 0;
}

bool
stop_wait(int fd, double seconds)
{
	struct pollfd fds[2];
	int			ready;

	fds[0].fd = pipe_ends[0];
	fds[0].events = POLLIN;
	fds[0].revents = 0;
	fds[1].fd = fd;
	fds[1].events = POLLIN;
	fds[1].revents = 0;
	if (stop_requested())
		return false;
	/* only a signal interrupts it, and every signal that is caught stops */
	ready = poll(fds, 2, seconds < 0 ? -1 : (int) (seconds * 1000));
	return ready > 0 && fds[1].revents != 0;
}
