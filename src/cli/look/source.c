/*
 * source.c
 *	  What looks at an index and at a list have in common: the server, its clock, and the
 *	  copy that they fill.
 */
#include "source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "messages.h"
#include "system.h"

char *
source_field(const PGresult *rows, int row, int column)
{
	return text_of("%.*s", PQgetlength(rows, row, column), PQgetvalue(rows, row, column));
}

PGresult *
source_row(PGconn *connection, const char *sql, const char *problem)
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

bool
source_refuse(source *s, const char *word)
{
	s->word = word;
	return false;
}

/* Takes the server's identifier; false if what is known came from another server. */
static bool
take_system(source *s, char *system)
{
	free(s->system);
	s->system = system;
	if (s->known_system[0] == '\0' || strcmp(system, s->known_system) == 0)
		return true;
	complain("another server answers than the one before; if it took that one's place, say --new-source");
	return source_refuse(s, "identity");
}

bool
source_find_server(source *s, PGconn *connection)
{
	PGresult   *rows;
	char		pid[16];
	bool		right;

	rows = source_row(connection, "SELECT pg_catalog.quote_ident(n.nspname), s.system_identifier::pg_catalog.text,"
					  " pg_catalog.pg_is_in_recovery()::pg_catalog.text, pg_catalog.pg_backend_pid()::pg_catalog.text"
					  " FROM pg_catalog.pg_extension AS e JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace,"
					  " pg_catalog.pg_control_system() AS s WHERE e.extname OPERATOR(pg_catalog.=) 'bloomfilter'",
					  "the extension bloomfilter is not in this database");
	if (rows == NULL)
		return false;
	free(s->schema);
	s->schema = source_field(rows, 0, 0);
	s->standby = PQgetlength(rows, 0, 2) == 4;	/* true */
	snprintf(pid, sizeof pid, "%d", PQbackendPID(connection));
	s->pooled = strlen(pid) != (size_t) PQgetlength(rows, 0, 3) ||
		memcmp(pid, PQgetvalue(rows, 0, 3), strlen(pid)) != 0;
	right = take_system(s, source_field(rows, 0, 1));
	PQclear(rows);
	free(s->place);
	s->place = server_place(connection);
	return right;
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

void
source_renew(source *s, const feed_part *parts, uint32_t count, source_reason fitting)
{
	s->reason = s->copy.count == 0 ? SOURCE_FIRST : copy_fits(&s->copy, parts, count) ? fitting : SOURCE_RESIZED;
	copy_free(&s->copy);
	copy_create(&s->copy, parts, count);
	s->complete = false;
	s->new_epoch = true;
	s->too_many = false;
}

bool
source_begin(source *s, PGconn *connection)
{
	s->word = "no-look";
	free(s->token);
	s->token = NULL;
	return source_find_server(s, connection) &&
		(s->plan.list != NULL ? list_begin(s, connection) : index_begin(s, connection));
}

bool
source_look(source *s, PGconn *connection)
{
	double		begun = monotonic_seconds();
	bool		well;

	s->word = "no-look";
	well = s->plan.list != NULL ? list_look(s, connection) : index_look(s, connection);
	s->counts.seconds += monotonic_seconds() - begun;
	s->counts.looks++;
	return well;
}

bool
source_wait(source *s, PGconn *connection, double begun)
{
	double		until = begun + s->plan.every;

	if (s->plan.list != NULL)
		return listen_wait(s, connection, until);
	stop_wait(-1, until - monotonic_seconds());
	return !stop_requested();
}

void
source_settle(source *s)
{
	copy_settle(&s->copy);
	s->new_epoch = false;
	s->too_many = false;
}

void
source_free(source *s)
{
	copy_free(&s->copy);
	free(s->schema);
	free(s->index);
	free(s->name);
	free(s->system);
	free(s->place);
	free(s->token);
}
