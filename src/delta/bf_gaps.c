/*
 * bf_gaps.c
 *	  The bits in which two arrays differ, as a string of gaps and back.
 *
 * Each byte of the string is a whole gap, a half of one, or a skip.  A skip must
 * be followed by a gap, so that there is one string for each set of positions:
 * trailing unchanged bits are never written.
 */
#include "bf_gaps.h"

#include <string.h>

#include "bf_bytes.h"

/* The number of the lowest bit set in a word that is not 0. */
static inline unsigned
lowest_bit(uint64_t word)
{
#ifdef __GNUC__
	return (unsigned) __builtin_ctzll(word);
#else
	unsigned	bit = 0;

	while ((word >> bit & 1) == 0)
		bit++;
	return bit;
#endif
}

void
bf_gaps_writer_init(bf_gaps_writer *writer, const uint8_t *a, const uint8_t *b,
					uint64_t length, bf_tick tick)
{
	memset(writer, 0, sizeof *writer);
	writer->a = a;
	writer->b = b;
	writer->length = length;
	writer->tick = tick;
}

/* Goes to the next word with a changed bit; false at the end. */
static bool
find_word(bf_gaps_writer *writer)
{
	while (writer->word == 0)
	{
		if (writer->at == writer->length)
			return false;
		if (writer->tick != NULL && writer->at % BF_TICK_BYTES == 0)
			writer->tick();
		writer->word = bf_load_le(writer->a + writer->at, 8) ^
			bf_load_le(writer->b + writer->at, 8);
		writer->at += 8;
	}
	return true;
}

/* Makes the gap before the next changed bit the pending one; false at the end. */
static bool
find_gap(bf_gaps_writer *writer)
{
	uint64_t	position;

	if (!find_word(writer))
		return false;
	position = (writer->at - 8) * 8 + lowest_bit(writer->word);
	writer->word &= writer->word - 1;
	writer->gap = position - writer->next;
	writer->next = position + 1;
	writer->changed++;
	writer->pending = true;
	return true;
}

size_t
bf_gaps_write(bf_gaps_writer *writer, uint8_t *bytes, size_t room)
{
	size_t		used = 0;

	while (room - used >= 2 && (writer->pending || find_gap(writer)))
	{
		if (writer->gap >= BF_GAPS_SKIP)
		{
			bytes[used++] = BF_GAPS_SKIP_BYTE;
			writer->gap -= BF_GAPS_SKIP;
			continue;
		}
		if (writer->gap < BF_GAPS_ONE_BYTE)
			bytes[used++] = (uint8_t) writer->gap;
		else
		{
			uint64_t	rest = writer->gap - BF_GAPS_ONE_BYTE;

			bytes[used++] = (uint8_t) (BF_GAPS_ONE_BYTE + rest / 256);
			bytes[used++] = (uint8_t) (rest % 256);
		}
		writer->pending = false;
	}
	return used;
}

void
bf_gaps_reader_init(bf_gaps_reader *reader, uint8_t *target, uint64_t length)
{
	reader->target = target;
	reader->bits = length * 8;
	reader->position = 0;
	reader->high = 0;
}

/* Flips the bit after a gap. */
static inline bool
flip(bf_gaps_reader *reader, uint64_t gap)
{
	uint64_t	position;

	if (gap >= reader->bits - reader->position)
		return false;
	position = reader->position + gap;
	reader->target[position >> 3] ^= (uint8_t) (1u << (position & 7));
	reader->position = position + 1;
	return true;
}

bool
bf_gaps_read(bf_gaps_reader *reader, const uint8_t *bytes, size_t length)
{
	size_t		i;

	for (i = 0; i < length; i++)
	{
		unsigned	byte = bytes[i];
		bool		good = true;

		if (reader->high != 0 && reader->high != BF_GAPS_SKIP_BYTE)
		{
			good = flip(reader, BF_GAPS_ONE_BYTE +
						(uint64_t) (reader->high - BF_GAPS_ONE_BYTE) * 256 + byte);
			reader->high = 0;
		}
		else if (byte < BF_GAPS_ONE_BYTE)
		{
			good = flip(reader, byte);
			reader->high = 0;
		}
		else
		{
			/* The first byte of two, or a skip, after which more must come. */
			if (byte == BF_GAPS_SKIP_BYTE)
			{
				good = reader->bits - reader->position >= BF_GAPS_SKIP;
				reader->position += good ? BF_GAPS_SKIP : 0;
			}
			reader->high = byte;
		}
		if (!good)
			return false;
	}
	return true;
}

bool
bf_gaps_read_ended(const bf_gaps_reader *reader)
{
	return reader->high == 0;
}
