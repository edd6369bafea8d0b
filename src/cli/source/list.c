/*
 * list.c
 *	  A published list, from the server into an image in memory.
 *
 * A list has an identity and a serial of its own, which are carried.  It is read, all in one
 * snapshot, when its serial is not that of what is here, which is compared with the server's
 * checksums at the first look.  Where nothing but bits came, these are news; else another epoch
 * begins, as it does with each serial of an exact list.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source.h"

/* Bytes of a chunk: so many that a round trip or a row costs nothing beside them. */
#define CHUNK_BYTES ((uint64_t) 1024 * 1024)

/* All changes by day are read so often, whatever is new; and then a server that lacks some is told of. */
#define ALL_CHANGES_SECONDS 60.0

/* What the server says of the list. */
typedef struct list_head
{
	uint64_t	serial;
	uint8_t		identity[FEED_IDENTITY_BYTES];
	uint64_t	true_at;		/* all that was published before is in this snapshot */
	bool		tracked;		/* there may be changes by day */
	uint64_t	xmin;			/* older transactions had ended in this snapshot */
	char		server[96];		/* which it is of, and since when that runs */
} list_head;

static bool
read_head(source *s, list_head *head)
{
	PGresult   *rows = server_query(s->connection, "SELECT serial, identity,"
								   " pg_catalog.floor(EXTRACT(epoch FROM pg_catalog.transaction_timestamp()) OPERATOR(pg_catalog.*) 1000000.0)"
								   "::pg_catalog.int8, coalesce(tracked, false)::pg_catalog.int4::pg_catalog.int8,"
								   " pg_catalog.pg_snapshot_xmin(pg_catalog.pg_current_snapshot())::pg_catalog.text::pg_catalog.int8,"
								   " pg_catalog.concat(pg_catalog.pg_postmaster_start_time(), pg_catalog.pg_stat_get_bgwriter_stat_reset_time())"
								   " FROM %s.bloom_list WHERE name OPERATOR(pg_catalog.=) %s", s->schema, s->index);
	bool		right;

	rows = source_row(rows, "there is no published list \"%s\": bloom_published has the names", s->plan.list);
	right = rows != NULL && PQgetlength(rows, 0, 1) == FEED_IDENTITY_BYTES && source_number(rows, 0) > 0;
	if (right)
	{
		head->serial = (uint64_t) source_number(rows, 0);
		memcpy(head->identity, PQgetvalue(rows, 0, 1), FEED_IDENTITY_BYTES);
		head->true_at = (uint64_t) source_number(rows, 2);
		head->tracked = source_number(rows, 3) != 0;
		head->xmin = (uint64_t) source_number(rows, 4);
		/*
		 * A standby that was promoted has the same identifier, and gives the numbers of lost transactions again.  So
		 * does a server that crashed, whose postmaster goes on: its statistics begin anew.
		 */
		snprintf(head->server, sizeof head->server, "%s %s", s->news.system, PQgetvalue(rows, 0, 5));
	}
	else if (rows != NULL)
		complain("the list \"%s\" has no serial and identity", s->plan.list);
	PQclear(rows);
	return right;
}

/* Whether the server's list is the one that is known, and not older. */
static bool
check_list(source *s, const list_head *head)
{
	uint64_t	had = s->news.serial != 0 ? s->news.serial : s->known_serial;

	if (s->known && memcmp(head->identity, s->known_identity, FEED_IDENTITY_BYTES) != 0)
	{
		complain("the list \"%s\" has another identity than before: it was made anew, or is another database's; %s", s->plan.list,
				 s->plan.cure);
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

/* The parts of a list, as they come in one by one. */
typedef struct list_parts
{
	source	   *s;
	const PGresult *headers;	/* a row of each */
	uint8_t    *filter;
	uint64_t	length;
	uint64_t	got;
} list_parts;

/* A row_function: the next chunk. */
static bool
take_chunk(void *state, const PGresult *row)
{
	list_parts *in = state;
	uint64_t	length = (uint64_t) PQgetlength(row, 0, 0);

	if (length <= in->length - in->got)
		memcpy(in->filter + in->got, PQgetvalue(row, 0, 0), (size_t) length);
	in->got += length;
	return in->got <= in->length;
}

/* The header of a part, which must be the one of this number.  Returns NULL, or what is wrong. */
static const char *
read_header(const PGresult *headers, uint32_t part, feed_part *header)
{
	const char *problem = feed_part_read((const uint8_t *) PQgetvalue(headers, (int) part, 0),
										 (uint64_t) PQgetlength(headers, (int) part, 0), header);

	if (problem == NULL && !feed_is_part(header, part, (uint32_t) PQntuples(headers)))
		problem = "another part";
	return problem;
}

/*
 * A filter_getter.  The series begins at an expression of the row, which is always 0, so that the
 * planner must read the filter's row once and go through the series for it.
 */
static const char *
get_part(void *state, uint32_t part, uint8_t **filter, uint64_t *length)
{
	list_parts *in = state;
	const source *s = in->s;
	feed_part	head;
	const char *problem = read_header(in->headers, part, &head);
	bool		streamed;

	if (problem != NULL)
		return problem;
	in->got = 0;
	in->length = *length = feed_before(&head) + head.length;
	in->filter = *filter = allocate(NULL, *length, 1);
	streamed = server_stream(s->connection, take_chunk, in, "SELECT %s.bloom_chunk(l.filter, g.o, %" PRIu64 ") FROM %s.bloom_list_part AS l"
							 " CROSS JOIN LATERAL pg_catalog.generate_series((l.filter IS NULL)::pg_catalog.int4::pg_catalog.int8,"
							 " %" PRIu64 ", %" PRIu64 ") AS g(o)"
							 " WHERE l.name OPERATOR(pg_catalog.=) %s AND l.part OPERATOR(pg_catalog.=) %" PRIu32,
							 s->schema, CHUNK_BYTES, s->schema, *length - 1, CHUNK_BYTES, s->index, part);
	if (streamed && in->got == *length)
		return NULL;
	if (streamed || in->got > *length)
		complain("the server sent %" PRIu64 " of %" PRIu64 " bytes", in->got, *length);
	return "";
}

static bool
refuse_part(source *s, uint32_t part, const char *problem)
{
	complain("part %" PRIu32 " of the list \"%s\" is not valid: %s", part, s->plan.list, problem);
	return source_refuse(s, "damaged");
}

/* Whether the parts of these headers are what is here. */
static bool
has_parts(source *s, const PGresult *headers)
{
	uint32_t	count = (uint32_t) PQntuples(headers);
	bool		has = true;
	uint32_t	i;

	if (count == 0)
		return refuse_part(s, 0, "there is none");
	for (i = 0; i < count && has; i++)
	{
		feed_part	part;
		const char *problem = read_header(headers, i, &part);

		if (problem != NULL)
			return refuse_part(s, i, problem);
		has = s->has_part(s->state, &part);
	}
	if (has)
		return true;
	complain("the list \"%s\" has other bits than before under the same serial: two servers publish under one identity", s->plan.list);
	return source_refuse(s, "back");
}

/* Whether the whole has all bits of the image, and so few more that a patch pays. */
static bool
is_superset(const list_image *image, const list_image *whole)
{
	uint64_t	bits = 0;
	uint32_t	i;

	if (image->count == 0 || feed_are_exact(whole->parts, whole->count) || !image_fits(image, whole->parts, whole->count))
		return false;
	for (i = 0; i < whole->count; i++)
		bits += whole->parts[i].shape.level[0].bits_set - image->parts[i].shape.level[0].bits_set;
	if (bits > image_bytes(image) / SOURCE_PATCH_SHARE)
		return false;
	for (i = 0; i < whole->count; i++)
	{
		const uint8_t *now = whole->bodies[i];
		const uint8_t *was = image->bodies[i];
		uint64_t	at;

		for (at = 0; at < whole->parts[i].length; at++)
			if (was[at] & ~(unsigned) now[at])
				return false;
	}
	return true;
}

/* ------------------------------------------------------------------------
 * A look
 * ------------------------------------------------------------------------ */

/* Fills the image with a list that isn't in it. */
static bool
fetch_list(source *s, const PGresult *headers, bool tracked)
{
	list_parts	in = {.s = s, .headers = headers};
	list_image	whole;
	uint32_t	part;
	const char *problem = image_read(&whole, (uint32_t) PQntuples(headers), get_part, &in, &part);

	s->counts.whole_reads++;
	if (problem != NULL)
		return problem[0] != '\0' && refuse_part(s, part, problem);
	/* each file of a tracked list has the changes of its own serial: so no bits come into an older one */
	source_fill(s, &whole, tracked || !is_superset(&s->news.image, &whole), WHOLE_REMOVED);
	image_free(&whole);
	return true;
}

/* A list of a serial that isn't in the image: it is what is here, or is fetched. */
static bool
take_list(source *s, const list_head *head)
{
	bool		here = s->has_part != NULL && s->known && head->serial == s->known_serial && head->tracked == s->known_tracked;
	PGresult   *headers = server_query(s->connection, "SELECT %s.bloom_chunk(filter, 0::pg_catalog.int8, %d) FROM %s.bloom_list_part"
									   " WHERE name OPERATOR(pg_catalog.=) %s ORDER BY part", s->schema, FEED_FRONT_BYTES, s->schema, s->index);
	bool		taken = headers != NULL && (here ? has_parts(s, headers) : fetch_list(s, headers, head->tracked));

	PQclear(headers);
	return taken;
}

/* ------------------------------------------------------------------------
 * Changes by day
 * ------------------------------------------------------------------------ */

enum
{
	HASH,
	TAG,
	VALUE,
	VERSION
};

/* A row_function. */
static bool
take_change(void *state, const PGresult *row)
{
	entry_list *read = state;
	feed_entry	entry;

	if (read->count == FEED_MOST_ENTRIES)
		return complain("more than %" PRIu64 " changes: publish the list", FEED_MOST_ENTRIES);
	if (PQgetlength(row, 0, TAG) != FEED_TAG_BYTES || PQgetlength(row, 0, VALUE) != 1 || source_number(row, VERSION) < 1)
		return complain("the server's answer is not that of bloom_list_change");
	entry.hash = (uint64_t) source_number(row, HASH);
	memcpy(entry.tag, PQgetvalue(row, 0, TAG), FEED_TAG_BYTES);
	entry.state = (uint64_t) source_number(row, VERSION) << 1 | (uint64_t) (source_number(row, VALUE) & 1);
	entries_add(read, &entry, 1);
	return true;
}

/*
 * Changes are new that transactions wrote which the snapshot before didn't see to have ended: by
 * the row's own xmin, which is this server's also where the rows came by replication or from a
 * dump.  A number that comes again after 2^31 transactions reads more, and nothing less.
 */
static bool
read_changes(source *s, bool all, entry_list *read)
{
	char	   *since = all ? text_of("%s", "") :
		text_of(" AND pg_catalog.age(changed_xmin) OPERATOR(pg_catalog.<=) pg_catalog.age('%" PRIu32 "'::pg_catalog.xid)",
				(uint32_t) s->changes_xmin);
	bool		streamed = server_stream(s->connection, take_change, read,
										 "SELECT hash, tag, value, version FROM %s.bloom_list_change"
										 " WHERE name OPERATOR(pg_catalog.=) %s%s", s->schema, s->index, since);

	entries_unite(read);
	free(since);
	return streamed;
}

static bool
look_at_changes(source *s, const list_head *head)
{
	list_changes *changes = &s->news.changes;
	bool		all = s->changes_xmin == 0 || head->serial != changes->serial || strcmp(head->server, s->changes_server) != 0 ||
		monotonic_seconds() - s->changes_read >= ALL_CHANGES_SECONDS;
	entry_list	read = {NULL, 0, 0};
	bool		well;

	changes_begin(changes, head->serial);
	changes->tracked = head->tracked;
	if (!head->tracked)
		return true;
	well = read_changes(s, all, &read);
	if (well)
		changes_add(changes, &read, all);
	entries_free(&read);
	if (well && changes->all.count > FEED_MOST_ENTRIES)
		well = complain("%zu changes: publish the list", changes->all.count);
	s->changes_xmin = 0;
	if (!well)
		return false;
	s->changes_xmin = head->xmin;
	memcpy(s->changes_server, head->server, sizeof s->changes_server);
	if (!all)
		return true;
	s->changes_read = monotonic_seconds();
	if (changes->lacking > 0 && !s->standby)
		complain("the server lacks %" PRIu64 " changes of the list \"%s\" that hosts have: publish the list", changes->lacking,
				 s->plan.list);
	return true;
}

bool
list_look(source *s)
{
	list_news  *news = &s->news;
	list_head	head;
	bool		taken;

	if (!read_head(s, &head) || !source_check_clock(s, head.true_at) || !check_list(s, &head))
		return false;
	/* what becomes tracked, or is no more, is made anew: of an image, or of the server's parts */
	taken = head.serial == news->serial && (news->image.count > 0 || head.tracked == s->known_tracked);
	if (!taken && !take_list(s, &head))
		return false;
	memcpy(news->identity, head.identity, sizeof news->identity);
	news->serial = head.serial;
	if (!look_at_changes(s, &head))
		return false;
	/* of a standby it isn't known, nor where a server lost what it had committed */
	news->true_at = s->standby || news->changes.lacking > 0 ? 0 : head.true_at;
	return true;
}
