/*
 * test_builder.c
 *	  What is built depends on the keys and the parameters only.
 */
#include <stdlib.h>
#include <string.h>

#include "bf_sizing.h"
#include "make_filters.h"
#include "files.h"
#include "tap.h"

#define KEYS 20000

static bloomfilter_builder *
new_builder(double p)
{
	bloomfilter_builder *builder;

	need(bloomfilter_builder_create(KEYS, p, 5, &builder) == BLOOMFILTER_OK, "builder");
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
		same(bloomfilter_check(a, NULL), BLOOMFILTER_OK, "all rules of the format hold");
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

	need(bloomfilter_builder_create_unsized(0.01, 5, &builder) == BLOOMFILTER_OK, "builder");
	filter = finish_range(builder, 1, KEYS);
	ok(equal_bytes(filter, sized), "of unknown size: as if n had been known");
	bloomfilter_close(filter);
	need(bloomfilter_builder_create_unsized(0.01, 5, &builder) == BLOOMFILTER_OK, "builder");
	filter = other_order(builder);
	ok(equal_bytes(filter, sized), "with every key twice: the same");
	bloomfilter_close(filter);
	need(bloomfilter_builder_create_unsized(0.01, 5, &builder) == BLOOMFILTER_OK, "builder");
	filter = finish_range(builder, 1, 0);
	bloomfilter_get_info(filter, &info, sizeof info);
	ok(info.capacity == 1 && info.key_type == 0 && info.bits_set == 0, "of no key: an empty filter for one");
	same(bloomfilter_contains_text(filter, "x", 1), 0, "which answers no to any type");
	bloomfilter_close(filter);
	bloomfilter_close(sized);
}

static void
check_bits(void)
{
	bloomfilter_builder *builder;
	bloomfilter *filter;
	bloomfilter_info info;
	bf_sizing	sizing;

	need(bloomfilter_builder_create_bits(KEYS, 12.0, 0, &builder) == BLOOMFILTER_OK, "builder");
	filter = finish_range(builder, 1, KEYS);
	bf_size_for_bits_per_key(KEYS, 12.0, &sizing);
	bloomfilter_get_info(filter, &info, sizeof info);
	ok(info.rate == sizing.rate && info.blocks == sizing.geometry.blocks, "by bits per key: the core's shape");
	ok(info.estimated_keys > KEYS * 0.98 && info.estimated_keys < KEYS * 1.02, "estimate of keys");
	same(info.over_capacity, 0, "not over capacity");
	bloomfilter_close(filter);
}

static int
create_code(uint64_t n, double p)
{
	bloomfilter_builder *builder = NULL;
	int			code = bloomfilter_builder_create(n, p, 0, &builder);

	bloomfilter_builder_free(builder);
	return code;
}

static void
check_arguments(void)
{
	bloomfilter_builder *builder = NULL;

	same(create_code(0, 0.01), BLOOMFILTER_ERR_ARGUMENT, "n = 0");
	same(create_code(UINT64_MAX, 0.01), BLOOMFILTER_ERR_ARGUMENT, "n beyond bigint");
	same(create_code(1, 0.0), BLOOMFILTER_ERR_ARGUMENT, "p = 0");
	same(create_code(1, 1.0), BLOOMFILTER_ERR_ARGUMENT, "p = 1");
	same(create_code(1, strtod("nan", NULL)), BLOOMFILTER_ERR_ARGUMENT, "p = NaN");
	same(create_code(2000000000, 0.001), BLOOMFILTER_ERR_TOO_LARGE, "more than one filter holds");
	same(create_code((uint64_t) 1 << 62, 0.001), BLOOMFILTER_ERR_RATE, "a rate that no size reaches");
	same(bloomfilter_builder_create_bits(10, 0.1, 0, &builder), BLOOMFILTER_ERR_ARGUMENT, "too few bits per key");
	same(bloomfilter_builder_create_set(10, 0.1, 0, 70000, &builder), BLOOMFILTER_ERR_ARGUMENT, "too many parts");
	same(bloomfilter_builder_create_unsized(2.0, 0, &builder), BLOOMFILTER_ERR_ARGUMENT, "p = 2, of unknown size");
}

static void
check_refusals(void)
{
	bloomfilter_builder *builder = new_builder(0.01);
	bloomfilter_slice slices[3] = {{"a", 1}, {"\xff", 1}, {"b", 1}};
	bloomfilter *filter;
	bloomfilter *again = NULL;
	size_t		added;

	same(bloomfilter_builder_add_text(builder, "\xff", 1), BLOOMFILTER_ERR_KEY, "bad text first");
	same(bloomfilter_builder_add_batch(builder, BLOOMFILTER_KEY_TEXT, slices, 3, &added), BLOOMFILTER_ERR_KEY,
		 "bad text in a batch");
	same((long long) added, 1, "one was added before");
	same(bloomfilter_builder_add_int64(builder, 1), BLOOMFILTER_ERR_KEY_TYPE, "another type");
	same(bloomfilter_builder_add_int64_batch(builder, NULL, 0, &added), BLOOMFILTER_ERR_KEY_TYPE, "another type, no keys");
	need(bloomfilter_builder_finish(builder, &filter, NULL) == BLOOMFILTER_OK, "finish");
	same(bloomfilter_builder_finish(builder, &again, NULL), BLOOMFILTER_ERR_ARGUMENT, "finished twice");
	same(bloomfilter_builder_add_text(builder, "c", 1), BLOOMFILTER_ERR_ARGUMENT, "added after the end");
	same(bloomfilter_contains_text(filter, "a", 1), 1, "the good key is there");
	same(bloomfilter_contains_text(filter, "b", 1), 0, "the one after the bad is not");
	bloomfilter_builder_free(builder);
	bloomfilter_close(filter);
}

static void
check_typed(void)
{
	static const uint8_t address[16] = {10, 0, 0, 1};
	bloomfilter_builder *b[9];
	bloomfilter *filter;
	int			added = 0;
	size_t		i;

	for (i = 0; i < 9; i++)
		b[i] = new_builder(1e-9);
	added += bloomfilter_builder_add_text(b[0], "x", 1) == BLOOMFILTER_OK;
	added += bloomfilter_builder_add_bytea(b[1], "x", 1) == BLOOMFILTER_OK;
	added += bloomfilter_builder_add_uuid(b[2], address) == BLOOMFILTER_OK;
	added += bloomfilter_builder_add_numeric(b[3], "1.50", 4) == BLOOMFILTER_OK;
	added += bloomfilter_builder_add_double(b[4], -0.0) == BLOOMFILTER_OK;
	added += bloomfilter_builder_add_date(b[5], -1) == BLOOMFILTER_OK;
	added += bloomfilter_builder_add_timestamp(b[6], 7) == BLOOMFILTER_OK;
	added += bloomfilter_builder_add_timestamptz(b[6], 7) == BLOOMFILTER_ERR_KEY_TYPE;
	added += bloomfilter_builder_add_inet(b[7], 4, 32, address) == BLOOMFILTER_OK;
	added += bloomfilter_builder_add_macaddr(b[8], address, 6) == BLOOMFILTER_OK;
	same(added, 10, "each type is added");
	for (i = 0; i < 9; i++)
	{
		int			answers[9];

		need(bloomfilter_builder_finish(b[i], &filter, NULL) == BLOOMFILTER_OK, "finish");
		answers[0] = bloomfilter_contains_text(filter, "x", 1);
		answers[1] = bloomfilter_contains_bytea(filter, "x", 1);
		answers[2] = bloomfilter_contains_uuid(filter, address);
		answers[3] = bloomfilter_contains_numeric(filter, "01.5", 4);
		answers[4] = bloomfilter_contains_double(filter, 0.0);
		answers[5] = bloomfilter_contains_date(filter, -1);
		answers[6] = bloomfilter_contains_timestamp(filter, 7);
		answers[7] = bloomfilter_contains_inet(filter, 4, 32, address);
		answers[8] = bloomfilter_contains_macaddr(filter, address, 6);
		same(answers[i], 1, "type %zu is found", i);
		same(answers[(i + 1) % 9], BLOOMFILTER_ERR_KEY_TYPE, "and another one is an error");
		bloomfilter_close(filter);
		bloomfilter_builder_free(b[i]);
	}
}

static void
check_batches(void)
{
	bloomfilter *filter = make_range(KEYS, 1, 1, KEYS);
	bloomfilter_slice slices[300];
	int64_t		keys[1000];
	uint8_t		found[1000];
	size_t		answered;
	int			different = 0;
	int			i;

	for (i = 0; i < 1000; i++)
		keys[i] = KEYS - 500 + i;
	same(bloomfilter_contains_int64_batch(filter, keys, 1000, found, &answered), BLOOMFILTER_OK, "batch");
	same((long long) answered, 1000, "all answered");
	for (i = 0; i < 1000; i++)
		different += found[i] != bloomfilter_contains_int64(filter, keys[i]);
	same(different, 0, "batch and single agree");
	for (i = 0; i < 300; i++)
	{
		slices[i].bytes = "12345678";
		slices[i].length = i == 277 ? 7 : 8;
	}
	same(bloomfilter_contains_batch(filter, BLOOMFILTER_KEY_INTEGER, slices, 300, found, &answered),
		 BLOOMFILTER_ERR_KEY, "a bad key in a batch");
	same((long long) answered, 277, "is told by its place");
	same(bloomfilter_contains_batch(filter, BLOOMFILTER_KEY_TEXT, slices, 300, found, &answered),
		 BLOOMFILTER_ERR_KEY_TYPE, "a batch of another type");
	same(bloomfilter_contains_batch(filter, 99, slices, 300, found, NULL), BLOOMFILTER_ERR_ARGUMENT, "a batch of no type");
	bloomfilter_close(filter);
}

static void
check_union(void)
{
	bloomfilter *a = make_range(KEYS, 1, 1, 5000);
	bloomfilter *b = make_range(KEYS, 1, 4000, KEYS);
	bloomfilter *all = make_range(KEYS, 1, 1, KEYS);
	bloomfilter *small = make_range(KEYS / 2, 1, 1, 5000);
	bloomfilter *sum = NULL;

	same(bloomfilter_union(a, b, &sum), BLOOMFILTER_OK, "union");
	ok(equal_bytes(sum, all), "is the filter of all keys");
	bloomfilter_close(sum);
	same(bloomfilter_union(a, small, &sum), BLOOMFILTER_ERR_INCOMPATIBLE, "not of other sizes");
	bloomfilter_close(a);
	bloomfilter_close(b);
	bloomfilter_close(all);
	bloomfilter_close(small);
}

int
main(void)
{
	check_order();
	check_unsized();
	check_bits();
	check_arguments();
	check_refusals();
	check_typed();
	check_batches();
	check_union();
	return tap_done();
}
