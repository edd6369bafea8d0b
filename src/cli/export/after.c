/*
 * after.c
 *	  The user's command that passes files on, to an object store for example.
 */
#include "folder.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "looks.h"

/* How long it may take to end when it is asked to, seconds. */
#define END_SECONDS 5.0

/* The wait until it is looked at again, milliseconds. */
#define NAP 5

/*
 * It may take as long as it needs, but not beyond a signal that ends the exporter: then it ends, too,
 * with all that it has started if that has a process group.
 */
static int
wait_for_command(pid_t child, bool group)
{
	pid_t		whom = group ? -child : child;
	double		asked = 0;
	int			status = -1;

	while (waitpid(child, &status, WNOHANG) == 0)
	{
		if (stop_requested() && asked == 0)
		{
			kill(whom, SIGTERM);
			asked = monotonic_seconds();
		}
		else if (asked != 0 && monotonic_seconds() - asked > END_SECONDS)
			kill(whom, SIGKILL);
		(void) poll(NULL, 0, NAP);
	}
	return status;
}

bool
folder_run_after(const list_folder *f, const char *name)
{
	char	   *path;
	int			status = -1;
	/* another group could not ask for a password at the terminal */
	bool		group = !isatty(STDIN_FILENO);
	pid_t		child;

	if (f->plan->after == NULL)
		return true;
	path = text_of("%s/%s", f->plan->to, name);
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
		status = wait_for_command(child, group);
	}
	if (status != 0 && !stop_requested())
		complain("--after failed for \"%s\"", path);
	free(path);
	return status == 0;
}
