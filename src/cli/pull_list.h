/*
 * pull_list.h
 *	  What the files share that look at a list's folder.
 */
#ifndef CLI_PULL_LIST_H
#define CLI_PULL_LIST_H

#include "feed_files.h"
#include "pull_url.h"

/* ------------------------------------------------------------------------
 * pull_files.c
 * ------------------------------------------------------------------------ */

/* The address of a file of the folder, in new memory: before a query, if there is one. */
extern char *list_address(const url_host *host, const char *name);

/*
 * The bytes of a file that the manifest names, until list_let_go; NULL if it can't be had.
 * What came of it stays when the transfer is broken off, and so do other files of this
 * look: the next look goes on there.  *missing: the server has no such file, or a damaged one.
 */
extern const uint8_t *list_fetch(url_host *host, const feed_file *file, const char *ending, bool *missing);

/* At a look's end; keep_used: but for the files that this look needed. */
extern void list_let_go(url_host *host, bool keep_used);

/* ------------------------------------------------------------------------
 * pull_room.c
 * ------------------------------------------------------------------------ */

/*
 * Whether there is memory for so many bytes, with those that a look before has fetched;
 * else says so, and forgets these, which others may need.
 */
extern bool list_has_room(url_host *host, uint64_t bytes);

/* Bytes of the whole files, of the copy that is made of them, and of the steps behind them: all are held at once. */
extern uint64_t list_room_of_wholes(const feed_manifest *m);

/* ------------------------------------------------------------------------
 * pull_steps.c
 * ------------------------------------------------------------------------ */

/* Steps that were fetched and checked; their bytes are those of list_fetch, or the manifest's. */
typedef struct step_list
{
	bf_step	   *steps;
	size_t		count;
} step_list;

typedef enum led
{
	LED,						/* there are the steps, if any are needed */
	NO_STEPS,					/* none lead on: the whole is needed */
	FAILED
} led;

/* The steps from a serial to the manifest's content, to be freed whatever is returned. */
extern led list_find_steps(url_host *host, const feed_manifest *m, const feed_copy *copy, uint64_t serial,
						   step_list *list, bool *missing);
extern void list_free_steps(step_list *list);

/* Sets the bits of steps; false where the result is not what they say. */
extern bool list_apply_steps(feed_copy *copy, const step_list *list, uint64_t serial, bool *exact);

/* ------------------------------------------------------------------------
 * pull_chain.c
 * ------------------------------------------------------------------------ */

/*
 * Makes *copy the first content of the manifest's epoch, from what the host has.
 * NO_STEPS: the chain doesn't lead from there.  Only after LED *copy is to be freed.
 */
extern led list_follow_chain(url_host *host, const feed_manifest *m, feed_copy *copy, bool *missing);

#endif							/* CLI_PULL_LIST_H */
