/*
 * after.c
 *	  The user's command that passes files on, to an object store for example.
 */
#define _GNU_SOURCE
#include "folder.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "messages.h"
#include "server.h"

/* How long the user's command may take to end when it is asked to, seconds. */
#define END_SECONDS 5.0

/* The longest wait until the user's command is looked at again. */
#define LONGEST_NAP 0.05

/* Ends the user's command, with all that it has started if that has a process group. */
static void
end_command(pid_t child, bool group, int *status)
{
	static const struct timespec nap = {0, 20000000};
	double		until = monotonic_seconds() + END_SECONDS;

	kill(group ? -child : child, SIGTERM);
	while (monotonic_seconds() < until)
	{
		if (waitpid(child, status, WNOHANG) != 0)
			return;
		nanosleep(&nap, NULL);
	}
	kill(group ? -child : child, SIGKILL);
	while (waitpid(child, status, 0) < 0 && errno == EINTR)
		;
}

/* It may take as long as it needs, but not beyond a signal that ends the exporter. */
static void
wait_for_command(pid_t child, bool group, int *status)
{
	double		nap = 0.001;

	while (waitpid(child, status, WNOHANG) == 0)
	{
		if (stop_requested())
		{
			end_command(child, group, status);
			return;
		}
		stop_wait(-1, nap);
		nap = fmin(nap * 2, LONGEST_NAP);
	}
}

/* Runs the user's command for a file; true if it has none or it ends with 0. */
bool
folder_run_after(const list_folder *f, const char *name)
{
	char	   *path = text_of("%s/%s", f->plan->to, name);
	int			status = -1;
	/* another group could not ask for a password at the terminal */
	bool		group = !isatty(STDIN_FILENO);
	pid_t		child;

	if (f->plan->after == NULL)
	{
		free(path);
		return true;
	}
	child = fork();
	if (child == 0)
	{
		if (group)
			setpgid(0, 0);
		execl("/bin/sh", "sh", "-c", f->plan->after, "sh", path, (char *) NULL);
		_exit(127);
	}
	if (child > 0)
	{
		/* also here: who of the two comes first isn't known */
		if (group)
			setpgid(child, child);
		wait_for_command(child, group, &status);
	}
	if (status != 0 && !stop_requested())
		complain("--after failed for \"%s\"", path);
	free(path);
	return status == 0;
}
