/*
 * pull_turns.h
 *	  Following lists, one or many, in one thread and with one HTTP client: they take turns.
 *
 * Each list has a time at which its next look is due, and the one that is due first has
 * the turn.  A turn ends when another list is due and it has lasted its share: what came
 * of a file is kept, and the list goes on at its next turn.  So a server that is slow or
 * dead delays the other lists by seconds, and a transfer that delays nobody goes on.
 */
#ifndef CLI_PULL_TURNS_H
#define CLI_PULL_TURNS_H

#include "messages.h"
#include "pull_url.h"

/* A list that has turns. */
typedef struct turn_list
{
	const char *name;			/* for messages; NULL: it is the only one */
	url_host	host;
	double		due;			/* when its next look is; INFINITY: it has no other */
	double		wait;			/* after a failure */
	double		share;			/* seconds that a turn may take from others */
	bool		begun;			/* it had a turn */
	exit_status status;			/* of its last look */
} turn_list;

typedef struct pull_turns
{
	http_client *client;
	turn_list **lists;
	size_t		count;
	bool		once;			/* one look for each */

	/* What may come between: whether lists are to come or go, and doing it; or NULL. */
	bool		(*is_changed) (void *state);
	void		(*change) (void *state);
	void	   *state;

	/* The turn that is on. */
	double		until;
	double		next_due;		/* of the others */
} pull_turns;

extern turn_list *turns_add(pull_turns *turns, const url_plan *plan, const char *name);

/* Finds out what is here of a list, and when its first look is due; a turn does it, too. */
extern bool turns_open(pull_turns *turns, turn_list *list);

/* Takes a list out, which is closed already. */
extern void turns_drop(pull_turns *turns, turn_list *list);

/* Until a signal comes, or each list had its look. */
extern void turns_take(pull_turns *turns);

#endif							/* CLI_PULL_TURNS_H */
