/*
 * test_steps.c
 *	  Steps: the golden files, steps made of random bits read back, and damaged ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bf_hashlist.h"
#include "bf_step.h"
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
	uint32_t	part;
	bool		any;
} listing;

static void
begin_section(void *state, uint32_t part, uint64_t bits_set)
{
	listing    *list = state;

	(void) bits_set;
	list->length += (size_t) snprintf(list->text + list->length, list->room - list->length,
									  "%s%u:", list->any ? ";" : "", part);
	list->part = part;
	list->any = false;
}

static void
list_position(void *state, uint32_t part, uint64_t position)
{
	listing    *list = state;

	need(part == list->part, "positions are of the section's part");
	list->length += (size_t) snprintf(list->text + list->length, list->room - list->length,
									  "%s%llu", list->any ? "," : "", (unsigned long long) position);
	list->any = true;
}

static uint32_t
read_geometry(const char *text, bf_header *headers)
{
	uint32_t	parts = 0;

	memset(headers, 0, MOST_PARTS * sizeof *headers);
	for (; text != NULL && parts < MOST_PARTS; parts++)
	{
		unsigned	width;
		unsigned	blocks;

		need(sscanf(text, "%u:%u", &width, &blocks) == 2, "a geometry");
		headers[parts].log2_block_bits = (uint8_t) width;
		headers[parts].blocks = blocks;
		text = strchr(text, ';');
		if (text != NULL)
			text++;
	}
	return parts;
}

static void
check_row(const tsv *table)
{
	const char *name = tsv_text(table, "name");
	const char *hex = tsv_text(table, "step_hex");
	size_t		length = strcmp(hex, "-") == 0 ? 0 : strlen(hex) / 2;
	uint8_t    *bytes = malloc(length + 1);
	bf_header	headers[MOST_PARTS];
	uint32_t	parts = read_geometry(tsv_text(table, "geometry"), headers);
	char		text[8192] = "";
	listing		list = {text, sizeof text, 0, 0, false};
	bf_step		step;
	bf_step_status status;

	need(bytes != NULL, "memory");
	from_hex(hex, length * 2, bytes);
	status = bf_step_read(bytes, length, headers, parts, &step);
	ok(strcmp(bf_step_word(status), tsv_text(table, "word")) == 0, "step %s: %s", name, bf_step_word(status));
	if (status == BF_STEP_OK)
	{
		bf_step_each(&step, begin_section, list_position, &list);
		ok(strcmp(list.length == 0 ? "-" : text, tsv_text(table, "positions")) == 0, "positions of %s", name);
	}
	free(bytes);
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

/* Damaged bytes that carry a right checksum are refused, or are a step within the filter. */
static void
within(void *state, uint32_t part, uint64_t position)
{
	const bf_header *headers = state;

	need(position >> headers[part].log2_block_bits < headers[part].blocks, "a position beyond the filter");
}

static void
check_damage(const uint8_t *bytes, size_t length, const bf_header *header, uint64_t *random)
{
	uint8_t    *damaged = malloc(length);
	bf_header	headers[1] = {*header};
	bool		sound = true;
	int			round;

	need(damaged != NULL, "memory");
	for (round = 0; round < 2000; round++)
	{
		size_t		cut = next_random(random) % 4 == 0 ? next_random(random) % (length + 1) : length;
		bf_step		step;

		memcpy(damaged, bytes, length);
		damaged[64 + next_random(random) % (length - 64)] = (uint8_t) next_random(random);
		/* the checksum of what is there now, so that all else is looked at */
		if (cut >= 64)
		{
			bf_step_status status = bf_step_read(damaged, cut, headers, 1, &step);

			sound = sound && (status == BF_STEP_CHECKSUM || status == BF_STEP_OK);
			bf_step_seal(damaged, cut);
		}
		if (bf_step_read(damaged, cut, headers, 1, &step) == BF_STEP_OK)
			bf_step_each(&step, NULL, within, headers);
	}
	ok(sound, "a step that was changed has another checksum");
	free(damaged);
}

static void
check_random(unsigned width, uint32_t blocks, size_t count)
{
	uint64_t	random = width + count;
	uint64_t   *positions = malloc((count + 1) * sizeof *positions);
	uint8_t    *bytes;
	bf_header	header;
	bf_step		made = {7, {0}, 7, 9, 0, NULL, 0};
	bf_step		read;
	bf_step_part part = {0, (uint64_t) blocks << width, positions, 0};
	expected	want = {positions, 0, 0, true};
	size_t		length;
	size_t		i;

	memset(&header, 0, sizeof header);
	header.log2_block_bits = (uint8_t) width;
	header.blocks = blocks;
	need(positions != NULL, "memory");
	for (i = 0; i < count; i++)
		positions[i] = next_random(&random) % ((uint64_t) blocks << width);
	want.count = part.count = bf_hashlist_unique(positions, count, NULL);
	bytes = malloc(bf_step_room(1, part.count));
	need(bytes != NULL, "memory");
	length = bf_step_write(&made, &header, &part, 1, bytes);
	ok(length <= bf_step_room(1, part.count), "%zu positions fit", part.count);
	same(bf_step_read(bytes, length, &header, 1, &read), BF_STEP_OK, "%zu positions of %u blocks are a step", part.count, blocks);
	bf_step_each(&read, NULL, compare_position, &want);
	ok(want.same && want.seen == want.count && read.bits == want.count && read.from == 7 && read.to == 9,
	   "and come back");
	if (count > 0)
		check_damage(bytes, length, &header, &random);
	free(bytes);
	free(positions);
}

int
main(void)
{
	tsv		   *table = tsv_open("steps.tsv");

	while (tsv_next(table))
		check_row(table);
	tsv_close(table);
	check_random(9, 1, 0);
	check_random(9, 1, 400);
	check_random(12, 228840, 4000);
	check_random(16, 8191, 3000);
	check_random(10, 4194271, 3000);
	return tap_done();
}
