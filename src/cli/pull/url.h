/*
 * url.h
 *	  A look at a list's folder on a web server, and what it hands over.
 *
 * Nothing is used before all of it was checked: the signature first, then the manifest,
 * then that it doesn't lead back, then each file by length and digest, then its content.
 *
 * Functions that return bool say what is wrong before they return false; the follower's
 * reason is that in one word then.
 */
#ifndef CLI_URL_H
#define CLI_URL_H

#include "feed_manifest.h"
#include "pull.h"

typedef struct url_look
{
	follower   *f;
	http_client *client;
	feed_manifest manifest;		/* that this look found */
	char		tag[256];
	double		full_look;		/* the last one without a condition */
	uint64_t	poll;			/* seconds, as the manifest wants it */
	bool		tracked;		/* the list is: keys that go must go soon */
	int64_t		clock;			/* seconds that this host's is ahead of the server's; 0: a minute at most */
	uint64_t	true_by;		/* the time that counts for expiry, at the last answer */
	uint64_t	expires;		/* the last manifest's */
	uint64_t	heartbeat;		/* the same, microseconds */
	uint64_t	serial;			/* of the newest manifest, ... */
	double		grown;			/* ... and when it came, monotonic seconds */
	uint64_t	content;		/* the same, and the sum that it should have */
	uint64_t	sum;

	/* A patch that was broken off */
	http_bytes	partial;
	uint8_t		partial_digest[FEED_DIGEST_BYTES];
} url_look;

/* ------------------------------------------------------------------------
 * url_manifest.c
 * ------------------------------------------------------------------------ */

/* Reads and checks what the server gave as its manifest; to be freed also on failure. */
extern bool url_read_manifest(url_look *look, const http_bytes *bytes, const http_answer *answer,
							  uint8_t digest[FEED_DIGEST_BYTES]);

/* Of the manifest that was taken last. */
extern bool url_check_expiry(url_look *look, uint64_t expires);

/* ------------------------------------------------------------------------
 * url_fetch.c
 * ------------------------------------------------------------------------ */

/* The address of a file of the folder, in new memory: before a query, if there is one. */
extern char *url_address(const url_look *look, const char *name);

/* An offer's. */
extern led	url_changes(follower *f, bool all, entry_list *entries);
extern led	url_patch(follower *f, const list_state *at, feed_patch *patch);
extern uint64_t url_length(const follower *f, uint32_t part);
extern led	url_part(follower *f, uint32_t part);

#endif							/* CLI_URL_H */
