/*
 * pull.h
 *	  Pulling a list.
 */
#ifndef CLI_PULL_H
#define CLI_PULL_H

#include "file.h"
#include "messages.h"
#include "url.h"

/* One that follows a list, and what its last look told. */
typedef struct follower follower;

struct follower
{
	const pull_plan *plan;
	place		place;
	bool		(*look) (follower *f);	/* looks, and notes in the place how it went */
	void	   *state;			/* of that function */
	const char *word;			/* what was refused or failed */
	const char *way;			/* by which content came */
	double		period;			/* seconds between two looks */
	int64_t		retry;			/* seconds after which the server wants to be asked again, or 0 */
	bool		waiting;		/* for this host's turn to fetch whole files */
};

/* follow.c, follow_server.c: what looks at a web server, and at PostgreSQL; then follow() does. */
extern exit_status follow_url(follower *f);
extern exit_status follow_server(follower *f);
extern exit_status follow(follower *f);

#endif							/* CLI_PULL_H */
