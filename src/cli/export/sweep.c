/*
 * sweep.c
 *	  Files that nobody can need any more.
 */
#define _GNU_SOURCE
#include "folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* How long a file stays after the last manifest that named it. */
#define KEPT_SECONDS 86400
#define SWEEP_SECONDS 60.0

/* The files that a manifest names, one after the other, and of which kind they are; NULL behind the last. */
static const feed_file *
file_of(const feed_manifest *m, size_t i, feed_kind *kind)
{
	const feed_file *files[FEED_KINDS] = {m->wholes, m->patches, m->changes};
	const size_t counts[FEED_KINDS] = {m->parts, m->patch_count, m->change_count};

	for (*kind = FEED_IS_WHOLE; *kind < FEED_KINDS; i -= counts[(*kind)++])
		if (i < counts[*kind])
			return &files[*kind][i];
	return NULL;
}

/* Whether it is the name of such a file, and what digest it tells. */
static bool
read_name(const char *name, uint8_t digest[FEED_DIGEST_BYTES])
{
	char		hex[2 * FEED_DIGEST_BYTES + 1];
	int			kind;

	snprintf(hex, sizeof hex, "%.*s", 2 * FEED_DIGEST_BYTES, name);
	if (feed_from_hex(digest, FEED_DIGEST_BYTES, hex))
		for (kind = 0; kind < FEED_KINDS; kind++)
			if (strcmp(name + strlen(hex), feed_endings[kind]) == 0)
				return true;
	return false;
}

bool
folder_is_old(const list_folder *f, const feed_file *file, feed_kind kind)
{
	char		name[FEED_FILE_NAME_BYTES];
	struct stat st;

	feed_file_name(name, file->digest, kind);
	return fstatat(f->folder, name, &st, 0) == 0 && time(NULL) - st.st_mtime > (time_t) f->plan->keep_days * 86400 / 2;
}

/* Whether one that the manifest names is not there, or not of its length. */
static bool
is_lost(const list_folder *f)
{
	char		name[FEED_FILE_NAME_BYTES];
	const feed_file *file;
	feed_kind	kind;
	struct stat st;
	size_t		i;

	for (i = 0; (file = file_of(&f->manifest, i, &kind)) != NULL; i++)
	{
		feed_file_name(name, file->digest, kind);
		if (fstatat(f->folder, name, &st, 0) != 0 || (uint64_t) st.st_size != file->length)
			return true;
	}
	return false;
}

static bool
is_named(const feed_manifest *m, const uint8_t digest[FEED_DIGEST_BYTES])
{
	const feed_file *file;
	feed_kind	kind;
	size_t		i;

	for (i = 0; (file = file_of(m, i, &kind)) != NULL; i++)
		if (memcmp(file->digest, digest, FEED_DIGEST_BYTES) == 0)
			return true;
	return false;
}

void
folder_touch_unnamed(const list_folder *f, const feed_manifest *next)
{
	char		name[FEED_FILE_NAME_BYTES];
	const feed_file *file;
	feed_kind	kind;
	size_t		i;

	for (i = 0; (file = file_of(&f->manifest, i, &kind)) != NULL; i++)
	{
		if (is_named(next, file->digest))
			continue;
		feed_file_name(name, file->digest, kind);
		utimensat(f->folder, name, NULL, 0);
	}
}

void
folder_sweep(list_folder *f)
{
	time_t		before = time(NULL) - KEPT_SECONDS;
	DIR		   *folder;
	struct dirent *entry;

	if (f->swept != 0 && monotonic_seconds() - f->swept < SWEEP_SECONDS)
		return;
	f->swept = monotonic_seconds();
	f->lost = f->lost || is_lost(f);
	folder = fdopendir(dup(f->folder));
	f->counts.files = 0;
	f->counts.bytes = 0;
	if (folder == NULL)
		return;
	rewinddir(folder);
	while ((entry = readdir(folder)) != NULL)
	{
		uint8_t		digest[FEED_DIGEST_BYTES];
		struct stat st;

		/* of a process before this one: only a child writes beside this */
		if (f->renewal.child == 0 && strncmp(entry->d_name, FOLDER_UNFINISHED, strlen(FOLDER_UNFINISHED)) == 0)
			unlinkat(f->folder, entry->d_name, 0);
		if (!read_name(entry->d_name, digest) || fstatat(f->folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (st.st_mtime < before && !is_named(&f->manifest, digest))
			unlinkat(f->folder, entry->d_name, 0);
		else
		{
			f->counts.files++;
			f->counts.bytes += (uint64_t) st.st_size;
		}
	}
	closedir(folder);
}
