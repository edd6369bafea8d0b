/*
 * follow.h
 *	  Following one list: looks, and what is done between them.
 */
#ifndef CLI_FOLLOW_H
#define CLI_FOLLOW_H

#include "messages.h"
#include "plan.h"

/* Once, or until a signal comes. */
extern exit_status follow_list(const pull_plan *plan);

/* follow_server.c: the same of a list or an index on a PostgreSQL server. */
extern exit_status follow_server(const pull_plan *plan);

#endif							/* CLI_FOLLOW_H */
