/*
 * status.c
 *	  bloomfilter status: whether files that pull keeps are fresh, and exporters alive, for
 *	  people and for programs that watch.
 */
#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/libbloomfilter.h"
#include "folder.h"
#include "options.h"

static const char help[] =
"Usage: bloomfilter status [OPTION]... FILE|FOLDER...\n"
"\n"
"Tells what is known about files that \"bloomfilter pull\" keeps: of which list\n"
"they are, what they have, the last look, and what is wrong; and about folders\n"
"that \"bloomfilter export\" keeps, and their exporters.\n"
"\n"
"      --max-age SECONDS       the last look may be so long ago (default: three\n"
"                              times what the file says between two looks)\n"
"      --max-true-age SECONDS  what was committed so long ago must be in it\n"
"      --json                  print a line of JSON for each file\n"
"      --prometheus            print metrics, as for node_exporter's textfiles\n"
"  -q, --quiet                 print nothing, but what is wrong\n"
"      --help                  print this\n"
"\n"
"Exit status: 0, 1 if something is wrong with a file, 2 if one can't be read.\n";

#define NO_LIMIT UINT64_MAX

/* Seconds that may have passed; NO_LIMIT: what the file itself allows. */
typedef struct status_limits
{
	uint64_t	look;			/* since the last look */
	uint64_t	true_at;		/* since all that was committed was in it */
} status_limits;

/* ------------------------------------------------------------------------
 * A file that pull keeps: all that its first page tells
 * ------------------------------------------------------------------------ */

static const status_kind file_kind = {"file", "bloomfilter_", (const char *const[])
	{"no-look", "old", "back", "signature", "identity", "damaged", "disk", "clock", "waiting", NULL}
};

static const char *const places[] = {"nobody's", "here", "other boot", "copy"};
static const char *const serial_kinds[] = {"none", "now", "saved", "born"};

static void
check_look(status_table *table, const bloomfilter_status *status, const status_limits *limits)
{
	int64_t		age = status->age / 1000000;

	if (status->looked == 0)
		status_wrong(table, "waiting", "the server was never looked at with success");
	else if (age >= 0 && (uint64_t) age > limits->look && strcmp(status->reason, "old") != 0)
		status_wrong(table, "old", "no look for %" PRId64 " s", age);
}

/* What is true by now, where it was asked. */
static void
check_truth(status_table *table, const bloomfilter_status *status, const status_limits *limits)
{
	int64_t		age = ((int64_t) time_now() - status->true_at) / 1000000;

	if (limits->true_at == NO_LIMIT || strcmp(status->reason, "old") == 0)
		return;
	if (status->true_at == 0 || age < 0)
		status_wrong(table, "old", "up to when it has all that was committed is not known");
	else if ((uint64_t) age > limits->true_at)
		status_wrong(table, "old", "what was committed in the last %" PRId64 " s may not be in it", age);
}

static void
check_place(status_table *table, const bloomfilter_status *status)
{
	if (status->place == BLOOMFILTER_PLACE_OTHER_BOOT || status->place == BLOOMFILTER_PLACE_COPY)
		status_wrong(table, "old", "its follower has not taken it up: this is a copy, or the system was started anew");
	else if (status->superseded != 0)
		status_wrong(table, "old", "another file is to take its place");
}

static void
describe(status_table *table, const bloomfilter_status *status)
{
	int64_t		seen = status->age < 0 ? 0 : status->age / 1000000;

	status_add(table, "list", UNIT_TEXT, "%s", status->list);
	status_add(table, "identity", UNIT_TEXT, "%s", status->identity);
	status_add(table, "place", UNIT_TEXT, "%s", places[status->place]);
	status_add(table, "formats", UNIT_TEXT, "%s", FEED_FORMATS);
	status_add(table, "serial", UNIT_SERIAL, "%" PRIu64, status->serial);
	status_add(table, "serial_kind", UNIT_TEXT, "%s", serial_kinds[status->serial_kind]);
	status_add(table, "published", UNIT_TIME, "%" PRIu64, status->serial);
	status_add(table, "true_at", UNIT_SINCE, "%" PRId64, status->true_at);
	status_add(table, "looked", UNIT_TIME, "%" PRId64, status->looked);
	status_add(table, "looked_age", UNIT_SECONDS, "%" PRId64, status->looked == 0 ? -1 : seen);
	status_add(table, "every", UNIT_SECONDS, "%" PRId64, (status->every + 999999) / 1000000);
	status_add(table, "heartbeat", UNIT_SECONDS, "%" PRId64, status->heartbeat == 0 ? -1 : status->heartbeat / 1000000);
	status_add(table, "expires", UNIT_TIME, "%" PRId64, status->expires);
	status_add(table, "failures", UNIT_NUMBER, "%" PRIu64, status->failures);
	status_add(table, "reason", UNIT_TEXT, "%s", status->reason);
	status_add(table, "message", UNIT_TEXT, "%s", status->message);
	status_add(table, "since", UNIT_TIME, "%" PRId64, status->since);
	if (status->changes_to != 0 || status->changes != 0)
	{
		status_add(table, "changes", UNIT_NUMBER, "%" PRIu64, status->changes);
		status_add(table, "changes_to", UNIT_SERIAL, "%" PRIu64, status->changes_to);
	}
	if (status->superseded != 0)
		status_add(table, "superseded", UNIT_NUMBER, "%" PRIu64, status->superseded);
}

static void
check(status_table *table, const bloomfilter_status *status, const status_limits *limits)
{
	if (status->place == BLOOMFILTER_PLACE_NONE)
	{
		status_wrong(table, "waiting", "it is a filter that nobody follows");
		return;
	}
	if (status->reason[0] != '\0')
		status_wrong(table, status->reason, "%s", status->message);
	check_look(table, status, limits);
	check_truth(table, status, limits);
	check_place(table, status);
}

/* Nothing is there yet, or nothing that could be read. */
static void
explain(status_table *table, int code, const bloomfilter_detail *detail)
{
	const char *text = detail->text;
	size_t		length = strlen(table->path);

	/* the line names the file already */
	if (strncmp(text, table->path, length) == 0 && strncmp(text + length, ": ", 2) == 0)
		text += length + 2;
	if (code != BLOOMFILTER_ERR_SYSTEM)
		status_wrong(table, "damaged", "%s", text);
	else if (detail->system_error == ENOENT)
		status_wrong(table, "waiting", "there is no file yet");
	else
		table->known = table->healthy = complain("%s", detail->text);
}

static status_table
status_of_file(const char *path, const status_limits *limits)
{
	status_table table = {.kind = &file_kind, .path = path, .known = true, .healthy = true};
	bloomfilter_status status;
	bloomfilter_detail detail;
	bloomfilter *filter;
	int			code;

	code = bloomfilter_open(path, BLOOMFILTER_SKIP_CHECK, &filter, &detail);
	if (code < 0)
	{
		explain(&table, code, &detail);
		return table;
	}
	bloomfilter_get_status(filter, &status, sizeof status);
	bloomfilter_close(filter);
	describe(&table, &status);
	check(&table, &status, limits);
	return table;
}

/* ------------------------------------------------------------------------
 * A folder that export keeps: how its exporter fares
 * ------------------------------------------------------------------------ */

/* A rate so many times p wants a rebuild; VACUUM warns of the same. */
#define OUTGROWN 2.0

static const status_kind folder_kind = {"folder", "bloomfilter_export_", (const char *const[])
	{"old", "rate", "expires", "clock", NULL}
};

/* Lines of an exporter: a name, a unit's letter and a value. */
static bool
read_values(status_table *table)
{
	static const char first[] = EXPORT_STATUS_FIRST_LINE "\n";
	char	   *path = text_of("%s/" EXPORT_STATUS, table->path);
	size_t		length;
	char	   *text = (char *) read_file(AT_FDCWD, path, EXPORT_STATUS_BYTES, &length);
	bool		read = text != NULL && strncmp(text, first, strlen(first)) == 0;
	char	   *line;

	if (text == NULL)
		complain("cannot read \"%s\": %s", path, strerror(errno));
	else if (!read)
		complain("\"%s\" is not an exporter's status", path);
	for (line = read ? strtok(text + strlen(first), "\n") : NULL; line != NULL; line = strtok(NULL, "\n"))
	{
		char		name[24];
		char		unit;
		int			at;

		if (sscanf(line, "%23[a-z_] %c %n", name, &unit, &at) == 2)
			status_add(table, name, (status_unit) unit, "%s", line + at);
	}
	free(text);
	free(path);
	return read;
}

static void
check_export(status_table *table, double now, const status_limits *limits)
{
	const char *error = status_text(table, "error");
	const char *colon = error[0] != '\0' ? ": " : "";
	double		looked = status_number(table, "looked");
	double		next = status_number(table, "next_heartbeat");
	double		age = floor((now - looked) / 1e6);
	double		most = limits->look != NO_LIMIT ? (double) limits->look : INFINITY;

	/* who doesn't stay has no heartbeat */
	if (limits->look == NO_LIMIT && next != 0)
		most = FEED_MISSED_HEARTBEATS * (next - status_number(table, "published")) / 1e6;
	if (looked == 0)
		status_wrong(table, "old", "nothing was exported yet%s%s", colon, error);
	else if (age > most)
		status_wrong(table, "old", "the last look that went well was %.0f s ago%s%s", age, colon, error);
}

static void
check_values(status_table *table, double now)
{
	double		expires = status_number(table, "expires");
	double		published = status_number(table, "published");
	double		p = status_number(table, "p");
	double		rate = status_number(table, "rate");

	if (p > 0 && rate > OUTGROWN * p)
		status_wrong(table, "rate", "the false-positive rate is %g, and was to be %g: REINDEX, or publish with a larger n", rate, p);
	if (expires != 0 && now - published > (expires - published) / 2)
		status_wrong(table, "expires", "hosts take its manifest for dead in %.0f s", (expires - now) / 1e6);
	if (status_number(table, "looked") > now || status_number(table, "true_at") > now + CLOCKS_DIFFER * 1e6)
		status_wrong(table, "clock", "its last look is in the future: the clock was set back");
}

static status_table
status_of_folder(const char *folder, const status_limits *limits)
{
	double		now = (double) time_now();
	status_table table = {.kind = &folder_kind, .path = folder};

	table.known = table.healthy = read_values(&table);
	if (table.known)
	{
		check_export(&table, now, limits);
		check_values(&table, now);
	}
	return table;
}

exit_status
command_status(int argc, char **argv)
{
	command_line line = {"status", help, argc, argv};
	status_limits limits = {NO_LIMIT, NO_LIMIT};
	bool		json = false;
	bool		prometheus = false;
	bool		quiet = false;
	const command_option options[] = {
		{"max-age", 0, option_count, &limits.look, 0, INT64_MAX - 1},
		{"max-true-age", 0, option_count, &limits.true_at, 0, INT64_MAX - 1},
		{"json", 0, option_flag, &json, 0, 0},
		{"prometheus", 0, option_flag, &prometheus, 0, 0},
		{"quiet", 'q', option_flag, &quiet, 0, 0},
		{NULL, 0, NULL, NULL, 0, 0}
	};
	exit_status result = STATUS_YES;
	status_table *tables;
	size_t		count = 0;
	struct stat st;

	read_options(&line, options);
	if (optind == argc)
		usage_error(&line, "no file is given");
	tables = allocate(NULL, (size_t) (argc - optind), sizeof *tables);
	for (; optind < argc; optind++, count++)
	{
		bool		folder = stat(argv[optind], &st) == 0 && S_ISDIR(st.st_mode);

		tables[count] = folder ? status_of_folder(argv[optind], &limits) : status_of_file(argv[optind], &limits);
		if (!tables[count].known)
			result = STATUS_TROUBLE;
		else if (!tables[count].healthy && result == STATUS_YES)
			result = STATUS_NO;
	}
	status_print(tables, count, json ? FORM_JSON : prometheus ? FORM_PROMETHEUS : quiet ? FORM_QUIET : FORM_TEXT);
	output_flush();
	free(tables);
	return result;
}
