/*
 * test_builder.c
 *	  What is built depends on the keys and the parameters only.
 */
#include <stdlib.h>
#include <string.h>

#include "make_filters.h"
#include "files.h"
#include "tap.h"

#define KEYS 20000

static bloomfilter_builder *
new_builder(double p)
{
	bloomfilter_builder *builder;

	need(bloomfilter_builder_create(KEYS, p, 5, 1, &builder) == BLOOMFILTER_OK, "builder");
	return builder;
}

/* The same keys, backwards, twice, in batches. */
static bloomfilter *
other_order(bloomfilter_builder *builder)
{
	int64_t    *keys = malloc(KEYS * sizeof *keys);
	bloomfilter *filter;
	int64_t		i;
	size_t		added;

	need(keys != NULL, "memory");
	for (i = 0; i < KEYS; i++)
		keys[i] = KEYS - i;
	for (i = 0; i < 2; i++)
		need(bloomfilter_builder_add_int64_batch(builder, keys, KEYS, &added) == BLOOMFILTER_OK &&
			 added == KEYS, "batch");
	need(bloomfilter_builder_finish(builder, &filter, NULL) == BLOOMFILTER_OK, "finish");
	bloomfilter_builder_free(builder);
	free(keys);
	return filter;
}

static void
check_order(void)
{
	static const double rates[] = {0.5, 0.01, 1e-5};
	size_t		i;

	for (i = 0; i < 3; i++)
	{
		bloomfilter *a = finish_range(new_builder(rates[i]), 1, KEYS);
		bloomfilter *b = other_order(new_builder(rates[i]));

		ok(equal_bytes(a, b), "any order and repetition, rate %g", rates[i]);
		same(count_missing(a, 1, KEYS), 0, "no key is missing");
		same(check_bytes(a), BLOOMFILTER_OK, "all rules of the format hold");
		bloomfilter_close(a);
		bloomfilter_close(b);
	}
}

static void
check_unsized(void)
{
	bloomfilter_builder *builder;
	bloomfilter *sized = finish_range(new_builder(0.01), 1, KEYS);
	bloomfilter *filter;
	bloomfilter_info info;

	need(bloomfilter_builder_create(0, 0.01, 5, 1, &builder) == BLOOMFILTER_OK, "builder");
	filter = finish_range(builder, 1, KEYS);
	ok(equal_bytes(filter, sized), "of unknown size: as if n had been known");
	bloomfilter_close(filter);
	need(bloomfilter_builder_create(0, 0.01, 5, 1, &builder) == BLOOMFILTER_OK, "builder");
	filter = other_order(builder);
	ok(equal_bytes(filter, sized), "with every key twice: the same");
	bloomfilter_close(filter);
	need(bloomfilter_builder_create(0, 0.01, 5, 1, &builder) == BLOOMFILTER_OK, "builder");
	filter = finish_range(builder, 1, 0);
	bloomfilter_get_info(filter, -1, &info, sizeof info);
	ok(info.capacity == 1 && info.key_type == 0 && info.bits_set == 0, "of no key: an empty filter for one");
	same(bloomfilter_contains(filter, BLOOMFILTER_KEY_TEXT, "x", 1), 0, "which answers no to any type");
	bloomfilter_close(filter);
	bloomfilter_close(sized);
}

static int
create_code(uint64_t n, double p)
{
	bloomfilter_builder *builder = NULL;
	int			code = bloomfilter_builder_create(n, p, 0, 1, &builder);

	bloomfilter_builder_free(builder);
	return code;
}

static void
check_arguments(void)
{
	bloomfilter_builder *builder = NULL;

	same(bloomfilter_builder_create(0, 0.01, 0, 3, &builder), BLOOMFILTER_ERR_ARGUMENT, "n = 0 of a set");
	same(create_code(UINT64_MAX, 0.01), BLOOMFILTER_ERR_ARGUMENT, "n beyond bigint");
	same(create_code(1, 0.0), BLOOMFILTER_ERR_ARGUMENT, "p = 0");
	same(create_code(1, 1.0), BLOOMFILTER_ERR_ARGUMENT, "p = 1");
	same(create_code(1, strtod("nan", NULL)), BLOOMFILTER_ERR_ARGUMENT, "p = NaN");
	same(create_code(2000000000, 0.001), BLOOMFILTER_ERR_TOO_LARGE, "more than one filter holds");
	same(create_code((uint64_t) 1 << 62, 0.001), BLOOMFILTER_ERR_RATE, "a rate that no size reaches");
	same(bloomfilter_builder_create(10, 0.1, 0, 70000, &builder), BLOOMFILTER_ERR_ARGUMENT, "too many parts");
	same(bloomfilter_builder_create(0, 2.0, 0, 1, &builder), BLOOMFILTER_ERR_ARGUMENT, "p = 2, of unknown size");
}

static void
check_refusals(void)
{
	bloomfilter_builder *builder = new_builder(0.01);
	bloomfilter_slice slices[3] = {{"a", 1}, {"\xff", 1}, {"b", 1}};
	bloomfilter *filter;
	bloomfilter *again = NULL;
	size_t		added;

	same(bloomfilter_builder_add(builder, BLOOMFILTER_KEY_TEXT, "\xff", 1), BLOOMFILTER_ERR_KEY, "bad text first");
	same(bloomfilter_builder_add_batch(builder, BLOOMFILTER_KEY_TEXT, slices, 3, &added), BLOOMFILTER_ERR_KEY,
		 "bad text in a batch");
	same((long long) added, 1, "one was added before");
	same(bloomfilter_builder_add_int64(builder, 1), BLOOMFILTER_ERR_KEY_TYPE, "another type");
	same(bloomfilter_builder_add_int64_batch(builder, NULL, 0, &added), BLOOMFILTER_ERR_KEY_TYPE, "another type, no keys");
	need(bloomfilter_builder_finish(builder, &filter, NULL) == BLOOMFILTER_OK, "finish");
	same(bloomfilter_builder_finish(builder, &again, NULL), BLOOMFILTER_ERR_ARGUMENT, "finished twice");
	same(bloomfilter_builder_add(builder, BLOOMFILTER_KEY_TEXT, "c", 1), BLOOMFILTER_ERR_ARGUMENT, "added after the end");
	same(bloomfilter_contains(filter, BLOOMFILTER_KEY_TEXT, "a", 1), 1, "the good key is there");
	same(bloomfilter_contains(filter, BLOOMFILTER_KEY_TEXT, "b", 1), 0, "the one after the bad is not");
	bloomfilter_builder_free(builder);
	bloomfilter_close(filter);
}

/* What batches answer is in test_sets.c. */
static void
check_bad_key(void)
{
	bloomfilter *filter = make_range(KEYS, 1, 1, KEYS);
	bloomfilter_slice slices[300];
	uint8_t		found[300];
	size_t		answered;
	int			i;

	for (i = 0; i < 300; i++)
	{
		slices[i].bytes = "12345678";
		slices[i].length = i == 277 ? 7 : 8;
	}
	same(bloomfilter_contains_batch(filter, BLOOMFILTER_KEY_INTEGER, slices, 300, found, &answered),
		 BLOOMFILTER_ERR_KEY, "a bad key in a batch");
	same((long long) answered, 277, "is told by its place");
	bloomfilter_close(filter);
}

int
main(void)
{
	check_order();
	check_unsized();
	check_arguments();
	check_refusals();
	check_bad_key();
	return tap_done();
}
