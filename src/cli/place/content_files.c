/*
 * content_files.c
 *	  What is new, as files under the names of their content: patches and whole files.
 *
 * Each set is also merged with those before it, MERGED of a level at a time, so that a
 * host that is far behind takes few.
 */
#define _GNU_SOURCE
#include "folder.h"

#include <stdlib.h>
#include <string.h>

#include "feed_values.h"
#include "messages.h"
#include "system.h"

/* Sets of a level that are merged into one of the next. */
#define MERGED 4

/* How many epochs back hosts may be, and lines of the manifest that this may take. */
#define MOST_EPOCHS 8
#define MOST_LINES 512

/* Writes a file under the name of its content, notes it in *file, and runs the user's command. */
static bool
write_content(const list_folder *f, const folder_piece *pieces, int count, bool patch, feed_file *file)
{
	char		name[FEED_FILE_NAME_BYTES];
	uint8_t    *there;
	int			i;

	folder_digest(file->digest, pieces, count);
	file->length = 0;
	for (i = 0; i < count; i++)
		file->length += pieces[i].length;
	there = folder_read_file(f->folder, file, patch);
	free(there);
	feed_file_name(name, file->digest, patch);
	return (there != NULL || folder_write(f->folder, name, 0644, pieces, count)) && folder_run_after(f, name);
}

bool
folder_fits(size_t length)
{
	if (length <= FEED_MANIFEST_BYTES)
		return true;
	complain("the manifest has %zu bytes, and hosts refuse more than %zu: publish fewer parts, each for more keys",
			 length, FEED_MANIFEST_BYTES);
	return false;
}

/* ------------------------------------------------------------------------
 * Whole files
 * ------------------------------------------------------------------------ */

bool
folder_make_wholes(const list_folder *f, list_copy *copy, uint64_t serial, feed_file *files)
{
	uint32_t	i;

	for (i = 0; i < copy->count; i++)
	{
		feed_part	part = copy->parts[i];
		folder_piece pieces[2];

		memset(&files[i], 0, sizeof files[i]);
		files[i].to = serial;
		feed_part_seal(&part, copy->blocks[i]);
		pieces[0] = (folder_piece) {part.header, sizeof part.header};
		pieces[1] = (folder_piece) {copy->blocks[i], (size_t) part.length};
		if (!write_content(f, pieces, 2, false, &files[i]))
			return false;
	}
	return true;
}

/* Whether the lines of the parts fit, before their files are written. */
static bool
check_parts(feed_manifest *next)
{
	char	   *text;
	size_t		length;

	text = feed_manifest_text(next, 0);
	length = text == NULL ? SIZE_MAX : strlen(text);
	free(text);
	return folder_fits(length);
}

bool
folder_write_wholes(list_folder *f, list_copy *copy, feed_manifest *next, whole_reason reason)
{
	uint32_t	i;

	free(next->wholes);
	next->wholes = allocate(NULL, copy->count, sizeof *next->wholes);
	memset(next->wholes, 0, copy->count * sizeof *next->wholes);
	next->parts = copy->count;
	for (i = 0; i < copy->count; i++)
	{
		next->wholes[i].to = next->content;
		next->wholes[i].length = FEED_HEADER_BYTES + copy->parts[i].length;
	}
	if (!check_parts(next) || !folder_make_wholes(f, copy, next->content, next->wholes))
		return false;
	f->wholes_written = true;
	f->whole_reason = reason;
	return true;
}

/* ------------------------------------------------------------------------
 * The row of patches
 * ------------------------------------------------------------------------ */

static void
drop_patches(feed_manifest *next, size_t count)
{
	next->patch_count -= count;
	if (next->patch_count > 0)
		memmove(next->patches, next->patches + count, next->patch_count * sizeof *next->patches);
}

static feed_file *
add_patch(feed_manifest *next, feed_patch_kind kind, uint64_t from, uint64_t to)
{
	feed_file  *file;

	next->patches = allocate(next->patches, next->patch_count + 1, sizeof *file);
	file = &next->patches[next->patch_count++];
	memset(file, 0, sizeof *file);
	file->kind = kind;
	file->from = from;
	file->to = to;
	return file;
}

static bool
is_sound(const list_folder *f, const list_copy *copy, const feed_file *file)
{
	feed_patch	patch;
	uint8_t    *bytes = folder_load_patch(f, copy, file, &patch);

	free(bytes);
	return bytes != NULL;
}

bool
folder_write_anew(list_folder *f, list_copy *copy, feed_manifest *next)
{
	size_t		left = next->patch_count;

	complain("files that the manifest of \"%s\" names are missing or damaged: writing whole files anew", f->plan->to);
	while (left > 0 && is_sound(f, copy, &next->patches[left - 1]))
		left--;
	drop_patches(next, left);
	return folder_write_wholes(f, copy, next, WHOLE_FOLDER);
}

/* A host's store may have deleted a file of this age. */
static bool
is_old(const list_folder *f, const feed_file *file)
{
	int64_t		time = folder_time_of(f, file, true);

	return time != 0 && (int64_t) (time_now() / 1000000) - time > (int64_t) f->plan->keep_days * 86400 / 2;
}

void
folder_trim(const list_folder *f, feed_manifest *next)
{
	uint64_t	most = feed_files_bytes(next->wholes, next->parts);
	uint64_t	bytes = feed_files_bytes(next->patches, next->patch_count);
	size_t		epochs = 0;
	size_t		dropped;
	size_t		i;

	for (i = 0; i < next->patch_count; i++)
		epochs += next->patches[i].kind == FEED_FLIP;
	/* hosts that begin need those behind the whole files */
	for (dropped = 0; dropped < next->patch_count && next->patches[dropped].to <= next->wholes[0].to; dropped++)
	{
		const feed_file *file = &next->patches[dropped];

		if (bytes <= most && epochs <= MOST_EPOCHS && next->patch_count - dropped <= MOST_LINES && !is_old(f, file))
			break;
		bytes -= file->length;
		epochs -= file->kind == FEED_FLIP;
	}
	drop_patches(next, dropped);
}

/* ------------------------------------------------------------------------
 * Merging
 * ------------------------------------------------------------------------ */

typedef struct merging
{
	copy_bits  *bits;			/* of each part */
} merging;

static void
merge_position(void *state, uint32_t part, uint64_t position)
{
	copy_bits  *bits = &((merging *) state)->bits[part];

	if (bits->count == bits->room)
	{
		bits->room = bits->room * 2 + 1024;
		bits->positions = allocate(bits->positions, bits->room, sizeof *bits->positions);
	}
	bits->positions[bits->count++] = position;
}

/* One set of several that follow each other, in new memory. */
static uint8_t *
merge_sets(const list_copy *copy, const feed_patch *patches, size_t count, size_t *length)
{
	merging		merge = {allocate(NULL, copy->count, sizeof(copy_bits))};
	feed_change *changes = allocate(NULL, copy->count, sizeof *changes);
	feed_patch	all = patches[0];
	uint8_t    *bytes;
	size_t		i;

	memset(merge.bits, 0, copy->count * sizeof *merge.bits);
	memset(changes, 0, copy->count * sizeof *changes);
	for (i = 0; i < count; i++)
		feed_patch_each(&patches[i], NULL, merge_position, &merge);
	all.to = patches[count - 1].to;
	all.to_sum = patches[count - 1].to_sum;
	for (i = 0; i < copy->count; i++)
	{
		changes[i].positions = merge.bits[i].positions;
		changes[i].count = feed_patch_sort(merge.bits[i].positions, merge.bits[i].count);
	}
	*length = feed_patch_length(FEED_SET, copy->parts, changes, copy->count);
	bytes = allocate(NULL, *length, 1);
	feed_patch_write(&all, copy->parts, changes, copy->count, bytes);
	for (i = 0; i < copy->count; i++)
		free(merge.bits[i].positions);
	free(merge.bits);
	free(changes);
	return bytes;
}

/* Whether the last MERGED patches are sets of one level and of this epoch. */
static bool
can_merge(const feed_manifest *next)
{
	const feed_file *last;
	int			i;

	if (next->patch_count < MERGED)
		return false;
	last = &next->patches[next->patch_count - MERGED];
	for (i = 0; i < MERGED; i++)
		if (last[i].kind != FEED_SET || last[i].level != last[0].level || last[i].from < next->epoch)
			return false;
	return true;
}

/* Replaces the last MERGED sets by one, if it can; *merged says so. */
static bool
merge_last(list_folder *f, list_copy *copy, feed_manifest *next, bool *merged)
{
	feed_file  *first = next->patches + next->patch_count - MERGED;
	feed_patch	patches[MERGED];
	uint8_t    *bytes[MERGED] = {NULL};
	folder_piece piece;
	feed_file	file;
	bool		sound = true;
	bool		well = true;
	int			i;

	*merged = false;
	if (!can_merge(next))
		return true;
	for (i = 0; i < MERGED && sound; i++)
	{
		bytes[i] = folder_load_patch(f, copy, &first[i], &patches[i]);
		sound = bytes[i] != NULL;
	}
	if (sound)
	{
		uint8_t    *sum = merge_sets(copy, patches, MERGED, &piece.length);

		piece.bytes = sum;
		file = first[0];
		file.to = first[MERGED - 1].to;
		file.level++;
		well = write_content(f, &piece, 1, true, &file);
		free(sum);
	}
	for (i = 0; i < MERGED; i++)
		free(bytes[i]);
	/* all that it had is in memory */
	if (!sound)
		return folder_write_anew(f, copy, next);
	if (well)
	{
		*first = file;
		next->patch_count -= MERGED - 1;
		*merged = true;
	}
	return well;
}

/* ------------------------------------------------------------------------
 * Patches
 * ------------------------------------------------------------------------ */

/* A patch of these changes as a file, unless it is longer than most; *bytes has it, or NULL. */
static bool
write_patch(const list_folder *f, const feed_patch *patch, const list_copy *copy, const feed_change *changes, uint64_t most,
			feed_manifest *next, uint8_t **bytes, size_t *length)
{
	folder_piece piece;

	*bytes = NULL;
	*length = feed_patch_length(patch->kind, copy->parts, changes, copy->count);
	if (*length > most)
		return true;
	*bytes = allocate(NULL, *length, 1);
	feed_patch_write(patch, copy->parts, changes, copy->count, *bytes);
	piece = (folder_piece) {*bytes, *length};
	return write_content(f, &piece, 1, true, add_patch(next, patch->kind, patch->from, patch->to));
}

static bool
write_set(list_folder *f, list_copy *copy, feed_manifest *next, uint8_t **bytes, size_t *length)
{
	feed_patch	patch;
	feed_change *changes = copy_changes(copy);
	bool		written;

	memset(&patch, 0, sizeof patch);
	patch.kind = FEED_SET;
	patch.epoch = next->epoch;
	memcpy(patch.identity, next->identity, sizeof patch.identity);
	patch.from = f->manifest.content;
	patch.to = next->content;
	patch.to_sum = next->sum;
	written = write_patch(f, &patch, copy, changes, copy_bytes(copy), next, bytes, length);
	free(changes);
	return written;
}

bool
folder_write_set(list_folder *f, const folder_news *news, feed_manifest *next)
{
	list_copy  *copy = news->copy;
	uint8_t    *bytes = NULL;
	bool		merged = true;
	bool		written = news->too_many || write_set(f, copy, next, &bytes, &next->inlined_length);

	f->patch_bytes = next->inlined_length;
	if (written && bytes == NULL)
	{
		next->patch_count = 0;
		return folder_write_wholes(f, copy, next, WHOLE_LONG);
	}
	if (!written || next->inlined_length > FEED_INLINE_BYTES)
		free(bytes);
	else
		next->inlined = bytes;
	while (written && merged)
		written = merge_last(f, copy, next, &merged);
	return written;
}

bool
folder_write_flip(list_folder *f, list_copy *copy, feed_manifest *next)
{
	const feed_manifest *was = &f->manifest;
	feed_patch	patch;
	list_copy	old;
	feed_change *changes;
	uint8_t    *bytes = NULL;
	size_t		length;
	bool		written = true;
	uint32_t	i;

	/* what the folder's manifest announces, read from the folder: no host has more */
	if (was->serial == 0 || was->content >= next->epoch || !folder_load(f, &old))
	{
		next->patch_count = 0;
		return true;
	}
	if (copy_fits(&old, copy->parts, copy->count))
	{
		changes = allocate(NULL, copy->count, sizeof *changes);
		memset(changes, 0, copy->count * sizeof *changes);
		for (i = 0; i < copy->count; i++)
			changes[i] = (feed_change) {NULL, 0, old.blocks[i], copy->blocks[i]};
		memset(&patch, 0, sizeof patch);
		patch.kind = FEED_FLIP;
		patch.epoch = patch.to = next->epoch;
		memcpy(patch.identity, next->identity, sizeof patch.identity);
		patch.from = was->content;
		patch.from_sum = was->sum;
		patch.to_sum = next->sum;
		written = write_patch(f, &patch, copy, changes, copy_bytes(copy) - 1, next, &bytes, &length);
		free(changes);
	}
	copy_free(&old);
	/* without it nothing leads on from older epochs */
	if (bytes == NULL)
		next->patch_count = 0;
	free(bytes);
	return written;
}
