/*
 * agg.c
 *	  bloom_agg: a filter of a column, whose state itself is in agg_state.c; and one of many filters.
 *
 * One transition function serves all forms of the aggregate: parameters that a
 * form lacks have their defaults.
 */
#include "postgres.h"

#include "build/agg_state.h"
#include "key/key.h"
#include "base/pg_compat.h"
#include "base/report.h"
#include "value/filter.h"

PG_FUNCTION_INFO_V1(bloomfilter_agg_transfn);
PG_FUNCTION_INFO_V1(bloomfilter_part_agg_transfn);
PG_FUNCTION_INFO_V1(bloomfilter_agg_combine);
PG_FUNCTION_INFO_V1(bloomfilter_agg_serialize);
PG_FUNCTION_INFO_V1(bloomfilter_agg_deserialize);
PG_FUNCTION_INFO_V1(bloomfilter_agg_finalfn);
PG_FUNCTION_INFO_V1(bloomfilter_union_agg_transfn);
PG_FUNCTION_INFO_V1(bloomfilter_union_agg_finalfn);
PG_FUNCTION_INFO_V1(bloomfilter_intersection_agg_transfn);

/* The rate where none is given. */
#define DEFAULT_RATE 0.01

/* The parameters of a call: n, p and seed, as many as it has, and for a part of a set in front of them the number of parts. */
static BfpgAggParameters
call_parameters(FunctionCallInfo fcinfo, bool of_part)
{
	BfpgAggParameters parameters = {0, DEFAULT_RATE, 0, 1};
	int			first = of_part ? 3 : 2;
	int			i;

	if (PG_NARGS() > first && !PG_ARGISNULL(first))
	{
		parameters.n = PG_GETARG_INT64(first);
		bfpg_check_capacity(parameters.n);
	}
	for (i = first + 1; i < PG_NARGS(); i++)
		if (PG_ARGISNULL(i))
			bfpg_refuse_null(i == first + 1 ? "false-positive rate of a bloomfilter" : "seed of a bloomfilter");
	if (PG_NARGS() > first + 1)
		parameters.p = PG_GETARG_FLOAT8(first + 1);
	if (PG_NARGS() > first + 2)
		parameters.seed = (uint64) PG_GETARG_INT64(first + 2);
	if (of_part)
	{
		if (PG_ARGISNULL(2))
			bfpg_refuse_null("number of parts of a bloomfilter");
		parameters.parts = PG_GETARG_INT32(2);
		bfpg_check_parts(parameters.parts);
	}
	return parameters;
}

/* Whether bfpg_aggregate_context would not throw, to be asked for each row. */
static inline bool
is_aggregate_call(FunctionCallInfo fcinfo)
{
	return fcinfo->context != NULL &&
		(IsA(fcinfo->context, AggState) || IsA(fcinfo->context, WindowAggState));
}

/* Whether a row has the very arguments that the state's parameters were read from. */
static inline bool
same_arguments(FunctionCallInfo fcinfo, const BfpgAggState *state)
{
	int			i;

	for (i = 2; i < PG_NARGS(); i++)
	{
		if (PG_ARGISNULL(i) != state->arguments[i].isnull)
			return false;
		/* A NULL has no value to compare. */
		if (!PG_ARGISNULL(i) && PG_GETARG_DATUM(i) != state->arguments[i].value)
			return false;
	}
	return true;
}

/* The first row of a group; its key may be NULL. */
static BfpgAggState *
start_state(FunctionCallInfo fcinfo, const BfpgAggParameters *parameters,
			MemoryContext context)
{
	const BfpgKeyCoder *coder = bfpg_call_coder(fcinfo, 1, false);
	BfpgAggState *state = bfpg_agg_new(parameters, coder->type, context);
	int			i;

	/* An engine that splits aggregates makes a new FmgrInfo for each row. */
	if (fcinfo->flinfo->fn_expr == NULL)
	{
		state->coder = MemoryContextAlloc(context, sizeof(BfpgKeyCoder));
		*state->coder = *coder;
		state->coder->context = context;
	}
	for (i = 2; i < PG_NARGS(); i++)
		state->arguments[i] = fcinfo->args[i];
	return state;
}

/*
 * The state for a row that has none yet, or whose arguments look different.  Kept
 * out of add_row, which is called for each row and fits into registers without it.
 */
static pg_noinline BfpgAggState *
read_arguments(FunctionCallInfo fcinfo, BfpgAggState *state, bool of_part)
{
	MemoryContext context = bfpg_aggregate_context(fcinfo);
	BfpgAggParameters parameters = call_parameters(fcinfo, of_part);

	if (state == NULL)
		return start_state(fcinfo, &parameters, context);
	bfpg_agg_check_parameters(state, &parameters);
	return state;
}

/* One row of a group.  Parameters are read again only when they look different. */
static inline Datum
add_row(FunctionCallInfo fcinfo, bool of_part)
{
	BfpgAggState *state = PG_ARGISNULL(0) ? NULL : (BfpgAggState *) PG_GETARG_POINTER(0);
	BfpgKeyCoder *coder;
	uint64		hash;

	if (state == NULL || !is_aggregate_call(fcinfo) || !same_arguments(fcinfo, state))
		state = read_arguments(fcinfo, state, of_part);
	if (!PG_ARGISNULL(1))
	{
		coder = state->coder != NULL ? state->coder : bfpg_call_coder(fcinfo, 1, false);
		hash = bfpg_hash_key(coder, PG_GETARG_DATUM(1), state->parameters.seed);
		/* what columns a row has is known when it is hashed */
		state->sized.key_type = coder->type;
		bfpg_agg_add(state, hash);
	}
	PG_RETURN_POINTER(state);
}

Datum
bloomfilter_agg_transfn(PG_FUNCTION_ARGS)
{
	return add_row(fcinfo, false);
}

Datum
bloomfilter_part_agg_transfn(PG_FUNCTION_ARGS)
{
	return add_row(fcinfo, true);
}

Datum
bloomfilter_agg_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context = bfpg_aggregate_context(fcinfo);
	BfpgAggState *state = PG_ARGISNULL(0) ? NULL : (BfpgAggState *) PG_GETARG_POINTER(0);
	BfpgAggState *other = PG_ARGISNULL(1) ? NULL : (BfpgAggState *) PG_GETARG_POINTER(1);

	if (other != NULL)
	{
		if (state == NULL)
			state = bfpg_agg_new(&other->parameters, other->sized.key_type, context);
		bfpg_agg_merge(state, other);
	}
	if (state == NULL)
		PG_RETURN_NULL();
	PG_RETURN_POINTER(state);
}

Datum
bloomfilter_agg_serialize(PG_FUNCTION_ARGS)
{
	(void) bfpg_aggregate_context(fcinfo);
	PG_RETURN_BYTEA_P(bfpg_agg_serialize((BfpgAggState *) PG_GETARG_POINTER(0)));
}

Datum
bloomfilter_agg_deserialize(PG_FUNCTION_ARGS)
{
	(void) bfpg_aggregate_context(fcinfo);
	PG_RETURN_POINTER(bfpg_agg_deserialize(PG_GETARG_BYTEA_PP(0)));
}

Datum
bloomfilter_agg_finalfn(PG_FUNCTION_ARGS)
{
	(void) bfpg_aggregate_context(fcinfo);
	if (PG_ARGISNULL(0) || !bfpg_agg_has_keys((BfpgAggState *) PG_GETARG_POINTER(0)))
		PG_RETURN_NULL();
	return bfpg_agg_result((BfpgAggState *) PG_GETARG_POINTER(0));
}

/*
 * bloom_union_agg and bloom_intersection_agg: one filter of many.
 *
 * Their state is of type bloomfilter itself: an expanded object in the
 * aggregate's memory, changed in place.  Engines that split an aggregate between
 * machines by its state's type can split these.
 */

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
