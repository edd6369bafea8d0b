/*
 * folder_content.c
 *	  What is new, as files under the names of their content: patches and whole files.
 *
 * A set is merged with those behind it once these are twice as long together, so a host that
 * is far behind takes few, and the manifest names few.
 */
#define _GNU_SOURCE
#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Fewer sets than these are not merged. */
#define LEAST_MERGED 4

/* How many epochs back hosts may be. */
#define MOST_EPOCHS 8

/* ------------------------------------------------------------------------
 * Files that are there as a whole or not at all, also after a loss of power
 * ------------------------------------------------------------------------ */

bool
folder_write(int folder, const char *name, mode_t mode, const void *bytes, size_t length)
{
	char	   *unfinished = text_of("%s%s", FOLDER_UNFINISHED, name);
	int			fd = openat(folder, unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	bool		written = fd >= 0 && write_all(fd, bytes, length, 0) && fchmod(fd, mode) == 0 && fsync(fd) == 0;

	if (fd >= 0 && close(fd) != 0)
		written = false;
	written = written && renameat(folder, unfinished, folder, name) == 0 && fsync(folder) == 0;
	if (!written)
	{
		complain("cannot write \"%s\": %s", name, strerror(errno));
		unlinkat(folder, unfinished, 0);
	}
	free(unfinished);
	return written;
}

uint8_t *
folder_read_file(int folder, const feed_file *file, feed_kind kind)
{
	char		name[FEED_FILE_NAME_BYTES];
	uint8_t		digest[FEED_DIGEST_BYTES];
	uint8_t    *bytes;
	size_t		length;

	feed_file_name(name, file->digest, kind);
	bytes = read_file(folder, name, (size_t) file->length, &length);
	if (bytes == NULL)
		return NULL;
	crypto_hash_sha256(digest, bytes, length);
	if (length == file->length && memcmp(digest, file->digest, sizeof digest) == 0)
		return bytes;
	free(bytes);
	errno = EIO;
	return NULL;
}

bool
folder_write_content(const list_folder *f, const void *bytes, size_t length, feed_kind kind, feed_file *file)
{
	char		name[FEED_FILE_NAME_BYTES];
	uint8_t    *before;
	bool		there;

	crypto_hash_sha256(file->digest, bytes, length);
	file->length = length;
	before = folder_read_file(f->folder, file, kind);
	there = before != NULL;
	free(before);
	feed_file_name(name, file->digest, kind);
	return (there || folder_write(f->folder, name, 0644, bytes, length)) && folder_run_after(f, name) &&
		(!there || utimensat(f->folder, name, NULL, 0) == 0);
}

bool
folder_fits(size_t length)
{
	if (length <= FEED_MANIFEST_BYTES)
		return true;
	return complain("the manifest has %zu bytes, and hosts refuse more than %zu: publish fewer parts, each for more keys",
					length, FEED_MANIFEST_BYTES);
}

/* ------------------------------------------------------------------------
 * Whole files
 * ------------------------------------------------------------------------ */

bool
folder_make_wholes(const list_folder *f, list_image *image, uint64_t serial, feed_file *files)
{
	uint32_t	i;

	for (i = 0; i < image->count; i++)
	{
		size_t		length;
		const uint8_t *filter = image_filter(image, i, &length);

		files[i] = (feed_file) {.from = i, .to = serial};
		if (!folder_write_content(f, filter, length, FEED_IS_WHOLE, &files[i]))
			return false;
	}
	return true;
}

bool
folder_write_wholes(list_folder *f, list_image *image, feed_manifest *next, whole_reason reason)
{
	char	   *text;
	bool		fit;
	uint32_t	i;

	/* those of a child are older */
	folder_stop_renewing(f);
	free(next->wholes);
	next->wholes = zeros(image->count, sizeof *next->wholes);
	next->parts = image->count;
	for (i = 0; i < image->count; i++)
		next->wholes[i] = (feed_file) {.from = i, .to = next->content, .length = feed_before(&image->parts[i]) + image->parts[i].length};
	/* whether the lines of the parts fit, before their files are written */
	text = feed_manifest_text(next, 0);
	fit = folder_fits(text == NULL ? SIZE_MAX : strlen(text));
	free(text);
	if (!fit || !folder_make_wholes(f, image, next->content, next->wholes))
		return false;
	f->counts.wholes[reason]++;
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
	*file = (feed_file) {.kind = kind, .from = from, .to = to};
	return file;
}

bool
folder_write_anew(list_folder *f, list_image *image, feed_manifest *next)
{
	size_t		left;

	complain("files that the manifest of \"%s\" names are missing or damaged: writing full files anew", f->plan->to);
	for (left = next->patch_count; left > 0; left--)
	{
		feed_patch	patch;
		uint8_t    *bytes = folder_load_patch(f, image, &next->patches[left - 1], &patch);

		free(bytes);
		if (bytes == NULL)
			break;
	}
	drop_patches(next, left);
	return folder_write_wholes(f, image, next, WHOLE_FOLDER);
}

static uint64_t
bytes_of(const feed_file *files, size_t count)
{
	uint64_t	bytes = 0;
	size_t		i;

	for (i = 0; i < count; i++)
		bytes += files[i].length;
	return bytes;
}

void
folder_trim(const list_folder *f, feed_manifest *next)
{
	uint64_t	most = bytes_of(next->wholes, next->parts);
	uint64_t	bytes = bytes_of(next->patches, next->patch_count);
	size_t		epochs = 0;
	size_t		dropped;
	size_t		i;

	for (i = 0; i < next->patch_count; i++)
		epochs += next->patches[i].kind == FEED_FLIP;
	/* hosts that begin need those behind the whole files */
	for (dropped = 0; dropped < next->patch_count && next->patches[dropped].to <= next->wholes[0].to; dropped++)
	{
		const feed_file *file = &next->patches[dropped];

		if (bytes <= most && epochs <= MOST_EPOCHS && !folder_is_old(f, file, FEED_IS_PATCH))
			break;
		bytes -= file->length;
		epochs -= file->kind == FEED_FLIP;
	}
	drop_patches(next, dropped);
}

/* ------------------------------------------------------------------------
 * Patches
 * ------------------------------------------------------------------------ */

/* What leads from the exported content to the next. */
static feed_patch
describe(const list_folder *f, const feed_manifest *next, feed_patch_kind kind)
{
	feed_patch	patch = {.kind = kind, .epoch = next->epoch, .from = f->manifest.content, .to = next->content, .to_sum = next->sum};

	memcpy(patch.identity, next->identity, sizeof patch.identity);
	patch.from_sum = kind == FEED_FLIP ? f->manifest.sum : 0;
	return patch;
}

void
folder_inline(uint8_t **inlined, size_t *inlined_length, uint8_t *bytes, size_t length, size_t most)
{
	free(*inlined);
	*inlined = length <= most ? bytes : NULL;
	*inlined_length = length;
	if (length > most)
		free(bytes);
}

/* A patch of these changes as a file, unless it is longer than most. */
static bool
write_patch(const list_folder *f, const feed_patch *patch, const list_image *image, const feed_change *changes, uint64_t most,
			feed_manifest *next)
{
	size_t		length = feed_patch_write(patch, image->parts, changes, image->count, NULL);
	uint8_t    *bytes;
	bool		written;

	if (length > most)
		return true;
	bytes = allocate(NULL, length, 1);
	feed_patch_write(patch, image->parts, changes, image->count, bytes);
	written = folder_write_content(f, bytes, length, FEED_IS_PATCH, add_patch(next, patch->kind, patch->from, patch->to));
	folder_inline(&next->inlined, &next->inlined_length, bytes, length, patch->kind == FEED_SET ? FEED_INLINE_BYTES : 0);
	return written;
}

/* A feed_patch_position. */
static void
note_position(void *state, uint32_t part, uint64_t position)
{
	image_note(state, part, position);
}

size_t
folder_count_merged(const feed_file *files, size_t count)
{
	uint64_t	behind = 0;
	size_t		merged = 0;
	size_t		i;

	for (i = count; i-- > 0; behind += files[i].length)
		if (2 * files[i].length <= behind)
			merged = count - i;
	return merged < LEAST_MERGED ? 0 : merged;
}

static bool
merge_sets(list_folder *f, list_image *image, feed_manifest *next)
{
	size_t		sets = 0;
	size_t		count;
	feed_file  *first;
	list_image	all = {.count = image->count};
	feed_patch	patch;
	bool		well = true;
	size_t		i;

	/* of this epoch */
	for (i = next->patch_count; i-- > 0 && next->patches[i].kind == FEED_SET && next->patches[i].from >= next->epoch;)
		sets++;
	count = folder_count_merged(next->patches + next->patch_count - sets, sets);
	first = next->patches + next->patch_count - count;
	if (count == 0)
		return true;
	all.news = zeros(all.count, sizeof *all.news);
	for (i = 0; i < count && well; i++)
	{
		uint8_t    *bytes = folder_load_patch(f, image, &first[i], &patch);

		well = bytes != NULL;
		if (well)
			feed_patch_each(&patch, NULL, note_position, &all);
		free(bytes);
	}
	/* all that a lost one had is in memory */
	if (!well)
		well = folder_write_anew(f, image, next);
	else
	{
		feed_change *changes = image_changes(&all);

		/* else it is as the last one */
		patch.from = first->from;
		next->patch_count -= count;
		well = write_patch(f, &patch, image, changes, UINT64_MAX, next);
		free(changes);
	}
	image_forget_news(&all);
	free(all.news);
	return well;
}

bool
folder_write_set(list_folder *f, list_image *image, feed_manifest *next)
{
	feed_patch	patch = describe(f, next, FEED_SET);
	feed_change *changes = image_changes(image);
	bool		written = merge_sets(f, image, next) && write_patch(f, &patch, image, changes, UINT64_MAX, next);

	free(changes);
	f->counts.patches += written;
	f->counts.bits += written ? image->news_count : 0;
	f->counts.patch_bytes += written ? next->patches[next->patch_count - 1].length : 0;
	return written;
}

bool
folder_write_flip(list_folder *f, list_image *image, feed_manifest *next)
{
	const feed_manifest *was = &f->manifest;
	feed_patch	patch = describe(f, next, FEED_FLIP);
	list_image	old;
	feed_change *changes;
	size_t		before = next->patch_count;
	bool		written = true;
	uint32_t	i;

	/* what the folder's manifest announces, read from the folder: no host has more */
	if (was->serial != 0 && was->content < next->epoch && folder_load(f, &old))
	{
		if (image_fits(&old, image->parts, image->count))
		{
			changes = allocate(NULL, image->count, sizeof *changes);
			for (i = 0; i < image->count; i++)
				changes[i] = (feed_change) {NULL, 0, old.bodies[i], image->bodies[i]};
			written = write_patch(f, &patch, image, changes, image_bytes(image) - 1, next);
			free(changes);
		}
		image_free(&old);
	}
	/* without it nothing leads on from older epochs */
	if (next->patch_count == before)
		next->patch_count = 0;
	return written;
}
