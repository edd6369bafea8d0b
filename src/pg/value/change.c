/*
 * change.c
 *	  Filters made from filters: adding keys, combining, shrinking.
 *
 * No argument is changed, except through a read-write pointer to an expanded
 * object, by which its one owner hands it over.
 */
#include "postgres.h"

#include "bf_estimate.h"
#include "bf_filter.h"
#include "bf_sizing.h"
#include "value/filter.h"
#include "key/key.h"
#include "base/settings.h"

PG_FUNCTION_INFO_V1(bloomfilter_add);
PG_FUNCTION_INFO_V1(bloomfilter_add_all);
PG_FUNCTION_INFO_V1(bloomfilter_union);
PG_FUNCTION_INFO_V1(bloomfilter_intersection);
PG_FUNCTION_INFO_V1(bloomfilter_shrink);

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
