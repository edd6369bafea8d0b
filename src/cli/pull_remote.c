/*
 * pull_remote.c
 *	  What the server has: headers, the bytes of filters, deltas of a query.
 *
 * All that an attempt asks is asked in one snapshot.  Bytes come from the SQL
 * function bloom_chunk in chunks, one in memory at a time, each with its offset.  A
 * filter is known by its header, whose checksum covers everything: so the row is
 * found again without the user naming a key.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pull.h"

/* Bytes of a chunk: so many that a round trip or a row costs nothing beside them. */
#define CHUNK_BYTES ((uint64_t) 1024 * 1024)

/* A user's column of another name than ours never meets it. */
#define COLUMN "bloomfilter_pull_f"
#define SOURCE "bloomfilter_pull_q"
#define SERIES "bloomfilter_pull_g"

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
	return text_of("(SELECT * FROM (\n%.*s\n) AS bloomfilter_pull_s OFFSET 0) AS " SOURCE "(" COLUMN ")",
				   (int) length, query);
}

/* ------------------------------------------------------------------------
 * The transaction, and the list
 * ------------------------------------------------------------------------ */

/* The text of a field, in new memory. */
static char *
field_text(const PGresult *rows, int row, int column)
{
	return text_of("%.*s", PQgetlength(rows, row, column), PQgetvalue(rows, row, column));
}

/*
 * Begins, and finds the extension's schema.  The user's own query, and what is called around it,
 * has the role's search_path and that schema behind it; a list is read without.
 */
static bool
begin(const pull_plan *plan, PGconn *connection, remote_set *set)
{
	PGresult   *rows;
	char	   *sql = text_of("SELECT pg_catalog.quote_ident(n.nspname), pg_catalog.pg_is_in_recovery()::pg_catalog.text,"
							  " CASE WHEN %s THEN pg_catalog.set_config('search_path', pg_catalog.concat_ws(', ',"
							  " NULLIF(s.reset_val, ''), pg_catalog.quote_ident(n.nspname)), true) END"
							  " FROM pg_catalog.pg_settings AS s LEFT JOIN (pg_catalog.pg_extension AS e"
							  " JOIN pg_catalog.pg_namespace AS n ON n.oid = e.extnamespace) ON e.extname = 'bloomfilter'"
							  " WHERE s.name = 'search_path'",
							  plan->list == NULL ? "true" : "false");

	rows = server_begin(connection, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") ?
		server_query(connection, sql) : NULL;
	free(sql);
	if (rows == NULL)
		return false;
	if (PQntuples(rows) == 1 && !PQgetisnull(rows, 0, 0))
		set->schema = field_text(rows, 0, 0);
	set->standby = PQntuples(rows) == 1 && PQgetlength(rows, 0, 1) == 4;	/* true */
	PQclear(rows);
	set->chunk = plan->list != NULL && set->schema != NULL ? text_of("%s.bloom_chunk", set->schema) : text_of("bloom_chunk");
	server_explain(set->schema == NULL ?
				   "the extension bloomfilter is not in this database" :
				   "is the first column of the query a bloomfilter?");
	return true;
}

static void
take_field(const PGresult *rows, int column, char *target, size_t size)
{
	snprintf(target, size, "%.*s", PQgetlength(rows, 0, column), PQgetvalue(rows, 0, column));
}

static bool
take_list(const pull_plan *plan, const PGresult *rows, remote_set *set)
{
	char		seconds[24];

	if (PQntuples(rows) != 1)
	{
		complain("there is no published list \"%s\"", plan->list);
		return false;
	}
	take_field(rows, 0, set->serial, sizeof set->serial);
	take_field(rows, 1, set->built, sizeof set->built);
	take_field(rows, 2, set->identity, sizeof set->identity);
	take_field(rows, 3, seconds, sizeof seconds);
	set->built_at = strtoll(seconds, NULL, 10);
	return true;
}

/* Finds the list; its parts are found by its name afterwards. */
static bool
read_list(const pull_plan *plan, PGconn *connection, remote_set *set)
{
	char	   *literal = PQescapeLiteral(connection, plan->list, strlen(plan->list));
	PGresult   *rows;
	char	   *sql;
	bool		found;

	if (literal == NULL || set->schema == NULL)
	{
		if (literal == NULL)
			complain("bad name of a list: %s", server_problem(connection, NULL));
		else
			complain("the extension bloomfilter is not in this database");
		PQfreemem(literal);
		return false;
	}
	set->name = text_of("%s", literal);
	PQfreemem(literal);
	sql = text_of("SELECT serial::pg_catalog.text, pg_catalog.to_char(built_at AT TIME ZONE 'UTC',"
				  " 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'), identity::pg_catalog.text,"
				  " pg_catalog.floor(EXTRACT(epoch FROM built_at))::pg_catalog.int8::pg_catalog.text"
				  " FROM %s.bloom_list WHERE name = %s",
				  set->schema, set->name);
	rows = server_query(connection, sql);
	free(sql);
	found = rows != NULL && take_list(plan, rows, set);
	PQclear(rows);
	return found;
}

/* The rows with the filters, as a subquery: all, or of a list one part (-1: all). */
static char *
source_of(const pull_plan *plan, const remote_set *set, int64_t part)
{
	char	   *query;
	char	   *source;

	if (plan->list == NULL)
		return text_of("%s", plan->query);
	if (part < 0)
		query = text_of("SELECT filter FROM %s.bloom_list_part WHERE name = %s",
						set->schema, set->name);
	else
		query = text_of("SELECT filter FROM %s.bloom_list_part WHERE name = %s AND part = %" PRId64,
						set->schema, set->name, part);
	source = subquery_of(query);
	free(query);
	return source;
}

/* ------------------------------------------------------------------------
 * Headers
 * ------------------------------------------------------------------------ */

static bool
read_header(const PGresult *rows, int row, remote_filter *filter)
{
	int			length = PQgetlength(rows, row, 0);
	bloomfilter_detail detail;
	int			code;

	if (PQgetisnull(rows, row, 0))
	{
		complain("the query gives a NULL instead of a filter");
		return false;
	}
	/* what is shorter breaks the first rule of the format */
	memset(filter->bytes, 0, sizeof filter->bytes);
	memcpy(filter->bytes, PQgetvalue(rows, row, 0),
		   (size_t) length < sizeof filter->bytes ? (size_t) length : sizeof filter->bytes);
	code = length < (int) sizeof filter->bytes ? BLOOMFILTER_ERR_FORMAT_LENGTH :
		bloomfilter_get_header_info(filter->bytes, &filter->info, sizeof filter->info, &detail);
	if (code < 0)
		complain("the server's filter is not valid: %s",
				 code == BLOOMFILTER_ERR_FORMAT_LENGTH ? bloomfilter_strerror(code) : detail.text);
	return code >= 0;
}

static int
compare_parts(const void *a, const void *b)
{
	const remote_filter *first = a;
	const remote_filter *second = b;

	return (first->info.part > second->info.part) -
		(first->info.part < second->info.part);
}

/* Whether they are all parts of one set, each once. */
static bool
check_parts(const remote_set *set)
{
	uint32_t	i;

	qsort(set->filters, set->count, sizeof *set->filters, compare_parts);
	for (i = 0; i < set->count; i++)
		if (set->filters[i].info.parts != set->count || set->filters[i].info.part != i)
		{
			complain("the query gives %" PRIu32 " rows that are not the %u parts of one set",
					 set->count, set->filters[i].info.parts);
			return false;
		}
	return true;
}

static bool
check_count(const pull_plan *plan, int rows)
{
	bool		one = !plan->set && plan->list == NULL;

	if (rows == 0)
		complain("the query gives no row");
	else if (rows > 1 && one)
		complain("the query gives more than one row; for a set of parts add --parts");
	else if (rows > 1 && plan->to_stdout)
		complain("a set of parts can't be written to standard output");
	else
		return true;
	return false;
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
	return (!plan->set && plan->list == NULL) || check_parts(set);
}

bool
remote_read(const pull_plan *plan, PGconn *connection, remote_set *set)
{
	PGresult   *rows;
	char	   *source;
	char	   *sql;
	bool		went_well;

	memset(set, 0, sizeof *set);
	set->begun = time(NULL);
	if (!begin(plan, connection, set) ||
		(plan->list != NULL && !read_list(plan, connection, set)))
		return false;
	source = source_of(plan, set, -1);
	sql = text_of("SELECT %s(" SOURCE "." COLUMN ", 0::pg_catalog.int8, %d) FROM %s LIMIT %d",
				  set->chunk, BLOOMFILTER_HEADER_BYTES, source, BLOOMFILTER_MAX_PARTS + 1);
	rows = server_query(connection, sql);
	free(sql);
	free(source);
	if (rows == NULL)
		return false;
	went_well = read_headers(plan, rows, set);
	PQclear(rows);
	return went_well;
}

void
remote_free(remote_set *set)
{
	free(set->schema);
	free(set->chunk);
	free(set->name);
	free(set->filters);
	memset(set, 0, sizeof *set);
}

uint64_t
remote_bytes(const remote_set *set)
{
	uint64_t	bytes = 0;
	uint32_t	i;

	for (i = 0; i < set->count; i++)
		bytes += set->filters[i].info.total_bytes;
	return bytes;
}

/* ------------------------------------------------------------------------
 * Content
 * ------------------------------------------------------------------------ */

/* Where chunks go. */
typedef struct download
{
	chunk_function function;
	void	   *state;
	uint64_t	received;
	uint64_t	total;
} download;

/* A row_function: the next chunk. */
static bool
take_chunk(void *state, const PGresult *row)
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
	target->received += length;
	return target->function(target->state, PQgetvalue(row, 0, 0), (size_t) length);
}

/*
 * The series begins at an expression of the row, which is always 0, so that the
 * planner must read the filter's row once and go through the series for it, and
 * not the other way round.
 */
static char *
chunk_query(const pull_plan *plan, const remote_set *set, uint32_t part)
{
	const remote_filter *filter = &set->filters[part];
	char	   *source = source_of(plan, set, part);
	char		hex[2 * BLOOMFILTER_HEADER_BYTES + 1];
	char	   *sql;
	int			i;

	for (i = 0; i < BLOOMFILTER_HEADER_BYTES; i++)
		snprintf(hex + 2 * i, 3, "%02x", filter->bytes[i]);
	sql = text_of("SELECT %s(" SOURCE "." COLUMN ", " SERIES ".o, %" PRIu64 ") FROM %s"
				  " CROSS JOIN LATERAL pg_catalog.generate_series("
				  "(" SOURCE "." COLUMN " IS NULL)::pg_catalog.int4::pg_catalog.int8, %" PRIu64 ", %" PRIu64 ") AS " SERIES "(o)"
				  " WHERE %s(" SOURCE "." COLUMN ", 0::pg_catalog.int8, %d) = pg_catalog.decode('%s', 'hex')",
				  set->chunk, CHUNK_BYTES, source, filter->info.total_bytes - 1, CHUNK_BYTES,
				  set->chunk, BLOOMFILTER_HEADER_BYTES, hex);
	free(source);
	return sql;
}

bool
remote_fetch(const pull_plan *plan, PGconn *connection, const remote_set *set,
			 uint32_t part, chunk_function function, void *state)
{
	download	target = {function, state, 0, set->filters[part].info.total_bytes};
	char	   *sql = chunk_query(plan, set, part);
	bool		streamed = server_stream(connection, sql, take_chunk, &target);

	free(sql);
	if (!streamed)
		return false;
	if (target.received != target.total)
		complain("the server sent %" PRIu64 " of %" PRIu64
				 " bytes: the query must give the same filter each time",
				 target.received, target.total);
	return target.received == target.total;
}

/* ------------------------------------------------------------------------
 * Deltas
 * ------------------------------------------------------------------------ */

static char *
delta_query(const pull_plan *plan, const remote_set *set, uint32_t part)
{
	return text_of("SELECT " SOURCE "." COLUMN " FROM %s WHERE pg_catalog.octet_length("
				   SOURCE "." COLUMN ") < %" PRIu64 " LIMIT 2",
				   plan->delta_query, set->filters[part].info.total_bytes);
}

/*
 * Whatever is the matter with a delta, the filter can still be fetched in the same
 * snapshot: the savepoint keeps the transaction alive if the server refuses.
 */
PGresult *
remote_delta(const pull_plan *plan, PGconn *connection, const remote_set *set,
			 uint32_t part)
{
	PGresult   *rows;
	char	   *sql;

	if (plan->list != NULL || !server_command(connection, "SAVEPOINT delta"))
		return NULL;
	sql = delta_query(plan, set, part);
	rows = server_query(connection, sql);
	free(sql);
	if (rows == NULL)
	{
		server_command(connection, "ROLLBACK TO SAVEPOINT delta");
		return NULL;
	}
	if (PQntuples(rows) == 1 && !PQgetisnull(rows, 0, 0))
		return rows;
	PQclear(rows);
	return NULL;
}
