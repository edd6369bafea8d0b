/*
 * server.h
 *	  Questions to a PostgreSQL server that a signal can interrupt.
 *
 * Functions say what is wrong, in one line, before they return failure; a
 * connection that failed is only good for closing.
 */
#ifndef CLI_SERVER_H
#define CLI_SERVER_H

#include <libpq-fe.h>
#include <stdbool.h>

/*
 * Before the first connection: what servers show as the application, and the seconds
 * without a byte after which a query has failed (else 60).
 */
extern void server_expect(const char *program, double silence);

/*
 * NULL on failure.  The connection's search_path is pg_catalog alone, but behind a pooler, so all
 * else has to be qualified.  Dead connections are noticed within minutes, unless the
 * connection string says else.
 */
extern PGconn *server_connect(const char *dsn);

/* Which server it is, for people, in new memory: nothing secret. */
extern char *server_address(const PGconn *connection);

/* A connection string that is none ends the program. */
extern void server_check_dsn(const char *dsn);

/* A command without an answer. */
extern bool server_command(PGconn *connection, const char *sql);

/* A query's rows, values in binary form; NULL on failure. */
extern PGresult *server_query(PGconn *connection, const char *sql);

/*
 * The same row by row, so that one row is in memory at a time.  The function is
 * called for each; it stops everything by returning false.
 */
typedef bool (*row_function) (void *state, const PGresult *row);

extern bool server_stream(PGconn *connection, const char *sql,
						  row_function function, void *state);

#endif							/* CLI_SERVER_H */
