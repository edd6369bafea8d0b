/*
 * url.h
 *	  A look at a list's folder on a web server, and what of it goes into the place.
 *
 * Nothing is used before all of it was checked: the signature first, then the manifest,
 * then that it doesn't lead back, then each file by length and digest, then its content.
 *
 * Functions that return bool say what is wrong before they return false; word is that in
 * one word then.
 */
#ifndef CLI_URL_H
#define CLI_URL_H

#include <stdbool.h>
#include <stdint.h>

#include "feed_manifest.h"
#include "feed_sign.h"
#include "file.h"
#include "http.h"

/* What a host is told to follow. */
typedef struct pull_plan
{
	const char *url;			/* of the folder; or NULL, and then: */
	const char *dsn;
	const char *list;			/* published on that server; or NULL, and then: */
	const char *index;
	const char *out;
	const char *name;			/* the list's, NULL: whatever it is at first */
	bool		follow;
	bool		allow_older;
	bool		quiet;
	double		every;			/* seconds */
	feed_key	keys[FEED_MOST_KEYS];
	size_t		key_count;
	http_plan	http;
} pull_plan;

/* .FILE.new while it is made, maybe in several looks. */
typedef struct url_building
{
	bool		filled;			/* all whole files are there */
	uint64_t	whole;			/* serial of the whole files */
	uint32_t	part;			/* that comes in */
	http_bytes	got;			/* of it */
	uint64_t	epoch;
	uint64_t	serial;			/* that it has, once it is filled */
	uint64_t	sum;
} url_building;

typedef struct url_look
{
	const pull_plan *plan;
	http_client *client;
	place	   *place;
	const char *word;			/* of what was refused or failed */
	const char *way;			/* by which content came */

	/* Looks */
	char		tag[256];
	double		full_look;		/* the last one without a condition */
	int64_t		retry;			/* seconds, as the server wants it */
	uint64_t	poll;			/* seconds, as the manifest wants it */
	int64_t		clock;			/* seconds that this host's is ahead of the server's; 0: a minute at most */
	uint64_t	true_by;		/* the time that counts for expiry, at the last answer */
	bool		no_news;		/* a manifest that is a little older: a mirror lags */
	uint64_t	expires;		/* the last manifest's */
	uint64_t	heartbeat;		/* the same, microseconds */
	uint64_t	serial;			/* of the newest manifest, ... */
	double		grown;			/* ... and when it came, monotonic seconds */
	uint64_t	content;		/* the same, and the sum that it should have */
	uint64_t	sum;

	/* Whole files */
	unsigned	misses;			/* looks at which a patch was not there */
	double		spread_until;
	bool		waiting;		/* for this host's turn to fetch whole files */
	bool		differs;		/* FILE has other bits than the manifest says */
	double		whole_taken;	/* for that, monotonic seconds */
	url_building building;

	/* A patch that was broken off */
	http_bytes	partial;
	uint8_t		partial_digest[FEED_DIGEST_BYTES];
} url_look;

/* ------------------------------------------------------------------------
 * url.c
 * ------------------------------------------------------------------------ */

/* One look, after which the place has what the server has, or waits for its turn to. */
extern bool url_once(url_look *look);

/* Notes in the place how it went. */
extern void url_note(url_look *look, bool well);

/* ------------------------------------------------------------------------
 * url_manifest.c
 * ------------------------------------------------------------------------ */

extern bool url_refuse(url_look *look, const char *word, const char *text);

/* Reads and checks what the server gave as its manifest; to be freed also on failure. */
extern bool url_read_manifest(url_look *look, const http_bytes *bytes, const http_answer *answer, feed_manifest *m,
							  uint8_t digest[FEED_DIGEST_BYTES]);

/* Of the manifest that was taken last. */
extern bool url_check_expiry(url_look *look, uint64_t expires);

/* ------------------------------------------------------------------------
 * content.c
 * ------------------------------------------------------------------------ */

/* Makes the place what the manifest says. */
extern bool url_take(url_look *look, const feed_manifest *m, const uint8_t digest[FEED_DIGEST_BYTES]);

/* ------------------------------------------------------------------------
 * url_fetch.c
 * ------------------------------------------------------------------------ */

typedef enum fetched
{
	FETCHED,
	MISSING,					/* the server has no such file, or another one under its name */
	FAILED
} fetched;

/* The address of a file of the folder, in new memory: before a query, if there is one. */
extern char *url_address(const url_look *look, const char *name);

/* A patch, in look->partial. */
extern fetched url_fetch_patch(url_look *look, const feed_file *file);

/* A part's whole file, into the building. */
extern fetched url_fetch_whole(url_look *look, const feed_file *file);

#endif							/* CLI_URL_H */
