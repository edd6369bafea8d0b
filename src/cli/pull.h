/*
 * pull.h
 *	  The pieces of bloomfilter pull.
 *
 * An attempt (pull.c) reads the headers of the server's filters, and stops there
 * if the files have them already.  Otherwise it fetches a delta (pull_delta.c), a
 * filter, or the parts of a set (pull_files.c); all within one snapshot
 * (pull_remote.c).  pull_listen.c makes an attempt at each NOTIFY.
 *
 * Functions that return bool say what is wrong before they return false.
 */
#ifndef CLI_PULL_H
#define CLI_PULL_H

#include <stdbool.h>
#include <stdint.h>

#include "../core/bf_format.h"
#include "../lib/libbloomfilter.h"
#include "messages.h"
#include "progress.h"
#include "server.h"
#include "tempfile.h"

typedef struct pull_plan
{
	const char *dsn;
	const char *out;
	char	   *query;			/* as a subquery */
	char	   *delta_query;	/* as a subquery, or NULL */
	const char *channel;		/* or NULL */
	bool		set;			/* a row for each part */
	bool		quiet;
	bool		progress;
} pull_plan;

/* pull_remote.c: what the server has */

typedef struct remote_filter
{
	uint8_t		bytes[BF_HEADER_BYTES]; /* its header as it is stored */
	bf_header	header;
} remote_filter;

typedef struct remote_set
{
	uint32_t	count;
	remote_filter *filters;		/* in the order of the parts */
} remote_set;

/* An SQL text that has the one column f of a user's query, evaluated once per row. */
extern char *subquery_of(const char *query);

/* The headers of all rows: of one filter, or for a set of all its parts. */
extern bool remote_read(const pull_plan *plan, PGconn *connection,
						remote_set *set);
extern void remote_free(remote_set *set);
extern uint64_t remote_bytes(const remote_set *set);

/* What the progress bar shows: bytes of all filters. */
typedef struct transfer_state
{
	progress_bar bar;
	uint64_t	done;
	uint64_t	total;
} transfer_state;

/* Writes the bytes of one of them to a file. */
extern bool remote_fetch(const pull_plan *plan, PGconn *connection,
						 const remote_filter *filter, const temp_file *file,
						 transfer_state *transfer);

/* pull_files.c: a file, or a manifest and its parts */

extern bool fetch_files(const pull_plan *plan, PGconn *connection,
						const remote_set *set);

/* Whether an open filter is what these headers belong to. */
extern bool is_remote(const bloomfilter *filter, const remote_set *set);

/* pull_delta.c: from the old file to the new one */

/*
 * False if there is no delta that fits: then the filter must be fetched, in the
 * same transaction.
 */
extern bool fetch_delta(const pull_plan *plan, PGconn *connection,
						const bloomfilter *old, const remote_filter *new);

/* pull.c: an attempt, and what is said about it */

extern bool pull_once(const pull_plan *plan, PGconn *connection);
extern void report(const pull_plan *plan, const char *format,...) LIKE_PRINTF(2, 3);

/* pull_listen.c */

extern void pull_forever(const pull_plan *plan);

#endif							/* CLI_PULL_H */
