/*
 * pull_http.h
 *	  Fetching by HTTP, by libcurl.
 */
#ifndef CLI_PULL_HTTP_H
#define CLI_PULL_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct http_client http_client;

typedef struct http_plan
{
	const char *header_file;	/* lines of headers that nobody may see; or NULL */
	bool		plain;			/* http: is allowed, too */
	uint64_t	rate;			/* bytes a second at most; 0: as fast as it goes */
} http_plan;

typedef struct http_answer
{
	long		status;			/* 200, 206, 304, ... */
	char		tag[256];		/* ETag as it came, or "" */
	int64_t		age;			/* seconds that a cache held it back; 0: none said so */
	int64_t		date;			/* the server's clock, seconds since 1970; 0: not told */
	int64_t		retry;			/* seconds after which the server wants to be asked again */
	char		type[64];		/* content type */
	bool		too_long;		/* more came than was to be fetched */
} http_answer;

typedef struct http_bytes
{
	uint8_t    *bytes;
	size_t		length;
	size_t		room;
} http_bytes;

/* One for all lists: it keeps connections to their servers open. */
extern http_client *http_begin(void);
extern void http_end(http_client *client);

/* From now on for a list: agent is what the client calls itself, or NULL. */
extern bool http_use(http_client *client, const http_plan *plan, const char *agent);

/* Asks some times a second whether the time of a transfer is over, which then ends. */
extern void http_limit(http_client *client, bool (*is_over) (void *state), void *state);

/* Whether the last transfer ended so: it fails, and nothing is said. */
extern bool http_was_ended(const http_client *client);

/* Whether it came so far that the server was there. */
extern bool http_was_connected(const http_client *client);

/* Whether it was to go on with a file, and its server, which has no ranges, began anew. */
extern bool http_was_restarted(const http_client *client);

/*
 * Fetches what comes after bytes->length of a file, at most so many bytes in all; tag:
 * only if it has another one.  True for an answer of 200, 206 or 304; else says what
 * is wrong.
 */
extern bool http_get(http_client *client, const char *url, const char *tag, uint64_t most,
					 http_bytes *bytes, http_answer *answer);

#endif							/* CLI_PULL_HTTP_H */
