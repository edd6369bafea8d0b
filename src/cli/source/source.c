/*
 * source.c
 *	  What looks at an index and at a list have in common: the server, its clock, and the
 *	  image that they fill.
 */
#include "source.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

int64_t
source_number(const PGresult *row, int column)
{
	const uint8_t *bytes = (const uint8_t *) PQgetvalue(row, 0, column);
	int			length = PQgetlength(row, 0, column);
	uint64_t	value = 0;
	int			i;

	for (i = 0; i < length; i++)
		value = value << 8 | bytes[i];
	return (int64_t) value;
}

PGresult *
source_row(PGresult *rows, const char *problem, const char *name)
{
	if (rows == NULL || (PQntuples(rows) == 1 && !PQgetisnull(rows, 0, 0)))
		return rows;
	complain(problem, name);
	PQclear(rows);
	return NULL;
}

bool
source_refuse(source *s, const char *reason)
{
	s->reason = reason;
	return false;
}

/* An index's, of the cluster and the database: one of the same name elsewhere has other keys. */
static void
set_identity(list_news *news, const char *database)
{
	char	   *text = text_of("%s/%s", news->system, database);

	(void) crypto_generichash(news->identity, sizeof news->identity, (const unsigned char *) text, strlen(text), NULL, 0);
	/* a UUID of version 8 */
	news->identity[6] = (uint8_t) (0x80 | (news->identity[6] & 0x0f));
	news->identity[8] = (uint8_t) (0x80 | (news->identity[8] & 0x3f));
	free(text);
}

/* Which server it is; false if what is known came from another one. */
static bool
find_server(source *s)
{
	PGresult   *rows;

	rows = server_query(s->connection, "SELECT pg_catalog.quote_ident(n.nspname), s.system_identifier::pg_catalog.text,"
						" pg_catalog.pg_is_in_recovery()::pg_catalog.text, d.oid::pg_catalog.text"
						" FROM pg_catalog.pg_extension AS e JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace"
						" JOIN pg_catalog.pg_database AS d ON d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database(),"
						" pg_catalog.pg_control_system() AS s WHERE e.extname OPERATOR(pg_catalog.=) 'bloomfilter'");
	rows = source_row(rows, "the extension %s is not in this database", "bloomfilter");
	if (rows == NULL)
		return false;
	free(s->schema);
	free(s->news.system);
	s->schema = text_of("%s", PQgetvalue(rows, 0, 0));
	s->news.system = text_of("%s", PQgetvalue(rows, 0, 1));
	s->standby = PQgetlength(rows, 0, 2) == 4;	/* true */
	if (s->plan.list == NULL)
		set_identity(&s->news, PQgetvalue(rows, 0, 3));
	PQclear(rows);
	free(s->address);
	/* older libpqs have NULL for a port that was given as '' */
	s->address = text_of("host=%s port=%s dbname=%s", PQhost(s->connection), PQport(s->connection) != NULL ? PQport(s->connection) : "",
						 PQdb(s->connection));
	if (s->known_system[0] == '\0' || strcmp(s->news.system, s->known_system) == 0)
		return true;
	complain("another server answers than the one before; if it took that one's place, begin anew, an export with --new-source");
	return source_refuse(s, "identity");
}

bool
source_check_clock(source *s, uint64_t true_at)
{
	uint64_t	now = time_now();
	uint64_t	difference = true_at > now ? true_at - now : now - true_at;

	/* serials are times, but a standby's time is that of its last transaction */
	if (true_at == 0 || difference <= CLOCKS_DIFFER * UINT64_C(1000000) || (s->standby && true_at < now))
		return true;
	complain("this host's clock and the server's differ by %" PRIu64 " s; set them right", difference / 1000000);
	return source_refuse(s, "clock");
}

/* ------------------------------------------------------------------------
 * What came
 * ------------------------------------------------------------------------ */

void
source_or(source *s, uint32_t part, uint64_t at, const uint8_t *bytes, uint64_t length)
{
	list_news  *news = &s->news;

	image_or(&news->image, part, at, bytes, length, !news->new_epoch);
	/* to note still more would take much memory */
	if (news->image.news_count > image_bytes(&news->image) / SOURCE_PATCH_SHARE)
	{
		image_forget_news(&news->image);
		news->new_epoch = true;
		news->reason = WHOLE_LONG;
	}
}

void
source_fill(source *s, list_image *whole, bool fewer, whole_reason fitting)
{
	list_news  *news = &s->news;
	uint32_t	i;
	uint64_t	at;

	if (fewer)
	{
		news->reason = news->image.count == 0 ? WHOLE_FOLDER : image_fits(&news->image, whole->parts, whole->count) ? fitting :
			WHOLE_GEOMETRY;
		image_free(&news->image);
		news->image = *whole;
		memset(whole, 0, sizeof *whole);
		news->new_epoch = true;
		return;
	}
	for (i = 0; i < whole->count; i++)
		for (at = 0; at < whole->parts[i].length; at += FEED_PAGE)
			source_or(s, i, at, whole->bodies[i] + at, whole->parts[i].length - at < FEED_PAGE ? whole->parts[i].length - at : FEED_PAGE);
}

/* ------------------------------------------------------------------------
 * Looks
 * ------------------------------------------------------------------------ */

bool
source_begin(source *s)
{
	const char *name = s->plan.list != NULL ? s->plan.list : s->plan.index;
	char	   *quoted = PQescapeLiteral(s->connection, name, strlen(name));
	/* nothing has a name that is no text in the connection's encoding */
	char	   *literal = text_of("%s", quoted != NULL ? quoted : "NULL");
	bool		found;

	PQfreemem(quoted);
	s->reason = "no-look";
	free(s->token);
	free(s->index);
	free(s->news.name);
	s->token = s->index = s->news.name = NULL;
	s->changes_xmin = 0;
	found = find_server(s);
	if (s->plan.list == NULL)
	{
		found = found && index_begin(s, literal);
		free(literal);
		return found;
	}
	s->index = literal;
	s->news.name = text_of("%s", name);
	return found;
}

bool
source_look(source *s)
{
	double		begun = monotonic_seconds();
	bool		list = s->plan.list != NULL;
	bool		well;

	s->reason = "no-look";
	well = server_command(s->connection, list ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" : "BEGIN") &&
		/* without nested loops, for the reasons that the server's bfpg_run_statement has */
		server_command(s->connection, "SELECT pg_catalog.set_config('search_path', 'pg_catalog', true), pg_catalog.set_config('jit', 'off', true),"
					   " pg_catalog.set_config('enable_nestloop', 'off', true)") &&
		find_server(s) && (list ? list_look(s) : index_look(s)) &&
		server_command(s->connection, "COMMIT");
	s->counts.seconds += monotonic_seconds() - begun;
	s->counts.looks++;
	return well;
}

void
source_forget_news(source *s)
{
	image_forget_news(&s->news.image);
	s->news.changes.news.count = 0;
	s->news.new_epoch = false;
}

void
source_free(source *s)
{
	PQfinish(s->connection);
	image_free(&s->news.image);
	entries_free(&s->news.changes.all);
	entries_free(&s->news.changes.news);
	free(s->news.name);
	free(s->news.system);
	free(s->schema);
	free(s->index);
	free(s->address);
	free(s->token);
}
