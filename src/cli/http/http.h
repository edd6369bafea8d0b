/*
 * http.h
 *	  Fetching by HTTP, by libcurl.
 */
#ifndef CLI_HTTP_H
#define CLI_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct http_client http_client;

typedef struct http_plan
{
	const char *header_file;	/* lines of headers that nobody may see; or NULL */
	bool		plain;			/* http: is allowed, too */
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
	int			disk;			/* errno, where what came could not be written */
} http_answer;

/* What has come: in memory, or in a file. */
typedef struct http_bytes
{
	int			fd;				/* -1: in memory */
	uint64_t	at;				/* from this byte of the file on */
	uint8_t    *bytes;
	size_t		room;
	uint64_t	length;
} http_bytes;

extern http_client *http_begin(void);
extern void http_end(http_client *client);

/* How and as whom it asks; agent is what the client calls itself, or NULL. */
extern bool http_use(http_client *client, const http_plan *plan, const char *agent);

/*
 * Fetches what comes after bytes->length of a file, at most so many bytes in all, and within
 * so many seconds (0: as long as it takes); tag, if not NULL: only if it has another one.  True for an
 * answer of 200, 206 or 304; else says what is wrong.
 */
extern bool http_get(http_client *client, const char *url, const char *tag, uint64_t most, long seconds,
					 http_bytes *bytes, http_answer *answer);

#endif							/* CLI_HTTP_H */
