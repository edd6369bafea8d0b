/*
 * make_filters.c
 *	  Filters for tests: of the integers from first to last.
 */
#include "make_filters.h"

#include <string.h>

#include "files.h"
#include "tap.h"

bloomfilter *
finish_range(bloomfilter_builder *builder, int64_t first, int64_t last)
{
	bloomfilter *filter;
	int64_t		key;

	for (key = first; key <= last; key++)
		need(bloomfilter_builder_add_int64(builder, key) == BLOOMFILTER_OK, "add");
	need(bloomfilter_builder_finish(builder, &filter, NULL) == BLOOMFILTER_OK, "finish");
	bloomfilter_builder_free(builder);
	return filter;
}

bloomfilter *
make_range(uint64_t n, uint32_t parts, int64_t first, int64_t last)
{
	bloomfilter_builder *builder;

	need(bloomfilter_builder_create(n, 0.01, 7, parts, &builder) == BLOOMFILTER_OK, "builder");
	return finish_range(builder, first, last);
}

int
count_missing(const bloomfilter *filter, int64_t first, int64_t last)
{
	int			missing = 0;
	int64_t		key;

	for (key = first; key <= last; key++)
		missing += bloomfilter_contains_int64(filter, key) != 1;
	return missing;
}

typedef struct asking
{
	const bloomfilter *filter;
	int			type;
	int			wanted;
	int			wrong;
} asking;

static void
ask(void *context, const uint8_t *bytes, size_t length)
{
	asking	   *state = context;
	bloomfilter_slice slice = {bytes, length};
	uint8_t		found = 2;
	int			code;

	state->wrong += bloomfilter_contains(state->filter, state->type, bytes, length) != state->wanted;
	code = bloomfilter_contains_batch(state->filter, state->type, &slice, 1, &found, NULL);
	state->wrong += code != BLOOMFILTER_OK || found != state->wanted;
}

int
wrong_keys(const bloomfilter *filter, int type, const tsv *table, const char *column, int wanted)
{
	asking		state = {filter, type == 0 ? BLOOMFILTER_KEY_INTEGER : type, wanted, 0};

	tsv_keys(table, column, ask, &state);
	return state.wrong;
}

int
equal_bytes(const bloomfilter *a, const bloomfilter *b)
{
	const void *bytes[2];
	size_t		length[2];
	uint32_t	i;

	for (i = 0; bloomfilter_get_bytes(a, i, &bytes[0], &length[0]) == BLOOMFILTER_OK; i++)
		if (bloomfilter_get_bytes(b, i, &bytes[1], &length[1]) != BLOOMFILTER_OK ||
			length[0] != length[1] || memcmp(bytes[0], bytes[1], length[0]) != 0)
			return 0;
	return bloomfilter_get_bytes(b, i, &bytes[1], &length[1]) != BLOOMFILTER_OK;
}

int
check_bytes(const bloomfilter *filter)
{
	const void *bytes;
	size_t		length;
	uint32_t	i;
	int			code;

	for (i = 0; (code = bloomfilter_get_bytes(filter, i, &bytes, &length)) == BLOOMFILTER_OK; i++)
	{
		bloomfilter *part = NULL;

		code = bloomfilter_open_memory(bytes, length, 0, &part, NULL);
		bloomfilter_close(part);
		if (code != BLOOMFILTER_OK)
			return code;
	}
	return i > 0 ? BLOOMFILTER_OK : code;
}
