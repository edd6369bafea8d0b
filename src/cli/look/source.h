/*
 * source.h
 *	  A look at a PostgreSQL server: a live index or a published list, into a copy in memory.
 *
 * Who takes it says before the first look what it has already (known_...), and after each
 * that it took what is new (source_settle).  What is not taken stays new: so a look that
 * could not be passed on costs no other look at all.
 *
 * Bits that came are kept whatever happens to the rest of an answer: they are of keys.
 *
 * Functions that return bool say what is wrong before they return false; word is that in
 * one word then.
 */
#ifndef CLI_LOOK_SOURCE_H
#define CLI_LOOK_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "copy.h"
#include "feed_page.h"
#include "server.h"

/* Above one new bit to so many bytes of the filter nothing is noted as new: a whole pays. */
#define SOURCE_PATCH_SHARE 4

/* Without a byte from the server for so long, seconds, a look has failed. */
#define SOURCE_SILENCE 60.0

typedef struct source_plan
{
	const char *dsn;
	const char *index;			/* or NULL, and then: */
	const char *list;
	bool		quiet;
	bool		follow;
	double		every;			/* seconds between two looks */
} source_plan;

/* Why an epoch begins. */
typedef enum source_reason
{
	SOURCE_FIRST,				/* the copy was empty */
	SOURCE_REBUILT,				/* REINDEX, TRUNCATE, DROP and CREATE */
	SOURCE_RESIZED,				/* the same, and of another size */
	SOURCE_REMOVED				/* a list lost keys, or got very many */
} source_reason;

/* Since the program began. */
typedef struct source_counts
{
	uint64_t	looks;
	uint64_t	whole_reads;
	uint64_t	pages;
	double		seconds;		/* of the database */
	uint64_t	lag;			/* of a standby, seconds */
	uint64_t	united;			/* since when the copy has bits that the server has not, else 0 */
} source_counts;

typedef struct source
{
	source_plan plan;
	const char *word;

	/* What is taken from here is known by: */
	bool		known;			/* there is something */
	uint8_t		known_identity[FEED_IDENTITY_BYTES];
	uint64_t	known_serial;	/* of a list */
	uint64_t	known_true_at;
	char		known_system[64];	/* the server's identifier; "": any is right */

	/* The server */
	char	   *schema;			/* the extension's, quoted */
	char	   *index;			/* name with its schema, as a literal; or the list's name as one */
	char	   *name;			/* as people write it */
	char	   *system;			/* the server's identifier */
	char	   *place;			/* where it is, for people */
	char	   *token;			/* of the last look, as SQL; NULL: all is wanted */
	int64_t		build;			/* of the index that the copy has */
	uint64_t	true_at;		/* all that was committed before is in the copy; 0: not known */
	bool		standby;
	bool		pooled;			/* a pooler may give each transaction to another server */
	int			silence;		/* why no notifications can be waited for */

	/* Of a list */
	uint8_t		identity[FEED_IDENTITY_BYTES];
	uint64_t	serial;			/* that the copy has; 0: not read yet */
	uint64_t	built;			/* when, microseconds since 1970 */

	/* What came */
	list_copy	copy;
	bool		complete;		/* the copy has all of its build */
	bool		new_epoch;		/* and was not taken yet */
	source_reason reason;		/* why it is new */
	bool		too_many;		/* more is new than is noted */
	source_counts counts;
} source;

/* ------------------------------------------------------------------------
 * source.c
 * ------------------------------------------------------------------------ */

/* Finds all that is needed on a new connection, whose first look asks for all. */
extern bool source_begin(source *s, PGconn *connection);

/* Takes what is new into the copy. */
extern bool source_look(source *s, PGconn *connection);

/*
 * Waits until it is time to look, after a look that began at this time; false when the
 * connection is lost or a signal came.
 */
extern bool source_wait(source *s, PGconn *connection, double begun);

/* All that is new was taken. */
extern void source_settle(source *s);

extern void source_free(source *s);

/* For index.c and list.c: whether the server is the one that is known. */
extern bool source_find_server(source *s, PGconn *connection);

/* Whether the server's time is this host's; said if not. */
extern bool source_check_clock(source *s, uint64_t true_at);

/* Puts an empty copy of these parts in place of the one that is there. */
extern void source_renew(source *s, const feed_part *parts, uint32_t count, source_reason fitting);

extern bool source_refuse(source *s, const char *word);

/* The text of a field, in new memory. */
extern char *source_field(const PGresult *rows, int row, int column);

/* One row of texts; NULL if it isn't there, which problem says. */
extern PGresult *source_row(PGconn *connection, const char *sql, const char *problem);

/* ------------------------------------------------------------------------
 * index.c, list.c, listen.c
 * ------------------------------------------------------------------------ */

extern bool index_begin(source *s, PGconn *connection);
extern bool index_look(source *s, PGconn *connection);

extern bool list_begin(source *s, PGconn *connection);
extern bool list_look(source *s, PGconn *connection);

/* Listens for what is published, or says why that can't be. */
extern void listen_begin(source *s, PGconn *connection);
extern bool listen_wait(source *s, PGconn *connection, double until);

#endif							/* CLI_LOOK_SOURCE_H */
