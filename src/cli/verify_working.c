/*
 * verify_working.c
 *	  Whether the working copy that a follower keeps of a file has all that the file has.
 *
 * A working copy has no checksum, as its bits change.  But bits are only added to what the
 * file was, so each 1 bit of the file must be there: without it look-ups of keys that were
 * added would return false.
 */
#include "verify.h"

#include <inttypes.h>
#include <string.h>

#include "output.h"

/* A follower replaces both, one after the other: then look again. */
#define MOST_LOOKS 4

/* Bytes of a filter before its blocks. */
#define HEADER_BYTES BLOOMFILTER_HEADER_BYTES

/* Bits of one part of the file that the copy lacks. */
static uint64_t
lacking_bits(const uint8_t *file, const uint8_t *copy, size_t length)
{
	uint64_t	lacking = 0;
	size_t		i;

	for (i = HEADER_BYTES; i + 8 <= length; i += 8)
	{
		uint64_t	ours;
		uint64_t	theirs;

		memcpy(&ours, file + i, 8);
		memcpy(&theirs, copy + i, 8);
		lacking += (uint64_t) __builtin_popcountll(ours & ~theirs);
	}
	return lacking;
}

/* The same of all parts; *fits: they are of one geometry. */
static uint64_t
compare(const bloomfilter *file, const bloomfilter *copy, bool *fits)
{
	uint32_t	parts = filter_info(file, -1).open_parts;
	uint64_t	lacking = 0;
	uint32_t	i;

	*fits = filter_info(copy, -1).open_parts == parts;
	for (i = 0; i < parts && *fits; i++)
	{
		const void *bytes[2];
		size_t		lengths[2];

		*fits = bloomfilter_get_bytes(file, i, &bytes[0], &lengths[0]) == BLOOMFILTER_OK &&
			bloomfilter_get_bytes(copy, i, &bytes[1], &lengths[1]) == BLOOMFILTER_OK && lengths[0] == lengths[1];
		if (*fits)
			lacking += lacking_bits(bytes[0], bytes[1], lengths[0]);
	}
	return lacking;
}

static bloomfilter *
open_as(const char *path, unsigned flags)
{
	bloomfilter *filter = NULL;
	bloomfilter_detail detail;
	int			code = bloomfilter_open(path, flags, &filter, &detail);

	return sound_filter(code, filter, &detail);
}

/* What the file is now: the sum of its parts' checksums changes with each of them. */
static uint64_t
content_of(const bloomfilter *file)
{
	uint64_t	sum = 0;
	uint32_t	i;

	for (i = 0; i < filter_info(file, -1).open_parts; i++)
		sum = sum * 31 + filter_info(file, i).checksum;
	return sum;
}

static bool
was_replaced(const char *path, uint64_t content)
{
	bloomfilter *file = open_as(path, BLOOMFILTER_BASE | BLOOMFILTER_SKIP_CHECK);
	bool		replaced = file == NULL || content_of(file) != content;

	bloomfilter_close(file);
	return replaced;
}

/* One look; *again: the file was replaced meanwhile. */
static exit_status
look(const char *path, bool *again)
{
	exit_status status = STATUS_YES;
	bloomfilter *file;
	bloomfilter *copy = NULL;
	bloomfilter_working working = {0};
	uint64_t	lacking;
	bool		fits;

	*again = false;
	/* The file before the copy, which so has at least what it had then. */
	file = open_as(path, BLOOMFILTER_BASE);
	if (file != NULL)
		copy = open_as(path, BLOOMFILTER_COPY);
	if (copy != NULL)
		bloomfilter_get_working(copy, &working, sizeof working);
	else
		status = STATUS_NO;
	if (working.serial != 0)
	{
		lacking = compare(file, copy, &fits);
		if (fits && lacking == 0)
			output_text("working copy: has all bits of the file, serial %" PRIu64 "\n", working.serial);
		else if (was_replaced(path, content_of(file)))
			*again = true;
		else
		{
			complain("the working copy of \"%s\" is damaged: it lacks %" PRIu64 " bits of the file; end the follower, remove \"%s.working\" and what it leads to, and start it again",
					 path, lacking, path);
			status = STATUS_NO;
		}
	}
	bloomfilter_close(copy);
	bloomfilter_close(file);
	return status;
}

exit_status
verify_working(const char *path)
{
	bool		again = true;
	exit_status status = STATUS_YES;
	int			looks;

	for (looks = 0; looks < MOST_LOOKS && again; looks++)
		status = look(path, &again);
	if (again)
		fail("\"%s\" is replaced again and again", path);
	return status;
}
