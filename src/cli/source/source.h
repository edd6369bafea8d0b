/*
 * source.h
 *	  A look at a PostgreSQL server: a live index or a published list, into an image in memory.
 *
 * Who uses it says before the first look what it has already (known_...), and after each
 * that it has what is new (source_forget_news).  Till then that stays new: so a look that
 * could not be passed on costs no other look at all.
 *
 * Each look is a transaction, which asks first which server answers: a pooler may give each
 * one to another.
 *
 * Functions that return bool say what is wrong before they return false; reason
 * is that in one word then.
 */
#ifndef CLI_SOURCE_H
#define CLI_SOURCE_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

#include "image.h"
#include "system.h"

/* Above one new bit to so many bytes of the filter an epoch begins. */
#define SOURCE_PATCH_SHARE 4

/* Why whole files were written. */
typedef enum whole_reason
{
	WHOLE_FIRST,				/* nothing was exported before */
	WHOLE_FOLDER,				/* files of the folder are missing or damaged */
	WHOLE_REBUILD,				/* REINDEX, TRUNCATE, DROP and CREATE */
	WHOLE_GEOMETRY,				/* the same, and of another size */
	WHOLE_REMOVED,				/* a list lost keys, or got very many */
	WHOLE_LONG,					/* more news than are worth a patch */
	WHOLE_RENEWED,				/* all patches together would be, or it is old */
	WHOLE_REASONS
} whole_reason;

/* What was looked at, and what of it is new. */
typedef struct list_news
{
	list_image	image;			/* empty before the first look, unless the folder fills it */
	char	   *name;			/* as people write it */
	char	   *system;			/* the server's identifier */
	uint8_t		identity[FEED_IDENTITY_BYTES];	/* a list's own; of an index its cluster's and database's */
	uint64_t	serial;			/* of a list, that the image has; of an index 0 */
	int64_t		build;			/* of an index, that the image has */
	uint64_t	true_at;		/* all that was committed before is in the image; 0: not known */
	list_changes changes;		/* of a tracked list, which are in force since its serial */
	bool		new_epoch;
	whole_reason reason;		/* for which an epoch begins */
} list_news;

typedef struct source_plan
{
	const char *index;			/* or NULL, and then: */
	const char *list;
	const char *cure;			/* what is said of a list with another identity than before */
} source_plan;

/* Since the program began. */
typedef struct source_counts
{
	uint64_t	looks;
	uint64_t	whole_reads;
	uint64_t	pages;
	double		seconds;		/* of the database */
	uint64_t	united;			/* since when the image has bits that the server has not, else 0 */
} source_counts;

typedef struct source
{
	source_plan plan;
	const char *reason;

	/* What comes from here is known by: */
	bool		known;			/* there is something */
	uint8_t		known_identity[FEED_IDENTITY_BYTES];
	uint64_t	known_serial;	/* of a list */
	bool		known_tracked;
	uint64_t	known_true_at;
	char		known_system[64];	/* the server's identifier; "": any is right */

	/* Of a list: whether this part of the server's is here; NULL: all are to be fetched. */
	bool		(*has_part) (void *state, const feed_part *part);
	void	   *state;

	/* The server */
	PGconn	   *connection;		/* NULL: none that is of use */
	char	   *schema;			/* the extension's, quoted */
	char	   *index;			/* name with its schema, as a literal; or the list's name as one */
	char	   *address;		/* where it is, for people */
	char	   *token;			/* of the last look, as SQL; NULL: all is wanted */
	uint64_t	changes_xmin;	/* of a tracked list: of the look before, in whose snapshot older transactions had ended; 0: all changes are wanted */
	char		changes_server[96];	/* that it was on, and since when that runs */
	double		changes_read;	/* when all were read, monotonic seconds */
	bool		standby;

	list_news	news;			/* that were not passed on yet, and the image that has them */
	source_counts counts;
} source;

/* ------------------------------------------------------------------------
 * source.c
 * ------------------------------------------------------------------------ */

/* Finds all that is needed on a new connection, whose first look asks for all. */
extern bool source_begin(source *s);

/* Takes what is new into the image. */
extern bool source_look(source *s);

/* All that is new was passed on. */
extern void source_forget_news(source *s);

extern void source_free(source *s);

/* For index.c and list.c: the bits of the image become these, too; what of them is new is news. */
extern void source_or(source *s, uint32_t part, uint64_t at, const uint8_t *bytes, uint64_t length);

/* The same of all bits that a server has; or, if it has fewer, they become the image, in a new epoch. */
extern void source_fill(source *s, list_image *whole, bool fewer, whole_reason fitting);

/* Whether the server's time is this host's; said if not. */
extern bool source_check_clock(source *s, uint64_t true_at);

extern bool source_refuse(source *s, const char *reason);

/* The number in the first row's field. */
extern int64_t source_number(const PGresult *rows, int column);

/* These rows if they are one row; else NULL, and problem, a format of one %s, is said of this name. */
extern PGresult *source_row(PGresult *rows, const char *problem, const char *name);

/* ------------------------------------------------------------------------
 * server.c: questions that a signal can interrupt
 *
 * Functions say what is wrong, in one line, before they return failure; a
 * connection that failed is only good for closing.  Queries are formats of printf.
 * ------------------------------------------------------------------------ */

/*
 * NULL on failure.  program is what the server shows as the application, silence the seconds
 * without a byte after which a query has failed.  The connection's search_path is pg_catalog alone, but behind a pooler, so all
 * else has to be qualified.  Dead connections are noticed within minutes, unless the
 * connection string says else.
 */
extern PGconn *server_connect(const char *dsn, const char *program, double silence);

/* A connection string that is none ends the program. */
extern void server_check_dsn(const char *dsn);

/* A command without an answer. */
extern bool server_command(PGconn *connection, const char *sql);

/* A query's rows, values in binary form; NULL on failure. */
extern PGresult *server_query(PGconn *connection, const char *sql,...) LIKE_PRINTF(2, 3);

/*
 * The same row by row, so that one row is in memory at a time.  The function is
 * called for each; it stops everything by returning false.
 */
typedef bool (*row_function) (void *state, const PGresult *row);

extern bool server_stream(PGconn *connection, row_function function, void *state, const char *sql,...) LIKE_PRINTF(4, 5);

/* ------------------------------------------------------------------------
 * index.c, list.c
 * ------------------------------------------------------------------------ */

/* Finds the index of this name, a literal. */
extern bool index_begin(source *s, const char *name);
extern bool index_look(source *s);
extern bool list_look(source *s);

#endif							/* CLI_SOURCE_H */
