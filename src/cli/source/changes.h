/*
 * changes.h
 *	  Changes by day of a tracked list, in memory: all that were read since it was published.
 *
 * Nothing is taken out of them but by another serial of the list.  So a server that lags, or lost
 * what it had committed, takes no change back.
 */
#ifndef CLI_CHANGES_H
#define CLI_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feed_changes.h"

typedef struct entry_list
{
	feed_entry *entries;		/* united, but while some are added */
	size_t		count;
	size_t		room;
} entry_list;

typedef struct list_changes
{
	bool		tracked;		/* else all is empty */
	uint64_t	serial;			/* of the list */
	entry_list	all;
	entry_list	news;			/* of these, what was not passed on yet */
	uint64_t	lacking;		/* that the server had not, or older, when all were read last */
} list_changes;

extern void entries_add(entry_list *to, const feed_entry *entry);
extern void entries_add_all(entry_list *to, const entry_list *from);
extern void entries_unite(entry_list *of);
extern void entries_free(entry_list *of);

/* Adds those of a file of changes that is right. */
extern void entries_add_file(entry_list *to, const uint8_t *file, uint64_t count);

/* Begins with the changes of a serial; of the same one it goes on. */
extern void changes_begin(list_changes *changes, uint64_t serial);

/* Takes what was read, which is united: what is new is news.  all: nothing was left out. */
extern void changes_add(list_changes *changes, const entry_list *read, bool all);

extern void changes_free(list_changes *changes);

#endif							/* CLI_CHANGES_H */
