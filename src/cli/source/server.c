/*
 * server.c
 *	  Questions to a PostgreSQL server that a signal can interrupt.
 *
 * Results are asked for in binary form and through the extended protocol, which
 * takes one statement at a time.
 */
#include "source.h"

#include <stdlib.h>
#include <string.h>

#include "looks.h"

/* How long the server may be silent, seconds. */
static double longest_silence;
static bool was_silent;

/* What went wrong last, valid until the connection is used again. */
static const char *
problem_of(PGconn *connection, const PGresult *result)
{
	const char *primary = result == NULL ? NULL : PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);

	return primary != NULL ? primary : PQerrorMessage(connection);
}

void
server_check_dsn(const char *dsn)
{
	char	   *message = NULL;
	PQconninfoOption *options = PQconninfoParse(dsn, &message);

	if (options == NULL)
		fail("bad connection string in --dsn: %s", message == NULL ? "out of memory" : message);
	PQconninfoFree(options);
}

/* A PQnoticeProcessor: nothing that is asked here has something to say besides. */
static void
ignore_notice(UNUSED void *state, UNUSED const char *message)
{
}

/*
 * Else what others planted on the role's search_path could run with its rights.  Behind a pooler the
 * session serves others, too: there each transaction sets it, and what is asked outside of one is
 * qualified to its operators.
 */
static bool
set_path(PGconn *connection)
{
	PGresult   *set = server_query(connection, "SELECT pg_catalog.set_config('search_path', 'pg_catalog', false)"
								   " WHERE pg_catalog.pg_backend_pid() OPERATOR(pg_catalog.=) %d", PQbackendPID(connection));

	PQclear(set);
	return set != NULL;
}

/*
 * A server that vanished without a word is noticed.  The connection string comes behind:
 * what it says about these holds, and so does the environment.
 */
PGconn *
server_connect(const char *dsn, const char *program, double silence)
{
	const char *const keywords[] = {
		"connect_timeout", "keepalives_idle", "keepalives_interval", "keepalives_count",
		"tcp_user_timeout", "fallback_application_name", "dbname", NULL
	};
	const char *const values[] = {"10", "60", "10", "6", "60000", program, dsn, NULL};
	int			first = getenv("PGCONNECT_TIMEOUT") != NULL ? 1 : 0;
	PGconn	   *connection = PQconnectdbParams(keywords + first, values + first, 1);

	longest_silence = silence;
	if (PQstatus(connection) == CONNECTION_OK)
	{
		PQsetNoticeProcessor(connection, ignore_notice, NULL);
		if (set_path(connection))
			return connection;
	}
	else
		complain("cannot connect: %s", problem_of(connection, NULL));
	PQfinish(connection);
	return NULL;
}

/* Whether the server has sent something before it was silent for too long. */
static bool
wait_for_server(PGconn *connection)
{
	if (was_silent)
		return false;
	if (stop_wait(PQsocket(connection), longest_silence))
		return true;
	was_silent = !stop_requested();
	if (was_silent)
		complain("the server has not answered for %.0f s", longest_silence);
	return false;
}

/* The next result as PQgetResult gives it; NULL also when a signal came, or nothing for too long. */
static PGresult *
next_result(PGconn *connection)
{
	while (PQisBusy(connection))
	{
		if (!wait_for_server(connection))
			return NULL;
		/* a failure shows in the result */
		if (!PQconsumeInput(connection))
			break;
	}
	return PQgetResult(connection);
}

static bool
refuse_result(PGconn *connection, PGresult *result)
{
	if (!stop_requested() && !was_silent)
		complain("the server refused: %s", problem_of(connection, result));
	PQclear(result);
	return false;
}

static bool
send_query(PGconn *connection, const char *sql, va_list values)
{
	char	   *text = text_of_list(sql, values);
	bool		sent = PQsendQueryParams(connection, text, 0, NULL, NULL, NULL, NULL, 1) == 1;

	free(text);
	was_silent = false;
	return sent || refuse_result(connection, NULL);
}

PGresult *
server_query(PGconn *connection, const char *sql,...)
{
	va_list		values;
	PGresult   *result;
	PGresult   *next;
	ExecStatusType status;
	bool		sent;

	va_start(values, sql);
	sent = send_query(connection, sql, values);
	va_end(values);
	if (!sent)
		return NULL;
	/* to the end of the results, which makes the connection ready again: the first one says why there are no others */
	result = next_result(connection);
	while ((next = next_result(connection)) != NULL)
		PQclear(next);
	status = PQresultStatus(result);
	if (!was_silent && !stop_requested() && (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK))
		return result;
	refuse_result(connection, result);
	return NULL;
}

bool
server_command(PGconn *connection, const char *sql)
{
	PGresult   *result = server_query(connection, "%s", sql);

	PQclear(result);
	return result != NULL;
}

bool
server_stream(PGconn *connection, row_function function, void *state, const char *sql,...)
{
	va_list		values;
	PGresult   *row;
	bool		went_well;

	va_start(values, sql);
	went_well = send_query(connection, sql, values);
	va_end(values);
	if (went_well)
		PQsetSingleRowMode(connection);
	while (went_well && (row = next_result(connection)) != NULL)
	{
		ExecStatusType status = PQresultStatus(row);

		if (status == PGRES_SINGLE_TUPLE)
			went_well = function(state, row);
		else if (status != PGRES_TUPLES_OK)
			return refuse_result(connection, row);
		PQclear(row);
	}
	return went_well && !was_silent && !stop_requested();
}
