/*
 * pull.h
 *	  Following a list: what a host is told to follow, and what its last look found.
 */
#ifndef CLI_PULL_H
#define CLI_PULL_H

#include "feed_manifest.h"
#include "feed_sign.h"
#include "file.h"
#include "http.h"
#include "looks.h"

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
	bool		every_said;
	feed_key	keys[FEED_MOST_KEYS];
	size_t		key_count;
	http_plan	http;
} pull_plan;

/* The new file while whole parts fill it, maybe in several looks. */
typedef struct whole_parts
{
	uint64_t	serial;
	bool		filled;			/* all are there */
	uint32_t	part;			/* that comes in */
	uint64_t	got;			/* bytes of it */
} whole_parts;

/* One that follows a list. */
typedef struct follower follower;

struct follower
{
	const pull_plan *plan;
	list_file	file;
	bool		(*look) (follower *f);	/* whether it went well */
	void	   *state;			/* of that function */

	look_loop	loop;

	/* The last look */
	const char *reason;			/* what failed, was refused, or is wrong all the same; else "" */
	char		message[FEED_MESSAGE_BYTES];	/* more of the latter */
	const char *way;			/* by which content came */
	bool		no_news;		/* what there is, is a little older: a mirror lags */
	bool		waiting;		/* for this host's turn to fetch whole parts */

	/* Whole parts */
	unsigned	misses;			/* looks at which a patch was not there */
	double		spread_until;
	bool		differs;		/* FILE has other bits than the server says */
	double		whole_written;	/* for that, monotonic seconds */
	double		row_taken;		/* when all changes of the row were, as FILE differed, monotonic seconds */
	whole_parts whole;
};

/* What a look found is not used: says so, and returns false. */
extern bool pull_refuse(follower *f, const char *reason, const char *text);

/* The same if what was looked at is another list than was asked for or is here; other says what it is of another identity. */
extern bool pull_check_list(follower *f, const char *name, const uint8_t *identity, const char *other);

/* follow_url.c, follow_server.c: what looks at a web server, and at PostgreSQL, by follow(). */
extern exit_status follow_url(follower *f);
extern exit_status follow_server(follower *f);
extern exit_status follow(follower *f);

/* ------------------------------------------------------------------------
 * content.c: the one way into FILE, which becomes what a look found
 *
 * A look hands over what FILE is to have, patches that lead there, and whole parts, wherever
 * they come from.  Patches are set in FILE within an epoch, and over epochs put into a copy of
 * it; where none leads on, whole parts make a new file.
 * ------------------------------------------------------------------------ */

/* How a way to the content ended. */
typedef enum led
{
	LED,
	ELSEWHERE,					/* it doesn't lead from here: the whole is needed */
	BROKEN						/* it may at the next look */
} led;

typedef struct offer
{
	feed_who	who;			/* of FILE: name, identity, epoch, and whether it is tracked */
	feed_now	now;			/* that it is to have, and the sum that it must come to */
	uint32_t	count;			/* of the parts */
	uint64_t	whole;			/* serial of the whole parts */
	uint64_t	spread;			/* seconds within which hosts fetch these */

	/* The patch that leads on from what a file has. */
	led			(*patch) (follower *f, const file_content *at, feed_patch *patch);

	/* Of a tracked list: adds the changes that FILE may lack, or all of them; FILE has the row up to here then. */
	led			(*changes) (follower *f, bool all, entry_list *entries);
	uint64_t	changes_id;
	uint64_t	changes_to;
	uint64_t	changes_sum;	/* of the table of a file that has the row and nothing else */
	bool		changes_summed; /* which is known */

	/* Bytes of a whole part; and these go into the new file, from where f->whole says on. */
	uint64_t	(*length) (const follower *f, uint32_t part);
	led			(*part) (follower *f, uint32_t part);
} offer;

/* Says what is wrong before it returns false, or that the follower waits for its turn. */
extern bool content_update(follower *f, const offer *o);

/* ------------------------------------------------------------------------
 * url_fetch.c: what a look at a list's folder on a web server hands over
 *
 * Nothing is used before all of it was checked: the signature first, then the manifest,
 * then that it doesn't lead back, then each file by length and digest, then its content.
 *
 * Functions that return bool say what is wrong before they return false; the follower's
 * reason is that in one word then.
 * ------------------------------------------------------------------------ */

typedef struct url_look
{
	follower   *f;
	http_client *client;
	feed_manifest manifest;		/* the last one that was taken */
	char		tag[256];
	double		full_look;		/* the last one without a condition */
	int64_t		clock;			/* seconds that this host's is ahead of the server's; 0: a minute at most */
	uint64_t	true_by;		/* the time that counts for expiry, at the last answer */
	uint64_t	serial;			/* of the newest manifest, ... */
	double		grown;			/* ... and when it came, monotonic seconds */

	/* A patch that was broken off */
	http_bytes	partial;
	uint8_t		partial_digest[FEED_DIGEST_BYTES];
} url_look;

/* The address of a file of the folder, in new memory: before a query, if there is one. */
extern char *url_address(const url_look *look, const char *name);

/* An offer's. */
extern led	url_patch(follower *f, const file_content *at, feed_patch *patch);
extern led	url_changes(follower *f, bool all, entry_list *entries);
extern uint64_t url_length(const follower *f, uint32_t part);
extern led	url_part(follower *f, uint32_t part);

#endif							/* CLI_PULL_H */
