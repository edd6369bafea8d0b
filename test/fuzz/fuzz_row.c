/*
 * fuzz_row.c
 *	  Keys of several columns, of any bytes at all.
 *
 * A reader that follows doc/FORMAT.md word by word says whether the bytes are a row.
 * The library must say the same, and appending column by column make the same bytes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "bf_key.h"
#include "demand.h"

/* The most columns that a filter's header has room for. */
#define COLUMNS 6
#define HEAD 5

typedef struct column
{
	int			type;
	const uint8_t *bytes;
	size_t		length;
} column;

/* Reads the column at the front of the bytes; returns what it takes, or 0 if it is none. */
static size_t
read_column(const uint8_t *data, size_t size, column *to)
{
	size_t		length;
	uint32_t	full;

	if (size < HEAD || data[0] < BF_KEY_INTEGER || data[0] > BF_KEY_LAST)
		return 0;
	to->type = data[0];
	to->length = (size_t) data[1] | (size_t) data[2] << 8 | (size_t) data[3] << 16 | (size_t) data[4] << 24;
	if (to->length > size - HEAD)
		return 0;
	to->bytes = data + HEAD;
	/* A text in a row has no blanks at its end. */
	length = to->length;
	if (lbf_key_check(to->type, to->bytes, &length, &full) != BLOOMFILTER_OK || length != to->length)
		return 0;
	return HEAD + to->length;
}

/* The number of columns of a row, or 0 if the bytes are none. */
static size_t
read_row(const uint8_t *data, size_t size, column *columns)
{
	size_t		count = 0;

	while (size > 0)
	{
		column		next;
		size_t		taken = read_column(data, size, &next);

		if (taken == 0 || count == COLUMNS)
			return 0;
		columns[count++] = next;
		data += taken;
		size -= taken;
	}
	return count;
}

static int
appended_is(const uint8_t *data, size_t size, const column *columns, size_t count)
{
	uint8_t    *room = malloc(size);
	bloomfilter_row row = {room, size, 0};
	size_t		i;
	int			same;

	for (i = 0; i < count; i++)
		if (bloomfilter_row_append(&row, columns[i].type, columns[i].bytes, columns[i].length) != BLOOMFILTER_OK)
			abort();
	same = row.length == size && memcmp(room, data, size) == 0;
	free(room);
	return same;
}

/* The type of column i of a whole row's type. */
static int
type_in(uint32_t full, size_t i)
{
	return (int) (full >> (8 + 4 * i) & 15);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	column		columns[COLUMNS];
	size_t		count = read_row(data, size, columns);
	size_t		length = size;
	uint32_t	full;
	size_t		i;

	if ((lbf_key_check(BF_KEY_ROW, data, &length, &full) == BLOOMFILTER_OK) != (count > 0))
		abort();
	if (count == 0)
		return 0;
	for (i = 0; i < COLUMNS; i++)
		if (type_in(full, i) != (i < count ? columns[i].type : 0))
			abort();
	if (!appended_is(data, size, columns, count))
		abort();
	return 0;
}
