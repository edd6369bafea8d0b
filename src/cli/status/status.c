/*
 * status.c
 *	  bloomfilter status: whether files that pull keeps are fresh, and exporters alive, for
 *	  people and for programs that watch.
 *
 * Of each file or folder there is a table of names, values and units, which is printed in several forms.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
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

typedef enum status_form
{
	FORM_TEXT,
	FORM_JSON,
	FORM_PROMETHEUS,
	FORM_QUIET
} status_form;

/* Letters, as an exporter's file has them. */
typedef enum status_unit
{
	UNIT_TEXT = 't',
	UNIT_SERIAL = 's',			/* beyond what many readers of JSON take for a number */
	UNIT_NUMBER = 'n',
	UNIT_TIME = 'm',			/* microseconds since 1970 */
	UNIT_SINCE = 'a',			/* the same, of which also the age is told */
	UNIT_SECONDS = 'd'
} status_unit;

typedef struct status_value
{
	char		name[32];
	status_unit unit;
	char	   *text;			/* as it was added */
} status_value;

/* What files and folders differ in. */
typedef struct status_kind
{
	const char *name;			/* "file" */
	const char *prefix;			/* of metrics */
	const char *const *words;	/* all that may be wrong, to a NULL */
} status_kind;

typedef struct status_table
{
	const status_kind *kind;
	const char *path;
	bool		known;
	bool		healthy;
	uint32_t	wrong;			/* a bit for each word of the kind */
	status_value *values;
	size_t		count;
} status_table;

#define STATUS_NO_LIMIT UINT64_MAX

/* Seconds that may have passed; STATUS_NO_LIMIT: what the file itself allows. */
typedef struct status_limits
{
	uint64_t	look;			/* since the last look */
	uint64_t	true_at;		/* since all that was committed was in it */
} status_limits;

/* ------------------------------------------------------------------------
 * Making a table
 * ------------------------------------------------------------------------ */

/* Something is wrong, in a word of its kind's. */
static void
status_wrong(status_table *table, const char *word)
{
	uint32_t	i;

	table->healthy = false;
	for (i = 0; table->kind->words[i] != NULL; i++)
		if (strcmp(table->kind->words[i], word) == 0)
			table->wrong |= UINT32_C(1) << i;
}

static void status_add(status_table *table, const char *name, status_unit unit, const char *format,...) LIKE_PRINTF(4, 5);

/* Adds a value, unless it isn't known: "", below 0, or 0 of a serial or a time. */
static void
status_add(status_table *table, const char *name, status_unit unit, const char *format,...)
{
	char		text[1024];
	status_value *new;
	va_list		arguments;
	bool		number = unit != UNIT_TEXT;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	make_plain(text);
	if (text[0] == '\0' || (number && text[0] == '-') ||
		(number && unit != UNIT_NUMBER && unit != UNIT_SECONDS && strcmp(text, "0") == 0))
		return;
	table->values = allocate(table->values, table->count + 1, sizeof *new);
	new = &table->values[table->count++];
	snprintf(new->name, sizeof new->name, "%s", name);
	new->unit = unit == UNIT_SINCE ? UNIT_TIME : unit;
	new->text = text_of("%s", text);
	if (unit == UNIT_SINCE)
	{
		char		age[sizeof new->name + sizeof "_age"];

		/* of true_at true_age, as a file has it */
		snprintf(age, sizeof age, "%.*s_age", (int) strlen(name) - (strstr(name, "_at") != NULL ? 3 : 0), name);
		status_add(table, age, UNIT_SECONDS, "%lld", ((long long) time_now() - strtoll(text, NULL, 10)) / 1000000);
	}
}

/* The text of one, "" if there is none; and as a number. */
static const char *
status_text(const status_table *table, const char *name)
{
	size_t		i;

	for (i = 0; i < table->count; i++)
		if (strcmp(table->values[i].name, name) == 0)
			return table->values[i].text;
	return "";
}

static double
status_number(const status_table *table, const char *name)
{
	return strtod(status_text(table, name), NULL);
}

/* ------------------------------------------------------------------------
 * A file that pull keeps: all that its first page tells
 * ------------------------------------------------------------------------ */

static const char *const file_words[] = {
	"no-look", "old", "back", "signature", "identity", "damaged", "disk", "clock", "waiting", NULL
};

static const status_kind file_kind = {"file", "bloomfilter_", file_words};

static const char *const places[] = {"nobody's", "here", "other boot", "copy"};
static const char *const serial_kinds[] = {"none", "now", "saved", "born"};

static void
wrong(status_table *table, const char *word, const char *text)
{
	complain("%s: %s: %s", table->path, word, text);
	status_wrong(table, word);
}

/* Seconds since a time. */
static int64_t
age_of(int64_t time)
{
	return ((int64_t) time_now() - time) / 1000000;
}

static void
check_file_look(status_table *table, const bloomfilter_status *status, const status_limits *limits)
{
	char		text[128];
	int64_t		age = status->age / 1000000;

	snprintf(text, sizeof text, "no look for %" PRId64 " s", age);
	if (status->looked == 0)
		wrong(table, "waiting", "the server was never looked at with success");
	else if (age >= 0 && (uint64_t) age > limits->look && strcmp(status->reason, "old") != 0)
		wrong(table, "old", text);
}

/* What is true by now, where it was asked. */
static void
check_truth(status_table *table, const bloomfilter_status *status, const status_limits *limits)
{
	int64_t		age = age_of(status->true_at);
	char		text[128];

	if (limits->true_at == STATUS_NO_LIMIT || strcmp(status->reason, "old") == 0)
		return;
	snprintf(text, sizeof text, "what was committed in the last %" PRId64 " s may not be in it", age);
	if (status->true_at == 0 || age < 0)
		wrong(table, "old", "up to when it has all that was committed is not known");
	else if ((uint64_t) age > limits->true_at)
		wrong(table, "old", text);
}

static void
check_place(status_table *table, const bloomfilter_status *status)
{
	if (status->place == BLOOMFILTER_PLACE_OTHER_BOOT || status->place == BLOOMFILTER_PLACE_COPY)
		wrong(table, "old", "its follower has not taken it up: this is a copy, or the system was started anew");
	else if (status->superseded != 0)
		wrong(table, "old", "another file is to take its place");
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
	status_add(table, "true_at", UNIT_TIME, "%" PRId64, status->true_at);
	status_add(table, "true_age", UNIT_SECONDS, "%" PRId64, status->true_at == 0 ? -1 : age_of(status->true_at));
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
check_file(status_table *table, const bloomfilter_status *status, const status_limits *limits)
{
	if (status->place == BLOOMFILTER_PLACE_NONE)
	{
		wrong(table, "waiting", "it is a filter that nobody follows");
		return;
	}
	if (status->reason[0] != '\0')
		wrong(table, status->reason, status->message);
	check_file_look(table, status, limits);
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
	table->known = code != BLOOMFILTER_ERR_SYSTEM || detail->system_error == ENOENT;
	if (code == BLOOMFILTER_ERR_SYSTEM && detail->system_error == ENOENT)
		wrong(table, "waiting", "there is no file yet");
	else if (table->known)
		wrong(table, "damaged", text);
	else
		complain("%s", detail->text);
	table->healthy = false;
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
	check_file(&table, &status, limits);
	return table;
}

/* ------------------------------------------------------------------------
 * A folder that export keeps: whether its exporter does what it should, and what it counted
 * ------------------------------------------------------------------------ */

/* A rate so many times p wants a rebuild; VACUUM warns of the same. */
#define OUTGROWN 2.0

static const char *const folder_words[] = {"old", "rate", "expires", "clock", NULL};

static const status_kind folder_kind = {"folder", "bloomfilter_export_", folder_words};

/* Lines of an exporter: a name, a unit's letter and a value. */
static bool
read_values(status_table *table)
{
	static const char first[] = EXPORT_STATUS_FIRST_LINE "\n";
	int			folder = open(table->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t		length;
	char	   *text = folder < 0 ? NULL : (char *) read_file(folder, EXPORT_STATUS, EXPORT_STATUS_BYTES, &length);
	bool		read = text != NULL && strncmp(text, first, strlen(first)) == 0;
	char	   *line;

	if (text == NULL)
		complain("cannot read \"%s/%s\": %s", table->path, EXPORT_STATUS, strerror(errno));
	else if (!read)
		complain("\"%s/%s\" is not an exporter's status", table->path, EXPORT_STATUS);
	for (line = read ? strtok(text + strlen(first), "\n") : NULL; line != NULL; line = strtok(NULL, "\n"))
	{
		char		name[24];
		char		unit;
		int			at;

		if (sscanf(line, "%23[a-z_] %c %n", name, &unit, &at) == 2)
			status_add(table, name, (status_unit) unit, "%s", line + at);
	}
	free(text);
	if (folder >= 0)
		close(folder);
	return read;
}

static void
check_look(status_table *table, double now, const status_limits *limits)
{
	const char *error = status_text(table, "error");
	const char *colon = error[0] != '\0' ? ": " : "";
	double		looked = status_number(table, "looked");
	double		next = status_number(table, "next_heartbeat");
	double		age = floor((now - looked) / 1e6);
	double		most = limits->look != STATUS_NO_LIMIT ? (double) limits->look : INFINITY;

	/* who doesn't stay has no heartbeat */
	if (limits->look == STATUS_NO_LIMIT && next != 0)
		most = FEED_MISSED_HEARTBEATS * (next - status_number(table, "published")) / 1e6;
	if (looked == 0)
		complain("%s: nothing was exported yet%s%s", table->path, colon, error);
	else if (age > most)
		complain("%s: the last look that went well was %.0f s ago%s%s", table->path, age, colon, error);
	if (looked == 0 || age > most)
		status_wrong(table, "old");
}

static void
check_values(status_table *table, double now)
{
	double		expires = status_number(table, "expires");
	double		published = status_number(table, "published");
	double		p = status_number(table, "p");
	double		rate = status_number(table, "rate");

	if (p > 0 && rate > OUTGROWN * p)
	{
		complain("%s: the false-positive rate is %g, and was to be %g: REINDEX, or publish with a larger n", table->path, rate, p);
		status_wrong(table, "rate");
	}
	if (expires != 0 && now - published > (expires - published) / 2)
	{
		complain("%s: hosts take its manifest for dead in %.0f s", table->path, (expires - now) / 1e6);
		status_wrong(table, "expires");
	}
	if (status_number(table, "looked") > now || status_number(table, "true_at") > now + CLOCKS_DIFFER * 1e6)
	{
		complain("%s: its last look is in the future: the clock was set back", table->path);
		status_wrong(table, "clock");
	}
}

static status_table
status_of_folder(const char *folder, const status_limits *limits)
{
	double		now = (double) time_now();
	status_table table = {.kind = &folder_kind, .path = folder};

	table.known = table.healthy = read_values(&table);
	if (table.known)
	{
		check_look(&table, now, limits);
		check_values(&table, now);
	}
	return table;
}

/* ------------------------------------------------------------------------
 * Text and JSON
 * ------------------------------------------------------------------------ */

static void
print_words(const status_table *table, const char *quote, const char *between)
{
	const char *before = "";
	uint32_t	i;

	for (i = 0; table->kind->words[i] != NULL; i++)
		if (table->wrong >> i & 1)
		{
			output_text("%s%s%s%s", before, quote, table->kind->words[i], quote);
			before = between;
		}
}

/* As people see it; time is where that of a time goes. */
static const char *
shown(const status_value *value, char time[TIME_TEXT_BYTES])
{
	if (value->unit != UNIT_TIME)
		return value->text;
	message_time(time, (time_t) (strtoll(value->text, NULL, 10) / 1000000));
	return time;
}

static void
print_text(const status_table *table)
{
	char		time[TIME_TEXT_BYTES];
	size_t		i;

	output_text("%-15s  %s\n", table->kind->name, table->path);
	for (i = 0; i < table->count; i++)
		output_text("%-15s  %s%s\n", table->values[i].name, shown(&table->values[i], time),
					table->values[i].unit == UNIT_SECONDS ? " s" : "");
	if (table->wrong == 0)
		return;
	output_text("%-15s  ", "wrong");
	print_words(table, "", " ");
	output_byte('\n');
}

static void
print_json(const status_table *table)
{
	char		time[TIME_TEXT_BYTES];
	size_t		i;

	output_text("{\"%s\": ", table->kind->name);
	output_json(table->path);
	output_text(", \"known\": %s, \"healthy\": %s, \"wrong\": [", table->known ? "true" : "false",
				table->healthy ? "true" : "false");
	print_words(table, "\"", ", ");
	output_byte(']');
	for (i = 0; i < table->count; i++)
	{
		const status_value *value = &table->values[i];

		output_text(", \"%s\": ", value->name);
		if (value->unit == UNIT_NUMBER || value->unit == UNIT_SECONDS)
			output_text("%s", value->text);
		else
			output_json(shown(value, time));
	}
	output_text("}\n");
}

/* ------------------------------------------------------------------------
 * Prometheus: all of a metric stand together, so its lines are sorted
 * ------------------------------------------------------------------------ */

typedef struct metric_lines
{
	char	  **lines;
	size_t		count;
} metric_lines;

static void
add_metric(metric_lines *to, const status_table *table, const char *name, const char *label, const char *value)
{
	char	   *path = text_of("%s", table->path);
	char	   *quoted;
	char	   *list = json_text(status_text(table, "list"));

	make_plain(path);
	quoted = json_text(path);
	to->lines = allocate(to->lines, to->count + 1, sizeof *to->lines);
	to->lines[to->count++] = text_of("%s%s{%s=%s,list=%s%s} %s\n", table->kind->prefix, name, table->kind->name, quoted, list,
									 label, value);
	free(list);
	free(quoted);
	free(path);
}

static void
add_metrics(metric_lines *to, const status_table *table)
{
	char		name[64];
	char		text[64];
	size_t		i;

	add_metric(to, table, "healthy", "", table->healthy ? "1" : "0");
	for (i = 0; table->kind->words[i] != NULL; i++)
	{
		snprintf(text, sizeof text, ",reason=\"%s\"", table->kind->words[i]);
		add_metric(to, table, "wrong", text, table->wrong >> i & 1 ? "1" : "0");
	}
	for (i = 0; i < table->count; i++)
	{
		const status_value *value = &table->values[i];
		bool		time = value->unit == UNIT_TIME;

		snprintf(name, sizeof name, "%s%s", value->name, time ? "_timestamp_seconds" : value->unit == UNIT_SECONDS ? "_seconds" : "");
		snprintf(text, sizeof text, "%.3f", strtod(value->text, NULL) / 1e6);
		if (value->unit != UNIT_TEXT)
			add_metric(to, table, name, "", time ? text : value->text);
	}
}

static int
compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

static void
print_metrics(const status_table *tables, size_t count)
{
	metric_lines all = {NULL, 0};
	size_t		i;

	for (i = 0; i < count; i++)
		add_metrics(&all, &tables[i]);
	qsort(all.lines, all.count, sizeof *all.lines, compare_lines);
	for (i = 0; i < all.count; i++)
	{
		size_t		name = strcspn(all.lines[i], "{") + 1;

		if (i == 0 || strncmp(all.lines[i], all.lines[i - 1], name) != 0)
			output_text("# TYPE %.*s gauge\n", (int) name - 1, all.lines[i]);
		output_bytes(all.lines[i], strlen(all.lines[i]));
	}
	for (i = 0; i < all.count; i++)
		free(all.lines[i]);
	free(all.lines);
}

/* Prints all tables, and frees what is in them. */
static void
print_tables(status_table *tables, size_t count, status_form form)
{
	size_t		i;
	size_t		j;

	if (form == FORM_PROMETHEUS)
		print_metrics(tables, count);
	for (i = 0; i < count; i++)
	{
		if (form == FORM_JSON)
			print_json(&tables[i]);
		else if (form == FORM_TEXT && tables[i].known)
		{
			if (i > 0)
				output_byte('\n');
			print_text(&tables[i]);
		}
		for (j = 0; j < tables[i].count; j++)
			free(tables[i].values[j].text);
		free(tables[i].values);
	}
}

static bool
is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

exit_status
command_status(int argc, char **argv)
{
	command_line line = {"status", help, argc, argv};
	status_limits limits = {STATUS_NO_LIMIT, STATUS_NO_LIMIT};
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

	read_options(&line, options);
	if (optind == argc)
		usage_error(&line, "no file is given");
	tables = allocate(NULL, (size_t) (argc - optind), sizeof *tables);
	for (; optind < argc; optind++, count++)
	{
		tables[count] = is_folder(argv[optind]) ? status_of_folder(argv[optind], &limits) :
			status_of_file(argv[optind], &limits);
		if (!tables[count].known)
			result = STATUS_TROUBLE;
		else if (!tables[count].healthy && result == STATUS_YES)
			result = STATUS_NO;
	}
	print_tables(tables, count, json ? FORM_JSON : prometheus ? FORM_PROMETHEUS : quiet ? FORM_QUIET : FORM_TEXT);
	output_flush();
	free(tables);
	return result;
}
