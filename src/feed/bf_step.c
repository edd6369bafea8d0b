/*
 * bf_step.c
 *	  Steps: reading, checking, going through and writing them.
 *
 * Reading and going through are one walk over the sections, which checks all that it
 * meets; the second time nothing is left to be found.
 */
#include "bf_step.h"

#include <string.h>

#include "bf_bytes.h"
#include "bf_hash.h"
#include "bf_limits.h"

enum
{
	AT_VERSION = 4,
	AT_EPOCH = 8,
	AT_IDENTITY = 16,
	AT_FROM = 32,
	AT_TO = 40,
	AT_BITS = 48,
	AT_CHECKSUM = 56
};

#define VERSION 1
#define VARINT_BYTES 5

static const uint8_t magic[4] = {'B', 'L', 'M', 'S'};

const char *
bf_step_word(bf_step_status status)
{
	static const char *const words[] = {
		"-", "short", "magic", "version", "checksum", "header", "section"
	};

	return words[status];
}

static uint64_t
checksum_of(const uint8_t *bytes, size_t length)
{
	return bf_checksum(bytes, AT_CHECKSUM, bytes + BF_STEP_HEADER_BYTES,
					   length - BF_STEP_HEADER_BYTES, NULL);
}

/* ------------------------------------------------------------------------
 * Reading
 * ------------------------------------------------------------------------ */

static bool
read_varint(bf_step_walk *w, uint64_t *number)
{
	unsigned	i;

	*number = 0;
	for (i = 0; i < VARINT_BYTES && w->at < w->end; i++)
	{
		uint8_t		byte = *w->at++;

		*number |= (uint64_t) (byte & 127) << (7 * i);
		if (byte < 128)
			return *number <= UINT32_MAX;
	}
	return false;
}

/* The positions of one block, which begins at bit first of the part. */
static bool
walk_positions(bf_step_walk *w, uint32_t part, uint64_t first, unsigned width, uint64_t count)
{
	size_t		length = (size_t) ((count * width + 7) / 8);
	uint64_t	bits = 0;
	unsigned	held = 0;
	int64_t		last = -1;
	uint64_t	i;

	if (count > (uint64_t) 1 << width || length > (size_t) (w->end - w->at))
		return false;
	for (i = 0; i < count; i++)
	{
		int64_t		position;

		while (held < width)
		{
			bits |= (uint64_t) *w->at++ << held;
			held += 8;
		}
		position = (int64_t) (bits & (((uint64_t) 1 << width) - 1));
		bits >>= width;
		held -= width;
		if (position <= last)
			return false;
		last = position;
		if (w->position != NULL)
			w->position(w->state, part, first + (uint64_t) position);
	}
	w->bits += count;
	return bits == 0;
}

/* What a section begins with. */
static bool
walk_section(bf_step_walk *w)
{
	uint64_t	part;

	if (!read_varint(w, &part) || part < w->next_part || w->at == w->end)
		return false;
	w->next_part = part + 1;
	w->part = (uint32_t) part;
	w->width = *w->at++;
	if (!read_varint(w, &w->blocks) || !read_varint(w, &w->bits_set) || !read_varint(w, &w->touched) || w->touched == 0)
		return false;
	if (w->headers != NULL &&
		(part >= w->parts || w->width != w->headers[part].log2_block_bits ||
		 w->blocks != w->headers[part].blocks || w->bits_set > w->blocks << w->width))
		return false;
	if (w->section != NULL)
		w->section(w->state, w->part, w->bits_set);
	w->block = 0;
	w->bits_before = w->bits;
	return true;
}

/* The next touched block of the section. */
static bool
walk_block(bf_step_walk *w)
{
	uint64_t	gap;
	uint64_t	count;

	if (!read_varint(w, &gap) || gap >= w->blocks - w->block || !read_varint(w, &count))
		return false;
	w->block += gap;
	if (!walk_positions(w, w->part, w->block << w->width, w->width, count + 1))
		return false;
	w->block++;
	w->touched--;
	return w->touched > 0 || w->bits - w->bits_before <= w->bits_set;
}

static bool
is_at_end(const bf_step_walk *w)
{
	return w->touched == 0 && w->at == w->end;
}

static bool
walk_next(bf_step_walk *w)
{
	return w->touched > 0 ? walk_block(w) : walk_section(w);
}

static bool
is_sound_header(const uint8_t *bytes, const bf_step *step)
{
	return bytes[5] == 0 && bytes[6] == 0 && bytes[7] == 0 &&
		step->epoch >= 1 && step->from >= step->epoch && step->to > step->from;
}

bf_step_status
bf_step_read(const void *input, size_t length, const bf_header *headers, uint32_t parts,
			 bf_step *step)
{
	const uint8_t *bytes = input;
	bf_step		read;
	bf_step_walk w;

	if (length < BF_STEP_HEADER_BYTES)
		return BF_STEP_SHORT;
	if (memcmp(bytes, magic, sizeof magic) != 0)
		return BF_STEP_MAGIC;
	if (bytes[AT_VERSION] != VERSION)
		return BF_STEP_VERSION;
	if (bf_load_le(bytes + AT_CHECKSUM, 8) != checksum_of(bytes, length))
		return BF_STEP_CHECKSUM;
	read.epoch = bf_load_le(bytes + AT_EPOCH, 8);
	memcpy(read.identity, bytes + AT_IDENTITY, BF_IDENTITY_BYTES);
	read.from = bf_load_le(bytes + AT_FROM, 8);
	read.to = bf_load_le(bytes + AT_TO, 8);
	read.bits = bf_load_le(bytes + AT_BITS, 8);
	read.sections = bytes + BF_STEP_HEADER_BYTES;
	read.length = length - BF_STEP_HEADER_BYTES;
	if (!is_sound_header(bytes, &read))
		return BF_STEP_HEADER;
	bf_step_begin(&read, NULL, NULL, NULL, &w);
	w.headers = headers;
	w.parts = parts;
	while (!is_at_end(&w))
		if (!walk_next(&w))
			return BF_STEP_SECTION;
	if (w.bits != read.bits)
		return BF_STEP_SECTION;
	*step = read;
	return BF_STEP_OK;
}

void
bf_step_begin(const bf_step *step, bf_step_section section, bf_step_position position,
			  void *state, bf_step_walk *w)
{
	memset(w, 0, sizeof *w);
	w->at = step->sections;
	w->end = step->sections + step->length;
	w->section = section;
	w->position = position;
	w->state = state;
}

bool
bf_step_next(bf_step_walk *w)
{
	return !is_at_end(w) && walk_next(w);
}

void
bf_step_each(const bf_step *step, bf_step_section section, bf_step_position position,
			 void *state)
{
	bf_step_walk w;

	bf_step_begin(step, section, position, state, &w);
	while (bf_step_next(&w))
		;
}

/* ------------------------------------------------------------------------
 * Writing
 * ------------------------------------------------------------------------ */

static uint8_t *
write_varint(uint8_t *at, uint64_t number)
{
	for (; number >= 128; number >>= 7)
		*at++ = (uint8_t) (number | 128);
	*at++ = (uint8_t) number;
	return at;
}

/* How many of the positions lie in the first one's block. */
static size_t
in_block(const uint64_t *positions, size_t count, unsigned width)
{
	size_t		i = 1;

	while (i < count && positions[i] >> width == positions[0] >> width)
		i++;
	return i;
}

static uint8_t *
write_positions(uint8_t *at, const uint64_t *positions, size_t count, unsigned width)
{
	uint64_t	bits = 0;
	unsigned	held = 0;
	size_t		i;

	for (i = 0; i < count; i++)
	{
		bits |= (positions[i] & (((uint64_t) 1 << width) - 1)) << held;
		for (held += width; held >= 8; held -= 8, bits >>= 8)
			*at++ = (uint8_t) bits;
	}
	if (held > 0)
		*at++ = (uint8_t) bits;
	return at;
}

static uint8_t *
write_section(uint8_t *at, const bf_header *header, const bf_step_part *part)
{
	unsigned	width = header->log2_block_bits;
	uint64_t	next_block = 0;
	uint64_t	touched = 0;
	size_t		done;
	size_t		count;

	for (done = 0; done < part->count; done += in_block(part->positions + done, part->count - done, width))
		touched++;
	at = write_varint(at, part->part);
	*at++ = (uint8_t) width;
	at = write_varint(at, header->blocks);
	at = write_varint(at, part->bits_set);
	at = write_varint(at, touched);
	for (done = 0; done < part->count; done += count)
	{
		uint64_t	block = part->positions[done] >> width;

		count = in_block(part->positions + done, part->count - done, width);
		at = write_varint(at, block - next_block);
		at = write_varint(at, count - 1);
		at = write_positions(at, part->positions + done, count, width);
		next_block = block + 1;
	}
	return at;
}

void
bf_step_seal(uint8_t *bytes, size_t length)
{
	bf_store_le(bytes + AT_CHECKSUM, 8, checksum_of(bytes, length));
}

/* A position alone in its block: gap, count, and 16 bits. */
size_t
bf_step_room(size_t sections, size_t positions)
{
	return BF_STEP_HEADER_BYTES + sections * (4 * VARINT_BYTES + 1) + positions * (2 * VARINT_BYTES + 2);
}

size_t
bf_step_write(const bf_step *step, const bf_header *headers, const bf_step_part *parts,
			  size_t count, uint8_t *bytes)
{
	uint8_t    *at = bytes + BF_STEP_HEADER_BYTES;
	uint64_t	bits = 0;
	size_t		i;

	for (i = 0; i < count; i++)
	{
		if (parts[i].count > 0)
			at = write_section(at, &headers[parts[i].part], &parts[i]);
		bits += parts[i].count;
	}
	memset(bytes, 0, BF_STEP_HEADER_BYTES);
	memcpy(bytes, magic, sizeof magic);
	bytes[AT_VERSION] = VERSION;
	bf_store_le(bytes + AT_EPOCH, 8, step->epoch);
	memcpy(bytes + AT_IDENTITY, step->identity, BF_IDENTITY_BYTES);
	bf_store_le(bytes + AT_FROM, 8, step->from);
	bf_store_le(bytes + AT_TO, 8, step->to);
	bf_store_le(bytes + AT_BITS, 8, bits);
	bf_step_seal(bytes, (size_t) (at - bytes));
	return (size_t) (at - bytes);
}
