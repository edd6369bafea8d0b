/*
 * server.c
 *	  Questions to a PostgreSQL server that a signal can interrupt.
 *
 * Results are asked for in binary form and through the extended protocol, which
 * takes one statement at a time.
 *
 * A signal's handler writes to a pipe, which is waited for together with the
 * server's socket: so no signal is missed between a test and the wait.
 */
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "messages.h"

/* ------------------------------------------------------------------------
 * Signals
 * ------------------------------------------------------------------------ */

static volatile sig_atomic_t stopped_by;
static volatile sig_atomic_t immediate;
static volatile sig_atomic_t clean_end;
static volatile sig_atomic_t reload_caught;
static volatile sig_atomic_t reload_asked;
static int	pipe_ends[2];

void
stop_die(void)
{
	if (clean_end)
		_exit(STATUS_YES);
	signal(stopped_by, SIG_DFL);
	raise(stopped_by);
}

static void
handle(int signal_number)
{
	int			saved_errno = errno;
	ssize_t		written;

	if (signal_number == SIGHUP && reload_caught)
		reload_asked = 1;
	else
		stopped_by = signal_number;
	if (immediate && stopped_by != 0)
	{
		sigset_t	none;

		stop_die();
		/* the signal is blocked while it is handled, so it comes only now */
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
	}
	/* a full pipe has been written to already */
	written = write(pipe_ends[1], "", 1);
	(void) written;
	errno = saved_errno;
}

static void
open_pipe(void)
{
	size_t		i;

	if (pipe(pipe_ends) != 0)
		fail("cannot make a pipe: %s", strerror(errno));
	for (i = 0; i < 2; i++)
	{
		fcntl(pipe_ends[i], F_SETFL, O_NONBLOCK);
		fcntl(pipe_ends[i], F_SETFD, FD_CLOEXEC);
	}
}

void
stop_catch_again(void)
{
	close(pipe_ends[0]);
	close(pipe_ends[1]);
	open_pipe();
	/* what asks the parent to read its file again means nothing here */
	if (reload_caught)
		signal(SIGHUP, SIG_IGN);
}

void
stop_catch(bool clean)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action;
	size_t		i;

	clean_end = clean;
	open_pipe();
	memset(&action, 0, sizeof action);
	action.sa_handler = handle;
	action.sa_flags = SA_RESTART;
	for (i = 0; i < sizeof signals / sizeof signals[0]; i++)
		sigaction(signals[i], &action, NULL);
}

bool
stop_requested(void)
{
	return stopped_by != 0;
}

void
reload_catch(void)
{
	reload_caught = 1;
}

bool
reload_requested(void)
{
	return reload_asked != 0;
}

/* A signal that comes meanwhile stays noted, whatever becomes of its byte. */
void
reload_done(void)
{
	char		bytes[16];

	reload_asked = 0;
	while (read(pipe_ends[0], bytes, sizeof bytes) > 0)
		;
}

void
stop_begin_immediate(void)
{
	immediate = 1;
	if (stop_requested())
		stop_die();
}

void
stop_end_immediate(void)
{
	immediate = 0;
}

bool
stop_wait(int fd, double seconds)
{
	struct pollfd fds[2];
	int			ready;

	fds[0].fd = pipe_ends[0];
	fds[0].events = POLLIN;
	fds[0].revents = 0;
	fds[1].fd = fd;
	fds[1].events = POLLIN;
	fds[1].revents = 0;
	if (stop_requested())
		return false;
	/* only a signal interrupts it, and every signal that is caught stops, or is seen next */
	ready = poll(fds, 2, isinf(seconds) ? -1 : (int) (fmax(seconds, 0) * 1000));
	return ready > 0 && fds[1].revents != 0;
}

/* ------------------------------------------------------------------------
 * The server
 * ------------------------------------------------------------------------ */

/* What servers know this program as, and how long they may be silent, seconds. */
static const char *program_name = "bloomfilter pull";
static double longest_silence = INFINITY;
static bool was_silent;

void
server_expect(const char *program, double silence)
{
	program_name = program;
	longest_silence = silence;
}

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

	copy_line(line, sizeof line, primary != NULL ? primary : PQerrorMessage(connection));
	return line;
}

char *
server_place(const PGconn *connection)
{
	const char *host = PQhost(connection);
	const char *port = PQport(connection);
	const char *database = PQdb(connection);

	return text_of("host=%s port=%s dbname=%s", host != NULL ? host : "", port != NULL ? port : "",
				   database != NULL ? database : "");
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

/* A PQnoticeProcessor: one line as all others, or none. */
static void
take_notice(void *quiet, const char *message)
{
	char		line[1024];

	if (quiet != NULL)
		return;
	copy_line(line, sizeof line, message);
	complain("the server says: %s", line);
}

/* Lists of the connection string, which begin behind a host that was silent; NULL: as they are. */
static const char *const lists[] = {"host", "hostaddr", "port"};
static char *rotated[3];

/* The element of a list with this number; returns its length. */
static size_t
element(const char **list, int number)
{
	while (number-- > 0)
		*list += strcspn(*list, ",") + 1;
	return strcspn(*list, ",");
}

static int
count_elements(const char *list)
{
	int			count = 1;

	for (; *list != '\0'; list++)
		count += *list == ',';
	return count;
}

/* Makes the list begin behind its first elements, so many, and end with these. */
static char *
rotate(const char *list, int elements)
{
	const char *rest = list;

	if (elements >= count_elements(list))
		return text_of("%s", list);
	(void) element(&rest, elements);
	return text_of("%s,%.*s", rest, (int) (rest - list - 1), list);
}

/* The next connection tries the hosts behind this one first. */
static void
leave_host(PGconn *connection)
{
	PQconninfoOption *options = PQconninfo(connection);
	PQconninfoOption *option;
	const char *here = PQhost(connection);
	int			number = 0;
	int			i;

	for (option = options; option != NULL && option->keyword != NULL; option++)
		if (strcmp(option->keyword, lists[0]) == 0 && option->val != NULL && here != NULL)
			for (i = 0; number == 0 && i < count_elements(option->val); i++)
			{
				const char *host = option->val;
				size_t		length = element(&host, i);

				if (length == strlen(here) && memcmp(host, here, length) == 0)
					number = i + 1;
			}
	for (option = options; number > 0 && option != NULL && option->keyword != NULL; option++)
		for (i = 0; i < 3; i++)
			if (strcmp(option->keyword, lists[i]) == 0 && option->val != NULL)
			{
				free(rotated[i]);
				rotated[i] = rotate(option->val, number);
			}
	PQconninfoFree(options);
}

/*
 * Who stays notices a server that vanished without a word.  The connection string
 * comes behind: what it says about these holds, and so does the environment.
 */
static PGconn *
connect_for(const char *dsn, bool to_stay)
{
	const char *const keywords[] = {
		"connect_timeout", "keepalives_idle", "keepalives_interval", "keepalives_count",
		"tcp_user_timeout", "fallback_application_name", "dbname", lists[0], lists[1], lists[2], NULL
	};
	const char *const values[] = {"10", "60", "10", "6", "60000", program_name, dsn, rotated[0], rotated[1], rotated[2], NULL};
	int			first = !to_stay ? 5 : getenv("PGCONNECT_TIMEOUT") != NULL ? 1 : 0;

	return PQconnectdbParams(keywords + first, values + first, 1);
}

/*
 * Else what others planted on the role's search_path could run with its rights.  Behind a pooler the
 * session serves others, too: there each transaction sets it, and what is asked outside of one is
 * qualified to its operators.
 */
static bool
set_path(PGconn *connection)
{
	char	   *sql = text_of("SELECT pg_catalog.set_config('search_path', 'pg_catalog', false)"
							  " WHERE pg_catalog.pg_backend_pid() OPERATOR(pg_catalog.=) %d", PQbackendPID(connection));
	bool		set = server_command(connection, sql);

	free(sql);
	return set;
}

PGconn *
server_connect(const char *dsn, bool quiet, bool to_stay)
{
	static char yes;
	PGconn	   *connection;

	stop_begin_immediate();
	connection = connect_for(dsn, to_stay);
	stop_end_immediate();
	if (PQstatus(connection) == CONNECTION_OK)
	{
		PQsetNoticeProcessor(connection, take_notice, quiet ? &yes : NULL);
		if (set_path(connection))
			return connection;
	}
	else
		complain("cannot connect: %s", server_problem(connection, NULL));
	PQfinish(connection);
	return NULL;
}

bool
server_transaction(PGconn *connection, const char *sql)
{
	return server_command(connection, sql) && server_command(connection, "SET LOCAL search_path = pg_catalog");
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
	{
		complain("the server has not answered for %.0f s", longest_silence);
		leave_host(connection);
	}
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
		complain("the server refused: %s", server_problem(connection, result));
	PQclear(result);
	return false;
}

static bool
send_query(PGconn *connection, const char *sql)
{
	was_silent = false;
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
	while (!stop_requested() && !was_silent)
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
	return went_well && !was_silent && !stop_requested();
}

/* Nothing depends on it, so nothing is said. */
bool
server_end(PGconn *connection)
{
	PGTransactionStatusType status = PQtransactionStatus(connection);
	PGresult   *result;
	bool		ended = true;

	if (status != PQTRANS_INTRANS && status != PQTRANS_INERROR)
		return status == PQTRANS_IDLE;
	if (!PQsendQueryParams(connection, "COMMIT", 0, NULL, NULL, NULL, NULL, 1))
		return false;
	while ((result = next_result(connection)) != NULL)
	{
		ended = ended && PQresultStatus(result) == PGRES_COMMAND_OK;
		PQclear(result);
	}
	return ended && !was_silent && !stop_requested();
}
