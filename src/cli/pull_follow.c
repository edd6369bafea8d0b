/*
 * pull_follow.c
 *	  Staying with the server: a look every so often, and at each NOTIFY.
 *
 * Truth comes from looking.  NOTIFY makes it come sooner, where it can be listened
 * to: notifications get lost with connections, are never sent by who forgets them,
 * and reach nobody behind a pooler or on a standby.
 *
 * LISTEN comes before the look, on the same connection: what is published after
 * LISTEN sends a notification, and what was published before is seen by the look.
 * Any failure ends the connection; the next one begins with both again.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pull.h"

/*
 * Seconds to wait after a failure: doubled each time up to the limit, and a random
 * half taken off, so that many clients don't return at the same moment.
 */
#define FIRST_WAIT	1.0
#define LONGEST_WAIT	60.0

/* Why no notifications can be waited for, of which each is said once. */
typedef enum silence
{
	NO_SILENCE,
	NO_CHANNEL,
	STANDBY,
	POOLER,
	REFUSED
} silence;

static const char *const silences[] = {
	NULL,
	NULL,
	"the server is a standby, where LISTEN is refused",
	"a pooler stands before the server, and notifications don't come through it",
	"the server refuses LISTEN"
};

/*
 * Behind a pooler the process that answers is not the one that the connection was
 * made to.  A LISTEN would then stay with a process that serves others, too.
 */
static silence
look_for_silence(PGconn *connection)
{
	PGresult   *rows = server_query(connection,
									"SELECT pg_catalog.pg_is_in_recovery()::pg_catalog.text,"
									" pg_catalog.pg_backend_pid()::pg_catalog.text");
	silence		found = NO_SILENCE;
	char		pid[16];

	if (rows == NULL)
		return REFUSED;
	snprintf(pid, sizeof pid, "%d", PQbackendPID(connection));
	if (PQgetlength(rows, 0, 0) == 4)	/* true */
		found = STANDBY;
	else if (strlen(pid) != (size_t) PQgetlength(rows, 0, 1) ||
			 memcmp(pid, PQgetvalue(rows, 0, 1), strlen(pid)) != 0)
		found = POOLER;
	PQclear(rows);
	return found;
}

static bool
listen_to(const pull_plan *plan, PGconn *connection)
{
	char	   *channel = PQescapeIdentifier(connection, plan->channel,
											 strlen(plan->channel));
	char	   *sql;
	bool		listening;

	if (channel == NULL)
	{
		complain("bad channel: %s", server_problem(connection, NULL));
		return false;
	}
	sql = text_of("LISTEN %s", channel);
	PQfreemem(channel);
	listening = server_command(connection, sql);
	free(sql);
	return listening;
}

static silence
start_listening(const pull_plan *plan, PGconn *connection)
{
	static silence said = NO_SILENCE;
	silence		reason;

	if (plan->channel == NULL)
		return NO_CHANNEL;
	reason = look_for_silence(connection);
	if (reason == NO_SILENCE && !listen_to(plan, connection))
		reason = REFUSED;
	/* of a connection that has failed the next look tells */
	if (reason != said && reason != NO_SILENCE && PQstatus(connection) == CONNECTION_OK &&
		!stop_requested())
		complain("not listening to \"%s\": %s; looking every %d s", plan->channel,
				 silences[reason], plan->every);
	said = reason;
	return reason;
}

void
follow_listen(const pull_plan *plan, PGconn *connection)
{
	(void) start_listening(plan, connection);
}

/* Whether notifications came; one look answers all of them, and they name no list. */
static bool
take_notifications(PGconn *connection)
{
	PGnotify   *notification;
	bool		any = false;

	while ((notification = PQnotifies(connection)) != NULL)
	{
		any = true;
		PQfreemem(notification);
	}
	return any;
}

/* A random tenth is taken off, so that many clients don't look at the same moment. */
static double
next_look(const pull_plan *plan)
{
	return monotonic_seconds() +
		plan->every * (0.9 + 0.1 * (double) random() / (double) 0x7fffffff);
}

bool
follow_wait(const pull_plan *plan, PGconn *connection, bool *told)
{
	double		until = next_look(plan);

	while (!(*told = take_notifications(connection)))
	{
		double		left = until - monotonic_seconds();

		if (left <= 0)
			return true;
		if (!stop_wait(PQsocket(connection), left))
		{
			if (stop_requested())
				return false;
			continue;
		}
		if (!PQconsumeInput(connection))
		{
			complain("lost the connection: %s", server_problem(connection, NULL));
			return false;
		}
	}
	return true;
}

/* Until something fails; returns whether a look went well before. */
static bool
stay(pull_plan *plan, PGconn *connection)
{
	silence		reason = start_listening(plan, connection);
	bool		looked = false;
	bool		told = true;

	while (PQstatus(connection) == CONNECTION_OK && pull_once(plan, connection, told))
	{
		looked = true;
		if (!follow_wait(plan, connection, &told))
			break;
		/* that of another list is no news */
		told = told && plan->list == NULL;
		/* it becomes the primary without a new connection */
		if (reason == STANDBY)
			reason = start_listening(plan, connection);
	}
	return looked;
}

static double
jitter(double seconds)
{
	return seconds * (0.5 + 0.5 * (double) random() / (double) 0x7fffffff);
}

void
pull_forever(pull_plan *plan)
{
	double		next_wait = FIRST_WAIT;

	srandom((unsigned) time(NULL) ^ (unsigned) getpid());
	while (!stop_requested())
	{
		PGconn	   *connection = server_connect(plan->dsn, plan->quiet, true);

		if (connection == NULL && !stop_requested())
			note_failure(plan, NULL);
		if (connection != NULL && stay(plan, connection))
			next_wait = FIRST_WAIT;
		PQfinish(connection);
		if (stop_requested())
			break;
		stop_wait(-1, jitter(next_wait));
		next_wait = next_wait * 2 < LONGEST_WAIT ? next_wait * 2 : LONGEST_WAIT;
	}
}
