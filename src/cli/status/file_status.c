/*
 * file_status.c
 *	  bloomfilter status of a file that pull keeps: all that its first page tells.
 */
#include "status.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../../lib/libbloomfilter.h"
#include "feed_part.h"

static const char *const words[] = {
	"no-look", "old", "back", "signature", "identity", "damaged", "disk", "clock", "waiting", NULL
};

static const status_kind file_kind = {"file", "bloomfilter_", words};

static const char *const places[] = {"nobody's", "here", "other boot", "copy"};
static const char *const serial_kinds[] = {"none", "now", "saved", "born"};

/* Seconds since a time. */
static int64_t
age_of(int64_t time)
{
	return ((int64_t) time_now() - time) / 1000000;
}

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
	int64_t		age = age_of(status->true_at);

	if (limits->true_at == STATUS_NO_LIMIT || strcmp(status->reason, "old") == 0)
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
	table->known = code != BLOOMFILTER_ERR_SYSTEM || detail->system_error == ENOENT;
	if (code == BLOOMFILTER_ERR_SYSTEM && detail->system_error == ENOENT)
		status_wrong(table, "waiting", "there is no file yet");
	else if (table->known)
		status_wrong(table, "damaged", "%s", text);
	else
		complain("%s", detail->text);
	table->healthy = false;
}

status_table
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
