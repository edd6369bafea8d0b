/*
 * pull_listen.c
 *	  Staying with the server, and pulling again at each NOTIFY.
 *
 * LISTEN comes before the pull, on the same connection: what is published after
 * LISTEN sends a notification, and what was published before is seen by the pull.
 * Any failure ends the connection; the next one begins with LISTEN and a pull
 * again, so nothing is missed while there was none.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "paths.h"
#include "pull.h"
#include "stop.h"

/*
 * Seconds to wait after a failure: doubled each time up to the limit, and a random
 * half taken off, so that many clients don't return at the same moment.
 */
#define FIRST_WAIT	1.0
#define LONGEST_WAIT	60.0

static bool
start_listening(const pull_plan *plan, PGconn *connection)
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

/* Whether notifications came; one pull answers all of them. */
static bool
take_notifications(PGconn *connection)
{
	PGnotify   *notification;
	bool		any = false;

	while ((notification = PQnotifies(connection)) != NULL)
	{
		PQfreemem(notification);
		any = true;
	}
	return any;
}

/* False when the connection is lost or a signal came. */
static bool
wait_for_notification(PGconn *connection)
{
	while (!take_notifications(connection))
	{
		if (!stop_wait(PQsocket(connection), -1))
			return false;
		if (!PQconsumeInput(connection))
		{
			complain("lost the connection: %s", server_problem(connection, NULL));
			return false;
		}
	}
	return true;
}

/* Until something fails; returns whether a pull went well before. */
static bool
listen_on(const pull_plan *plan, PGconn *connection)
{
	bool		pulled = false;

	if (!start_listening(plan, connection))
		return false;
	while (pull_once(plan, connection))
	{
		pulled = true;
		/* notifications come between transactions only */
		if (!server_command(connection, "COMMIT") ||
			!wait_for_notification(connection))
			break;
	}
	return pulled;
}

static double
jitter(double seconds)
{
	return seconds * (0.5 + 0.5 * (double) random() / (double) 0x7fffffff);
}

void
pull_forever(const pull_plan *plan)
{
	double		next_wait = FIRST_WAIT;

	srandom((unsigned) time(NULL) ^ (unsigned) getpid());
	while (!stop_requested())
	{
		PGconn	   *connection = server_connect(plan->dsn);

		if (connection != NULL && listen_on(plan, connection))
			next_wait = FIRST_WAIT;
		PQfinish(connection);
		if (stop_requested())
			break;
		stop_wait(-1, jitter(next_wait));
		next_wait = next_wait * 2 < LONGEST_WAIT ? next_wait * 2 : LONGEST_WAIT;
	}
}
