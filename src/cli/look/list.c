/*
 * list.c
 *	  A published list, from the server into a copy in memory.
 *
 * A list has an identity and a serial of its own, which are carried.  All of it is read, in
 * one snapshot, when its serial is another one.  Where nothing but bits came, these are
 * news; else another epoch begins.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed_values.h"
#include "messages.h"
#include "source.h"

/* Bytes of a chunk: so many that a round trip or a row costs nothing beside them. */
#define CHUNK_BYTES ((uint64_t) 1024 * 1024)

/* Parts as the server has them. */
typedef struct list_parts
{
	uint32_t	count;
	feed_part  *parts;
	uint8_t   **bytes;
	uint64_t	length;			/* of the part that comes in, so far, ... */
	uint64_t	total;			/* ... and all of it */
} list_parts;

/* What the server says of the list. */
typedef struct list_head
{
	uint64_t	serial;
	uint8_t		identity[FEED_IDENTITY_BYTES];
	uint64_t	built;			/* microseconds */
	uint64_t	true_at;		/* all that was published before is in this snapshot */
} list_head;

/* ------------------------------------------------------------------------
 * The list
 * ------------------------------------------------------------------------ */

bool
list_begin(source *s, PGconn *connection)
{
	char	   *literal = PQescapeLiteral(connection, s->plan.list, strlen(s->plan.list));

	if (literal == NULL)
	{
		complain("bad name of a list: %s", server_problem(connection, NULL));
		return false;
	}
	free(s->index);
	s->index = text_of("%s", literal);
	PQfreemem(literal);
	free(s->name);
	s->name = text_of("%s", s->plan.list);
	if (s->plan.follow)
		listen_begin(s, connection);
	return true;
}

static uint64_t
number(const PGresult *rows, int row, int column)
{
	char		text[24];

	snprintf(text, sizeof text, "%.*s", PQgetlength(rows, row, column), PQgetvalue(rows, row, column));
	return strtoull(text, NULL, 10);
}

static bool
read_head(source *s, PGconn *connection, list_head *head)
{
	char	   *problem = text_of("there is no published list \"%s\"", s->plan.list);
	char	   *sql = text_of("SELECT serial::pg_catalog.text, identity::pg_catalog.text,"
							  " pg_catalog.floor(EXTRACT(epoch FROM built_at))::pg_catalog.int8::pg_catalog.text,"
							  " pg_catalog.floor(EXTRACT(epoch FROM pg_catalog.transaction_timestamp()) OPERATOR(pg_catalog.*) 1000000.0)"
							  "::pg_catalog.int8::pg_catalog.text, pg_catalog.pg_is_in_recovery()::pg_catalog.text"
							  " FROM %s.bloom_list WHERE name OPERATOR(pg_catalog.=) %s", s->schema, s->index);
	PGresult   *rows = source_row(connection, sql, problem);
	char	   *identity = rows == NULL ? NULL : source_field(rows, 0, 1);
	bool		right = rows != NULL && feed_uuid_read(head->identity, identity);

	if (right)
	{
		head->serial = number(rows, 0, 0);
		head->built = number(rows, 0, 2) * 1000000;
		head->true_at = number(rows, 0, 3);
		s->standby = PQgetlength(rows, 0, 4) == 4;	/* true */
		right = head->serial != 0 && head->serial <= INT64_MAX;
	}
	if (rows != NULL && !right)
		complain("the list \"%s\" has no serial and identity", s->plan.list);
	PQclear(rows);
	free(identity);
	free(problem);
	free(sql);
	return right;
}

/* Whether the server's list is the one that is known, and not older. */
static bool
check_list(source *s, const list_head *head)
{
	uint64_t	had = s->serial != 0 ? s->serial : s->known_serial;

	if (s->known && memcmp(head->identity, s->known_identity, FEED_IDENTITY_BYTES) != 0)
	{
		complain("the list \"%s\" has another identity than before: it was made anew, or is another database's;"
				 " bloom_set_identity on the server gives it the old one", s->plan.list);
		return source_refuse(s, "identity");
	}
	if (s->known && head->serial < had)
	{
		complain("the list \"%s\" has serial %" PRIu64 ", older than %" PRIu64 ": %s", s->plan.list, head->serial, had,
				 s->standby ? "the standby is behind" : "the server was restored; publish the list anew");
		return source_refuse(s, "back");
	}
	return true;
}

/* ------------------------------------------------------------------------
 * Its parts
 * ------------------------------------------------------------------------ */

static void
free_parts(list_parts *parts)
{
	uint32_t	i;

	for (i = 0; i < parts->count; i++)
		free(parts->bytes[i]);
	free(parts->bytes);
	free(parts->parts);
}

/* A row_function: the next chunk of the part. */
static bool
take_chunk(void *state, const PGresult *row)
{
	list_parts *parts = state;
	uint64_t	left = parts->total - parts->length;
	uint64_t	length = (uint64_t) PQgetlength(row, 0, 0);

	if (left == 0 || length != (left < CHUNK_BYTES ? left : CHUNK_BYTES))
	{
		complain("the server sent %" PRIu64 " bytes at %" PRIu64 " of a filter of %" PRIu64, length, parts->length,
				 parts->total);
		return false;
	}
	memcpy(parts->bytes[parts->count - 1] + parts->length, PQgetvalue(row, 0, 0), (size_t) length);
	parts->length += length;
	return true;
}

/*
 * The series begins at an expression of the row, which is always 0, so that the planner
 * must read the filter's row once and go through the series for it.
 */
static bool
fetch_part(source *s, PGconn *connection, list_parts *parts)
{
	char	   *sql = text_of("SELECT %s.bloom_chunk(l.filter, g.o, %" PRIu64 ") FROM %s.bloom_list_part AS l"
							  " CROSS JOIN LATERAL pg_catalog.generate_series((l.filter IS NULL)::pg_catalog.int4::pg_catalog.int8,"
							  " %" PRIu64 ", %" PRIu64 ") AS g(o) WHERE l.name OPERATOR(pg_catalog.=) %s AND l.part OPERATOR(pg_catalog.=) %" PRIu32,
							  s->schema, CHUNK_BYTES, s->schema, parts->total - 1, CHUNK_BYTES, s->index, parts->count - 1);
	bool		streamed = server_stream(connection, sql, take_chunk, parts);

	free(sql);
	if (streamed && parts->length != parts->total)
		complain("the server sent %" PRIu64 " of %" PRIu64 " bytes", parts->length, parts->total);
	return streamed && parts->length == parts->total;
}

static bool
is_sound(const list_parts *parts, uint32_t count, uint32_t i, const char *problem)
{
	const feed_part *part = &parts->parts[i];

	return problem == NULL && part->part == i && part->parts == count;
}

/* Reads and checks all parts, of which rows has the headers. */
static bool
fetch_parts(source *s, PGconn *connection, const PGresult *rows, list_parts *parts)
{
	uint32_t	count = (uint32_t) PQntuples(rows);

	parts->parts = allocate(NULL, count + 1, sizeof *parts->parts);
	parts->bytes = allocate(NULL, count + 1, sizeof *parts->bytes);
	while (parts->count < count)
	{
		uint32_t	i = parts->count;
		feed_part  *part = &parts->parts[i];
		const char *problem = PQgetlength(rows, (int) i, 0) != FEED_HEADER_BYTES ? "a header" :
			feed_part_read((const uint8_t *) PQgetvalue(rows, (int) i, 0), part);

		if (is_sound(parts, count, i, problem))
		{
			parts->length = 0;
			parts->total = FEED_HEADER_BYTES + part->length;
			parts->bytes[parts->count++] = allocate(NULL, (size_t) parts->total, 1);
			if (!fetch_part(s, connection, parts))
				return false;
			problem = feed_part_check(parts->bytes[i], parts->total, part);
		}
		if (!is_sound(parts, count, i, problem))
		{
			complain("part %" PRIu32 " of the list \"%s\" is not valid%s%s", i, s->plan.list,
					 problem != NULL ? ": " : "", problem != NULL ? problem : "");
			return source_refuse(s, "damaged");
		}
	}
	return count > 0;
}

static bool
read_parts(source *s, PGconn *connection, list_parts *parts)
{
	char	   *sql = text_of("SELECT %s.bloom_chunk(filter, 0::pg_catalog.int8, %d) FROM %s.bloom_list_part WHERE name OPERATOR(pg_catalog.=) %s ORDER BY part",
							  s->schema, FEED_HEADER_BYTES, s->schema, s->index);
	PGresult   *rows = server_query(connection, sql);
	bool		read;

	free(sql);
	memset(parts, 0, sizeof *parts);
	read = rows != NULL && fetch_parts(s, connection, rows, parts);
	PQclear(rows);
	return read;
}

/* Whether the parts have all bits of the copy, and so few more that a patch pays. */
static bool
is_superset(const list_copy *copy, const list_parts *parts)
{
	uint64_t	bits = 0;
	uint32_t	i;

	if (copy->count == 0 || !copy_fits(copy, parts->parts, parts->count))
		return false;
	for (i = 0; i < parts->count; i++)
		bits += parts->parts[i].bits_set - copy->bits_set[i];
	if (bits > copy_bytes(copy) / SOURCE_PATCH_SHARE)
		return false;
	for (i = 0; i < parts->count; i++)
	{
		const uint8_t *now = parts->bytes[i] + FEED_HEADER_BYTES;
		const uint8_t *was = copy->blocks[i];
		uint64_t	at;

		for (at = 0; at < parts->parts[i].length; at++)
			if (was[at] & ~(unsigned) now[at])
				return false;
	}
	return true;
}

/* The copy becomes what the parts are. */
static void
take_parts(source *s, const list_parts *parts)
{
	uint32_t	i;

	if (!is_superset(&s->copy, parts))
		source_renew(s, parts->parts, parts->count, SOURCE_REMOVED);
	for (i = 0; i < parts->count; i++)
		copy_or(&s->copy, i, 0, parts->bytes[i] + FEED_HEADER_BYTES, parts->parts[i].length, !s->new_epoch);
}

/* ------------------------------------------------------------------------
 * A look
 * ------------------------------------------------------------------------ */

/* Takes a list that isn't in the copy. */
static bool
take_list(source *s, PGconn *connection, const list_head *head)
{
	list_parts	parts;
	bool		same = s->copy.count > 0 && s->known && head->serial == s->known_serial;
	bool		taken = read_parts(s, connection, &parts);

	s->counts.whole_reads++;
	if (taken)
		take_parts(s, &parts);
	free_parts(&parts);
	if (taken && same && (s->new_epoch || s->copy.news_count > 0))
	{
		complain("the list \"%s\" has other bits than before under the same serial: two servers publish under one identity",
				 s->plan.list);
		return source_refuse(s, "back");
	}
	return taken;
}

bool
list_look(source *s, PGconn *connection)
{
	list_head	head;
	bool		well = server_transaction(connection, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") &&
		read_head(s, connection, &head) && source_check_clock(s, head.true_at) && check_list(s, &head) &&
		(head.serial == s->serial || take_list(s, connection, &head));

	if (well)
	{
		memcpy(s->identity, head.identity, sizeof s->identity);
		s->serial = head.serial;
		s->built = head.built;
		/* of a standby it isn't known */
		s->true_at = s->standby ? 0 : head.true_at;
		s->complete = true;
	}
	return server_end(connection) && well;
}
