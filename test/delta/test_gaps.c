/*
 * test_gaps.c
 *	  The string of gaps: its exact bytes, and back, in pieces of any length.
 */
#include <stdlib.h>
#include <string.h>

#include "bf_gaps.h"
#include "tap.h"

#define BYTES 8192
#define ROOM (4 * BYTES)

static void
flip(uint8_t *array, uint64_t position)
{
	array[position / 8] ^= (uint8_t) (1u << position % 8);
}

/* The whole string between two arrays, written in pieces of so many bytes. */
static size_t
write_all(const uint8_t *a, const uint8_t *b, size_t piece, uint8_t *string)
{
	bf_gaps_writer writer;
	size_t		used = 0;
	size_t		length;

	bf_gaps_writer_init(&writer, a, b, BYTES, NULL);
	while ((length = bf_gaps_write(&writer, string + used, piece)) > 0)
	{
		used += length;
		need(used + piece <= ROOM, "room");
	}
	return used;
}

/* Whether a string, read in pieces of so many bytes, makes b of a. */
static bool
reads_back(const uint8_t *a, const uint8_t *b, const uint8_t *string,
		   size_t length, size_t piece)
{
	uint8_t		target[BYTES];
	bf_gaps_reader reader;
	size_t		at = 0;

	memcpy(target, a, BYTES);
	bf_gaps_reader_init(&reader, target, BYTES);
	while (at < length)
	{
		size_t		step = length - at < piece ? length - at : piece;

		if (!bf_gaps_read(&reader, string + at, step))
			return false;
		at += step;
	}
	return bf_gaps_read_ended(&reader) && memcmp(target, b, BYTES) == 0;
}

static void
check_code(uint64_t gap, const uint8_t *wanted, size_t wanted_length)
{
	uint8_t		a[BYTES] = {0};
	uint8_t		b[BYTES] = {0};
	static uint8_t string[ROOM];
	size_t		length;

	flip(b, gap);
	length = write_all(a, b, 64, string);
	ok(length == wanted_length && memcmp(string, wanted, length) == 0, "code of gap %d", (int) gap);
	ok(reads_back(a, b, string, length, 1), "and back");
}

static void
check_codes(void)
{
	check_code(0, (const uint8_t[]) {0}, 1);
	check_code(223, (const uint8_t[]) {223}, 1);
	check_code(224, (const uint8_t[]) {224, 0}, 2);
	check_code(479, (const uint8_t[]) {224, 255}, 2);
	check_code(480, (const uint8_t[]) {225, 0}, 2);
	check_code(8159, (const uint8_t[]) {254, 255}, 2);
	check_code(8160, (const uint8_t[]) {255, 0}, 2);
	check_code(8160 * 2 + 300, (const uint8_t[]) {255, 255, 224, 76}, 4);
	check_code(BYTES * 8 - 1, (const uint8_t[]) {255, 255, 255, 255, 255, 255, 255, 255, 224, 255 - 224}, 10);
}

/* Random arrays of several densities. */
static void
check_random(void)
{
	static const int changes[] = {0, 1, 10, 100, 1000, 10000, 40000};
	static const size_t pieces[] = {2, 3, 7, 4096};
	static uint8_t string[ROOM];
	uint8_t		a[BYTES];
	uint8_t		b[BYTES];
	uint64_t	state = 1;
	size_t		i;
	size_t		j;

	for (i = 0; i < BYTES; i++)
		a[i] = (uint8_t) next_random(&state);
	for (i = 0; i < sizeof changes / sizeof changes[0]; i++)
	{
		int			n;

		memcpy(b, a, BYTES);
		for (n = 0; n < changes[i]; n++)
			flip(b, next_random(&state) % (BYTES * 8));
		for (j = 0; j < 4; j++)
			ok(reads_back(a, b, string, write_all(a, b, pieces[j], string), pieces[3 - j]),
			   "%d changes, pieces of %zu", changes[i], pieces[j]);
	}
}

static bool
accepts(const uint8_t *string, size_t length)
{
	uint8_t		target[64] = {0};
	bf_gaps_reader reader;

	bf_gaps_reader_init(&reader, target, sizeof target);
	return bf_gaps_read(&reader, string, length) && bf_gaps_read_ended(&reader);
}

static void
check_refusals(void)
{
	ok(accepts((const uint8_t[]) {225, 31}, 2), "the last bit of 512");
	ok(!accepts((const uint8_t[]) {225, 32}, 2), "the bit after it");
	ok(accepts((const uint8_t[]) {225, 30, 0}, 3), "the last two bits");
	ok(!accepts((const uint8_t[]) {225, 31, 0}, 3), "one more");
	ok(!accepts((const uint8_t[]) {224}, 1), "half a gap");
	ok(!accepts((const uint8_t[]) {255, 0}, 2), "a skip beyond the end");
	ok(accepts(NULL, 0), "nothing");
}

int
main(void)
{
	check_codes();
	check_random();
	check_refusals();
	return tap_done();
}
