/*
 * room.c
 *	  Whether there is memory for a new file on tmpfs.
 *
 * A file system that is full is an error, but a service or container that takes more memory
 * than it is allowed is ended, again and again.
 */
#include "file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "messages.h"

#define CGROUPS "/sys/fs/cgroup"
#define MIB 1048576.0

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
file_has_memory(const list_file *file, uint64_t bytes)
{
	uint64_t	left = left_in_cgroups();

	if (!file->in_memory || bytes <= left)
		return true;
	complain("a new file takes %.1f MiB of memory in \"%s\", and this service may take %.1f more: give it more (MemoryMax), "
			 "or put the file on a disk", (double) bytes / MIB, file->folder_name, (double) left / MIB);
	return false;
}
