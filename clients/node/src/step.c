/*
 * step.c
 *	  Steps: read and checked by the C code that made them, and their positions handed out
 *	  in pieces, as the parts of a set lie in memories of their own.
 *
 * step_geometry() for each part, step_read(), and then step_positions() until it returns 0.
 * set_positions() is called in the instance that has the part.
 */
#include "reader.h"

#include "bf_step.h"

static bf_step step;
static bf_step_walk walk;

/* What step_positions() has found, and where. */
static uint32_t *found;
static size_t found_count;
static bool met_section;
static uint32_t found_part;
static uint64_t found_bits_set;

EXPORT("step_header_bytes") size_t
step_header_bytes(void)
{
	return sizeof(bf_header);
}

EXPORT("step_geometry") void
step_geometry(bf_header *headers, uint32_t part, uint32_t log2_block_bits, uint32_t blocks)
{
	memset(&headers[part], 0, sizeof headers[part]);
	headers[part].log2_block_bits = (uint8_t) log2_block_bits;
	headers[part].blocks = blocks;
}

static void
note_section(void *state, uint32_t part, uint64_t bits_set)
{
	(void) state;
	(void) part;
	(void) bits_set;
	met_section = true;
}

static void
note_position(void *state, uint32_t part, uint64_t position)
{
	(void) state;
	(void) part;
	found[found_count++] = (uint32_t) position;
}

EXPORT("step_read") int
step_read(const bf_header *headers, uint32_t parts, const uint8_t *bytes, size_t length)
{
	bf_step_status status = bf_step_read(bytes, length, headers, parts, &step);

	if (status == BF_STEP_OK)
		bf_step_begin(&step, note_section, note_position, NULL, &walk);
	return (int) status;
}

EXPORT("step_word") const char *
step_word(int status)
{
	return bf_step_word((bf_step_status) status);
}

/*
 * Positions of one part: whole blocks, whose number is at most at_once, or those of one
 * block if it has more.  There is room for at_once and a block's.  Returns 0 at the end.
 */
EXPORT("step_positions") size_t
step_positions(uint32_t *positions, size_t at_once)
{
	found = positions;
	found_count = 0;
	met_section = false;
	found_part = walk.part;
	found_bits_set = walk.bits_set;
	while (found_count < at_once && bf_step_next(&walk))
	{
		/* what was found belongs to the section before */
		if (met_section && found_count > 0)
			break;
		met_section = false;
		found_part = walk.part;
		found_bits_set = walk.bits_set;
	}
	return found_count;
}

EXPORT("step_part") uint32_t
step_part(void)
{
	return found_part;
}

/* How many bits its part has in the state that the step leads to. */
EXPORT("step_bits_set") double
step_bits_set(void)
{
	return (double) found_bits_set;
}

/* Sets bits of this instance's filter; returns how many of them were 0. */
EXPORT("set_positions") uint32_t
set_positions(const uint32_t *positions, size_t count)
{
	uint8_t    *blocks = filter_at() + BF_HEADER_BYTES;
	uint32_t	fresh = 0;
	size_t		i;

	for (i = 0; i < count; i++)
	{
		uint8_t    *byte = blocks + (positions[i] >> 3);
		uint8_t		mask = (uint8_t) (1 << (positions[i] & 7));

		fresh += (*byte & mask) == 0;
		*byte |= mask;
	}
	return fresh;
}
