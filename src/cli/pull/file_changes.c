/*
 * file_changes.c
 *	  The table of changes by day in FILE: entries set in it, and a new one for a new file.
 */
#define _GNU_SOURCE
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static bool
write_bytes(void *state, const uint8_t *bytes, size_t length, uint64_t at)
{
	return write_all(((list_file *) state)->kept.fd, bytes, length, at);
}

static size_t
table_bytes(const list_file *file)
{
	return file->kept.who.log2_slots == 0 ? 0 : (size_t) feed_table_bytes(file->kept.who.log2_slots);
}

bool
table_read(list_file *file)
{
	size_t		length = table_bytes(file);

	if (length == 0)
		return true;
	file->kept.slots = allocate(file->kept.slots, length, 1);
	return read_all(file->kept.fd, file->kept.slots, length, feed_table_at(&file->kept.who));
}

bool
table_go_on(list_file *file)
{
	feed_io		io = {write_bytes, file};
	bool		right = table_read(file) &&
		(file->kept.slots == NULL || feed_table_go_on(&io, &file->kept.who, file->kept.slots, &file->kept.table));

	file_wrote(file);
	return right;
}

bool
table_is_right(const list_file *file)
{
	size_t		length = table_bytes(file);
	uint8_t    *there = allocate(NULL, length, 1);
	bool		right = read_all(file->kept.fd, there, length, feed_table_at(&file->kept.who)) &&
		(length == 0 || memcmp(there, file->kept.slots, length) == 0);

	free(there);
	return right;
}

void
table_entries(const list_file *file, entry_list *entries)
{
	size_t		length = file->kept.slots == NULL ? 0 : (size_t) feed_slots_bytes(file->kept.who.log2_slots);
	size_t		at;

	for (at = 0; at < length; at += FEED_ENTRY_BYTES)
	{
		feed_entry	entry = feed_entry_read(file->kept.slots + at);

		if (entry.state != 0)
			entries_add(entries, &entry, 1);
	}
}

/* How many keys the table has with these: a row that comes again, as it does from another server, adds none. */
static uint64_t
count_with(const list_file *file, const entry_list *more)
{
	uint64_t	count = file->kept.table.count;
	size_t		i;

	for (i = 0; i < more->count; i++)
	{
		uint64_t	slot = feed_table_find(file->kept.slots, file->kept.who.log2_slots, &more->entries[i]);

		count += slot >> file->kept.who.log2_slots != 0 || feed_entry_read(file->kept.slots + slot * FEED_ENTRY_BYTES).state == 0;
	}
	return count;
}

bool
table_set(list_file *file, const entry_list *entries, uint64_t id, uint64_t to)
{
	feed_io		io = {write_bytes, file};

	if (file->writes % 2 == 0 && file_was_written(file))
		return file_refuse(file, "damaged", "was written to by another program");
	if (file->kept.slots == NULL ||
		(file->kept.who.log2_slots < FEED_MOST_SLOTS && feed_table_is_full(count_with(file, entries), file->kept.who.log2_slots)))
		return file_again(file, entries, id, to);
	if (!feed_table_store(&io, &file->kept.who, file->kept.slots, entries->entries, entries->count, id, to, &file->kept.table))
	{
		/* what was stored counts, and the rest comes again */
		(void) file_trouble(file, "write");
		if (!table_go_on(file))
			file_lose(file, "damaged", "its table of changes is not what was set");
		return false;
	}
	file_wrote(file);
	return true;
}

bool
new_file_table(list_file *file, entry_list *entries, uint64_t id, uint64_t to)
{
	file_content *made = &file->made;
	uint64_t	at = feed_next_page(made->who.length);
	uint64_t	bytes;
	size_t		i;

	entries_unite(entries);
	made->who.log2_slots = feed_table_log2(entries->count > file->kept.table.count ? entries->count : file->kept.table.count);
	bytes = feed_table_bytes(made->who.log2_slots);
	made->table = (feed_table) {0, id, to, 0};
	free(made->slots);
	made->slots = zeros(bytes, 1);
	errno = 0;
	for (i = 0; i < entries->count && errno == 0; i++)
		errno = feed_table_set(made->slots, made->who.log2_slots, &entries->entries[i], &made->table) ? 0 : ENOSPC;
	if (errno == 0)
		errno = posix_fallocate(made->fd, (off_t) at, (off_t) bytes);
	if (errno != 0 || !write_all(made->fd, made->slots, bytes, at))
		return file_trouble(file, "make the table of changes of");
	made->who.length = at + bytes;
	return true;
}
