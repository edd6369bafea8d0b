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

/* How long a file stays after the last manifest that named it; steps, where bytes press. */
#define KEPT_SECONDS 86400
#define KEPT_STEP_SECONDS 3600
#define SWEEP_SECONDS 60.0

static void
touch_unnamed(const exporter *e, const feed_manifest *old, const feed_manifest *now, const char *ending,
			  bool steps)
{
	const feed_file *was = steps ? old->steps : old->wholes;
	const feed_file *is = steps ? now->steps : now->wholes;
	size_t		was_count = steps ? old->step_count : old->parts;
	size_t		is_count = steps ? now->step_count : now->parts;
	size_t		i;
	size_t		j;

	for (i = 0; i < was_count; i++)
	{
		char		name[FEED_FILE_NAME_BYTES];

		for (j = 0; j < is_count && memcmp(was[i].digest, is[j].digest, FEED_DIGEST_BYTES) != 0; j++)
			;
		if (j < is_count)
			continue;
		feed_file_name(name, &was[i], ending);
		utimensat(e->folder, name, NULL, 0);
	}
}

void
export_touch_unnamed(const exporter *e, const feed_manifest *next)
{
	touch_unnamed(e, &e->manifest, next, WHOLE_ENDING, false);
	touch_unnamed(e, &e->manifest, next, STEP_ENDING, true);
}

static bool
is_named(const exporter *e, const char *name)
{
	char		named[FEED_FILE_NAME_BYTES];
	size_t		i;

	for (i = 0; i < e->manifest.parts; i++)
	{
		feed_file_name(named, &e->manifest.wholes[i], WHOLE_ENDING);
		if (strcmp(named, name) == 0)
			return true;
	}
	for (i = 0; i < e->manifest.step_count; i++)
	{
		feed_file_name(named, &e->manifest.steps[i], STEP_ENDING);
		if (strcmp(named, name) == 0)
			return true;
	}
	return false;
}

/* Bytes of the files that stay; those that nobody can need any more are deleted. */
static uint64_t
sweep_once(exporter *e, time_t steps_before, time_t before)
{
	DIR		   *entries = fdopendir(dup(e->folder));
	struct dirent *entry;
	uint64_t	bytes = 0;

	if (entries == NULL)
		return 0;
	rewinddir(entries);
	while ((entry = readdir(entries)) != NULL)
	{
		const char *ending = strchr(entry->d_name, '.');
		bool		step = ending != NULL && strcmp(ending, STEP_ENDING) == 0;
		struct stat st;

		if (ending != entry->d_name + 2 * FEED_DIGEST_BYTES || (!step && strcmp(ending, WHOLE_ENDING) != 0) ||
			fstatat(e->folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (st.st_mtime < (step ? steps_before : before) && !is_named(e, entry->d_name))
			unlinkat(e->folder, entry->d_name, 0);
		else
			bytes += (uint64_t) st.st_size;
	}
	closedir(entries);
	return bytes;
}

void
export_sweep(exporter *e)
{
	static bool said;
	time_t		now = time(NULL);
	uint64_t	bytes;

	if (e->swept != 0 && monotonic_seconds() - e->swept < SWEEP_SECONDS)
		return;
	e->swept = monotonic_seconds();
	bytes = sweep_once(e, now - KEPT_SECONDS, now - KEPT_SECONDS);
	if (e->plan->keep == 0 || bytes <= e->plan->keep)
		return;
	bytes = sweep_once(e, now - KEPT_STEP_SECONDS, now - KEPT_SECONDS);
	if (bytes > e->plan->keep && !said)
		complain("\"%s\" has %" PRIu64 " bytes, more than --keep: files stay for a day after they were named, steps for an hour",
				 e->plan->to, bytes);
	said = bytes > e->plan->keep;
}
