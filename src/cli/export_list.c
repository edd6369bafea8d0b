/*
 * export_list.c
 *	  A published list, from the server into a copy in memory.
 *
 * A list has an identity and a serial of its own, which hosts that pull by --dsn know:
 * both are carried.  All of it is read when its serial is another one.  Where nothing
 * but bits came, that is a step; else another epoch.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bf_limits.h"
#include "export.h"
#include "feed_files.h"
#include "pull.h"

/* Parts as the server has them. */
typedef struct list_parts
{
	uint32_t	count;
	bf_header  *headers;
	uint8_t   **bytes;
	uint64_t	length;			/* of the part that comes in */
} list_parts;

static pull_plan
plan_of(const exporter *e)
{
	pull_plan	plan;

	memset(&plan, 0, sizeof plan);
	plan.dsn = e->plan->dsn;
	plan.list = e->plan->list;
	plan.channel = LIST_CHANNEL;
	plan.quiet = e->plan->quiet;
	/* the manifest is renewed in time, too */
	plan.every = (int) (e->plan->every < (double) e->plan->heartbeat ? e->plan->every : (double) e->plan->heartbeat);
	if (plan.every < 1)
		plan.every = 1;
	return plan;
}

/* ------------------------------------------------------------------------
 * Parts
 * ------------------------------------------------------------------------ */

static void
free_parts(list_parts *parts)
{
	uint32_t	i;

	for (i = 0; i < parts->count; i++)
		free(parts->bytes[i]);
	free(parts->bytes);
	free(parts->headers);
}

/* A chunk_function. */
static bool
take_chunk(void *state, const void *bytes, size_t length)
{
	list_parts *parts = state;

	memcpy(parts->bytes[parts->count] + parts->length, bytes, length);
	parts->length += length;
	return true;
}

/* Reads and checks all parts; to be freed also on failure. */
static bool
fetch_parts(const pull_plan *plan, PGconn *connection, const remote_set *set, list_parts *parts)
{
	memset(parts, 0, sizeof *parts);
	parts->headers = allocate(NULL, set->count, sizeof *parts->headers);
	parts->bytes = allocate(NULL, set->count, sizeof *parts->bytes);
	while (parts->count < set->count)
	{
		uint64_t	length = set->filters[parts->count].info.total_bytes;
		bf_header  *header = &parts->headers[parts->count];
		bool		fetched;

		parts->bytes[parts->count] = allocate(NULL, (size_t) length, 1);
		parts->length = 0;
		fetched = remote_fetch(plan, connection, set, parts->count, take_chunk, parts);
		parts->count++;
		if (!fetched)
			return false;
		if (bf_parse(parts->bytes[parts->count - 1], length, NULL, header) != BF_OK ||
			header->part != parts->count - 1 || header->parts != set->count || header->seed != parts->headers[0].seed)
		{
			complain("part %" PRIu32 " of the list \"%s\" is not valid", parts->count - 1, plan->list);
			return false;
		}
	}
	return true;
}

/* Whether the parts have all bits of the copy, and so few more that a step pays. */
static bool
is_step(const feed_copy *copy, const list_parts *parts)
{
	uint64_t	bits = 0;
	uint32_t	i;

	if (copy->parts == 0 || !feed_copy_fits(copy, parts->headers, parts->count))
		return false;
	for (i = 0; i < parts->count; i++)
		bits += parts->headers[i].bits_set - copy->headers[i].bits_set;
	if (bits > feed_copy_bytes(copy) / EXPORT_STEP_SHARE)
		return false;
	for (i = 0; i < parts->count; i++)
	{
		const uint8_t *now = parts->bytes[i] + BF_HEADER_BYTES;
		const uint8_t *was = copy->blocks[i];
		uint64_t	length = bf_blocks_bytes(&parts->headers[i]);
		uint64_t	at;

		for (at = 0; at < length; at++)
			if (was[at] & ~(unsigned) now[at])
				return false;
	}
	return true;
}

/* The copy becomes what the parts are. */
static void
take_parts(exporter *e, const list_parts *parts)
{
	uint32_t	i;

	if (!is_step(&e->copy, parts))
	{
		e->reason = export_reason_of(e, parts->headers, parts->count, WHOLE_REMOVED);
		feed_copy_free(&e->copy);
		feed_copy_create(&e->copy, parts->headers, parts->count);
		e->new_epoch = true;
	}
	for (i = 0; i < parts->count; i++)
		feed_copy_or(&e->copy, i, 0, parts->bytes[i] + BF_HEADER_BYTES, bf_blocks_bytes(&parts->headers[i]),
					 !e->new_epoch);
}

/* ------------------------------------------------------------------------
 * A look
 * ------------------------------------------------------------------------ */

/* The serial of what was exported, 0 if nothing was. */
static uint64_t
exported_serial(const exporter *e)
{
	return e->list_serial != 0 ? e->list_serial : e->manifest.serial != 0 ? e->manifest.content : 0;
}

/* Whether the server's list is the one of the folder, and not older. */
static bool
check_list(const exporter *e, const remote_set *set, uint64_t serial)
{
	uint8_t		identity[FEED_IDENTITY_BYTES];

	if (serial == 0 || serial > INT64_MAX || !feed_uuid_read(identity, set->identity))
	{
		complain("the list \"%s\" has no serial and identity", e->plan->list);
		return false;
	}
	if (memcmp(identity, e->manifest.identity, sizeof identity) != 0)
	{
		complain("the list \"%s\" has another identity than \"%s\": it was made anew, or is another database's;"
				 " bloom_set_identity on the server gives it the folder's", e->plan->list, e->plan->to);
		return false;
	}
	if (serial < exported_serial(e))
	{
		complain("the list \"%s\" has serial %" PRIu64 ", older than %" PRIu64 " of \"%s\": %s", e->plan->list,
				 serial, exported_serial(e), e->plan->to,
				 set->standby ? "the standby is behind" : "the server was restored; publish the list anew");
		return false;
	}
	return true;
}

/* Takes a list that isn't in the copy. */
static bool
take_list(exporter *e, const pull_plan *plan, PGconn *connection, const remote_set *set, uint64_t serial)
{
	list_parts	parts;
	bool		same = e->copy.parts > 0 && serial == exported_serial(e);
	bool		taken = fetch_parts(plan, connection, set, &parts);

	if (taken)
	{
		take_parts(e, &parts);
		if (same && (e->new_epoch || e->copy.news_count > 0))
			fail("the list \"%s\" has other bits than \"%s\" under the same serial: two servers publish under one identity",
				 e->plan->list, e->plan->to);
		e->list_serial = serial;
		e->built = (uint64_t) set->built_at * 1000000;
	}
	e->counts.whole_reads++;
	free_parts(&parts);
	return taken;
}

/* All that was published before is in what is looked at now. */
static uint64_t
time_of_look(PGconn *connection)
{
	PGresult   *rows = server_query(connection, "SELECT pg_catalog.floor(EXTRACT(epoch FROM pg_catalog.transaction_timestamp()) OPERATOR(pg_catalog.*) 1000000.0)"
									"::pg_catalog.int8::pg_catalog.text");
	char		text[24] = "";

	if (rows != NULL && PQntuples(rows) == 1)
		snprintf(text, sizeof text, "%.*s", PQgetlength(rows, 0, 0), PQgetvalue(rows, 0, 0));
	PQclear(rows);
	return strtoull(text, NULL, 10);
}

bool
export_list_begin(exporter *e, PGconn *connection)
{
	pull_plan	plan = plan_of(e);
	remote_set	set;
	bool		found;

	if (!export_find_server(e, connection))
		return false;
	if (e->plan->follow)
		follow_listen(&plan, connection);
	found = remote_read(&plan, connection, &set);
	snprintf(e->identity, sizeof e->identity, "%s", found ? set.identity : "");
	remote_free(&set);
	return server_end(connection) && found;
}

bool
export_list_look(exporter *e, PGconn *connection)
{
	pull_plan	plan = plan_of(e);
	remote_set	set;
	uint64_t	serial;
	uint64_t	true_at;
	double		begun = monotonic_seconds();
	bool		went_well = remote_read(&plan, connection, &set);

	if (went_well)
	{
		serial = strtoull(set.serial, NULL, 10);
		true_at = time_of_look(connection);
		went_well = true_at != 0 && export_check_clock(e, true_at) && check_list(e, &set, serial) &&
			(serial == e->list_serial || take_list(e, &plan, connection, &set, serial));
		/* of a standby it isn't known */
		if (went_well)
			e->true_at = set.standby ? 0 : true_at;
		e->standby = set.standby;
	}
	remote_free(&set);
	went_well = server_end(connection) && went_well;
	e->counts.database_seconds += monotonic_seconds() - begun;
	e->counts.looks++;
	return went_well;
}

bool
export_list_wait(const exporter *e, PGconn *connection)
{
	pull_plan	plan = plan_of(e);
	bool		told;

	return follow_wait(&plan, connection, &told);
}
