/*
 * agg_filters.c
 *	  bloom_union_agg and bloom_intersection_agg: one filter of many.
 *
 * Their state is of type bloomfilter itself: an expanded object in the
 * aggregate's memory, changed in place.  Engines that split an aggregate between
 * machines by its state's type can split these.
 */
#include "postgres.h"

#include "value/filter.h"
#include "base/pg_compat.h"
#include "base/report.h"

PG_FUNCTION_INFO_V1(bloomfilter_union_agg_transfn);
PG_FUNCTION_INFO_V1(bloomfilter_union_agg_finalfn);
PG_FUNCTION_INFO_V1(bloomfilter_intersection_agg_transfn);

/* Also the combine function: a partial result is a filter like any other. */
static Datum
accumulate(FunctionCallInfo fcinfo, bf_combine operation)
{
	MemoryContext context = bfpg_aggregate_context(fcinfo);
	BfpgFilter *state;

	if (PG_ARGISNULL(1))
	{
		if (PG_ARGISNULL(0))
			PG_RETURN_NULL();
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	}
	if (PG_ARGISNULL(0))
		return bfpg_filter_rw_datum(bfpg_filter_copy(PG_GETARG_DATUM(1), context));
	state = bfpg_filter_writable(PG_GETARG_DATUM(0), context);
	bfpg_filter_combine(state, PG_GETARG_DATUM(1), operation);
	return bfpg_filter_rw_datum(state);
}

Datum
bloomfilter_union_agg_transfn(PG_FUNCTION_ARGS)
{
	return accumulate(fcinfo, bf_union);
}

Datum
bloomfilter_intersection_agg_transfn(PG_FUNCTION_ARGS)
{
	return accumulate(fcinfo, bf_intersect);
}

/* The state is the result, and not copied on its way out. */
Datum
bloomfilter_union_agg_finalfn(PG_FUNCTION_ARGS)
{
	BfpgFilter *filter = bfpg_filter_expanded(PG_GETARG_DATUM(0));
	bf_header	header;

	bfpg_read_header(PG_GETARG_DATUM(0), &header);
	bfpg_check_overflow(&header);
	return filter != NULL ? bfpg_filter_ro_datum(filter) : PG_GETARG_DATUM(0);
}
