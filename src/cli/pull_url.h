/*
 * pull_url.h
 *	  The pieces of bloomfilter pull --url and pull --config.
 *
 * A look (pull_list.c) fetches the manifest and what of its content isn't here yet,
 * checks all of it, and gives it to the host's place (pull_place.c): the file that programs
 * open, and its working copy in memory.  pull_turns.c looks every so often, at one list
 * (pull_url.c) or at those of a file (pull_many.c).
 *
 * Functions that return bool say what is wrong before they return false.
 */
#ifndef CLI_PULL_URL_H
#define CLI_PULL_URL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../lib/libbloomfilter.h"
#include "feed_copy.h"
#include "feed_manifest.h"
#include "feed_sign.h"
#include "pull_http.h"

#define URL_MOST_KEYS 8

typedef struct url_plan
{
	const char *url;			/* of the folder */
	const char *out;
	const char *name;			/* the list's, NULL: whatever it is at first */
	const char *working;		/* folder of working copies, "no": none; NULL: by itself */
	bool		follow;
	bool		allow_older;
	bool		quiet;
	bool		no_agent;		/* the server isn't told the list and its serial */
	uint64_t	every;			/* seconds */
	feed_key	keys[URL_MOST_KEYS];
	size_t		key_count;
	http_plan	http;
	uint32_t	said;			/* names that a file's lines had: of pull_settings.c alone */
} url_plan;

/* What the host has seen last and must not go back behind, FILE.mark. */
typedef struct url_mark
{
	bool		known;
	char		name[FEED_NAME_BYTES + 1];
	uint8_t		identity[FEED_IDENTITY_BYTES];
	uint64_t	serial;			/* of the last manifest that was taken */
	uint8_t		digest[FEED_DIGEST_BYTES];	/* of its bytes */
	uint64_t	bases[2];		/* FILE is one of these (FORMAT.md, 18), ... */
	uint64_t	base_serials[2];	/* ... which has everything of this serial ... */
	uint64_t	epochs[2];		/* ... and is of this epoch; what the copy has is of the first */
} url_mark;

/* A file of the list's folder that was fetched and is what the manifest says. */
typedef struct kept_file
{
	uint8_t		digest[FEED_DIGEST_BYTES];
	uint8_t    *bytes;
	size_t		length;
	bool		used;			/* by this look */
} kept_file;

typedef struct url_host
{
	const url_plan *plan;
	http_client *client;

	/* The place */
	bool		opened;			/* by place_open, and not closed since */
	int			folder;			/* that FILE is in */
	const char *file;			/* its name there */
	int			lock;
	url_mark	mark;
	feed_copy	copy;			/* parts 0: none yet */
	uint64_t	serial;			/* of the content that the copy has */
	uint64_t	content;		/* the same, once a look went well; before it 0 */
	bool		exact;			/* and it has no others */
	bool		changed;		/* since the base was written */
	int64_t		looked;			/* the last look of this process that went well, else 0 */
	int64_t		base_looked;	/* ... of any, after which FILE had all that there was */
	int64_t		base_changed;	/* when this process wrote FILE, else 0 */
	double		base_written;
	double		fold_failed;	/* when FILE last could not be written, else 0 */
	double		marked;
	uint8_t    *map;			/* the working copy, or NULL */
	size_t		map_length;
	dev_t		map_device;		/* its file, which others may remove */
	ino_t		map_inode;
	double		map_tried;		/* when there was no room for one, else 0 */
	uint64_t	true_at;
	uint64_t	built;
	uint64_t	expires;
	uint64_t	failures;
	uint64_t	poll;
	double		status_written;
	const char *refused;		/* a word of bloomfilter status, or "" */

	/* The look */
	char		tag[256];
	double		full_look;		/* the last one without a condition */
	unsigned	misses;			/* looks at which a step was not there */
	uint64_t	no_chain;		/* epoch to which none of the host's states leads by deltas */
	const char *way;			/* by which content came: "whole", "deltas" or "steps" */
	double		spread_until;
	bool		waiting;		/* for this host's turn to fetch whole files */
	kept_file  *kept;			/* by a look that was broken off later */
	size_t		kept_count;
	bool		broken_off;		/* this look, in a transfer of a file */
	http_bytes	partial;		/* of that file */
	uint8_t		partial_digest[FEED_DIGEST_BYTES];
	int64_t		retry;			/* seconds, as the server wants it */
	int64_t		clock;			/* seconds that this host's is ahead of the server's; 0: a minute at most */
} url_host;

/* ------------------------------------------------------------------------
 * pull_list.c
 * ------------------------------------------------------------------------ */

/* One look, after which the place has what the server has, or refused says why not. */
extern bool list_look(url_host *host);

/* Bytes of files that were fetched for the next look. */
extern uint64_t list_held(const url_host *host);

/* Forgets what was fetched for the next look. */
extern void list_close(url_host *host);

/* ------------------------------------------------------------------------
 * pull_place.c, and its pieces of pull_place.h
 * ------------------------------------------------------------------------ */

/* Finds out what is here, and keeps it from others; may be tried again if it fails. */
extern bool place_open(url_host *host);

/* All checks are done: this serial is taken from now on, also after a loss of power if synced. */
extern bool place_mark(url_host *host, const feed_manifest *manifest, const uint8_t digest[FEED_DIGEST_BYTES],
					   bool sync);

/* Whether FILE may be written, and there is room for so many bytes: before they are fetched. */
extern bool base_is_writable(url_host *host, uint32_t parts, uint64_t bytes);

/* Another epoch, or the first one: the copy becomes the host's, with a new base. */
extern bool place_begin(url_host *host, feed_copy *copy, uint64_t serial, uint64_t epoch);

/* The copy has this serial now. */
extern void place_advance(url_host *host, uint64_t serial);

/* Makes the base what the copy is. */
extern bool place_fold(url_host *host);

/* Notes how a look went: in the working copy, and in FILE.status. */
extern void place_looked(url_host *host, bool well);

extern void place_close(url_host *host);

/* The same for a list that nobody follows from now on: programs have its file alone. */
extern void place_remove(url_host *host);

/* ------------------------------------------------------------------------
 * pull_status.c: FILE.status of a followed list
 * ------------------------------------------------------------------------ */

typedef enum url_looked
{
	NOT_LOOKED,
	LOOK_FAILED,				/* the last complaint says why */
	LOOKED_WELL
} url_looked;

/* It is written at least so often if nothing happens. */
extern bool status_is_due(const url_host *host);
extern void status_looked(url_host *host, url_looked looked);

/* Before FILE is replaced: what it will be, by the mark and the first part's checksum. */
extern bool status_announce(url_host *host, uint64_t checksum);

/* The last look of a process before this one that found FILE as the server's, or 0. */
extern int64_t status_last_look(const url_host *host);

#endif							/* CLI_PULL_URL_H */
