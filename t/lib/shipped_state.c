/*
 * shipped_state.c
 *	  Support functions of an aggregate whose workers ship any bytes as their state.
 *
 * For 017_shipped_state.pl: SQL can't hand bytes to a deserialize function.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "fmgr.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(take_state);
PG_FUNCTION_INFO_V1(ship_state);

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
