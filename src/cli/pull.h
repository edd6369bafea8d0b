/*
 * pull.h
 *	  The pieces of bloomfilter pull.
 *
 * A look (pull_look.c) reads the headers of the server's filters (pull_remote.c) and
 * stops there if the file has them already, or must not be replaced by them
 * (pull_refuse.c).  Otherwise each part is made by a delta or fetched, and goes to
 * the library's writer (pull_fetch.c); all within one snapshot.  pull_follow.c looks
 * every so often, and at each NOTIFY.
 *
 * Functions that return bool say what is wrong before they return false.
 */
#ifndef CLI_PULL_H
#define CLI_PULL_H

#include <stdbool.h>
#include <stdint.h>

#include "../lib/libbloomfilter.h"
#include "messages.h"
#include "server.h"

/* Of NOTIFY, at each publish. */
#define LIST_CHANNEL "bloom_published"

typedef struct pull_plan
{
	const char *dsn;
	const char *out;
	bool		to_stdout;		/* --out - */
	const char *list;			/* name of a published list; or NULL, and then: */
	char	   *query;			/* as a subquery */
	char	   *delta_query;	/* as a subquery, or NULL */
	bool		set;			/* a row for each part */
	bool		follow;
	int			every;			/* seconds between two looks */
	const char *channel;		/* of NOTIFY, or NULL */
	bool		quiet;
	bool		progress;
	bool		checked;		/* the file was read and found sound before */

	/* Told by the user; in force until the first look that goes well. */
	bool		allow_older;
	bool		new_identity;
	bool		replace;		/* whatever the file is */
	bool		refused;		/* what the server had, at the last look */
} pull_plan;

/* ------------------------------------------------------------------------
 * pull_remote.c: what the server has
 * ------------------------------------------------------------------------ */

typedef struct remote_filter
{
	uint8_t		bytes[BLOOMFILTER_HEADER_BYTES];	/* its header as it is stored */
	bloomfilter_info info;
} remote_filter;

typedef struct remote_set
{
	time_t		begun;			/* the server was looked at */
	bool		standby;		/* which may be behind its primary */
	char	   *schema;			/* the extension's, quoted; or NULL */
	char	   *chunk;			/* the function that gives bytes of a filter */
	char	   *name;			/* the list's, as a literal; or NULL */
	char		identity[40];	/* of the list, else "" */
	char		serial[24];		/* of the list, else "" */
	char		built[32];		/* when, in UTC; else "" */
	int64_t		built_at;		/* the same in seconds; else 0 */
	uint32_t	count;
	remote_filter *filters;		/* in the order of the parts */
} remote_set;

/* An SQL text that has the first column of a user's query, evaluated once per row. */
extern char *subquery_of(const char *query);

/*
 * Begins the transaction and reads the headers of all rows: of one filter, or of
 * all parts of a set.  To be freed with remote_free, also on failure.
 */
extern bool remote_read(const pull_plan *plan, PGconn *connection,
						remote_set *set);
extern void remote_free(remote_set *set);
extern uint64_t remote_bytes(const remote_set *set);

/* Takes the bytes of a filter, chunk by chunk. */
typedef bool (*chunk_function) (void *state, const void *bytes, size_t length);

extern bool remote_fetch(const pull_plan *plan, PGconn *connection,
						 const remote_set *set, uint32_t part,
						 chunk_function function, void *state);

/*
 * The delta that the server offers for a part, in a result's only field; NULL,
 * quietly, if it offers none.  Deltas that are larger than the filter stay there.
 */
extern PGresult *remote_delta(const pull_plan *plan, PGconn *connection,
							  const remote_set *set, uint32_t part);

/* ------------------------------------------------------------------------
 * pull_fetch.c: into the file that applications open
 * ------------------------------------------------------------------------ */

/* Replaces the file by what these headers belong to; old may be NULL. */
extern bool fetch(const pull_plan *plan, PGconn *connection,
				  const bloomfilter *old, const remote_set *set);

/* Whether an open filter is what these headers belong to. */
extern bool is_remote(const bloomfilter *filter, const remote_set *set);

/* ------------------------------------------------------------------------
 * pull_refuse.c: what must not be replaced
 * ------------------------------------------------------------------------ */

/*
 * Whether the file may be replaced by what the server has; if not, says why, and
 * *word is the case in one word.  status is what is known of the file, if known;
 * old is NULL where it can't be opened.
 */
extern bool may_replace(const pull_plan *plan, const remote_set *set,
						const bloomfilter *old, const bloomfilter_status *status,
						bool known, const char **word);

/* ------------------------------------------------------------------------
 * pull_look.c: a look, and what is said about it
 * ------------------------------------------------------------------------ */

/*
 * told: says also that nothing has changed.  False if the connection is of no use
 * any more.  FILE.status has it either way.
 */
extern bool pull_once(pull_plan *plan, PGconn *connection, bool told);

/* Notes a look that failed before it began; the last complaint says why. */
extern void note_failure(const pull_plan *plan, const char *refused);
extern void report(const pull_plan *plan, const char *format,...) LIKE_PRINTF(2, 3);

/* ------------------------------------------------------------------------
 * pull_follow.c
 * ------------------------------------------------------------------------ */

extern void pull_forever(pull_plan *plan);

/* Listens for notifications, or says why that can't be. */
extern void follow_listen(const pull_plan *plan, PGconn *connection);

/*
 * Waits for a notification or until it is time to look; *told says for which.
 * False when the connection is lost or a signal came.
 */
extern bool follow_wait(const pull_plan *plan, PGconn *connection, bool *told);

#endif							/* CLI_PULL_H */
