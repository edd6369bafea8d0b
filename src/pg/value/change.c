/*
 * change.c
 *	  Filters that are made: empty ones, by keys and rate, by bits and probes, parts; and of
 *	  other filters, by adding keys, combining and shrinking; and seeds.
 *
 * No argument is changed, except through a read-write pointer to an expanded
 * object, by which its one owner hands it over.
 */
#include "postgres.h"

#include "bf_estimate.h"
#include "bf_filter.h"
#include "bf_sizing.h"
#include "value/filter.h"
#include "key/key_untyped.h"
#include "base/pg_compat.h"
#include "base/settings.h"
#include "base/report.h"

PG_FUNCTION_INFO_V1(bloomfilter_add);
PG_FUNCTION_INFO_V1(bloomfilter_add_all);
PG_FUNCTION_INFO_V1(bloomfilter_union);
PG_FUNCTION_INFO_V1(bloomfilter_intersection);
PG_FUNCTION_INFO_V1(bloomfilter_shrink);
PG_FUNCTION_INFO_V1(bloomfilter_create);
PG_FUNCTION_INFO_V1(bloomfilter_create_sized);
PG_FUNCTION_INFO_V1(bloomfilter_create_part);
PG_FUNCTION_INFO_V1(bloomfilter_reset);
PG_FUNCTION_INFO_V1(bloomfilter_random_seed);

static Datum
create_part(const bf_sizing *sizing, int64 seed, int32 part, int32 parts)
{
	bf_header	header;

	bfpg_check_fits(sizing);
	header = bf_sizing_header(sizing, (uint64) seed);
	header.part = (uint16) part;
	header.parts = (uint16) parts;
	return bfpg_filter_rw_datum(bfpg_filter_new(&header, CurrentMemoryContext));
}

Datum
bloomfilter_create(PG_FUNCTION_ARGS)
{
	bf_sizing	sizing;

	bfpg_size_for_rate(PG_GETARG_INT64(0), PG_GETARG_FLOAT8(1), &sizing);
	return create_part(&sizing, PG_GETARG_INT64(2), 0, 1);
}

Datum
bloomfilter_create_sized(PG_FUNCTION_ARGS)
{
	int64		m = PG_GETARG_INT64(0);
	int32		k = PG_GETARG_INT32(1);
	bf_sizing	sizing;

	if (m < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of bits of a bloomfilter must be at least 1, not " INT64_FORMAT, m)));
	if (k < 1 || k > BF_MAX_PROBES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of hashes of a bloomfilter must be between 1 and %d, not %d",
						BF_MAX_PROBES, k)));
	bf_size_for_bits((uint64) m, (unsigned) k, &sizing);
	return create_part(&sizing, PG_GETARG_INT64(2), 0, 1);
}

/* What bloom_part_agg would make of no keys: n is the whole set's. */
Datum
bloomfilter_create_part(PG_FUNCTION_ARGS)
{
	int32		part = PG_GETARG_INT32(0);
	int32		parts = PG_GETARG_INT32(1);
	int64		n = PG_GETARG_INT64(2);
	bf_sizing	sizing;

	bfpg_check_parts(parts);
	if (part < 0 || part >= parts)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("part of a set of %d bloomfilters must be between 0 and %d, not %d",
						parts, parts - 1, part)));
	bfpg_check_capacity(n);
	bfpg_size_for_rate((int64) bf_part_capacity((uint64) n, (uint32) parts),
					   PG_GETARG_FLOAT8(3), &sizing);
	return create_part(&sizing, PG_GETARG_INT64(4), part, parts);
}

/* The same parameters, no keys. */
Datum
bloomfilter_reset(PG_FUNCTION_ARGS)
{
	bf_header	header;

	bfpg_read_header(PG_GETARG_DATUM(0), &header);
	header.key_type = 0;
	header.bits_set = 0;
	return bfpg_filter_rw_datum(bfpg_filter_new(&header, CurrentMemoryContext));
}

/*
 * A seed that nobody can guess, from the server's strong random source.  Without
 * it, whoever knows the seed can look for keys that are found although they were
 * never added.
 */
Datum
bloomfilter_random_seed(PG_FUNCTION_ARGS)
{
	int64		seed;

	if (!pg_strong_random(&seed, sizeof(seed)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not get a random seed")));
	PG_RETURN_INT64(seed);
}

/*
 * The filter in argument 0, to change.  Where an overflow is an error, an owner's
 * filter must not have changed when it is thrown: it is copied.
 */
static BfpgFilter *
filter_to_change(FunctionCallInfo fcinfo)
{
	if (bfpg_overflow == BFPG_OVERFLOW_ERROR)
		return bfpg_filter_copy(PG_GETARG_DATUM(0), CurrentMemoryContext);
	return bfpg_filter_writable(PG_GETARG_DATUM(0), CurrentMemoryContext);
}

/*
 * Adds one key.  The header's overflow is looked at only when a bit was new: the
 * last key to change anything has told already.
 */
Datum
bloomfilter_add(PG_FUNCTION_ARGS)
{
	BfpgKeyCoder *coder = bfpg_call_coder(fcinfo, 1, false);
	BfpgFilter *filter = filter_to_change(fcinfo);
	bf_header  *header = filter->header;
	uint64		before = header->bits_set;
	uint64		hash;

	bfpg_check_key_type(coder, header);
	hash = bfpg_hash_key(coder, PG_GETARG_DATUM(1), header->seed);
	bfpg_check_part(header, hash);
	bf_add(header, filter->blocks, hash);
	header->key_type = coder->type;
	if (header->bits_set != before)
		bfpg_check_overflow(header);
	return bfpg_filter_rw_datum(filter);
}

Datum
bloomfilter_add_all(PG_FUNCTION_ARGS)
{
	BfpgKeyCoder *coder = bfpg_call_coder(fcinfo, 1, true);
	BfpgFilter *filter = filter_to_change(fcinfo);
	BfpgKeyArray keys;

	bfpg_check_key_type(coder, filter->header);
	bfpg_key_array(bfpg_array_argument(coder, PG_GETARG_DATUM(1)), coder, filter->header, &keys);
	if (keys.count > 0)
	{
		/* First, as the rest may be cancelled: bits without a kind of keys are a damaged filter. */
		filter->header->key_type = coder->type;
		bfpg_filter_add_hashes(filter, keys.hashes, keys.count);
		bfpg_check_overflow(filter->header);
	}
	return bfpg_filter_rw_datum(filter);
}

/* A new filter from two. */
static BfpgFilter *
combine(FunctionCallInfo fcinfo, bf_combine operation)
{
	BfpgFilter *result = bfpg_filter_copy(PG_GETARG_DATUM(0), CurrentMemoryContext);

	bfpg_filter_combine(result, PG_GETARG_DATUM(1), operation);
	return result;
}

Datum
bloomfilter_union(PG_FUNCTION_ARGS)
{
	BfpgFilter *result = combine(fcinfo, bf_union);

	bfpg_check_overflow(result->header);
	return bfpg_filter_rw_datum(result);
}

Datum
bloomfilter_intersection(PG_FUNCTION_ARGS)
{
	return bfpg_filter_rw_datum(combine(fcinfo, bf_intersect));
}

/*
 * Folds a filter to the smallest size that keeps p for the keys that it holds.
 * It is then sized for as many keys as that size takes at p.  A filter that can't
 * be folded is returned as it is.
 */
Datum
bloomfilter_shrink(PG_FUNCTION_ARGS)
{
	BfpgFilter *filter;
	double		p;
	uint32		divisor;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	filter = bfpg_filter_copy(PG_GETARG_DATUM(0), CurrentMemoryContext);
	p = PG_ARGISNULL(1) ? filter->header->rate : PG_GETARG_FLOAT8(1);
	bfpg_check_rate(p);
	divisor = bf_fold_divisor(filter->header, p);
	if (divisor > 1)
	{
		bf_geometry geometry;

		bf_fold(filter->header, filter->blocks, divisor, bfpg_tick);
		geometry = bf_header_geometry(filter->header);
		filter->header->capacity = Max(bf_capacity_for_rate(&geometry, p), 1);
		filter->header->rate = p;
	}
	return bfpg_filter_rw_datum(filter);
}
