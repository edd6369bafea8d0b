/*
 * content.h
 *	  The one way into FILE: it becomes what a look found.
 *
 * A look hands over what FILE is to have, patches that lead there, and whole parts, wherever
 * they come from.  Patches are set in FILE within an epoch, and over epochs put into a copy of
 * it; where none leads on, whole parts make a new file.
 */
#ifndef CLI_CONTENT_H
#define CLI_CONTENT_H

#include "feed_patch.h"
#include "pull.h"

/* How a way to the content ended. */
typedef enum led
{
	LED,
	ELSEWHERE,					/* it doesn't lead from here: the whole is needed */
	BROKEN						/* it may at the next look */
} led;

typedef struct offer
{
	file_facts	facts;			/* that FILE is to have, and the sum that it must come to */
	uint32_t	count;			/* of the parts */
	uint64_t	whole;			/* serial of the whole parts */
	uint64_t	spread;			/* seconds within which hosts fetch these */

	/* The patch that leads on from a state. */
	led			(*patch) (follower *f, const list_state *at, feed_patch *patch);

	/* Of a tracked list: adds the changes that FILE may lack, or all of them; FILE has the row up to here then. */
	led			(*changes) (follower *f, bool all, entry_list *entries);
	uint64_t	changes_id;
	uint64_t	changes_to;

	/* Bytes of a whole part; and these go into the new file, from where f->made says on. */
	uint64_t	(*length) (const follower *f, uint32_t part);
	led			(*part) (follower *f, uint32_t part);
} offer;

/* Says what is wrong before it returns false, or that the follower waits for its turn. */
extern bool content_take(follower *f, const offer *o);

#endif							/* CLI_CONTENT_H */
