/*
 * pull_many.c
 *	  bloomfilter pull --config: one process that follows the lists of a file, which come
 *	  and go with its lines.
 *
 * The file is read again on SIGHUP and when it has changed.  As with PostgreSQL's, an
 * error in it means that nothing of it is taken: the lists go on as they were.  Only at
 * the start, when there is nothing to go on, the entries without errors begin.
 */
#include "pull_config.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "messages.h"
#include "options.h"
#include "output.h"
#include "pull_turns.h"
#include "server.h"

static const char help[] =
"Usage: bloomfilter pull --config FILE [OPTION]...\n"
"\n"
"Follows many lists, as \"bloomfilter pull --url URL --follow\" does one: those of FILE,\n"
"or of each *.conf in it, if it is a folder.  The lists take turns in one process, and\n"
"one that is slow or fails doesn't hold the others.  FILE has such lines:\n"
"\n"
"  # for all lists of the file that don't say else\n"
"  key = /etc/bloomfilter/lists.pub\n"
"  [users]\n"
"  url = https://lists.example.com/users\n"
"  out = /var/lib/bloomfilter/users.bloom\n"
"\n"
"Names are those of the options of \"bloomfilter pull --url URL\": url, out, name, every,\n"
"key (may be repeated), allow-http, header-file, limit-rate, working, no-agent.\n"
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

/* A list that is followed, and the entry that says so. */
typedef struct many_list
{
	config_entry *entry;
	turn_list  *list;
} many_list;

typedef struct many_lists
{
	const char *path;
	bool		once;
	bool		quiet;
	unsigned	errors;
	pull_turns	turns;
	many_list  *lists;
	size_t		count;
	char	   *state;			/* of the files when they were read */
	char	   *seen;			/* the same, when they were looked at last */
	double		looked;
	bool		due;			/* they have changed, and are to be read */
} many_lists;

static void
tell(const many_lists *all, const char *what)
{
	if (!all->quiet)
		(void) output_news("%s", what);
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
	new->entry = entry;
	new->list = turns_add(&all->turns, &entry->plan, entry->name);
}

/* removed: nobody follows its file from now on. */
static void
end_list(many_lists *all, many_list *which, bool removed)
{
	url_host   *host = &which->list->host;

	if (host->opened && removed)
		place_remove(host);
	else if (host->opened)
		place_close(host);
	list_close(host);
	turns_drop(&all->turns, which->list);
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

/*
 * An is_changed of turns.  It stays true until the files are read: the first call ends a
 * transfer, and a later one makes turns read them.  As editors write a file in several
 * steps, a change counts when two looks have found the same.
 */
static bool
is_changed(void *state)
{
	many_lists *all = state;
	char	   *now;
	bool		settled;

	if (all->due || reload_requested())
		return true;
	if (monotonic_seconds() - all->looked < STATE_SECONDS)
		return false;
	all->looked = monotonic_seconds();
	now = config_state(all->path);
	settled = strcmp(now, all->seen) == 0;
	free(all->seen);
	all->seen = now;
	all->due = settled && strcmp(now, all->state) != 0;
	return all->due;
}

static void
note_state(many_lists *all)
{
	free(all->state);
	free(all->seen);
	all->state = config_state(all->path);
	all->seen = text_of("%s", all->state);
	all->looked = monotonic_seconds();
	all->due = false;
}

/* A change of turns. */
static void
change(void *state)
{
	many_lists *all = state;
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

/* Each list has two files open: as many as the system lets this process have. */
static void
allow_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void) setrlimit(RLIMIT_NOFILE, &limit);
}

static exit_status
worst(const many_lists *all)
{
	exit_status status = all->errors > 0 ? STATUS_TROUBLE : STATUS_YES;
	size_t		i;

	for (i = 0; all->once && i < all->count; i++)
		if (all->lists[i].list->status > status)
			status = all->lists[i].list->status;
	return all->once ? status : STATUS_YES;
}

exit_status
command_pull_config(int argc, char **argv)
{
	command_line line = {"pull --config", help, ":", names, argc, argv};
	many_lists	all;
	exit_status status;

	memset(&all, 0, sizeof all);
	feed_sign_begin();
	read_options(&line, &all);
	if (all.path == NULL)
		usage_error(&line, "--config is needed");
	allow_files();
	if (!all.once)
		reload_catch();
	stop_catch(!all.once);
	if (!all.once)
	{
		messages_have_time();
		all.turns.is_changed = is_changed;
		all.turns.change = change;
		all.turns.state = &all;
	}
	srandom(randombytes_random());
	all.turns.once = all.once;
	all.turns.client = http_begin();
	begin(&all);
	turns_take(&all.turns);
	status = worst(&all);
	while (all.count > 0)
		end_list(&all, &all.lists[all.count - 1], false);
	http_end(all.turns.client);
	free(all.turns.lists);
	free(all.lists);
	free(all.state);
	free(all.seen);
	if (all.once && stop_requested())
		stop_die();
	return status;
}
