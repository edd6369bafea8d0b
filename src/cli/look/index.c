/*
 * index.c
 *	  What changed in a live index, from the server into a copy in memory.
 *
 * A token counts only when all of its answer was taken.  It is never kept beyond its
 * connection: a new one asks for all, and only what is different is news.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed_values.h"
#include "messages.h"
#include "source.h"
#include "system.h"

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

/*
 * By its name as it is now: REINDEX CONCURRENTLY gives the name to another index.  The name is
 * looked up on the role's own search_path, which nothing else in this statement is.
 */
static bool
find_index(source *s, PGconn *connection)
{
	char	   *name = PQescapeLiteral(connection, s->plan.index, strlen(s->plan.index));
	char	   *problem = text_of("there is no index \"%s\"", s->plan.index);
	char	   *sql = text_of("WITH path AS MATERIALIZED (SELECT pg_catalog.set_config('search_path', reset_val, true) AS set"
							  " FROM pg_catalog.pg_settings WHERE name OPERATOR(pg_catalog.=) 'search_path')"
							  " SELECT pg_catalog.quote_literal(pg_catalog.concat(pg_catalog.quote_ident(n.nspname), '.', pg_catalog.quote_ident(c.relname))),"
							  " pg_catalog.concat(n.nspname, '.', c.relname)"
							  " FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace"
							  " WHERE c.oid OPERATOR(pg_catalog.=) (SELECT pg_catalog.to_regclass(CASE WHEN set IS NOT NULL THEN %s END)::pg_catalog.oid FROM path)",
							  name != NULL ? name : "NULL");
	PGresult   *rows = source_row(connection, sql, problem);

	free(s->index);
	free(s->name);
	s->index = rows == NULL ? NULL : source_field(rows, 0, 0);
	s->name = rows == NULL ? NULL : source_field(rows, 0, 1);
	PQclear(rows);
	PQfreemem(name);
	free(problem);
	free(sql);
	return s->index != NULL;
}

/* Limits; for this transaction alone where the session may serve others afterwards. */
static bool
set_limits(const source *s, PGconn *connection)
{
	char	   *lock = text_of("SET %s lock_timeout = '2s'", s->pooled ? "LOCAL" : "SESSION");
	char	   *statement = text_of("SET %s statement_timeout = '10min'", s->pooled ? "LOCAL" : "SESSION");
	bool		set = server_command(connection, lock) && server_command(connection, statement);

	free(lock);
	free(statement);
	return set;
}

bool
index_begin(source *s, PGconn *connection)
{
	static bool said;

	if (s->pooled && !said)
		complain("a pooler stands before the server: where it changes the server, a look has to read the whole index");
	said = s->pooled;
	/* where there is a pooler, each look does */
	return (s->pooled || set_limits(s, connection)) && find_index(s, connection);
}

/* ------------------------------------------------------------------------
 * A look
 * ------------------------------------------------------------------------ */

typedef struct answer
{
	source	   *s;
	char	   *token;			/* the first row's */
	int64_t		build;
	uint64_t	true_at;
	feed_part  *parts;			/* all, if all is told */
	uint32_t	count;
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
	feed_part	part;

	if (PQgetlength(row, 0, BYTES) != FEED_HEADER_BYTES || number(row, PART) != (int64_t) a->count ||
		a->count >= FEED_MOST_PARTS || a->decided ||
		feed_part_read((const uint8_t *) PQgetvalue(row, 0, BYTES), &part) != NULL)
		return refuse_answer("a header");
	a->parts = allocate(a->parts, a->count + 1, sizeof part);
	a->parts[a->count++] = part;
	return true;
}

/* With all headers there: whether this is another build, which begins another epoch. */
static bool
decide(answer *a)
{
	source	   *s = a->s;

	a->decided = true;
	if (a->parts == NULL)
		return s->complete && s->token != NULL ? true : refuse_answer("no headers");
	if (a->parts[0].parts != a->count)
		return refuse_answer("parts are missing");
	if (s->copy.count > 0 && s->build == a->build && copy_fits(&s->copy, a->parts, a->count))
		return true;
	/* a standby that has not come to the rebuild yet, or to its keys */
	if (s->standby && s->known && a->true_at < s->known_true_at)
	{
		complain("the standby is behind what was taken before, and has another build of the index: waiting for it");
		return source_refuse(s, "back");
	}
	source_renew(s, a->parts, a->count, SOURCE_REBUILT);
	s->build = a->build;
	return true;
}

/* Counts what has come of a page and its overflow pages. */
static void
end_page(answer *a)
{
	a->bits += feed_count_bits(a->page, a->page_length);
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
	source	   *s = a->s;
	int64_t		part = number(row, PART);
	int64_t		block = number(row, BLOCK);
	uint64_t	length = (uint64_t) PQgetlength(row, 0, BYTES);
	const uint8_t *bytes = (const uint8_t *) PQgetvalue(row, 0, BYTES);
	const feed_part *of;
	uint64_t	block_bytes;

	if (!a->decided && !decide(a))
		return false;
	if (part < 0 || part >= (int64_t) s->copy.count)
		return refuse_answer("a part that there is not");
	of = &s->copy.parts[part];
	block_bytes = of->length / of->blocks;
	if (length > sizeof a->page || block < 0 || block >= (int64_t) of->blocks || length % block_bytes != 0 ||
		length > of->length - (uint64_t) block * block_bytes)
		return refuse_answer("blocks beyond the filter's end");
	/* of a new epoch nothing is news; nor is what comes as whole files, which would take much memory */
	copy_or(&s->copy, (uint32_t) part, (uint64_t) block * block_bytes, bytes, length, !s->new_epoch && !s->too_many);
	s->counts.pages++;
	if (a->parts != NULL)
		count_page(a, part, block, bytes, (size_t) length);
	if (s->copy.news_count > copy_bytes(&s->copy) / SOURCE_PATCH_SHARE)
	{
		copy_settle(&s->copy);
		s->too_many = true;
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

/* How far a standby is behind, and whether it still is one. */
static bool
look_at_standby(source *s, PGconn *connection)
{
	PGresult   *rows;

	if (!s->standby)
		return true;
	rows = source_row(connection, "SELECT CASE WHEN NOT pg_catalog.pg_is_in_recovery() THEN ''"
					  " WHEN pg_catalog.pg_last_wal_receive_lsn() OPERATOR(pg_catalog.=) pg_catalog.pg_last_wal_replay_lsn() THEN '0'"
					  " ELSE coalesce(pg_catalog.floor(extract(epoch FROM pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-)"
					  " pg_catalog.pg_last_xact_replay_timestamp()))::pg_catalog.int8, 0)::pg_catalog.text END",
					  "the server doesn't say whether it is a standby");
	if (rows == NULL)
		return false;
	s->standby = PQgetlength(rows, 0, 0) > 0;
	s->counts.lag = s->standby ? strtoull(PQgetvalue(rows, 0, 0), NULL, 10) : 0;
	PQclear(rows);
	return true;
}

/* Before a look: a pooler may give each transaction another server, so one is for all. */
static bool
begin_look(source *s, PGconn *connection)
{
	if (s->pooled && !(server_transaction(connection, "BEGIN") && source_find_server(s, connection) &&
					   set_limits(s, connection) && find_index(s, connection)))
		return false;
	return look_at_standby(s, connection);
}

/*
 * A whole answer has all bits that the server has.  If the copy has more, they are of a
 * server that was lost, or of what a crash took back: false positives until a rebuild.
 */
static void
note_united(answer *a)
{
	source	   *s = a->s;
	uint64_t	bits = 0;
	uint32_t	i;

	if (a->parts == NULL)
		return;
	end_page(a);
	for (i = 0; i < s->copy.count; i++)
		bits += s->copy.bits_set[i];
	if (bits == a->bits)
		s->counts.united = 0;
	else if (s->counts.united == 0)
		s->counts.united = time_now();
}

static bool
ask(answer *a, PGconn *connection)
{
	source	   *s = a->s;
	char	   *sql;
	bool		well;

	if (!begin_look(s, connection))
		return false;
	sql = text_of("SELECT (c).part, (c).block, (c).bytes, (c).build, (c).true_at"
				  " FROM (SELECT %s.bloom_index_changes(%s::pg_catalog.regclass, %s) AS c OFFSET 0) AS r",
				  s->schema, s->index, s->token != NULL ? s->token : "NULL");
	well = server_stream(connection, sql, take_row, a) &&
		(a->token != NULL || refuse_answer("no token")) &&
		(a->decided || decide(a)) &&
		(!s->pooled || server_command(connection, "COMMIT"));
	free(sql);
	return well;
}

bool
index_look(source *s, PGconn *connection)
{
	answer		a;
	bool		well;

	memset(&a, 0, sizeof a);
	a.s = s;
	well = ask(&a, connection) && source_check_clock(s, a.true_at);
	s->counts.whole_reads += a.parts != NULL;
	if (well)
	{
		note_united(&a);
		free(s->token);
		s->token = a.token;
		a.token = NULL;
		s->true_at = a.true_at;
		s->complete = true;
	}
	free(a.token);
	free(a.parts);
	return well;
}
