/*
 * many.c
 *	  bloomfilter pull --config: a process that has a child for each list of a file, which
 *	  come and go with its lines.
 *
 * The file is read again on SIGHUP and when it has changed.  As with PostgreSQL's, an
 * error in it means that nothing of it is taken: the lists go on as they were.  Only at
 * the start, when there is nothing to go on, the entries without errors begin.
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
#include "feed_sign.h"
#include "file.h"
#include "messages.h"
#include "options.h"
#include "output.h"
#include "pull.h"
#include "server.h"

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
"Names are those of the options of \"bloomfilter pull\": url, dsn, list, index, out,\n"
"name, every, key (may be repeated), allow-http, header-file, limit-rate, no-agent.\n"
"FILE is read again on SIGHUP and when it changes: lists begin, end, or begin anew.  Of\n"
"a list that ends its file stays, and \"bloomfilter status\" says \"removed\".\n"
"\n"
"  --config FILE        file or folder\n"
"  --once               one look for each list, then end\n"
"  --quiet              say nothing but errors\n"
"  --help               print this\n"
"\n"
"Exit status: 0; 1 if what a server has was refused, 2 if there was an error: with\n"
"--once the worst of all lists.\n";

/* The file is looked at so often, seconds; it is taken when two looks find the same. */
#define STATE_SECONDS 2.0

/* A child that ended is begun again after a while, longer each time unless it lived so long. */
#define FIRST_WAIT 1.0
#define LONGEST_WAIT 60.0
#define GOOD_LIFE 60.0

typedef enum many_option
{
	OPTION_CONFIG = OPTION_ANY,
	OPTION_ONCE,
	OPTION_QUIET
} many_option;

static const struct option names[] = {
	OPTION_HELP_ENTRY,
	{"config", required_argument, NULL, OPTION_CONFIG},
	{"once", no_argument, NULL, OPTION_ONCE},
	{"quiet", no_argument, NULL, OPTION_QUIET},
	{NULL, 0, NULL, 0}
};

/* A list, and the process that follows it. */
typedef struct many_list
{
	config_entry *entry;
	pid_t		child;			/* 0: none */
	double		begun;
	double		due;			/* when there is to be one */
	double		wait;
	exit_status status;			/* how the last one ended */
} many_list;

typedef struct many_lists
{
	const char *path;
	bool		once;
	bool		quiet;
	unsigned	errors;
	many_list  *lists;
	size_t		count;
	char	   *state;			/* of the files when they were read */
	char	   *seen;			/* the same, when they were looked at last */
	double		looked;
} many_lists;

static void
tell(const many_lists *all, const char *what)
{
	if (!all->quiet)
		(void) output_news("%s", what);
}

/* ------------------------------------------------------------------------
 * Children
 * ------------------------------------------------------------------------ */

static void
begin_child(many_lists *all, many_list *list)
{
	pid_t		parent = getpid();
	pid_t		child = fork();

	if (child == 0)
	{
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		stop_catch_again();
		message_about(list->entry->name);
		/* the parent may have ended before */
		_exit(getppid() != parent ? STATUS_YES : (int) pull_list(&list->entry->plan));
	}
	list->begun = monotonic_seconds();
	list->due = INFINITY;
	if (child > 0)
	{
		list->child = child;
		return;
	}
	complain("cannot begin a process for \"%s\": %s", list->entry->name, strerror(errno));
	list->status = STATUS_TROUBLE;
	list->due = all->once ? INFINITY : list->begun + list->wait;
}

/* A child has ended: by itself, or by somebody. */
static void
note_end(many_lists *all, many_list *list, int status)
{
	double		now = monotonic_seconds();

	list->child = 0;
	list->status = WIFEXITED(status) ? (exit_status) WEXITSTATUS(status) : STATUS_TROUBLE;
	if (all->once || stop_requested())
		return;
	list->wait = now - list->begun >= GOOD_LIFE ? FIRST_WAIT : fmin(list->wait * 2, LONGEST_WAIT);
	list->due = now + list->wait;
	if (WIFSIGNALED(status))
		complain("the process that followed \"%s\" was ended by signal %d, and is begun again in %.0f s", list->entry->name,
				 WTERMSIG(status), list->wait);
	else
		complain("\"%s\" is followed no more, and again in %.0f s", list->entry->name, list->wait);
}

static void
look_for_ends(many_lists *all)
{
	size_t		i;
	int			status;

	for (i = 0; i < all->count; i++)
		if (all->lists[i].child != 0 && waitpid(all->lists[i].child, &status, WNOHANG) == all->lists[i].child)
			note_end(all, &all->lists[i], status);
}

static void
end_child(many_list *list)
{
	int			status;

	if (list->child == 0)
		return;
	kill(list->child, SIGTERM);
	while (waitpid(list->child, &status, 0) < 0 && errno == EINTR)
		;
	list->child = 0;
}

/* ------------------------------------------------------------------------
 * Lists that come and go
 * ------------------------------------------------------------------------ */

/* Takes the entry over. */
static void
begin_list(many_lists *all, config_entry *entry)
{
	many_list  *new;

	entry->plan.follow = !all->once;
	entry->plan.quiet = all->quiet;
	all->lists = allocate(all->lists, all->count + 1, sizeof *all->lists);
	new = &all->lists[all->count++];
	memset(new, 0, sizeof *new);
	new->entry = entry;
	new->wait = FIRST_WAIT;
}

/* removed: nobody follows its file from now on. */
static void
end_list(many_lists *all, many_list *which, bool removed)
{
	end_child(which);
	if (removed)
		place_remove(which->entry->plan.out);
	config_free_entry(which->entry);
	all->count--;
	*which = all->lists[all->count];
}

static many_list *
find_list(const many_lists *all, const config_entry *entry)
{
	size_t		i;

	for (i = 0; i < all->count; i++)
		if (strcmp(all->lists[i].entry->place, entry->place) == 0)
			return &all->lists[i];
	return NULL;
}

static config_entry *
find_entry(const pull_config *config, const config_entry *entry)
{
	size_t		i;

	for (i = 0; i < config->count; i++)
		if (strcmp(config->entries[i]->place, entry->place) == 0)
			return config->entries[i];
	return NULL;
}

/* Lists that go let their files go, before others come that may want them. */
static void
end_lists(many_lists *all, const pull_config *config)
{
	size_t		i = all->count;

	while (i-- > 0)
	{
		const config_entry *entry = all->lists[i].entry;
		const config_entry *new = find_entry(config, entry);

		if (new != NULL && config_is_same(entry, new))
			continue;
		message_about(entry->name);
		if (new != NULL)
			tell(all, "has changed");
		end_list(all, &all->lists[i], new == NULL);
		message_about(NULL);
	}
}

static void
begin_lists(many_lists *all, pull_config *config, bool first)
{
	size_t		i;

	for (i = 0; i < config->count; i++)
		if (find_list(all, config->entries[i]) == NULL)
		{
			message_about(config->entries[i]->name);
			if (!first)
				tell(all, "begins");
			message_about(NULL);
			begin_list(all, config->entries[i]);
		}
		else
			config_free_entry(config->entries[i]);
	free(config->entries);
	config->entries = NULL;
	config->count = 0;
}

/* ------------------------------------------------------------------------
 * Reading it again
 * ------------------------------------------------------------------------ */

/* As editors write a file in several steps, a change counts when two looks have found the same. */
static bool
is_changed(many_lists *all)
{
	char	   *now;
	bool		settled;

	if (reload_requested())
		return true;
	if (monotonic_seconds() - all->looked < STATE_SECONDS)
		return false;
	all->looked = monotonic_seconds();
	now = config_state(all->path);
	settled = strcmp(now, all->seen) == 0;
	free(all->seen);
	all->seen = now;
	return settled && strcmp(now, all->state) != 0;
}

static void
note_state(many_lists *all)
{
	free(all->state);
	free(all->seen);
	all->state = config_state(all->path);
	all->seen = text_of("%s", all->state);
	all->looked = monotonic_seconds();
}

static void
read_again(many_lists *all)
{
	pull_config config;

	reload_done();
	/* before it is read: what changes meanwhile is read again */
	note_state(all);
	if (!config_read(all->path, &config) || config.errors > 0)
		complain("\"%s\": nothing of it is taken before it is right: the lists go on as they were", all->path);
	else if (config.count == 0)
		complain("\"%s\" has no list any more: the lists go on as they were; to end them, end this program", all->path);
	else
	{
		end_lists(all, &config);
		begin_lists(all, &config, false);
		tell(all, "the lists are those of the files again");
	}
	config_free(&config);
}

/* ------------------------------------------------------------------------
 * The command
 * ------------------------------------------------------------------------ */

static void
read_options(const command_line *line, many_lists *all)
{
	int			option;

	while ((option = next_option(line)) != -1)
		switch (option)
		{
			case OPTION_CONFIG:
				if (all->path != NULL)
					usage_error(line, "--config is given twice: it may be a folder");
				all->path = optarg;
				break;
			case OPTION_ONCE:
				all->once = true;
				break;
			case OPTION_QUIET:
				all->quiet = true;
				break;
		}
	if (optind < line->argc)
		usage_error(line, "unexpected argument; lists are in the file of --config");
	if (all->path == NULL)
		usage_error(line, "--config is needed");
}

static void
begin(many_lists *all)
{
	pull_config config;

	note_state(all);
	if (!config_read(all->path, &config) || config.count == 0)
		fail("there is no list in \"%s\" that could be followed", all->path);
	all->errors = config.errors;
	begin_lists(all, &config, true);
}

/* Whether there is anything left to wait for. */
static bool
is_at_work(const many_lists *all)
{
	size_t		i;

	for (i = 0; i < all->count; i++)
		if (all->lists[i].child != 0 || isfinite(all->lists[i].due))
			return true;
	return false;
}

/* Until a signal comes, or each list had its look. */
static void
mind(many_lists *all)
{
	size_t		i;

	while (!stop_requested() && is_at_work(all))
	{
		look_for_ends(all);
		for (i = 0; i < all->count; i++)
			if (all->lists[i].child == 0 && all->lists[i].due <= monotonic_seconds())
				begin_child(all, &all->lists[i]);
		if (!all->once && is_changed(all))
			read_again(all);
		/* a child's end is no hurry, but of one look */
		stop_wait(-1, all->once ? 0.02 : 0.25);
	}
}

static exit_status
worst(const many_lists *all)
{
	exit_status status = all->errors > 0 ? STATUS_TROUBLE : STATUS_YES;
	size_t		i;

	for (i = 0; all->once && i < all->count; i++)
		if (all->lists[i].status > status)
			status = all->lists[i].status;
	return all->once ? status : STATUS_YES;
}

exit_status
command_pull_config(int argc, char **argv)
{
	command_line line = {"pull --config", help, ":", names, argc, argv};
	many_lists	all;
	exit_status status;
	size_t		i;

	memset(&all, 0, sizeof all);
	feed_sign_begin();
	read_options(&line, &all);
	if (!all.once)
	{
		reload_catch();
		messages_have_time();
	}
	stop_catch(!all.once);
	begin(&all);
	mind(&all);
	/* all at once, as each may take a while to end */
	for (i = 0; i < all.count; i++)
		if (all.lists[i].child != 0)
			kill(all.lists[i].child, SIGTERM);
	status = worst(&all);
	while (all.count > 0)
		end_list(&all, &all.lists[all.count - 1], false);
	free(all.lists);
	free(all.state);
	free(all.seen);
	if (all.once && stop_requested())
		stop_die();
	return status;
}
