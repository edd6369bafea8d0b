/*
 * pull_remote.c
 *	  What the server has: headers, and the bytes of a filter.
 *
 * Bytes come from the SQL function bloom_chunk in chunks, one in memory at a
 * time, each with its offset.  A filter is known by its header, whose checksum
 * covers everything: so the row is found again without the user naming a key.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../core/bf_bytes.h"
#include "paths.h"
#include "pull.h"

/* Bytes of a chunk: so many that a round trip or a row costs nothing beside them. */
#define CHUNK_BYTES ((uint64_t) 1024 * 1024)

/*
 * OFFSET 0 keeps the planner from merging the query into ours, where an
 * expression that makes a filter would be evaluated for each chunk.
 */
char *
subquery_of(const char *query)
{
	size_t		length = strlen(query);

	/* a closing semicolon is right where a query stands alone */
	while (length > 0 && strchr("; \t\r\n", query[length - 1]) != NULL)
		length--;
	return text_of("(SELECT * FROM (\n%.*s\n) AS s OFFSET 0) AS q(f)",
				   (int) length, query);
}

/* The length that a header speaks of, 0 if none can be. */
static uint64_t
length_of(const uint8_t *bytes)
{
	unsigned	log2_block_bits = bytes[6];

	if (log2_block_bits < BF_MIN_LOG2_BLOCK || log2_block_bits > BF_MAX_LOG2_BLOCK)
		return BF_HEADER_BYTES;
	return BF_HEADER_BYTES + (bf_load_le(bytes + 8, 4) << (log2_block_bits - 3));
}

static bool
read_header(const PGresult *rows, int row, remote_filter *filter)
{
	int			length = PQgetlength(rows, row, 0);
	bf_status	status = BF_BAD_LENGTH;

	if (PQgetisnull(rows, row, 0))
	{
		complain("the query gives a NULL instead of a filter");
		return false;
	}
	if (length == BF_HEADER_BYTES)
	{
		memcpy(filter->bytes, PQgetvalue(rows, row, 0), BF_HEADER_BYTES);
		status = bf_header_read(filter->bytes, length_of(filter->bytes),
								&filter->header);
	}
	if (status != BF_OK)
		complain("the server's filter is not valid: %s", bf_status_text(status));
	return status == BF_OK;
}

static int
compare_parts(const void *a, const void *b)
{
	const remote_filter *first = a;
	const remote_filter *second = b;

	return (first->header.part > second->header.part) -
		(first->header.part < second->header.part);
}

/* Whether they are all parts of one set, each once. */
static bool
check_parts(const remote_set *set)
{
	uint32_t	i;

	qsort(set->filters, set->count, sizeof *set->filters, compare_parts);
	for (i = 0; i < set->count; i++)
		if (set->filters[i].header.parts != set->count ||
			set->filters[i].header.part != i)
		{
			complain("the query gives %" PRIu32 " rows that are not the %u parts of one set",
					 set->count, set->filters[i].header.parts);
			return false;
		}
	return true;
}

static bool
check_count(const pull_plan *plan, int rows)
{
	if (rows == 0)
		complain("the query gives no row");
	else if (rows > 1 && !plan->set)
		complain("the query gives more than one row; for a set of parts add --parts");
	return rows > 0 && (rows == 1 || plan->set);
}

static bool
read_headers(const pull_plan *plan, const PGresult *rows, remote_set *set)
{
	int			count = PQntuples(rows);
	int			row;

	if (!check_count(plan, count))
		return false;
	set->count = (uint32_t) count;
	set->filters = allocate(NULL, set->count, sizeof *set->filters);
	for (row = 0; row < count; row++)
		if (!read_header(rows, row, &set->filters[row]))
			return false;
	return !plan->set || check_parts(set);
}

bool
remote_read(const pull_plan *plan, PGconn *connection, remote_set *set)
{
	char	   *sql = text_of("SELECT bloom_chunk(q.f, 0, %d) FROM %s LIMIT %d",
							  BF_HEADER_BYTES, plan->query, BF_MAX_PARTS + 1);
	PGresult   *rows = server_query(connection, sql);
	bool		went_well;

	free(sql);
	set->count = 0;
	set->filters = NULL;
	if (rows == NULL)
		return false;
	went_well = read_headers(plan, rows, set);
	PQclear(rows);
	return went_well;
}

void
remote_free(remote_set *set)
{
	free(set->filters);
	set->filters = NULL;
}

uint64_t
remote_bytes(const remote_set *set)
{
	uint64_t	bytes = 0;
	uint32_t	i;

	for (i = 0; i < set->count; i++)
		bytes += bf_total_bytes(&set->filters[i].header);
	return bytes;
}

/* Where chunks go. */
typedef struct download
{
	const temp_file *file;
	uint64_t	received;
	uint64_t	total;
	transfer_state *transfer;
} download;

/* A row_function: the next chunk. */
static bool
write_chunk(void *state, const PGresult *row)
{
	download   *target = state;
	uint64_t	left = target->total - target->received;
	uint64_t	length = (uint64_t) PQgetlength(row, 0, 0);

	if (left == 0)
	{
		complain("the query gives the same filter in two rows");
		return false;
	}
	if (length != (left < CHUNK_BYTES ? left : CHUNK_BYTES))
	{
		complain("the server sent %" PRIu64 " bytes at %" PRIu64
				 " of a filter of %" PRIu64, length, target->received,
				 target->total);
		return false;
	}
	if (!temp_file_write(target->file, PQgetvalue(row, 0, 0), (size_t) length,
						 target->received))
		return false;
	target->received += length;
	target->transfer->done += length;
	progress_update(&target->transfer->bar, target->transfer->done,
					target->transfer->done, target->transfer->total);
	return true;
}

/*
 * The series begins at an expression of q, which is always 0, so that the planner
 * must read the filter's row once and go through the series for it, and not the
 * other way round.
 */
static char *
chunk_query(const pull_plan *plan, const remote_filter *filter)
{
	char		hex[2 * BF_HEADER_BYTES + 1];
	int			i;

	for (i = 0; i < BF_HEADER_BYTES; i++)
		snprintf(hex + 2 * i, 3, "%02x", filter->bytes[i]);
	return text_of("SELECT bloom_chunk(q.f, g.o, %" PRIu64 ") FROM %s"
				   " CROSS JOIN LATERAL pg_catalog.generate_series("
				   "(q.f IS NULL)::int4::int8, %" PRIu64 ", %" PRIu64 ") AS g(o)"
				   " WHERE bloom_chunk(q.f, 0, %d) = pg_catalog.decode('%s', 'hex')",
				   CHUNK_BYTES, plan->query,
				   bf_total_bytes(&filter->header) - 1, CHUNK_BYTES,
				   BF_HEADER_BYTES, hex);
}

bool
remote_fetch(const pull_plan *plan, PGconn *connection,
			 const remote_filter *filter, const temp_file *file,
			 transfer_state *transfer)
{
	download	target = {file, 0, bf_total_bytes(&filter->header), transfer};
	char	   *sql = chunk_query(plan, filter);
	bool		streamed = server_stream(connection, sql, write_chunk, &target);

	free(sql);
	if (!streamed)
		return false;
	if (target.received != target.total)
		complain("the server sent %" PRIu64 " of %" PRIu64
				 " bytes: the query must give the same filter each time",
				 target.received, target.total);
	return target.received == target.total;
}
