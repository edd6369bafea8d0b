/*
 * listen.c
 *	  Waiting for what is published.
 *
 * Truth comes from looking.  NOTIFY makes it come sooner, where it can be listened to:
 * notifications get lost with connections, and reach nobody behind a pooler or on a
 * standby.
 *
 * LISTEN comes before the look, on the same connection: what is published after LISTEN
 * sends a notification, and what was published before is seen by the look.
 */
#include <string.h>

#include "messages.h"
#include "source.h"

/* Of NOTIFY, at each publish. */
#define CHANNEL "bloom_published"

/* Why no notifications can be waited for, of which each is said once. */
typedef enum silence
{
	NO_SILENCE,
	STANDBY,
	POOLER,
	REFUSED
} silence;

static const char *const silences[] = {
	NULL,
	"the server is a standby, where LISTEN is refused",
	"a pooler stands before the server, and notifications don't come through it",
	"the server refuses LISTEN"
};

void
listen_begin(source *s, PGconn *connection)
{
	int			before = s->silence;

	s->silence = s->standby ? STANDBY : s->pooled ? POOLER :
		server_command(connection, "LISTEN " CHANNEL) ? NO_SILENCE : REFUSED;
	/* of a connection that has failed the next look tells */
	if (s->silence != before && s->silence != NO_SILENCE && PQstatus(connection) == CONNECTION_OK && !stop_requested())
		complain("not listening to \"" CHANNEL "\": %s; looking every %g s", silences[s->silence], s->plan.every);
}

/* Whether notifications came: they name no list, and one look answers all of them. */
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

bool
listen_wait(source *s, PGconn *connection, double until)
{
	/* a standby becomes the primary without a new connection */
	if (s->silence == STANDBY && !s->standby)
		listen_begin(s, connection);
	while (!take_notifications(connection))
	{
		double		left = until - monotonic_seconds();

		if (left <= 0)
			break;
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
	return !stop_requested();
}
