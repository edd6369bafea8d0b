/*
 * test_patch.c
 *	  Patches: the golden files, patches made of random bits and read back, and each bit of
 *	  one changed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bf_format.h"
#include "feed_patch.h"
#include "feed_part.h"
#include "files.h"
#include "tap.h"
#include "tsv.h"

#define MOST_PARTS 4

/* A list of positions, "part:bit,bit;part:bit". */
typedef struct listing
{
	char	   *text;
	size_t		room;
	size_t		length;
	int64_t		part;
} listing;

static void
list_position(void *state, uint32_t part, uint64_t position)
{
	listing    *list = state;
	const char *before = list->part == (int64_t) part ? "," : list->part < 0 ? "" : ";";

	if (list->part == (int64_t) part)
		list->length += (size_t) snprintf(list->text + list->length, list->room - list->length, "%s%llu", before,
										  (unsigned long long) position);
	else
		list->length += (size_t) snprintf(list->text + list->length, list->room - list->length, "%s%u:%llu", before,
										  part, (unsigned long long) position);
	list->part = part;
}

/* Bytes of one element of a list of hex. */
static uint8_t *
element(const char **hex, size_t *length)
{
	size_t		digits = strcspn(*hex, ",");
	uint8_t    *bytes = malloc(digits / 2 + 1);

	need(bytes != NULL, "memory");
	*length = from_hex(*hex, digits, bytes);
	*hex += digits;
	if (**hex == ',')
		++*hex;
	return bytes;
}

static uint64_t
sum_of(const feed_part *parts, uint8_t *const *blocks, uint32_t count)
{
	uint64_t	sum = 0;
	uint32_t	i;

	for (i = 0; i < count; i++)
		sum += feed_sum_header(i, parts[i].header) + feed_sum(i, 0, blocks[i], parts[i].length);
	return sum;
}

/* What a patch makes of parts. */
typedef struct result
{
	feed_patch_kind kind;
	feed_part  *parts;
	uint8_t   **bodies;
} result;

static void
take_header(void *state, uint32_t part, const uint8_t *header)
{
	const result *to = state;

	feed_part_take(&to->parts[part], header);
	if (feed_is_exact(&to->parts[part]))
		memcpy(to->bodies[part], header, FEED_FRONT_BYTES);
}

static void
take_position(void *state, uint32_t part, uint64_t position)
{
	const result *to = state;
	uint8_t    *byte = &to->bodies[part][position / 8];
	uint8_t		bit = (uint8_t) (1u << position % 8);

	*byte = to->kind == FEED_SET ? *byte | bit : *byte ^ bit;
}

/* What a valid row leads to, and that it is written again with the same bytes. */
static void
check_valid(const tsv *table, const feed_patch *patch, feed_part *parts, uint32_t count,
			const uint8_t *bytes, size_t length)
{
	const char *name = tsv_text(table, "name");
	const char *hex = tsv_text(table, "before_hex");
	static char text[1 << 20];
	listing		list = {text, sizeof text, 0, -1};
	uint8_t    *before[MOST_PARTS];
	uint8_t    *after[MOST_PARTS];
	feed_change changes[MOST_PARTS];
	uint8_t    *again;
	uint64_t	sum;
	size_t		size;
	uint32_t	i;

	text[0] = '\0';
	feed_patch_each(patch, NULL, list_position, &list);
	ok(strcmp(list.length == 0 ? "-" : text, tsv_text(table, "positions")) == 0, "positions of %s", name);
	for (i = 0; i < count; i++)
	{
		before[i] = element(&hex, &size);
		need(size == parts[i].length, "as many bytes as the part has");
		after[i] = malloc(size);
		need(after[i] != NULL, "memory");
		memcpy(after[i], before[i], size);
		changes[i] = (feed_change) {NULL, 0, before[i], after[i]};
	}
	sum = sum_of(parts, before, count);
	ok(patch->kind == FEED_SET || patch->from_sum == sum, "%s is for this state", name);
	feed_patch_each(patch, take_header, take_position, &(result) {patch->kind, parts, after});
	ok(patch->to_sum == sum_of(parts, after, count), "%s leads to its sum", name);
	/* a set may have positions that were set before, and widths are the writer's choice */
	if (patch->kind == FEED_FLIP)
	{
		size = feed_patch_write(patch, parts, changes, count, NULL);
		again = malloc(size);
		need(again != NULL, "memory");
		feed_patch_write(patch, parts, changes, count, again);
		ok(size == length && memcmp(again, bytes, length) == 0, "%s is written with the same bytes", name);
		free(again);
	}
	for (i = 0; i < count; i++)
	{
		free(before[i]);
		free(after[i]);
	}
}

static void
check_row(const tsv *table)
{
	const char *hex = tsv_text(table, "headers_hex");
	const char *patch_hex = tsv_text(table, "patch_hex");
	feed_part	parts[MOST_PARTS];
	feed_patch	patch;
	const char *problem;
	uint32_t	count;
	size_t		length;
	uint8_t    *bytes;

	for (count = 0; *hex != '\0'; count++)
	{
		uint8_t    *header = element(&hex, &length);

		need(count < MOST_PARTS && feed_part_read(header, length, &parts[count]) == NULL, "a header");
		free(header);
	}
	bytes = element(&patch_hex, &length);
	problem = feed_patch_read(bytes, length, parts, count, &patch);
	ok(strcmp(problem == NULL ? "-" : problem, tsv_text(table, "word")) == 0, "patch %s: %s", tsv_text(table, "name"),
	   problem == NULL ? "-" : problem);
	if (problem == NULL)
		check_valid(table, &patch, parts, count, bytes, length);
	free(bytes);
}

static feed_part
make_part(unsigned width, uint32_t blocks)
{
	bf_header	header;
	uint8_t		bytes[FEED_HEADER_BYTES];
	feed_part	part;

	memset(&header, 0, sizeof header);
	header.probes = 6;
	header.log2_block_bits = (uint8_t) width;
	header.blocks = blocks;
	header.parts = 1;
	header.capacity = 1000;
	header.rate = 0.01;
	header.key_type = 1;
	bf_header_copy(&header, bytes);
	need(feed_part_read(bytes, sizeof bytes, &part) == NULL, "a header");
	return part;
}

/* The positions that were given, in order. */
typedef struct expected
{
	const uint64_t *positions;
	size_t		count;
	size_t		seen;
	bool		same;
} expected;

static void
compare_position(void *state, uint32_t part, uint64_t position)
{
	expected   *want = state;

	want->same = want->same && part == 0 && want->seen < want->count &&
		want->positions[want->seen] == position;
	want->seen++;
}

/*
 * Each bit changed is found by the checksum, which is of all bytes however many there are: fuzz_patch.c
 * has what comes under one that fits again.
 */
static void
check_damage(const uint8_t *bytes, size_t length, const feed_part *part)
{
	uint8_t    *damaged = malloc(length);
	bool		found = true;
	size_t		bit;
	feed_patch	patch;

	need(damaged != NULL, "memory");
	memcpy(damaged, bytes, length);
	for (bit = 0; bit < 8 * length; bit++)
	{
		damaged[bit / 8] ^= (uint8_t) (1 << bit % 8);
		found &= check(feed_patch_read(damaged, length, part, 1, &patch) != NULL, "bit %zu", bit);
		damaged[bit / 8] ^= (uint8_t) (1 << bit % 8);
	}
	ok(found, "each changed bit of a patch of %zu bytes is found", length);
	free(damaged);
}

/* A set of these positions of one part, whose memory the caller frees. */
static uint8_t *
written(const feed_part *part, uint64_t *positions, size_t *count, size_t *length)
{
	feed_patch	made = {FEED_SET, 7, {0}, 7, 9, 0, 0, 0, NULL, 0};
	feed_change change = {positions, 0, NULL, NULL};
	uint8_t    *bytes;

	*count = change.count = feed_patch_sort(positions, *count);
	*length = feed_patch_write(&made, part, &change, 1, NULL);
	bytes = malloc(*length);
	need(bytes != NULL, "memory");
	feed_patch_write(&made, part, &change, 1, bytes);
	return bytes;
}

static void
check_random(unsigned width, uint32_t blocks, size_t count)
{
	uint64_t	random = width + count;
	uint64_t   *positions = malloc((count + 1) * sizeof *positions);
	feed_part	part = make_part(width, blocks);
	feed_patch	read;
	expected	want = {positions, 0, 0, true};
	size_t		length;
	uint8_t    *bytes;
	size_t		i;

	need(positions != NULL, "memory");
	for (i = 0; i < count; i++)
		positions[i] = next_random(&random) % ((uint64_t) blocks << width);
	want.count = count;
	bytes = written(&part, positions, &want.count, &length);
	ok(feed_patch_read(bytes, length, &part, 1, &read) == NULL, "%zu positions of %u blocks are a patch of %zu bytes",
	   want.count, blocks, length);
	feed_patch_each(&read, NULL, compare_position, &want);
	ok(want.same && want.seen == want.count && read.positions == want.count && read.from == 7 && read.to == 9,
	   "and come back");
	if (count > 0 && length < 1000)
		check_damage(bytes, length, &part);
	free(bytes);
	free(positions);
}

/* What the format is for: few bytes for a new key. */
static void
check_size(void)
{
	enum
	{
		KEYS = 1000, PROBES = 6, WIDTH = 9, BLOCKS = 195000
	};
	static uint64_t positions[KEYS * PROBES];
	uint64_t	random = 1;
	feed_part	part = make_part(WIDTH, BLOCKS);
	feed_patch	read;
	uint8_t    *bytes;
	size_t		count = 0;
	size_t		length;
	unsigned	key;
	unsigned	probe;

	for (key = 0; key < KEYS; key++)
	{
		uint64_t	block = next_random(&random) % BLOCKS;

		/* half of a full filter's bits are set before */
		for (probe = 0; probe < PROBES; probe++)
			if (next_random(&random) % 2 == 0)
				positions[count++] = block << WIDTH | next_random(&random) % (1 << WIDTH);
	}
	bytes = written(&part, positions, &count, &length);
	ok(feed_patch_read(bytes, length, &part, 1, &read) == NULL, "a thousand keys are a patch");
	ok(length <= 7 * KEYS, "a new key takes at most 7 bytes: %.2f", (double) length / KEYS);
	free(bytes);
}

int
main(void)
{
	tsv_each("patches.tsv", check_row);
	check_random(9, 1, 0);
	check_random(9, 1, 400);
	check_random(12, 228840, 4000);
	check_random(16, 8191, 3000);
	check_random(10, 4194271, 3000);
	check_random(10, 4194271, 1);
	check_size();
	return tap_done();
}
