/*
 * export_index.c
 *	  What changed in a live index, from the server into a copy in memory.
 *
 * Bits that came are kept whatever happens to the rest of an answer: they are of keys.
 * A token counts only when all of its answer was taken.  It is never kept beyond its
 * connection: a new one asks for all, and only what is different is news.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bf_bits.h"
#include "bf_limits.h"
#include "export.h"
#include "feed_files.h"

/* Microseconds from 1970 to PostgreSQL's 2000. */
#define EPOCH_OFFSET INT64_C(946684800000000)

/* Bytes of blocks that come in a row at most: PostgreSQL's largest page has more. */
#define BLCKSZ_MOST 32768

enum
{
	PART,
	BLOCK,
	BYTES,
	BUILD,
	TRUE_AT
};

static char *
field(const PGresult *rows, int row, int column)
{
	return text_of("%.*s", PQgetlength(rows, row, column), PQgetvalue(rows, row, column));
}

/* One row of texts; NULL if it isn't there, which what says. */
static PGresult *
one_row(PGconn *connection, const char *sql, const char *problem)
{
	PGresult   *rows = server_query(connection, sql);

	if (rows == NULL)
		return NULL;
	if (PQntuples(rows) == 1 && !PQgetisnull(rows, 0, 0))
		return rows;
	complain("%s", problem);
	PQclear(rows);
	return NULL;
}

/*
 * By its name as it is now: REINDEX CONCURRENTLY gives the name to another index.  The name is
 * looked up on the role's own search_path, which nothing else in this statement is.
 */
static bool
find_index(exporter *e, PGconn *connection)
{
	char	   *name = PQescapeLiteral(connection, e->plan->index, strlen(e->plan->index));
	char	   *problem = text_of("there is no index \"%s\"", e->plan->index);
	char	   *sql = text_of("WITH path AS MATERIALIZED (SELECT pg_catalog.set_config('search_path', reset_val, true) AS set"
							  " FROM pg_catalog.pg_settings WHERE name OPERATOR(pg_catalog.=) 'search_path')"
							  " SELECT pg_catalog.quote_literal(pg_catalog.concat(pg_catalog.quote_ident(n.nspname), '.', pg_catalog.quote_ident(c.relname))),"
							  " pg_catalog.concat(n.nspname, '.', c.relname)"
							  " FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace"
							  " WHERE c.oid OPERATOR(pg_catalog.=) (SELECT pg_catalog.to_regclass(CASE WHEN set IS NOT NULL THEN %s END)::pg_catalog.oid FROM path)",
							  name != NULL ? name : "NULL");
	PGresult   *rows = one_row(connection, sql, problem);

	free(e->index);
	free(e->index_name);
	e->index = rows == NULL ? NULL : field(rows, 0, 0);
	e->index_name = rows == NULL ? NULL : field(rows, 0, 1);
	PQclear(rows);
	PQfreemem(name);
	free(problem);
	free(sql);
	return e->index != NULL;
}

/* Takes the server's identifier; false if another server was exported before. */
static bool
take_source(exporter *e, char *source)
{
	bool		other = e->taken_up && strcmp(source, e->source) != 0 && !e->plan->new_source;

	if (other)
	{
		complain("another server answers than the one that \"%s\" was exported from; if it took that one's place,"
				 " say --new-source", e->plan->to);
		free(source);
		return false;
	}
	free(e->source);
	e->source = source;
	return true;
}

bool
export_find_server(exporter *e, PGconn *connection)
{
	PGresult   *rows;
	char		pid[16];
	bool		right;

	free(e->function);
	e->function = NULL;
	rows = one_row(connection, "SELECT pg_catalog.quote_ident(n.nspname), s.system_identifier::pg_catalog.text,"
				   " pg_catalog.pg_is_in_recovery()::pg_catalog.text, pg_catalog.pg_backend_pid()::pg_catalog.text"
				   " FROM pg_catalog.pg_extension AS e JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace,"
				   " pg_catalog.pg_control_system() AS s WHERE e.extname OPERATOR(pg_catalog.=) 'bloomfilter'",
				   "the extension bloomfilter is not in this database");
	if (rows == NULL)
		return false;
	e->function = text_of("%.*s.bloom_index_changes", PQgetlength(rows, 0, 0), PQgetvalue(rows, 0, 0));
	e->standby = PQgetlength(rows, 0, 2) == 4;	/* true */
	snprintf(pid, sizeof pid, "%d", PQbackendPID(connection));
	e->pooled = strlen(pid) != (size_t) PQgetlength(rows, 0, 3) ||
		memcmp(pid, PQgetvalue(rows, 0, 3), strlen(pid)) != 0;
	right = take_source(e, field(rows, 0, 1));
	PQclear(rows);
	free(e->server);
	e->server = server_place(connection);
	return right;
}

/* Limits; for this transaction alone where the session may serve others afterwards. */
static bool
set_limits(const exporter *e, PGconn *connection)
{
	char	   *lock = text_of("SET %s lock_timeout = '2s'", e->pooled ? "LOCAL" : "SESSION");
	char	   *statement = text_of("SET %s statement_timeout = '10min'", e->pooled ? "LOCAL" : "SESSION");
	bool		set = server_command(connection, lock) && server_command(connection, statement);

	free(lock);
	free(statement);
	return set;
}

bool
export_begin(exporter *e, PGconn *connection)
{
	static bool said;

	free(e->token);
	e->token = NULL;
	if (!export_find_server(e, connection))
		return false;
	if (e->pooled && !said)
		complain("a pooler stands before the server: where it changes the server, a look has to read the whole index");
	said = e->pooled;
	/* where there is a pooler, each look does */
	return (e->pooled || set_limits(e, connection)) && find_index(e, connection);
}

/* ------------------------------------------------------------------------
 * A look
 * ------------------------------------------------------------------------ */

typedef struct answer
{
	exporter   *e;
	char	   *token;			/* the first row's */
	int64_t		build;
	uint64_t	true_at;
	bf_header  *headers;		/* of all parts, if all is told */
	uint32_t	parts;
	bool		decided;		/* what they mean was found out */

	/* Of a whole answer: bits that the server has */
	uint64_t	bits;
	uint8_t		page[BLCKSZ_MOST];	/* those that came of one page, which come together */
	size_t		page_length;
	int64_t		page_part;
	int64_t		page_block;
} answer;

static int64_t
number(const PGresult *row, int column)
{
	const uint8_t *bytes = (const uint8_t *) PQgetvalue(row, 0, column);
	int			length = PQgetlength(row, 0, column);
	uint64_t	value = 0;
	int			i;

	for (i = 0; i < length; i++)
		value = value << 8 | bytes[i];
	return (int64_t) value;
}

static bool
refuse_answer(const char *what)
{
	complain("the server's answer is not that of bloom_index_changes: %s", what);
	return false;
}

static bool
take_token(answer *a, const PGresult *row)
{
	size_t		length = (size_t) PQgetlength(row, 0, BYTES);
	char	   *hex = allocate(NULL, 2 * length + 1, 1);

	feed_hex(hex, (const uint8_t *) PQgetvalue(row, 0, BYTES), length);
	a->token = text_of("'\\x%s'::pg_catalog.bytea", hex);
	free(hex);
	a->build = number(row, BUILD);
	a->true_at = PQgetisnull(row, 0, TRUE_AT) ? 0 : (uint64_t) (number(row, TRUE_AT) + EPOCH_OFFSET);
	return true;
}

static bool
take_header(answer *a, const PGresult *row)
{
	const void *bytes = PQgetvalue(row, 0, BYTES);
	bf_header	header;

	if (PQgetlength(row, 0, BYTES) != BF_HEADER_BYTES || number(row, PART) != (int64_t) a->parts ||
		a->parts >= BF_MAX_PARTS || a->decided)
		return refuse_answer("a header");
	/* the length that it is checked against is its own */
	a->headers = allocate(a->headers, a->parts + 1, sizeof header);
	if (bf_header_read(bytes, bf_header_length(bytes), &header) != BF_OK)
		return refuse_answer("a header");
	a->headers[a->parts++] = header;
	return true;
}

/* With all headers there: whether this is another build, which begins another epoch. */
static bool
decide(answer *a)
{
	exporter   *e = a->e;

	a->decided = true;
	if (a->headers == NULL)
		return e->complete && e->token != NULL ? true : refuse_answer("no headers");
	if (a->headers[0].parts != a->parts)
		return refuse_answer("parts are missing");
	if (e->copy.parts > 0 && e->build == a->build && feed_copy_fits(&e->copy, a->headers, a->parts))
		return true;
	/* a standby that has not come to the rebuild yet, or to its keys */
	if (e->standby && e->manifest.serial != 0 && a->true_at < e->manifest.true_at)
	{
		complain("the standby is behind what was exported, and has another build of the index: waiting for it");
		return false;
	}
	e->reason = export_reason_of(e, a->headers, a->parts, WHOLE_REBUILD);
	feed_copy_free(&e->copy);
	feed_copy_create(&e->copy, a->headers, a->parts);
	e->build = a->build;
	e->complete = false;
	e->new_epoch = true;
	return true;
}

/* Counts what has come of a page and its overflow pages. */
static void
end_page(answer *a)
{
	a->bits += bf_count_bits(a->page, a->page_length, NULL);
	memset(a->page, 0, a->page_length);
	a->page_length = 0;
}

static void
count_page(answer *a, int64_t part, int64_t block, const uint8_t *bytes, size_t length)
{
	size_t		i;

	if (part != a->page_part || block != a->page_block)
		end_page(a);
	a->page_part = part;
	a->page_block = block;
	if (length > a->page_length)
		a->page_length = length;
	for (i = 0; i < length; i++)
		a->page[i] |= bytes[i];
}

static bool
take_blocks(answer *a, const PGresult *row)
{
	exporter   *e = a->e;
	int64_t		part = number(row, PART);
	int64_t		block = number(row, BLOCK);
	uint64_t	length = (uint64_t) PQgetlength(row, 0, BYTES);
	const bf_header *header;

	if (!a->decided && !decide(a))
		return false;
	if (part < 0 || part >= (int64_t) e->copy.parts)
		return refuse_answer("a part that there is not");
	header = &e->copy.headers[part];
	if (length > sizeof a->page || block < 0 || block >= (int64_t) header->blocks || length % bf_block_bytes(header) != 0 ||
		length > bf_blocks_bytes(header) - (uint64_t) block * bf_block_bytes(header))
		return refuse_answer("blocks beyond the filter's end");
	/* of a new epoch nothing is news; nor is what comes as whole files, which would take much memory */
	feed_copy_or(&e->copy, (uint32_t) part, (uint64_t) block * bf_block_bytes(header),
				 (const uint8_t *) PQgetvalue(row, 0, BYTES), length, !e->new_epoch && !e->whole_needed);
	e->counts.pages++;
	if (a->headers != NULL)
		count_page(a, part, block, (const uint8_t *) PQgetvalue(row, 0, BYTES), length);
	if (e->copy.news_count > feed_copy_bytes(&e->copy) / EXPORT_STEP_SHARE)
	{
		feed_copy_settle(&e->copy);
		e->whole_needed = true;
	}
	return true;
}

/* A row_function. */
static bool
take_row(void *state, const PGresult *row)
{
	answer	   *a = state;

	if (PQnfields(row) != 5 || PQgetisnull(row, 0, BYTES))
		return refuse_answer("columns");
	if (PQgetisnull(row, 0, PART))
		return a->token == NULL ? take_token(a, row) : refuse_answer("two tokens");
	if (PQgetisnull(row, 0, BLOCK))
		return take_header(a, row);
	return take_blocks(a, row);
}

bool
export_check_clock(const exporter *e, uint64_t true_at)
{
	uint64_t	now = feed_now();
	uint64_t	difference = true_at > now ? true_at - now : now - true_at;

	/* serials are times, but a standby's time is that of its last transaction */
	if (true_at == 0 || difference <= CLOCKS_DIFFER * UINT64_C(1000000) || (e->standby && true_at < now))
		return true;
	complain("this host's clock and the server's differ by %" PRIu64 " s; set them right", difference / 1000000);
	return false;
}

/* How far a standby is behind, and whether it still is one. */
static bool
look_at_standby(exporter *e, PGconn *connection)
{
	PGresult   *rows;

	if (!e->standby)
		return true;
	rows = one_row(connection, "SELECT CASE WHEN NOT pg_catalog.pg_is_in_recovery() THEN ''"
				   " WHEN pg_catalog.pg_last_wal_receive_lsn() = pg_catalog.pg_last_wal_replay_lsn() THEN '0'"
				   " ELSE coalesce(pg_catalog.floor(extract(epoch FROM pg_catalog.clock_timestamp() -"
				   " pg_catalog.pg_last_xact_replay_timestamp()))::pg_catalog.int8, 0)::pg_catalog.text END",
				   "the server doesn't say whether it is a standby");
	if (rows == NULL)
		return false;
	e->standby = PQgetlength(rows, 0, 0) > 0;
	e->counts.lag = e->standby ? strtoull(PQgetvalue(rows, 0, 0), NULL, 10) : 0;
	PQclear(rows);
	return true;
}

/* Before a look: a pooler may give each transaction another server, so one is for all. */
static bool
begin_look(exporter *e, PGconn *connection)
{
	if (e->pooled && !(server_begin(connection, "BEGIN") && export_find_server(e, connection) &&
					   set_limits(e, connection) && find_index(e, connection)))
		return false;
	return look_at_standby(e, connection);
}

/*
 * A whole answer has all bits that the server has.  If the copy has more, they are of a
 * server that was lost, or of what a crash took back: false positives until a rebuild.
 */
static void
note_united(answer *a)
{
	exporter   *e = a->e;
	uint64_t	bits = 0;
	uint32_t	i;

	if (a->headers == NULL)
		return;
	end_page(a);
	for (i = 0; i < e->copy.parts; i++)
		bits += e->copy.headers[i].bits_set;
	if (bits == a->bits)
		e->counts.united = 0;
	else if (e->counts.united == 0)
		e->counts.united = feed_now();
}

static bool
ask(answer *a, PGconn *connection)
{
	exporter   *e = a->e;
	char	   *sql;
	bool		went_well;

	if (!begin_look(e, connection))
		return false;
	sql = text_of("SELECT (c).part, (c).block, (c).bytes, (c).build, (c).true_at"
				  " FROM (SELECT %s(%s::pg_catalog.regclass, %s) AS c OFFSET 0) AS r",
				  e->function, e->index, e->token != NULL ? e->token : "NULL");
	went_well = server_stream(connection, sql, take_row, a) &&
		(a->token != NULL || refuse_answer("no token")) &&
		(a->decided || decide(a)) &&
		(!e->pooled || server_command(connection, "COMMIT"));
	free(sql);
	return went_well;
}

bool
export_look(exporter *e, PGconn *connection)
{
	answer		a;
	double		begun = monotonic_seconds();
	bool		went_well;

	memset(&a, 0, sizeof a);
	a.e = e;
	went_well = ask(&a, connection) && export_check_clock(e, a.true_at);
	e->counts.database_seconds += monotonic_seconds() - begun;
	e->counts.looks++;
	e->counts.whole_reads += a.headers != NULL;
	if (went_well)
	{
		note_united(&a);
		free(e->token);
		e->token = a.token;
		a.token = NULL;
		e->true_at = a.true_at;
		e->complete = true;
	}
	free(a.token);
	free(a.headers);
	return went_well;
}
