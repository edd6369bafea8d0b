/*
 * file_changes.c
 *	  The table of changes by day in FILE: entries set in it, and a new one for a new file.
 */
#define _GNU_SOURCE
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "feed_table.h"
#include "messages.h"
#include "system.h"

static bool
read_bytes(void *state, uint8_t *bytes, size_t length, uint64_t at)
{
	return read_all(((list_file *) state)->fd, bytes, length, at);
}

static bool
write_bytes(void *state, const uint8_t *bytes, size_t length, uint64_t at)
{
	return write_all(((list_file *) state)->fd, bytes, length, at);
}

static uint8_t *
room_for_slots(const feed_who *who)
{
	return allocate(NULL, feed_table_bytes(who->log2_slots), 1);
}

bool
table_go_on(list_file *file)
{
	feed_io		io = {read_bytes, write_bytes, file};
	uint8_t    *slots;
	bool		right;

	if (file->who.log2_slots == 0)
		return true;
	slots = room_for_slots(&file->who);
	right = feed_table_go_on(&io, &file->who, slots, &file->table);
	free(slots);
	file_wrote(file);
	return right;
}

bool
table_is_right(const list_file *file)
{
	feed_table	counted;
	uint8_t    *slots;
	bool		right;

	if (file->who.log2_slots == 0)
		return true;
	slots = room_for_slots(&file->who);
	right = read_all(file->fd, slots, feed_table_bytes(file->who.log2_slots), feed_table_at(&file->who)) &&
		feed_table_check(slots, file->who.log2_slots, &counted) &&
		counted.count == file->table.count && counted.sum == file->table.sum;
	free(slots);
	return right;
}

bool
table_read(const list_file *file, entry_list *entries)
{
	uint64_t	left = file->who.log2_slots == 0 ? 0 : feed_table_bytes(file->who.log2_slots);
	uint64_t	at = feed_table_at(&file->who);
	uint8_t		chunk[FEED_PAGE];
	size_t		i;

	for (; left > 0; left -= sizeof chunk, at += sizeof chunk)
	{
		if (!read_all(file->fd, chunk, sizeof chunk, at))
			return false;
		for (i = 0; i < sizeof chunk; i += FEED_ENTRY_BYTES)
		{
			feed_entry	entry = feed_entry_read(chunk + i);

			if (entry.state != 0)
				entries_add(entries, &entry);
		}
	}
	return true;
}

bool
table_set(list_file *file, const entry_list *entries, uint64_t id, uint64_t to)
{
	feed_io		io = {read_bytes, write_bytes, file};

	if (file->writes % 2 == 0 && file_was_written(file))
		return file_refuse(file, "damaged", "was written to by another program");
	if (feed_table_is_full(file->table.count + entries->count, file->who.log2_slots) && file->who.log2_slots < FEED_MOST_SLOTS)
		return file_again_with(file, entries, id, to);
	if (!feed_table_store(&io, &file->who, entries->entries, entries->count, id, to, &file->table))
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
	uint64_t	at = feed_next_page(file->new_length);
	uint64_t	bytes;
	uint8_t    *slots;
	bool		well = true;
	size_t		i;

	entries_unite(entries);
	file->new_log2 = feed_table_log2(entries->count > file->table.count ? entries->count : file->table.count);
	bytes = feed_table_bytes(file->new_log2);
	file->new_table = (feed_table) {0, id, to, 0};
	slots = zeros(bytes, 1);
	for (i = 0; i < entries->count && well; i++)
		well = feed_table_set(slots, file->new_log2, &entries->entries[i], &file->new_table);
	errno = well ? posix_fallocate(file->new_fd, (off_t) at, (off_t) bytes) : ENOSPC;
	well = errno == 0 && write_all(file->new_fd, slots, bytes, at);
	free(slots);
	if (well)
		file->new_length = at + bytes;
	return well || file_trouble(file, "make the table of changes of");
}
