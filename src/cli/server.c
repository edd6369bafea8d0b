/*
 * server.c
 *	  Questions to a PostgreSQL server that a signal can interrupt.
 *
 * Results are asked for in binary form and through the extended protocol, which
 * takes one statement at a time.
 */
#include "server.h"

#include <stdio.h>
#include <string.h>

#include "messages.h"
#include "stop.h"

/* "undefined function": most likely the extension is not where we look. */
#define UNDEFINED_FUNCTION "42883"

/* Copies a message, its lines joined by "; ". */
static void
copy_line(char *line, size_t size, const char *message)
{
	size_t		length = 0;

	while (*message != '\0' && length + 3 < size)
	{
		if (*message != '\n')
			line[length++] = *message;
		else if (message[1] != '\0')
		{
			line[length++] = ';';
			line[length++] = ' ';
		}
		message += 1 + (*message == '\n' ? strspn(message + 1, "\n\t ") : 0);
	}
	line[length] = '\0';
}

const char *
server_problem(PGconn *connection, const PGresult *result)
{
	static char line[1024];
	const char *primary = result == NULL ? NULL :
		PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
	const char *state = result == NULL ? NULL :
		PQresultErrorField(result, PG_DIAG_SQLSTATE);

	copy_line(line, sizeof line - 128,
			  primary != NULL ? primary : PQerrorMessage(connection));
	if (state != NULL && strcmp(state, UNDEFINED_FUNCTION) == 0)
		strcat(line, "; is the extension's schema on the search path? see options=-csearch_path in bloomfilter(1)");
	return line;
}

void
server_check_dsn(const char *dsn)
{
	char	   *message = NULL;
	char		line[512];
	PQconninfoOption *options = PQconninfoParse(dsn, &message);

	if (options != NULL)
	{
		PQconninfoFree(options);
		return;
	}
	copy_line(line, sizeof line, message == NULL ? "out of memory" : message);
	fail("bad connection string in --dsn: %s", line);
}

PGconn *
server_connect(const char *dsn)
{
	const char *const keywords[] = {"dbname", "fallback_application_name", NULL};
	const char *const values[] = {dsn, "bloomfilter pull", NULL};
	PGconn	   *connection;

	stop_begin_immediate();
	connection = PQconnectdbParams(keywords, values, 1);
	stop_end_immediate();
	if (PQstatus(connection) == CONNECTION_OK)
		return connection;
	complain("cannot connect: %s", server_problem(connection, NULL));
	PQfinish(connection);
	return NULL;
}

/* The next result as PQgetResult gives it; NULL also when a signal came. */
static PGresult *
next_result(PGconn *connection)
{
	while (PQisBusy(connection))
	{
		if (!stop_wait(PQsocket(connection), -1))
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
	if (!stop_requested())
		complain("the server refused: %s", server_problem(connection, result));
	PQclear(result);
	return false;
}

static bool
send_query(PGconn *connection, const char *sql)
{
	if (PQsendQueryParams(connection, sql, 0, NULL, NULL, NULL, NULL, 1))
		return true;
	return refuse_result(connection, NULL);
}

PGresult *
server_query(PGconn *connection, const char *sql)
{
	PGresult   *result;
	ExecStatusType status;

	if (!send_query(connection, sql))
		return NULL;
	result = next_result(connection);
	status = PQresultStatus(result);
	if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
	{
		refuse_result(connection, result);
		result = NULL;
	}
	/* the end of the results, which makes the connection ready again */
	while (!stop_requested())
	{
		PGresult   *more = next_result(connection);

		if (more == NULL)
			break;
		PQclear(more);
	}
	return result;
}

bool
server_command(PGconn *connection, const char *sql)
{
	PGresult   *result = server_query(connection, sql);

	PQclear(result);
	return result != NULL;
}

bool
server_stream(PGconn *connection, const char *sql, row_function function,
			  void *state)
{
	PGresult   *row;
	bool		went_well = true;

	if (!send_query(connection, sql))
		return false;
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
	return went_well && !stop_requested();
}
