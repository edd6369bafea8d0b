/*
 * pull_list.h
 *	  What the files share that look at a list's folder.
 */
#ifndef CLI_PULL_LIST_H
#define CLI_PULL_LIST_H

#include "feed_files.h"
#include "pull_url.h"

#define MANIFEST "manifest"
#define WHOLE_ENDING ".bloom"
#define STEP_ENDING ".step"

/* ------------------------------------------------------------------------
 * pull_files.c
 * ------------------------------------------------------------------------ */

/* The address of a file of the folder, in new memory: before a query, if there is one. */
extern char *list_address(const url_host *host, const char *name);

/*
 * A file that the manifest names, in host->partial, which stays when the fetch is
 * interrupted: the next look goes on there.  *missing: the server has no such file.
 */
extern bool list_fetch(url_host *host, const feed_file *file, const char *ending, bool *missing);

/* ------------------------------------------------------------------------
 * pull_steps.c
 * ------------------------------------------------------------------------ */

/* Steps that were fetched and checked, until they are applied. */
typedef struct step_list
{
	bf_step	   *steps;
	uint8_t   **bytes;
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

#endif							/* CLI_PULL_LIST_H */
