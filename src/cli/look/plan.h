/*
 * plan.h
 *	  What a host is told to follow: by options of bloomfilter pull, or by lines of
 *	  pull --config's file.
 */
#ifndef CLI_LOOK_PLAN_H
#define CLI_LOOK_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feed_sign.h"
#include "http.h"

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

#endif							/* CLI_LOOK_PLAN_H */
