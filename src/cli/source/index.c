/*
 * index.c
 *	  What changed in a live index, from the server into an image in memory.
 *
 * A token counts only when all of its answer was taken.  It is never kept beyond its
 * connection: a new one asks for all, and only what is different is news.
 */
#include <stdlib.h>
#include <string.h>

#include "feed_values.h"
#include "source.h"

/* Microseconds from 1970 to PostgreSQL's 2000. */
#define EPOCH_OFFSET INT64_C(946684800000000)

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
bool
index_begin(source *s, const char *name)
{
	PGresult   *rows = server_query(s->connection, "WITH path AS MATERIALIZED (SELECT pg_catalog.set_config('search_path', reset_val, true) AS set"
								   " FROM pg_catalog.pg_settings WHERE name OPERATOR(pg_catalog.=) 'search_path')"
								   " SELECT pg_catalog.quote_literal(pg_catalog.concat(pg_catalog.quote_ident(n.nspname), '.', pg_catalog.quote_ident(c.relname))),"
								   " pg_catalog.concat(n.nspname, '.', c.relname)"
								   " FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace"
								   " WHERE c.oid OPERATOR(pg_catalog.=) (SELECT pg_catalog.to_regclass(CASE WHEN set IS NOT NULL THEN %s END)::pg_catalog.oid FROM path)",
								   name);

	rows = source_row(rows, "there is no index \"%s\"", s->plan.index);
	if (rows != NULL)
	{
		s->index = text_of("%s", PQgetvalue(rows, 0, 0));
		s->news.name = text_of("%s", PQgetvalue(rows, 0, 1));
	}
	PQclear(rows);
	return s->index != NULL;
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
	bool		decided;		/* all headers are there */
	feed_part  *parts;			/* of these, if all is told: */
	uint32_t	count;
	list_image	whole;			/* all bits that the server has */
	bool		other;			/* of another build than the image's */
} answer;

static bool
refuse_answer(const char *what)
{
	return complain("the server's answer is not that of bloom_index_changes: %s", what);
}

static bool
take_token(answer *a, const PGresult *row)
{
	size_t		length = (size_t) PQgetlength(row, 0, BYTES);
	char	   *hex = allocate(NULL, 2 * length + 1, 1);

	feed_hex(hex, (const uint8_t *) PQgetvalue(row, 0, BYTES), length);
	a->token = text_of("'\\x%s'::pg_catalog.bytea", hex);
	free(hex);
	a->build = source_number(row, BUILD);
	a->true_at = PQgetisnull(row, 0, TRUE_AT) ? 0 : (uint64_t) (source_number(row, TRUE_AT) + EPOCH_OFFSET);
	return true;
}

static bool
take_header(answer *a, const PGresult *row)
{
	feed_part	part;

	if (PQgetlength(row, 0, BYTES) != FEED_HEADER_BYTES || source_number(row, PART) != (int64_t) a->count ||
		a->count >= FEED_MOST_PARTS || a->decided ||
		feed_part_read((const uint8_t *) PQgetvalue(row, 0, BYTES), FEED_HEADER_BYTES, &part) != NULL)
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
	list_image  *image = &s->news.image;

	a->decided = true;
	if (a->parts == NULL)
		return s->token != NULL ? true : refuse_answer("no headers");
	if (a->parts[0].shape.level[0].parts != a->count)
		return refuse_answer("parts are missing");
	a->other = image->count == 0 || s->news.build != a->build || !image_fits(image, a->parts, a->count);
	/* a standby that has not come to the rebuild yet, or to its keys */
	if (a->other && s->standby && s->known && a->true_at < s->known_true_at)
	{
		complain("the standby is behind what was taken before, and has another build of the index: waiting for it");
		return source_refuse(s, "back");
	}
	image_create(&a->whole, a->parts, NULL, a->count);
	return true;
}

static bool
take_blocks(answer *a, const PGresult *row)
{
	source	   *s = a->s;
	int64_t		part = source_number(row, PART);
	int64_t		block = source_number(row, BLOCK);
	uint64_t	length = (uint64_t) PQgetlength(row, 0, BYTES);
	const uint8_t *bytes = (const uint8_t *) PQgetvalue(row, 0, BYTES);
	const list_image *image;
	const feed_part *of;
	uint64_t	block_bytes;

	if (!a->decided && !decide(a))
		return false;
	image = a->parts != NULL ? &a->whole : &s->news.image;
	if (part < 0 || part >= (int64_t) image->count)
		return refuse_answer("a part that there is not");
	of = &image->parts[part];
	block_bytes = of->length / of->shape.level[0].blocks;
	if (block < 0 || block >= (int64_t) of->shape.level[0].blocks || length % block_bytes != 0 ||
		length > of->length - (uint64_t) block * block_bytes)
		return refuse_answer("blocks beyond the filter's end");
	if (a->parts != NULL)
		image_or(&a->whole, (uint32_t) part, (uint64_t) block * block_bytes, bytes, length, false);
	else
		source_or(s, (uint32_t) part, (uint64_t) block * block_bytes, bytes, length);
	s->counts.pages++;
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

/*
 * The image gets all bits that the server has.  If it has more, they are of a server that was
 * lost, or of what a crash took back: false positives until a rebuild.
 */
static void
fill_whole(answer *a)
{
	source	   *s = a->s;
	uint64_t   *united = &s->counts.united;
	bool		more = false;
	uint32_t	i;

	source_fill(s, &a->whole, a->other, WHOLE_REBUILD);
	for (i = 0; i < a->whole.count; i++)
		more |= s->news.image.parts[i].shape.level[0].bits_set != a->whole.parts[i].shape.level[0].bits_set;
	*united = !more ? 0 : *united != 0 ? *united : time_now();
}

static bool
ask(answer *a)
{
	source	   *s = a->s;

	/* of this transaction: the session may serve others afterwards */
	return server_command(s->connection, "SELECT pg_catalog.set_config('lock_timeout', '2s', true),"
						  " pg_catalog.set_config('statement_timeout', '10min', true),"
						  " pg_catalog.set_config('idle_in_transaction_session_timeout', '1min', true)") &&
		server_stream(s->connection, take_row, a,
					  "SELECT (c).part, (c).block, (c).bytes, (c).build, (c).true_at"
					  " FROM (SELECT %s.bloom_index_changes(%s::pg_catalog.regclass, %s) AS c OFFSET 0) AS r",
					  s->schema, s->index, s->token != NULL ? s->token : "NULL") &&
		(a->token != NULL || refuse_answer("no token")) && (a->decided || decide(a));
}

bool
index_look(source *s)
{
	answer		a = {.s = s};
	bool		well = ask(&a) && source_check_clock(s, a.true_at);

	s->counts.whole_reads += a.parts != NULL;
	if (well)
	{
		if (a.parts != NULL)
			fill_whole(&a);
		free(s->token);
		s->token = a.token;
		a.token = NULL;
		s->news.build = a.build;
		s->news.true_at = a.true_at;
	}
	image_free(&a.whole);
	free(a.token);
	free(a.parts);
	return well;
}
