/*
 * pull_room.c
 *	  Whether there is memory for what a manifest says that comes.
 *
 * Lack of memory ends the process and so all lists of it, and what a server says has no
 * limit.  So each list is measured before its files are fetched, by what the system has,
 * and by what the service or container is allowed to take.
 */
#include "pull_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "messages.h"

#define CGROUPS "/sys/fs/cgroup"

/* The number behind a word at a line's begin; absent: what it is if there is none. */
static uint64_t
read_word(const char *path, const char *word, uint64_t absent)
{
	FILE	   *stream = fopen(path, "r");
	size_t		length = strlen(word);
	char		line[256];
	uint64_t	number = absent;

	if (stream == NULL)
		return absent;
	while (fgets(line, sizeof line, stream) != NULL)
		if (strncmp(line, word, length) == 0 && sscanf(line + length, " %" SCNu64, &number) == 1)
			break;
	fclose(stream);
	return number;
}

/* What a cgroup may still take: its cache of files goes when memory is needed. */
static uint64_t
left_in(const char *cgroup)
{
	char		path[4096];
	uint64_t	most;
	uint64_t	taken;

	snprintf(path, sizeof path, "%s/memory.max", cgroup);
	/* "max" is no number */
	most = read_word(path, "", UINT64_MAX);
	if (most == UINT64_MAX)
		return most;
	snprintf(path, sizeof path, "%s/memory.stat", cgroup);
	taken = read_word(path, "anon ", 0) + read_word(path, "shmem ", 0);
	return most > taken ? most - taken : 0;
}

/* The least of this process's cgroup and those above it. */
static uint64_t
left_in_cgroups(void)
{
	FILE	   *stream = fopen("/proc/self/cgroup", "r");
	char		line[2048];
	char		path[sizeof CGROUPS + sizeof line];
	uint64_t	least = UINT64_MAX;

	path[0] = '\0';
	while (stream != NULL && fgets(line, sizeof line, stream) != NULL)
		if (strncmp(line, "0::/", 4) == 0)
			snprintf(path, sizeof path, "%s%.*s", CGROUPS, (int) strcspn(line + 3, "\n"), line + 3);
	if (stream != NULL)
		fclose(stream);
	while (strlen(path) >= strlen(CGROUPS))
	{
		uint64_t	left = left_in(path);

		if (left < least)
			least = left;
		*strrchr(path, '/') = '\0';
	}
	return least;
}

bool
list_has_room(url_host *host, uint64_t bytes)
{
	uint64_t	held = list_held(host);
	uint64_t	left = read_word("/proc/meminfo", "MemAvailable:", UINT64_MAX / 1024) * 1024;
	uint64_t	allowed = left_in_cgroups();
	char		wanted[SCALE_TEXT_BYTES];
	char		there[SCALE_TEXT_BYTES];

	if (allowed < left)
		left = allowed;
	if (bytes <= held || bytes - held <= left)
		return true;
	scale(wanted, (double) (bytes - held), true);
	scale(there, (double) left, true);
	complain("%s: what the server has takes %s of memory, and there are %s: give this host or service (MemoryMax) more, "
			 "or follow a smaller list", host->plan->out, wanted, there);
	list_close(host);
	return false;
}

uint64_t
list_room_of_wholes(const feed_manifest *m)
{
	uint64_t	bytes = 2 * feed_files_bytes(m->wholes, m->parts);
	size_t		i;

	for (i = 0; i < m->step_count; i++)
		if (m->steps[i].to > m->wholes[0].to)
			bytes += m->steps[i].length;
	return bytes;
}
