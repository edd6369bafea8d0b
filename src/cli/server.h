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

/* NULL on failure.  A connection string that is none ends the program. */
extern PGconn *server_connect(const char *dsn);
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

/* What went wrong last, in one line, valid until the next call. */
extern const char *server_problem(PGconn *connection, const PGresult *result);

#endif							/* CLI_SERVER_H */
