/*
 * shipped_state.c
 *	  Support functions of aggregates that take any bytes as shipped states.
 *
 * For 017_shipped_state.pl: SQL can't hand bytes to a deserialize function.  Of one
 * aggregate the workers ship the bytes; the other one needs no workers, and merges
 * the states of its rows in their order.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/pg_list.h"
#include "nodes/value.h"
#include "parser/parse_func.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(take_state);
PG_FUNCTION_INFO_V1(ship_state);
PG_FUNCTION_INFO_V1(merge_state);

/* The state is a copy of the last value, which nobody but ship_state may read. */
Datum
take_state(PG_FUNCTION_ARGS)
{
	MemoryContext context;
	MemoryContext old;
	bytea	   *state;

	if (!AggCheckCallContext(fcinfo, &context) || !IsParallelWorker())
		elog(ERROR, "take_state called outside of a worker's aggregate");
	old = MemoryContextSwitchTo(context);
	state = PG_GETARG_BYTEA_P_COPY(1);
	MemoryContextSwitchTo(old);
	PG_RETURN_POINTER(state);
}

Datum
ship_state(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(PG_GETARG_POINTER(0));
}

/* Calls a support function of bloom_agg as the executor does, within an aggregate. */
static NullableDatum
call_support(FunctionCallInfo aggregate, char *name, Oid type, NullableDatum first,
			 NullableDatum second)
{
	LOCAL_FCINFO(call, 2);
	Oid			types[2] = {type, INTERNALOID};
	FmgrInfo	function;
	NullableDatum result;

	fmgr_info(LookupFuncName(list_make1(makeString(name)), 2, types, false), &function);
	InitFunctionCallInfoData(*call, &function, 2, InvalidOid, aggregate->context, NULL);
	call->args[0] = first;
	call->args[1] = second;
	result.value = FunctionCallInvoke(call);
	result.isnull = call->isnull;
	return result;
}

Datum
merge_state(PG_FUNCTION_ARGS)
{
	NullableDatum nothing = {0, false};
	NullableDatum state;

	state = call_support(fcinfo, "bloom_agg_deserialize", BYTEAOID, fcinfo->args[1], nothing);
	state = call_support(fcinfo, "bloom_agg_combine", INTERNALOID, fcinfo->args[0], state);
	fcinfo->isnull = state.isnull;
	return state.value;
}
