/*
 * sweep.c
 *	  Files that nobody can need any more.
 */
#define _GNU_SOURCE
#include "folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* How long a file stays after the last manifest that named it. */
#define KEPT_SECONDS 86400
#define SWEEP_SECONDS 60.0

/* The files that a manifest names, one after the other; NULL behind the last. */
static const feed_file *
file_of(const feed_manifest *m, size_t i)
{
	if (i < m->parts)
		return &m->wholes[i];
	i -= m->parts;
	if (i < m->patch_count)
		return &m->patches[i];
	i -= m->patch_count;
	return i < m->change_count ? &m->changes[i] : NULL;
}

static void
name_of(char name[FEED_FILE_NAME_BYTES], const feed_manifest *m, size_t i)
{
	feed_file_name(name, file_of(m, i)->digest,
				   i < m->parts ? FEED_IS_WHOLE : i < m->parts + m->patch_count ? FEED_IS_PATCH : FEED_IS_CHANGES);
}

static bool
is_ending(const char *ending)
{
	int			kind;

	for (kind = 0; kind < FEED_KINDS; kind++)
		if (strcmp(ending, feed_endings[kind]) == 0)
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
	const feed_manifest *m = &f->manifest;
	char		name[FEED_FILE_NAME_BYTES];
	struct stat st;
	size_t		i;

	for (i = 0; file_of(m, i) != NULL; i++)
	{
		name_of(name, m, i);
		if (fstatat(f->folder, name, &st, 0) != 0 || (uint64_t) st.st_size != file_of(m, i)->length)
			return true;
	}
	return false;
}

static bool
names_digest(const feed_manifest *m, const uint8_t digest[FEED_DIGEST_BYTES])
{
	const feed_file *file;
	size_t		i;

	for (i = 0; (file = file_of(m, i)) != NULL; i++)
		if (memcmp(file->digest, digest, FEED_DIGEST_BYTES) == 0)
			return true;
	return false;
}

void
folder_touch_unnamed(const list_folder *f, const feed_manifest *next)
{
	const feed_manifest *m = &f->manifest;
	size_t		i;

	for (i = 0; file_of(m, i) != NULL; i++)
	{
		char		name[FEED_FILE_NAME_BYTES];

		if (names_digest(next, file_of(m, i)->digest))
			continue;
		name_of(name, m, i);
		utimensat(f->folder, name, NULL, 0);
	}
}

static bool
is_named(const list_folder *f, const char *name)
{
	uint8_t		digest[FEED_DIGEST_BYTES];
	char		hex[2 * FEED_DIGEST_BYTES + 1];

	memcpy(hex, name, sizeof hex - 1);
	hex[sizeof hex - 1] = '\0';
	return feed_from_hex(digest, sizeof digest, hex) && names_digest(&f->manifest, digest);
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
		const char *ending = strchr(entry->d_name, '.');
		struct stat st;

		/* of a process before this one: only a child writes beside this */
		if (f->renewal.child == 0 && strncmp(entry->d_name, FOLDER_UNFINISHED, strlen(FOLDER_UNFINISHED)) == 0)
			unlinkat(f->folder, entry->d_name, 0);
		if (ending != entry->d_name + 2 * FEED_DIGEST_BYTES || !is_ending(ending) ||
			fstatat(f->folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (st.st_mtime < before && !is_named(f, entry->d_name))
			unlinkat(f->folder, entry->d_name, 0);
		else
		{
			f->counts.files++;
			f->counts.bytes += (uint64_t) st.st_size;
		}
	}
	closedir(folder);
}
