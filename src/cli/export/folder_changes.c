/*
 * folder_changes.c
 *	  Changes by day of a tracked list, as files under the names of their content.
 *
 * They are one row, which begins with each content.  Files are merged as sets are: by the law of
 * changes, in which their order doesn't count.
 */
#include "folder.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

bool
folder_load_changes(const list_folder *f, const feed_manifest *of, size_t first, entry_list *all)
{
	bool		sound = true;
	size_t		i;

	for (i = first; i < of->change_count && sound; i++)
	{
		const feed_file *file = &of->changes[i];
		uint8_t    *bytes = folder_read_file(f->folder, file, FEED_IS_CHANGES);
		feed_changes_of read;

		sound = bytes != NULL && feed_changes_read(bytes, (size_t) file->length, &read) == NULL &&
			feed_manifest_has_changes(of, &read);
		if (sound)
			entries_add_file(all, bytes, read.count);
		free(bytes);
	}
	entries_unite(all);
	return sound;
}

/* How many of the last files become one; all, if keys that were changed again and again fill the row. */
static size_t
count_merged(const feed_manifest *next, uint64_t coming)
{
	uint64_t	entries = coming;
	size_t		i;

	for (i = 0; i < next->change_count; i++)
		entries += (next->changes[i].length - FEED_CHANGES_HEADER) / FEED_ENTRY_BYTES;
	return entries > FEED_MOST_ENTRIES || next->change_count == FEED_MOST_CHANGES ? next->change_count :
		folder_count_merged(next->changes, next->change_count);
}

/* A file of these changes, and its line, which begins where the last one ends. */
static bool
write_file(list_folder *f, const entry_list *of, uint64_t to, feed_manifest *next)
{
	feed_changes_of head = {next->content, {0}, of->count};
	size_t		length = feed_changes_bytes(of->count);
	uint8_t    *bytes = allocate(NULL, length, 1);
	feed_file	file = {.to = to};
	bool		written;

	memcpy(head.identity, next->identity, sizeof head.identity);
	feed_changes_write(&head, of->entries, bytes);
	file.from = next->change_count == 0 ? 0 : next->changes[next->change_count - 1].to;
	written = folder_write_content(f, bytes, length, FEED_IS_CHANGES, &file);
	folder_inline(&next->inlined_changes, &next->inlined_changes_length, bytes, length, FEED_INLINE_CHANGES_BYTES);
	if (!written)
		return false;
	next->changes = allocate(next->changes, next->change_count + 1, sizeof file);
	next->changes[next->change_count++] = file;
	f->counts.changes += of->count;
	f->counts.change_bytes += file.length;
	return true;
}

/* Some of the last files become one; *lost: not all of them are there. */
static bool
merge(list_folder *f, feed_manifest *next, uint64_t coming, bool *lost)
{
	size_t		before = next->change_count - count_merged(next, coming);
	entry_list	all = {NULL, 0, 0};
	bool		well = true;

	*lost = !folder_load_changes(f, next, before, &all);
	if (!*lost && before < next->change_count)
	{
		uint64_t	to = next->changes[next->change_count - 1].to;

		next->change_count = before;
		well = write_file(f, &all, to, next);
	}
	entries_free(&all);
	return well;
}

/* A row that begins, with all that is known. */
static bool
begin_row(list_folder *f, const list_changes *changes, feed_manifest *next)
{
	randombytes_buf(&next->changes_id, sizeof next->changes_id);
	next->change_count = 0;
	return changes->all.count == 0 || write_file(f, &changes->all, next->serial, next);
}

bool
folder_changes_are_old(const list_folder *f)
{
	size_t		i;

	for (i = 0; i < f->manifest.change_count; i++)
		if (folder_is_old(f, &f->manifest.changes[i], FEED_IS_CHANGES))
			return true;
	return false;
}

bool
folder_write_changes(list_folder *f, const list_changes *changes, bool anew, feed_manifest *next)
{
	bool		lost = false;

	/* a key that changed again stands in two files, and all files together may have so many entries: a new row has it once */
	anew = anew || f->manifest.entries + changes->news.count > FEED_MOST_ENTRIES || folder_changes_are_old(f);
	next->tracked = changes->tracked;
	next->entries = changes->all.count;
	next->changes_sum = feed_entries_sum(changes->all.entries, changes->all.count);
	if (!changes->tracked)
		next->change_count = 0;
	if (!changes->tracked || (!anew && changes->news.count == 0))
		return true;
	if (!anew && !merge(f, next, changes->news.count, &lost))
		return false;
	return anew || lost ? begin_row(f, changes, next) : write_file(f, &changes->news, next->serial, next);
}
