/*
 * agg.c
 *	  bloom_agg: a filter of a column.  The state itself is in agg_state.c.
 *
 * One transition function serves all forms of the aggregate: parameters that a
 * form lacks have their defaults.
 */
#include "postgres.h"

#include "agg_state.h"
#include "key.h"
#include "pg_compat.h"

PG_FUNCTION_INFO_V1(bloomfilter_agg_transfn);
PG_FUNCTION_INFO_V1(bloomfilter_part_agg_transfn);
PG_FUNCTION_INFO_V1(bloomfilter_agg_combine);
PG_FUNCTION_INFO_V1(bloomfilter_agg_serialize);
PG_FUNCTION_INFO_V1(bloomfilter_agg_deserialize);
PG_FUNCTION_INFO_V1(bloomfilter_agg_finalfn);

/* The rate where none is given. */
#define DEFAULT_RATE 0.01

/* The parameters of a call: n, p and seed from argument first on, as many as it has. */
static BfAggParameters
call_parameters(FunctionCallInfo fcinfo, int first)
{
	BfAggParameters parameters = {0, DEFAULT_RATE, 0, 1};
	int			i;

	if (PG_NARGS() > first && !PG_ARGISNULL(first))
	{
		parameters.n = PG_GETARG_INT64(first);
		bfpg_check_capacity(parameters.n);
	}
	for (i = first + 1; i < PG_NARGS(); i++)
		if (PG_ARGISNULL(i))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("%s of a bloomfilter must not be null",
							i == first + 1 ? "false-positive rate" : "seed")));
	if (PG_NARGS() > first + 1)
		parameters.p = PG_GETARG_FLOAT8(first + 1);
	if (PG_NARGS() > first + 2)
		parameters.seed = (uint64) PG_GETARG_INT64(first + 2);
	return parameters;
}

static MemoryContext
aggregate_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "bloom_agg support function called in non-aggregate context");
	return context;
}

/* One row of a group. */
static Datum
add_row(FunctionCallInfo fcinfo, const BfAggParameters *parameters)
{
	MemoryContext context = aggregate_context(fcinfo);
	BfAggState *state = PG_ARGISNULL(0) ? NULL : (BfAggState *) PG_GETARG_POINTER(0);
	const BfKeyCoder *coder;

	if (state != NULL)
		bfpg_agg_check_parameters(state, parameters);
	if (PG_ARGISNULL(1))
	{
		if (state == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(state);
	}
	coder = bfpg_call_coder(fcinfo, 1, false);
	if (state == NULL)
		state = bfpg_agg_new(parameters, coder->type, context);
	bfpg_agg_add(state, coder->hash(PG_GETARG_DATUM(1), parameters->seed));
	PG_RETURN_POINTER(state);
}

Datum
bloomfilter_agg_transfn(PG_FUNCTION_ARGS)
{
	BfAggParameters parameters = call_parameters(fcinfo, 2);

	return add_row(fcinfo, &parameters);
}

/* The same for a part of a set: argument 2 is the number of parts. */
Datum
bloomfilter_part_agg_transfn(PG_FUNCTION_ARGS)
{
	BfAggParameters parameters = call_parameters(fcinfo, 3);

	if (PG_ARGISNULL(2))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("number of parts of a bloomfilter must not be null")));
	parameters.parts = PG_GETARG_INT32(2);
	bfpg_check_parts(parameters.parts);
	return add_row(fcinfo, &parameters);
}

Datum
bloomfilter_agg_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context = aggregate_context(fcinfo);
	BfAggState *state = PG_ARGISNULL(0) ? NULL : (BfAggState *) PG_GETARG_POINTER(0);
	BfAggState *other = PG_ARGISNULL(1) ? NULL : (BfAggState *) PG_GETARG_POINTER(1);

	if (other != NULL)
	{
		if (state == NULL)
			state = bfpg_agg_new(&other->parameters, other->key_type, context);
		bfpg_agg_merge(state, other);
	}
	if (state == NULL)
		PG_RETURN_NULL();
	PG_RETURN_POINTER(state);
}

Datum
bloomfilter_agg_serialize(PG_FUNCTION_ARGS)
{
	(void) aggregate_context(fcinfo);
	PG_RETURN_BYTEA_P(bfpg_agg_serialize((BfAggState *) PG_GETARG_POINTER(0)));
}

Datum
bloomfilter_agg_deserialize(PG_FUNCTION_ARGS)
{
	(void) aggregate_context(fcinfo);
	PG_RETURN_POINTER(bfpg_agg_deserialize(PG_GETARG_BYTEA_PP(0)));
}

Datum
bloomfilter_agg_finalfn(PG_FUNCTION_ARGS)
{
	(void) aggregate_context(fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	return bfpg_agg_result((BfAggState *) PG_GETARG_POINTER(0));
}
