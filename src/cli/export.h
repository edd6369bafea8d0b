/*
 * export.h
 *	  The pieces of bloomfilter export.
 *
 * A look takes what is new into a copy in memory: what changed in a live index
 * (export_index.c), or a published list (export_list.c).  What is new then goes into the
 * folder (export_publish.c): as a step, or as whole files where an epoch begins.
 * export.c does so every so often.
 *
 * Functions that return bool say what is wrong before they return false.
 */
#ifndef CLI_EXPORT_H
#define CLI_EXPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "export_status.h"
#include "feed_copy.h"
#include "feed_manifest.h"
#include "feed_sign.h"
#include "messages.h"
#include "server.h"

#define EXPORT_MOST_KEYS 8

/* Above one new bit to so many bytes of the filter, whole files are published, not a step. */
#define EXPORT_STEP_SHARE 4

typedef struct export_plan
{
	const char *dsn;
	const char *index;			/* or NULL, and then: */
	const char *list;
	const char *to;				/* the folder */
	const char *name;			/* NULL: the index's, the list's */
	const char *identity;		/* NULL: the folder's, or a new one */
	const char *after;			/* command, or NULL */
	bool		follow;
	bool		new_source;
	bool		quiet;
	double		every;			/* seconds between two looks */
	uint64_t	poll;			/* seconds, for the manifest */
	uint64_t	spread;			/* the same */
	uint64_t	heartbeat;		/* seconds after which an unchanged manifest is renewed */
	uint64_t	expires;		/* seconds; 0: manifests don't expire */
	uint64_t	keep;			/* bytes of the folder beyond which files go early; 0: none */
	feed_key	keys[EXPORT_MOST_KEYS];
	size_t		key_count;
} export_plan;

typedef struct exporter
{
	export_plan *plan;

	/* What the server told */
	char	   *function;		/* bloom_index_changes with its schema */
	char	   *index;			/* name with its schema, as a literal */
	char	   *index_name;		/* the same as people write it */
	char	   *source;			/* the server's system identifier */
	char	   *server;			/* where it is, for people */
	char	   *token;			/* of the last look, as SQL; NULL: all is wanted */
	int64_t		build;
	uint64_t	true_at;
	bool		standby;
	bool		pooled;			/* a pooler may give each transaction to another server */

	/* What it told of a list */
	char		identity[40];
	uint64_t	list_serial;	/* that the copy has; 0: it is not of a list, or not read yet */
	uint64_t	built;			/* when, microseconds since 1970 */

	/* What it is made into */
	feed_copy	copy;
	bool		complete;		/* the copy has all of its build */
	bool		new_epoch;		/* and was not published */
	export_reason reason;		/* why it is new */
	bool		whole_needed;	/* there was more news than is worth a step */

	/* The folder */
	int			folder;
	feed_manifest manifest;		/* the one that is there; serial 0: none */
	char		exporter[FEED_EXPORTER_BYTES + 1];	/* this process, in manifests */
	bool		taken_up;		/* what was there has been read */
	bool		taken;			/* the manifest was written by this process */
	int64_t		published_build;	/* that the manifest's epoch is of */
	size_t		manifest_length;
	double		published;		/* when; monotonic seconds */
	double		swept;
	double		checked;		/* when its files were looked at */
	bool		lost;			/* one that the manifest names is not there */

	/* What it tells of itself */
	export_counts counts;
	bool		wholes_written;	/* for what is being published, and why: */
	export_reason whole_reason;
	uint64_t	step_bytes;		/* of the step that is being published */
	double		status_written;
} exporter;

/* ------------------------------------------------------------------------
 * export_index.c: what changed in a live index
 * ------------------------------------------------------------------------ */

/* Finds the extension and who the server is, which must be the one that was exported. */
extern bool export_find_server(exporter *e, PGconn *connection);

/* Whether the server's time is this host's; said if not. */
extern bool export_check_clock(const exporter *e, uint64_t true_at);

/* Finds index and function on a new connection, whose first look asks for all. */
extern bool export_begin(exporter *e, PGconn *connection);

/* Takes what changed since the last look into the copy. */
extern bool export_look(exporter *e, PGconn *connection);

/* ------------------------------------------------------------------------
 * export_list.c: a published list
 * ------------------------------------------------------------------------ */

/* Finds the list on a new connection, and listens for its changes. */
extern bool export_list_begin(exporter *e, PGconn *connection);

/* Takes the list into the copy, if it has another serial. */
extern bool export_list_look(exporter *e, PGconn *connection);

/* Waits until it is time to look; false when the connection is lost or a signal came. */
extern bool export_list_wait(const exporter *e, PGconn *connection);

/* ------------------------------------------------------------------------
 * export_folder.c: what the folder has at first
 * ------------------------------------------------------------------------ */

/* Opens and locks the folder, and reads its manifest; or ends the program. */
extern void export_open_folder(exporter *e);

/* Before the first look, when the server is known: goes on with what is in the folder. */
extern bool export_take_up(exporter *e);

/* ------------------------------------------------------------------------
 * export_publish.c: steps, whole files and manifests
 * ------------------------------------------------------------------------ */

/* Why such filters begin an epoch: fitting, if they are of the copy's geometry. */
extern export_reason export_reason_of(const exporter *e, const bf_header *headers, uint32_t parts,
									  export_reason fitting);

/* Publishes what is new; *published: there was something. */
extern bool export_publish(exporter *e, bool *published);

/* ------------------------------------------------------------------------
 * export_status.c: what it tells of itself
 * ------------------------------------------------------------------------ */

/* After a look that went well to its end; published: there was something. */
extern void export_note_success(exporter *e, bool published);

/* After anything that failed; the last complaint says why. */
extern void export_note_failure(exporter *e);

#endif							/* CLI_EXPORT_H */
