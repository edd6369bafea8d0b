/*
 * status.c
 *	  What is known about a file that was pulled, and bloomfilter status.
 *
 * The status is a text file: a first line that says so, then a line for each value,
 * after its name.  Times are in UTC.
 */
#include "status.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter.h"
#include "options.h"
#include "output.h"

#define FIRST_LINE "bloomfilter-status 1"

/* Room for the longest value, its name and a newline. */
#define LINE_BYTES (STATUS_VALUE_BYTES + 32)

/* ------------------------------------------------------------------------
 * The file
 * ------------------------------------------------------------------------ */

static char *
status_path(const char *file)
{
	return text_of("%s.status", file);
}

/* One line only, whatever somebody calls his list. */
static void
put_value(FILE *stream, const char *name, const char *value)
{
	if (value[0] == '\0')
		return;
	fprintf(stream, "%s ", name);
	for (; *value != '\0'; value++)
		fputc((unsigned char) *value < ' ' ? '?' : *value, stream);
	fputc('\n', stream);
}

static void
put_time(FILE *stream, const char *name, time_t time)
{
	char		text[TIME_TEXT_BYTES];

	message_time(text, time);
	put_value(stream, name, text);
}

static bool
put_status(FILE *stream, const pull_status *status)
{
	char		checksum[17];

	snprintf(checksum, sizeof checksum, "%016" PRIx64, status->checksum);
	fputs(FIRST_LINE "\n", stream);
	put_time(stream, "looked", status->looked);
	put_time(stream, "changed", status->changed);
	put_value(stream, "checksum", checksum);
	put_value(stream, "list", status->list);
	put_value(stream, "generation", status->generation);
	put_value(stream, "built", status->built);
	put_value(stream, "server", status->server);
	return !ferror(stream);
}

/*
 * In one step, so that nobody reads half of it, but not synced: after a crash of the
 * system an older one is as true.
 */
bool
status_write(const char *file, const pull_status *status)
{
	char	   *path = status_path(file);
	char	   *temporary = text_of("%s.%ld.tmp", path, (long) getpid());
	FILE	   *stream = fopen(temporary, "w");
	bool		written = stream != NULL && put_status(stream, status);
	int			error;

	if (stream != NULL && fclose(stream) != 0)
		written = false;
	written = written && rename(temporary, path) == 0;
	error = errno;
	if (!written && stream != NULL)
		unlink(temporary);
	free(temporary);
	free(path);
	errno = error;
	return written;
}

/* Days from 1970-01-01 to a date of the Gregorian calendar. */
static int64_t
days_of(int64_t year, int64_t month, int64_t day)
{
	/* years begin in March, so that the leap day is the last one */
	int64_t		y = month <= 2 ? year - 1 : year;
	int64_t		m = month <= 2 ? month + 9 : month - 3;

	return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

/* 0 for what is no time. */
static time_t
time_of(const char *text)
{
	int			year,
				month,
				day,
				hour,
				minute,
				second;

	if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2dZ", &year, &month, &day, &hour,
			   &minute, &second) != 6)
		return 0;
	return (time_t) (days_of(year, month, day) * 86400 + hour * 3600 + minute * 60 + second);
}

static void
take_line(pull_status *status, char *line)
{
	char	   *value = strchr(line, ' ');

	line[strcspn(line, "\n")] = '\0';
	if (value == NULL)
		return;
	*value++ = '\0';
	if (strcmp(line, "looked") == 0)
		status->looked = time_of(value);
	else if (strcmp(line, "changed") == 0)
		status->changed = time_of(value);
	else if (strcmp(line, "checksum") == 0)
		status->checksum = strtoull(value, NULL, 16);
	else if (strcmp(line, "list") == 0)
		snprintf(status->list, sizeof status->list, "%s", value);
	else if (strcmp(line, "generation") == 0)
		snprintf(status->generation, sizeof status->generation, "%s", value);
	else if (strcmp(line, "built") == 0)
		snprintf(status->built, sizeof status->built, "%s", value);
	else if (strcmp(line, "server") == 0)
		snprintf(status->server, sizeof status->server, "%s", value);
}

bool
status_read(const char *file, pull_status *status)
{
	char	   *path = status_path(file);
	FILE	   *stream = fopen(path, "r");
	char		line[LINE_BYTES];
	bool		found;

	free(path);
	memset(status, 0, sizeof *status);
	if (stream == NULL)
		return false;
	found = fgets(line, sizeof line, stream) != NULL && strcmp(line, FIRST_LINE "\n") == 0;
	while (found && fgets(line, sizeof line, stream) != NULL)
		take_line(status, line);
	fclose(stream);
	errno = 0;
	return found && status->looked != 0;
}

/* ------------------------------------------------------------------------
 * bloomfilter status
 * ------------------------------------------------------------------------ */

static const char help[] =
"Usage: bloomfilter status [OPTION]... FILE\n"
"\n"
"Tells how fresh a file is that \"bloomfilter pull\" keeps: which generation of\n"
"which list, from where, when it changed, and when the server was last looked at.\n"
"\n"
"      --max-age SECONDS  exit with 1 if the last look is longer ago\n"
"  -q, --quiet            print nothing, but why the exit status is 1\n"
"      --help             print this\n"
"\n"
"Exit status: 0, 1 if the last look is too long ago or FILE is not what was\n"
"pulled then, 2 if it could not be told.\n";

#define OPTION_MAX_AGE OPTION_ANY

static const struct option names[] = {
	OPTION_HELP_ENTRY,
	{"max-age", required_argument, NULL, OPTION_MAX_AGE},
	{"quiet", no_argument, NULL, 'q'},
	{NULL, 0, NULL, 0}
};

static void
print_value(const char *name, const char *value)
{
	if (value[0] != '\0')
		output_text("%-10s  %s\n", name, value);
}

static void
print_time(const char *name, time_t time)
{
	char		text[TIME_TEXT_BYTES];

	message_time(text, time);
	print_value(name, text);
}

static void
print_status(const pull_status *status, int64_t age)
{
	print_value("list", status->list);
	print_value("generation", status->generation);
	print_value("built", status->built);
	print_value("server", status->server);
	output_text("%-10s  %016" PRIx64 "\n", "checksum", status->checksum);
	print_time("changed", status->changed);
	print_time("looked", status->looked);
	output_text("%-10s  %" PRId64 " s\n", "age", age);
}

/* Whether the file is the one that the status is about. */
static bool
is_pulled(const char *file, const pull_status *status)
{
	bloomfilter *filter;
	bloomfilter_detail detail;
	bool		same;

	if (bloomfilter_open(file, BLOOMFILTER_BASE | BLOOMFILTER_SKIP_CHECK, &filter, &detail) < 0)
	{
		complain("%s", detail.text);
		return false;
	}
	same = filter_info(filter, -1).checksum == status->checksum;
	bloomfilter_close(filter);
	if (!same)
		complain("\"%s\" is another filter than the one that was pulled", file);
	return same;
}

exit_status
command_status(int argc, char **argv)
{
	command_line line = {"status", help, ":q", names, argc, argv};
	int64_t		max_age = INT64_MAX;
	bool		quiet = false;
	exit_status result = STATUS_YES;
	pull_status status;
	const char *file;
	int64_t		age;
	int			option;

	while ((option = next_option(&line)) != -1)
		if (option == 'q')
			quiet = true;
		else
			max_age = (int64_t) option_count("--max-age", optarg, 0, INT64_MAX);
	file = only_operand(&line, "file");
	if (!status_read(file, &status))
		fail("cannot read \"%s.status\": %s", file,
			 errno != 0 ? strerror(errno) : "it is not what bloomfilter pull writes");
	age = (int64_t) (time(NULL) - status.looked);
	if (!quiet)
		print_status(&status, age);
	output_flush();
	if (!is_pulled(file, &status))
		result = STATUS_NO;
	if (age > max_age)
	{
		complain("the server was last looked at %" PRId64 " s ago", age);
		result = STATUS_NO;
	}
	return result;
}
