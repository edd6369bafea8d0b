/*
 * test_flags.c
 *	  The flags for opening: none changes an answer; and what the system was asked for has
 *	  been heard.
 *
 * What the system did of it is told by /proc/self/smaps; where that is not to be
 * had, only the answers are tested.
 */
#define _DEFAULT_SOURCE

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "make_filters.h"
#include "files.h"
#include "tap.h"

/* Keys that there is room for: about 6 MB, several huge pages. */
#define CAPACITY	5000000
#define KEYS		2000

#define HUGE_PAGE_BYTES ((uintptr_t) 2 * 1024 * 1024)
#define ALL_FLAGS	(BLOOMFILTER_COPY | BLOOMFILTER_SKIP_CHECK | BLOOMFILTER_CHECK_BITS | BLOOMFILTER_SKIP_COUNT)

/* What the system says of the mapping that an address is in. */
typedef struct mapping
{
	unsigned long resident;		/* bytes in memory */
	bool		huge;			/* advised to take huge pages */
} mapping;

/* Whether a line begins a mapping with the address in it, or leaves it as it was. */
static bool
goes_on(const char *line, uintptr_t address, bool inside)
{
	unsigned long begin;
	unsigned long end;

	if (sscanf(line, "%lx-%lx ", &begin, &end) != 2)
		return inside;
	return begin <= address && address < end;
}

/* False where the system doesn't tell. */
static bool
find_mapping(const void *address, mapping *found)
{
	FILE	   *file = fopen("/proc/self/smaps", "r");
	char		line[1024];
	bool		inside = false;
	bool		told = false;

	memset(found, 0, sizeof *found);
	while (file != NULL && fgets(line, sizeof line, file) != NULL)
	{
		inside = goes_on(line, (uintptr_t) address, inside);
		if (inside && sscanf(line, "Rss: %lu kB", &found->resident) == 1)
			found->resident *= 1024;
		if (!inside || strncmp(line, "VmFlags:", 8) != 0)
			continue;
		found->huge = strstr(line, " hg") != NULL;
		told = true;
	}
	if (file != NULL)
		fclose(file);
	return told;
}

static bool
has_huge_pages(void)
{
	return access("/sys/kernel/mm/transparent_hugepage/enabled", F_OK) == 0;
}

/*
 * Where the bytes of the filter behind path were while it was open, and how they were
 * mapped.  False where the system doesn't tell.
 */
static bool
look(const char *path, unsigned flags, const void **bytes, size_t *length, mapping *found)
{
	bloomfilter *filter;
	bool		told;

	need(bloomfilter_open(path, flags, &filter, NULL) == BLOOMFILTER_OK, "opened");
	bloomfilter_get_bytes(filter, 0, bytes, length);
	told = find_mapping(*bytes, found);
	bloomfilter_close(filter);
	return told;
}

/* The check of a mapped file reads all of it, and leaving it out nothing. */
static void
check_mapped(const char *path)
{
	const void *bytes;
	size_t		length;
	mapping		checked;
	mapping		unchecked;

	if (!look(path, BLOOMFILTER_SKIP_CHECK, &bytes, &length, &unchecked) || !look(path, 0, &bytes, &length, &checked))
	{
		ok(true, "mapped # skip no /proc/self/smaps");
		return;
	}
	ok(unchecked.resident < length / 2, "without the check little is brought in: %lu of %zu bytes",
	   unchecked.resident, length);
	ok(checked.resident >= length, "with it everything is: %lu of %zu bytes", checked.resident, length);
}

static void
check_copied(const char *path)
{
	const void *bytes;
	size_t		length;
	mapping		found;
	bool		told = look(path, BLOOMFILTER_COPY, &bytes, &length, &found);

	ok((uintptr_t) bytes % HUGE_PAGE_BYTES == 0, "a large copy begins on a huge page");
	if (!told || !has_huge_pages())
		ok(true, "huge pages # skip none, or no /proc/self/smaps");
	else
		ok(found.huge, "and is advised to take them");
}

/* By path and from memory, with any flags. */
static int
wrong_answers(const bloomfilter *filter, const char *path, unsigned flags)
{
	bloomfilter *opened[2];
	const void *bytes;
	size_t		length;
	int			wrong = 0;
	int			i;

	bloomfilter_get_bytes(filter, 0, &bytes, &length);
	need(bloomfilter_open(path, flags, &opened[0], NULL) == BLOOMFILTER_OK &&
		 bloomfilter_open_memory(bytes, length, flags, &opened[1], NULL) == BLOOMFILTER_OK, "opened");
	for (i = 0; i < 2; i++)
	{
		wrong += !equal_bytes(opened[i], filter) || count_missing(opened[i], 1, KEYS) != 0 ||
			check_bytes(opened[i]) != BLOOMFILTER_OK;
		bloomfilter_close(opened[i]);
	}
	return wrong;
}

int
main(void)
{
	bloomfilter *filter = make_range(CAPACITY, 1, 1, KEYS);
	const char *path = scratch_path("flags.bloom");
	unsigned	flags;

	need(bloomfilter_write(filter, path, NULL) == BLOOMFILTER_OK, "written");
	for (flags = 0; flags <= ALL_FLAGS; flags++)
		same(wrong_answers(filter, path, flags), 0, "flags 0x%x: the same bytes and answers", flags);
	check_mapped(path);
	check_copied(path);
	bloomfilter_close(filter);
	return tap_done();
}
