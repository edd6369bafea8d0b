/*
 * pull_delta.c
 *	  From the old file to the new one by a delta, which is smaller than both.
 *
 * A delta names the checksums of its old and its new filter.  Whatever is the
 * matter with it, the whole filter can still be fetched in the same snapshot:
 * the savepoint keeps the transaction alive if the server refuses the query.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "filter.h"
#include "paths.h"
#include "pull.h"
#include "scale.h"
#include "stop.h"

static bool
no_delta(const pull_plan *plan, const char *why)
{
	if (!stop_requested())
		report(plan, "no delta, since %s: fetching the whole filter", why);
	return false;
}

/* Why a delta doesn't lead from the old filter to the new one, or NULL. */
static const char *
misfit(const bloomfilter *old, const remote_filter *new, const void *delta,
	   size_t length)
{
	bloomfilter_delta_info info;
	int			code = bloomfilter_get_delta_info(delta, length, &info, sizeof info);

	if (code < 0)
		return bloomfilter_strerror(code);
	if (info.old_checksum != filter_info(old, -1).checksum)
		return "the server's is for another old filter than the file";
	if (info.new_checksum != new->header.checksum)
		return "the server's is for another new filter than the query's";
	return NULL;
}

static bool
apply(const pull_plan *plan, const bloomfilter *old, const remote_filter *new,
	  const void *delta, size_t length)
{
	const char *why = misfit(old, new, delta, length);
	char		size[SCALE_TEXT_BYTES];
	bloomfilter *filter;
	bloomfilter_detail detail;
	bool		written;

	if (why != NULL)
		return no_delta(plan, why);
	if (bloomfilter_apply(old, delta, length, &filter, &detail) < 0)
		return no_delta(plan, detail.text);
	written = bloomfilter_write(filter, plan->out, &detail) >= 0;
	bloomfilter_close(filter);
	if (!written)
		return no_delta(plan, detail.text);
	scale(size, (double) length, true);
	report(plan, "updated by a delta of %s, checksum %016" PRIx64, size,
		   new->header.checksum);
	return true;
}

static bool
apply_row(const pull_plan *plan, const bloomfilter *old,
		  const remote_filter *new, const PGresult *rows)
{
	if (PQntuples(rows) != 1 || PQgetisnull(rows, 0, 0))
		return no_delta(plan, "the query gives none");
	return apply(plan, old, new, PQgetvalue(rows, 0, 0),
				 (size_t) PQgetlength(rows, 0, 0));
}

/* A delta that is larger than the filter is left on the server. */
static char *
delta_query(const pull_plan *plan, const remote_filter *new)
{
	return text_of("SELECT q.f FROM %s WHERE pg_catalog.octet_length(q.f) < %" PRIu64
				   " LIMIT 2", plan->delta_query, bf_total_bytes(&new->header));
}

bool
fetch_delta(const pull_plan *plan, PGconn *connection, const bloomfilter *old,
			const remote_filter *new)
{
	PGresult   *rows;
	char	   *sql;
	bool		applied;

	if (old == NULL)
		return no_delta(plan, "there is no old filter");
	if (!server_command(connection, "SAVEPOINT delta"))
		return false;
	sql = delta_query(plan, new);
	rows = server_query(connection, sql);
	free(sql);
	if (rows == NULL)
	{
		if (server_command(connection, "ROLLBACK TO SAVEPOINT delta"))
			no_delta(plan, "the query failed");
		return false;
	}
	applied = apply_row(plan, old, new, rows);
	PQclear(rows);
	return applied;
}
