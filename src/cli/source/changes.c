/*
 * changes.c
 *	  Changes by day of a tracked list, in memory.
 */
#include "changes.h"

#include <stdlib.h>
#include <string.h>

#include "messages.h"

/* ------------------------------------------------------------------------
 * Entries
 * ------------------------------------------------------------------------ */

static void
make_room(entry_list *of, size_t more)
{
	if (of->count + more <= of->room)
		return;
	of->room = 2 * (of->count + more);
	of->entries = allocate(of->entries, of->room, sizeof *of->entries);
}

void
entries_add(entry_list *to, const feed_entry *entry)
{
	make_room(to, 1);
	to->entries[to->count++] = *entry;
}

void
entries_add_all(entry_list *to, const entry_list *from)
{
	if (from->count == 0)
		return;
	make_room(to, from->count);
	memcpy(to->entries + to->count, from->entries, from->count * sizeof *to->entries);
	to->count += from->count;
}

void
entries_add_file(entry_list *to, const uint8_t *file, uint64_t count)
{
	uint64_t	i;

	for (i = 0; i < count; i++)
	{
		feed_entry	entry = feed_entry_read(file + feed_changes_bytes(i));

		entries_add(to, &entry);
	}
}

void
entries_unite(entry_list *of)
{
	of->count = feed_entries_unite(of->entries, of->count);
}

void
entries_free(entry_list *of)
{
	free(of->entries);
	memset(of, 0, sizeof *of);
}

/* ------------------------------------------------------------------------
 * Of a list
 * ------------------------------------------------------------------------ */

void
changes_begin(list_changes *changes, uint64_t serial)
{
	if (changes->serial == serial)
		return;
	changes->all.count = 0;
	changes->news.count = 0;
	changes->serial = serial;
	changes->lacking = 0;
}

void
changes_add(list_changes *changes, const entry_list *read, bool all)
{
	const entry_list *had = &changes->all;
	uint64_t	found = 0;
	size_t		i = 0;
	size_t		j;

	for (j = 0; j < read->count; j++)
	{
		const feed_entry *entry = &read->entries[j];

		while (i < had->count && feed_entry_compare(&had->entries[i], entry) < 0)
			i++;
		if (i < had->count && feed_entry_compare(&had->entries[i], entry) == 0)
		{
			found += entry->state >= had->entries[i].state;
			if (entry->state <= had->entries[i].state)
				continue;
		}
		entries_add(&changes->news, entry);
	}
	if (all)
		changes->lacking = had->count - found;
	entries_add_all(&changes->all, read);
	entries_unite(&changes->all);
	entries_unite(&changes->news);
}

void
changes_free(list_changes *changes)
{
	entries_free(&changes->all);
	entries_free(&changes->news);
}
