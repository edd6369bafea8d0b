/*
 * export_sweep.c
 *	  Files that nobody can need any more.
 */
#define _GNU_SOURCE
#include "export_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* How long a file stays after the last manifest that named it; steps and deltas, where bytes press. */
#define KEPT_SECONDS 86400
#define KEPT_STEP_SECONDS 3600
#define SWEEP_SECONDS 60.0

/* The files that a manifest names, one after the other; NULL behind the last. */
static const feed_file *
file_of(const feed_manifest *m, size_t i, const char **ending)
{
	*ending = WHOLE_ENDING;
	if (i < m->parts)
		return &m->wholes[i];
	i -= m->parts;
	*ending = STEP_ENDING;
	if (i < m->step_count)
		return &m->steps[i];
	i -= m->step_count;
	if (i >= m->chain_count)
		return NULL;
	if (m->chain[i].delta)
		*ending = DELTA_ENDING;
	return &m->chain[i];
}

static bool
is_there(const exporter *e, const feed_file *file, const char *ending)
{
	char		name[FEED_FILE_NAME_BYTES];
	struct stat st;

	feed_file_name(name, file, ending);
	return fstatat(e->folder, name, &st, 0) == 0 && (uint64_t) st.st_size == file->length;
}

bool
export_is_lost(exporter *e)
{
	const feed_file *file;
	const char *ending;
	size_t		i;

	if (e->checked != 0 && monotonic_seconds() - e->checked < SWEEP_SECONDS)
		return e->lost;
	e->checked = monotonic_seconds();
	for (i = 0; !e->lost && (file = file_of(&e->manifest, i, &ending)) != NULL; i++)
		e->lost = !is_there(e, file, ending);
	return e->lost;
}

bool
export_is_chain_lost(const exporter *e, const feed_manifest *next)
{
	const feed_file *file;
	const char *ending;
	size_t		i;

	/* it comes behind all others */
	for (i = next->parts + next->step_count; (file = file_of(next, i, &ending)) != NULL; i++)
		if (!is_there(e, file, ending))
			return true;
	return false;
}

static bool
names_digest(const feed_manifest *m, const uint8_t digest[FEED_DIGEST_BYTES])
{
	const feed_file *file;
	const char *ending;
	size_t		i;

	for (i = 0; (file = file_of(m, i, &ending)) != NULL; i++)
		if (memcmp(file->digest, digest, FEED_DIGEST_BYTES) == 0)
			return true;
	return false;
}

void
export_touch_unnamed(const exporter *e, const feed_manifest *next)
{
	const feed_file *file;
	const char *ending;
	size_t		i;

	for (i = 0; (file = file_of(&e->manifest, i, &ending)) != NULL; i++)
	{
		char		name[FEED_FILE_NAME_BYTES];

		if (names_digest(next, file->digest))
			continue;
		feed_file_name(name, file, ending);
		utimensat(e->folder, name, NULL, 0);
	}
}

static bool
is_named(const exporter *e, const char *name)
{
	const feed_file *file;
	const char *ending;
	size_t		i;

	for (i = 0; (file = file_of(&e->manifest, i, &ending)) != NULL; i++)
	{
		char		named[FEED_FILE_NAME_BYTES];

		feed_file_name(named, file, ending);
		if (strcmp(named, name) == 0)
			return true;
	}
	return false;
}

/* Counts the files that stay; those that nobody can need any more are deleted. */
static void
sweep_once(exporter *e, time_t steps_before, time_t before)
{
	DIR		   *entries = fdopendir(dup(e->folder));
	struct dirent *entry;

	e->counts.files = 0;
	e->counts.bytes = 0;
	if (entries == NULL)
		return;
	rewinddir(entries);
	while ((entry = readdir(entries)) != NULL)
	{
		const char *ending = strchr(entry->d_name, '.');
		bool		step = ending != NULL && (strcmp(ending, STEP_ENDING) == 0 || strcmp(ending, DELTA_ENDING) == 0);
		struct stat st;

		if (ending != entry->d_name + 2 * FEED_DIGEST_BYTES || (!step && strcmp(ending, WHOLE_ENDING) != 0) ||
			fstatat(e->folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (st.st_mtime < (step ? steps_before : before) && !is_named(e, entry->d_name))
			unlinkat(e->folder, entry->d_name, 0);
		else
		{
			e->counts.files++;
			e->counts.bytes += (uint64_t) st.st_size;
		}
	}
	closedir(entries);
}

void
export_sweep(exporter *e)
{
	static bool said;
	time_t		now = time(NULL);

	if (e->swept != 0 && monotonic_seconds() - e->swept < SWEEP_SECONDS)
		return;
	e->swept = monotonic_seconds();
	sweep_once(e, now - KEPT_SECONDS, now - KEPT_SECONDS);
	if (e->plan->keep == 0 || e->counts.bytes <= e->plan->keep)
		return;
	sweep_once(e, now - KEPT_STEP_SECONDS, now - KEPT_SECONDS);
	if (e->counts.bytes > e->plan->keep && !said)
		complain("\"%s\" has %" PRIu64 " bytes, more than --keep: files stay for a day after they were named, steps for an hour",
				 e->plan->to, e->counts.bytes);
	said = e->counts.bytes > e->plan->keep;
}
