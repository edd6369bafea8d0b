/*
 * status.c
 *	  bloomfilter status: whether files that pull keeps are fresh, for people and
 *	  for programs that watch.
 */
#define _GNU_SOURCE				/* CLOCK_BOOTTIME */
#include "status.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "feed_files.h"
#include "options.h"
#include "output.h"
#include "status_export.h"
#include "status_print.h"

static const char help[] =
"Usage: bloomfilter status [OPTION]... FILE|FOLDER...\n"
"\n"
"Tells what is known about files that \"bloomfilter pull\" keeps: of which list\n"
"they are, their serial, when it was built, the last look, and what is wrong; and\n"
"about folders that \"bloomfilter export\" keeps, and their exporters.\n"
"\n"
"      --max-age SECONDS        the last look may be so long ago\n"
"      --max-built-age SECONDS  the list may have been built so long ago\n"
"      --json                   print a line of JSON for each file\n"
"      --prometheus             print metrics, as for node_exporter's textfiles\n"
"  -q, --quiet                  print nothing, but what is wrong\n"
"      --help                   print this\n"
"\n"
"Exit status: 0, 1 if something is wrong with a file, 2 if nothing is known of\n"
"one.\n";

typedef enum status_option
{
	OPTION_MAX_AGE = OPTION_ANY,
	OPTION_MAX_BUILT_AGE,
	OPTION_JSON,
	OPTION_PROMETHEUS
} status_option;

static const struct option names[] = {
	OPTION_HELP_ENTRY,
	{"max-age", required_argument, NULL, OPTION_MAX_AGE},
	{"max-built-age", required_argument, NULL, OPTION_MAX_BUILT_AGE},
	{"json", no_argument, NULL, OPTION_JSON},
	{"prometheus", no_argument, NULL, OPTION_PROMETHEUS},
	{"quiet", no_argument, NULL, 'q'},
	{NULL, 0, NULL, 0}
};

typedef struct age_limits
{
	int64_t		looked_age;
	int64_t		built_age;
} age_limits;

const char *const status_words[STATUS_WORDS] = {
	"first", "old", "built", "clock", "other", "back", "forked", "identity", "list",
	"file", "unknown", "signature", "expired", "removed"
};

/* ------------------------------------------------------------------------
 * What is wrong
 * ------------------------------------------------------------------------ */

static void
mark(file_status *found, const char *word)
{
	size_t		i;

	found->healthy = false;
	for (i = 0; i < STATUS_WORDS; i++)
		found->wrong[i] |= strcmp(status_words[i], word) == 0;
}

static void
check_look(file_status *found, const age_limits *most)
{
	if (found->status.looked == 0)
	{
		complain("%s: the server was never looked at with success", found->file);
		mark(found, "first");
	}
	else if (found->looked_age < 0)
	{
		complain("%s: the last look is %" PRId64 " s in the future: the clock was set back",
				 found->file, -found->looked_age);
		mark(found, "clock");
	}
	else if (found->looked_age > most->looked_age)
	{
		complain("%s: the server was last looked at %" PRId64 " s ago", found->file,
				 found->looked_age);
		mark(found, "old");
	}
}

static void
check_build(file_status *found, const age_limits *most)
{
	if (found->status.built == 0)
	{
		if (most->built_age == INT64_MAX)
			return;
		complain("%s: when its list was built is not known", found->file);
		mark(found, "built");
	}
	else if (found->built_age < -CLOCKS_DIFFER)
	{
		complain("%s: its list was built %" PRId64 " s in the future: this clock or the server's is wrong",
				 found->file, -found->built_age);
		mark(found, "clock");
	}
	else if (found->built_age > most->built_age)
	{
		complain("%s: its list was built %" PRId64 " s ago", found->file, found->built_age);
		mark(found, "built");
	}
}

/* Of the host and of the server that it looked at. */
static void
check_clocks(file_status *found)
{
	int64_t		ahead = found->status.clock;

	if (ahead == 0)
		return;
	complain("%s: this host's clock was %" PRId64 " s %s the web server's at the last look: one of them is wrong",
			 found->file, ahead > 0 ? ahead : -ahead, ahead > 0 ? "ahead of" : "behind");
	mark(found, "clock");
}

/* Whether the file is the one that the status is about. */
static void
check_content(file_status *found)
{
	bloomfilter *filter;
	bloomfilter_detail detail;

	if (found->status.looked == 0 || found->status.matches)
		return;
	if (bloomfilter_open(found->file, BLOOMFILTER_BASE | BLOOMFILTER_SKIP_CHECK, &filter, &detail) < 0)
		complain("%s", detail.text);
	else
	{
		complain("\"%s\" is another filter than the one that was pulled", found->file);
		bloomfilter_close(filter);
	}
	mark(found, "other");
}

static void
check_refusal(file_status *found)
{
	if (found->status.refused[0] == '\0')
		return;
	complain("%s", found->status.error);
	mark(found, found->status.refused);
}

/* Seconds since a time of CLOCK_BOOTTIME in microseconds. */
static int64_t
boot_age(uint64_t since)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (int64_t) now.tv_sec - (int64_t) (since / 1000000);
}

/*
 * What a working copy has besides FILE, which FILE.status tells of.  Gives the age of its
 * last look by the clock since boot, or 0.
 */
static int64_t
take_working(const char *file, bloomfilter_status *status)
{
	bloomfilter *filter;
	bloomfilter_working working;
	int64_t		age = 0;

	if (bloomfilter_open(file, BLOOMFILTER_SKIP_CHECK, &filter, NULL) < 0)
		return 0;
	if (bloomfilter_get_working(filter, &working, sizeof working))
	{
		status->serial = (int64_t) working.serial;
		status->failures = working.failures;
		if (working.looked != 0)
		{
			status->looked = (int64_t) (working.looked / 1000000);
			age = boot_age(working.looked_boot);
		}
	}
	bloomfilter_close(filter);
	return age;
}

static file_status
look_at(const char *file, const age_limits *most)
{
	file_status found;
	const char *problem;
	int64_t		now = (int64_t) time(NULL);
	int64_t		since_boot;

	memset(&found, 0, sizeof found);
	found.file = file;
	found.known = status_read(file, &found.status, &problem);
	if (!found.known)
	{
		complain("cannot read \"%s.status\": %s", file,
				 problem != NULL ? problem : strerror(ENOENT));
		return found;
	}
	found.healthy = true;
	since_boot = take_working(file, &found.status);
	found.looked_age = now - found.status.looked;
	/* the clock that has not stopped, nor was set back, since the look */
	if (found.status.looked != 0 && found.looked_age >= 0 && since_boot > found.looked_age)
		found.looked_age = since_boot;
	found.built_age = now - found.status.built;
	/* a host whose clock is behind takes nothing for fresher than it is */
	if (found.status.clock < 0)
		found.built_age -= found.status.clock;
	check_look(&found, most);
	check_build(&found, most);
	check_clocks(&found);
	check_content(&found);
	check_refusal(&found);
	return found;
}

/* ------------------------------------------------------------------------
 * The command
 * ------------------------------------------------------------------------ */

static exit_status
worse(exit_status result, bool known, bool healthy)
{
	return !known ? STATUS_TROUBLE : !healthy && result == STATUS_YES ? STATUS_NO : result;
}

exit_status
command_status(int argc, char **argv)
{
	command_line line = {"status", help, ":q", names, argc, argv};
	age_limits	most = {INT64_MAX, INT64_MAX};
	status_form form = FORM_TEXT;
	exit_status result = STATUS_YES;
	file_status *found;
	folder_status *folders;
	int			count = 0;
	int			folder_count = 0;
	int			option;
	int			i;

	while ((option = next_option(&line)) != -1)
		if (option == OPTION_MAX_AGE)
			most.looked_age = (int64_t) option_count("--max-age", optarg, 0, INT64_MAX);
		else if (option == OPTION_MAX_BUILT_AGE)
			most.built_age = (int64_t) option_count("--max-built-age", optarg, 0, INT64_MAX);
		else
			form = option == OPTION_JSON ? FORM_JSON : option == OPTION_PROMETHEUS ? FORM_PROMETHEUS : FORM_QUIET;
	if (optind == argc)
		usage_error(&line, "no file is given");
	found = allocate(NULL, (size_t) (argc - optind), sizeof *found);
	folders = allocate(NULL, (size_t) (argc - optind), sizeof *folders);
	for (i = optind; i < argc; i++)
		if (feed_is_folder(argv[i]))
		{
			folders[folder_count] = status_of_folder(argv[i], most.looked_age);
			result = worse(result, folders[folder_count].known, folders[folder_count].healthy);
			folder_count++;
		}
		else
		{
			found[count] = look_at(argv[i], &most);
			result = worse(result, found[count].known, found[count].healthy);
			count++;
		}
	if (count > 0)
		status_print(found, count, form);
	status_print_folders(folders, folder_count, form);
	output_flush();
	for (i = 0; i < folder_count; i++)
		status_free_folder(&folders[i]);
	free(folders);
	free(found);
	return result;
}
