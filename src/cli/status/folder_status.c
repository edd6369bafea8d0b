/*
 * folder_status.c
 *	  bloomfilter status of a folder that export keeps: how its exporter fares.
 */
#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "folder.h"

/* A rate so many times p wants a rebuild; VACUUM warns of the same. */
#define OUTGROWN 2.0

static const char *const words[] = {"old", "rate", "expires", "clock", NULL};

static const status_kind folder_kind = {"folder", "bloomfilter_export_", words};

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

status_table
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
