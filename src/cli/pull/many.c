/*
 * many.c
 *	  bloomfilter pull --config: a process that has a child for each list of a file.
 *
 * On SIGHUP the file is read again, and all lists begin anew by it.  As with PostgreSQL's, an
 * error in it means that nothing of it is taken.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config.h"
#include "file.h"
#include "messages.h"
#include "options.h"
#include "pull.h"
#include "stop.h"

static const char help[] =
"Usage: bloomfilter pull --config FILE [OPTION]...\n"
"\n"
"Follows many lists, each as \"bloomfilter pull --follow\" does in a process of its\n"
"own: those of FILE, or of each *.conf in it, if it is a folder, in such lines:\n"
"\n"
"  # for all lists of the file that don't say else\n"
"  key = /etc/bloomfilter/lists.pub\n"
"  [users]\n"
"  url = https://lists.example.com/users\n"
"  out = /var/lib/bloomfilter/users.bloom\n"
"\n"
"Lines are options of \"bloomfilter pull\", of which --follow is one already.  FILE is\n"
"read again on SIGHUP.  Of a list that is gone its file stays, and \"bloomfilter\n"
"status\" says \"removed\".  With an error in it nothing of it is taken.\n"
"\n"
"  --config FILE        file or folder\n"
"  --once               one look for each list, then end\n"
"  --quiet              say nothing but errors\n"
"  --help               print this\n"
"\n"
"Exit status: 0; 1 if what a server has was refused, 2 if there was an error: with\n"
"--once the worst of all lists.\n";

/* A child that ended is begun again so many seconds later, as a unit of systemd is. */
#define AGAIN_SECONDS 10.0

/* The process that follows a list. */
typedef struct many_child
{
	pid_t		pid;			/* 0: none */
	double		due;			/* when there is to be one */
	exit_status status;			/* how the last one ended */
} many_child;

typedef struct many_lists
{
	const char *path;
	bool		once;
	bool		quiet;
	pull_config config;
	many_child *children;		/* of each list */
} many_lists;

/* ------------------------------------------------------------------------
 * Children
 * ------------------------------------------------------------------------ */

static pull_plan
plan_of(const many_lists *all, const config_list *list)
{
	pull_plan	plan;

	message_about(list->name);
	plan = pull_read(list->options.count, list->options.texts, true);
	plan.follow = !all->once;
	plan.quiet = all->quiet;
	return plan;
}

static void
begin_child(many_lists *all, size_t which)
{
	many_child *child = &all->children[which];
	pid_t		parent = getpid();

	child->due = INFINITY;
	child->pid = fork();
	if (child->pid == 0)
	{
		pull_plan	plan;

		prctl(PR_SET_PDEATHSIG, SIGTERM);
		/* what asks the parent to read its file again means nothing here */
		signal(SIGHUP, SIG_IGN);
		plan = plan_of(all, &all->config.lists[which]);
		/* the parent may have ended before */
		_exit(getppid() != parent ? STATUS_YES : (int) pull_list(&plan));
	}
	/* the others end with this process, and whoever began it begins it again */
	if (child->pid < 0)
		fail("cannot begin a process for \"%s\": %s", all->config.lists[which].name, strerror(errno));
}

/* A child has ended: by itself, or by somebody. */
static void
note_end(many_lists *all, size_t which, int status)
{
	many_child *child = &all->children[which];

	child->pid = 0;
	child->status = WIFEXITED(status) ? (exit_status) WEXITSTATUS(status) : STATUS_TROUBLE;
	if (all->once || stop_requested())
		return;
	child->due = monotonic_seconds() + AGAIN_SECONDS;
	complain("the process that followed \"%s\" has ended by %s %d, and is begun again in %.0f s", all->config.lists[which].name,
			 WIFSIGNALED(status) ? "signal" : "exit status", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
			 AGAIN_SECONDS);
}

/* All at once, as each may take a while to end. */
static void
end_children(many_lists *all)
{
	size_t		i;
	int			status;

	for (i = 0; i < all->config.count; i++)
		if (all->children[i].pid != 0)
			kill(all->children[i].pid, SIGTERM);
	for (i = 0; i < all->config.count; i++)
		while (all->children[i].pid != 0 && waitpid(all->children[i].pid, &status, 0) < 0 && errno == EINTR)
			;
}

/* ------------------------------------------------------------------------
 * The file
 * ------------------------------------------------------------------------ */

/* Whether all options are right: what is wrong with one ends a process, which isn't this one. */
static bool
is_right(const many_lists *all, const pull_config *config)
{
	pid_t		child = fork();
	int			status = -1;
	size_t		i;

	if (child == 0)
	{
		for (i = 0; i < config->count; i++)
			(void) plan_of(all, &config->lists[i]);
		_exit(STATUS_YES);
	}
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return status == 0;
}

static void
take(many_lists *all, const pull_config *config)
{
	free(all->children);
	all->config = *config;
	all->children = zeros(config->count, sizeof *all->children);
}

/* Nobody follows the files that are of no list any more. */
static void
remove_others(const pull_config *before, const pull_config *now)
{
	size_t		i;
	size_t		j;

	for (i = 0; i < before->count; i++)
	{
		const char *out = config_out(&before->lists[i]);

		for (j = 0; j < now->count && strcmp(config_out(&now->lists[j]), out) != 0; j++)
			;
		message_about(before->lists[i].name);
		if (j == now->count)
			place_remove(out);
		message_about(NULL);
	}
}

static void
read_again(many_lists *all)
{
	pull_config before = all->config;
	pull_config config;

	if (!config_read(all->path, &config) || !is_right(all, &config))
	{
		config_free(&config);
		complain("nothing of \"%s\" is taken before it is right: the lists go on as they were", all->path);
		return;
	}
	end_children(all);
	remove_others(&before, &config);
	config_free(&before);
	take(all, &config);
	if (!all->quiet)
		announce("the lists are those of \"%s\" again", all->path);
}

/* ------------------------------------------------------------------------
 * The command
 * ------------------------------------------------------------------------ */

static void
take_path(const command_option *option, const char *argument)
{
	many_lists *all = option->value;

	if (all->path != NULL)
		fail("--config is given twice: it may be a folder");
	all->path = argument;
}

static void
read_plan(const command_line *line, many_lists *all)
{
	const command_option options[] = {
		{"config", 0, take_path, all, 0, 0},
		{"once", 0, option_flag, &all->once, 0, 0},
		{"quiet", 0, option_flag, &all->quiet, 0, 0},
		{NULL, 0, NULL, NULL, 0, 0}
	};

	read_options(line, options);
	if (optind < line->argc)
		usage_error(line, "unexpected argument; lists are in the file of --config");
	if (all->path == NULL)
		usage_error(line, "--config is needed");
}

/* Begins what is due, and notes what has ended; false if there is nothing left to wait for. */
static bool
look_at_children(many_lists *all)
{
	bool		any = false;
	size_t		i;
	int			status;

	for (i = 0; i < all->config.count; i++)
	{
		many_child *child = &all->children[i];

		if (child->pid != 0 && waitpid(child->pid, &status, WNOHANG) == child->pid)
			note_end(all, i, status);
		if (child->pid == 0 && child->due <= monotonic_seconds())
			begin_child(all, i);
		any |= child->pid != 0 || isfinite(child->due);
	}
	return any;
}

exit_status
command_pull_config(int argc, char **argv)
{
	command_line line = {"pull --config", help, argc, argv};
	many_lists	all;
	pull_config config;
	exit_status worst = STATUS_YES;
	size_t		i;

	memset(&all, 0, sizeof all);
	read_plan(&line, &all);
	stop_catch();
	if (!all.once)
	{
		reload_catch();
		messages_have_time();
	}
	if (!config_read(all.path, &config) || !is_right(&all, &config))
		fail("nothing of \"%s\" is taken before it is right", all.path);
	take(&all, &config);
	while (!stop_requested() && look_at_children(&all))
	{
		if (reload_requested())
			read_again(&all);
		/* a child's end is no hurry, but of one look */
		stop_wait(-1, all.once ? 0.02 : 0.25);
	}
	end_children(&all);
	for (i = 0; all.once && i < all.config.count; i++)
		if (all.children[i].status > worst)
			worst = all.children[i].status;
	config_free(&all.config);
	free(all.children);
	if (all.once && stop_requested())
		stop_die();
	return worst;
}
