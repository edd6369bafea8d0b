/*
 * file.c
 *	  bloomfilter status of a file that pull keeps: all that its first page tells.
 */
#include "status.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../../lib/libbloomfilter.h"
#include "messages.h"
#include "system.h"


static const char *const words[] = {
	"no-look", "old", "back", "signature", "identity", "damaged", "disk", "clock", "waiting", "removed", NULL
};

static const status_kind file_kind = {"file", "bloomfilter_", words};

static const char *const places[] = {"nobody's", "here", "other boot", "copy"};
static const char *const serial_kinds[] = {"none", "now", "saved", "born"};

static void
wrong(status_table *table, const char *word, const char *text)
{
	complain("%s: %s: %s", table->path, word, text);
	status_wrong(table, word);
}

/* Seconds since a time, -1 if it isn't known. */
static int64_t
age_of(int64_t time)
{
	return time == 0 ? -1 : ((int64_t) time_now() - time) / 1000000;
}

static void
check_look(status_table *table, const bloomfilter_status *status, const status_limits *limits)
{
	char		text[128];

	if (status->looked == 0)
		wrong(table, "waiting", "the server was never looked at with success");
	else if (limits->look != INT64_MAX && status->age / 1000000 > limits->look && strcmp(status->word, "old") != 0)
	{
		snprintf(text, sizeof text, "no look for %" PRId64 " s", status->age / 1000000);
		wrong(table, "old", text);
	}
}

/* What is true by now: where it was asked, or where a file that is here has a sign of life too few. */
static void
check_truth(status_table *table, const bloomfilter_status *status, const status_limits *limits)
{
	int64_t		age = age_of(status->true_at);
	char		text[128];

	if (limits->true_at == INT64_MAX || strcmp(status->word, "old") == 0)
		return;
	if (age < 0)
		wrong(table, "old", "up to when it has all that was committed is not known");
	else if (age > limits->true_at)
	{
		snprintf(text, sizeof text, "what was committed in the last %" PRId64 " s may not be in it", age);
		wrong(table, "old", text);
	}
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
	int64_t		every = status->every;

	status_add_text(table, "list", status->list);
	status_add_text(table, "identity", status->identity);
	status_add_number(table, "epoch", UNIT_SERIAL, (int64_t) status->epoch, NULL);
	status_add_text(table, "place", places[status->place]);
	status_add_number(table, "serial", UNIT_SERIAL, (int64_t) status->serial, "The serial of what the file has.");
	status_add_text(table, "serial_kind", serial_kinds[status->serial_kind]);
	status_add_number(table, "built", UNIT_TIME, status->built, "When the list was built on the server.");
	status_add_number(table, "true_at", UNIT_TIME, status->true_at, "All that was committed before is found.");
	status_add_number(table, "true_age", UNIT_SECONDS, age_of(status->true_at), NULL);
	status_add_number(table, "looked", UNIT_TIME, status->looked, "When the server was last looked at with success.");
	status_add_number(table, "looked_age", UNIT_SECONDS, status->looked == 0 ? -1 : status->age < 0 ? 0 : status->age / 1000000, NULL);
	status_add_number(table, "every", UNIT_SECONDS, (every + 999999) / 1000000, "Seconds between two looks.");
	status_add_number(table, "heartbeat", UNIT_SECONDS, status->heartbeat == 0 ? -1 : status->heartbeat / 1000000, NULL);
	status_add_number(table, "expires", UNIT_TIME, status->expires, "When it is not to be trusted any more.");
	status_add_number(table, "failures", UNIT_COUNT, (int64_t) status->failures, "Looks that failed since the last one that went well.");
	status_add_text(table, "word", status->word);
	status_add_text(table, "text", status->text);
	status_add_number(table, "since", UNIT_TIME, status->since, "Since when something is wrong.");
	status_add_number(table, "superseded", UNIT_COUNT, status->superseded == 0 ? -1 : (int64_t) status->superseded, NULL);
}

static void
check(status_table *table, const bloomfilter_status *status, const status_limits *limits)
{
	if (status->place == BLOOMFILTER_PLACE_NONE)
	{
		wrong(table, "waiting", "it is a filter that nobody follows");
		return;
	}
	if (status->word[0] != '\0')
		wrong(table, status->word, status->text);
	check_look(table, status, limits);
	check_truth(table, status, limits);
	check_place(table, status);
}

/* Nothing is there yet, or nothing that could be read. */
static void
explain(status_table *table, int code, const bloomfilter_detail *detail)
{
	table->known = code != BLOOMFILTER_ERR_SYSTEM || detail->system_error == ENOENT;
	if (code == BLOOMFILTER_ERR_SYSTEM && detail->system_error == ENOENT)
		wrong(table, "waiting", "there is no file yet");
	else if (table->known)
		wrong(table, "damaged", detail->text);
	else
		complain("%s", detail->text);
	table->healthy = false;
}

status_table
status_of_file(const char *path, const status_limits *limits)
{
	status_table table;
	bloomfilter_status status;
	bloomfilter_detail detail;
	bloomfilter *filter;
	int			code;

	memset(&table, 0, sizeof table);
	table.kind = &file_kind;
	table.path = path;
	table.known = table.healthy = true;
	code = bloomfilter_open(path, BLOOMFILTER_SKIP_CHECK, &filter, &detail);
	if (code < 0)
	{
		explain(&table, code, &detail);
		return table;
	}
	bloomfilter_get_status(filter, &status, sizeof status);
	bloomfilter_close(filter);
	describe(&table, &status);
	snprintf(table.list, sizeof table.list, "%s", status.list);
	check(&table, &status, limits);
	return table;
}
