/*
 * splitting_engine.c
 *	  An engine that splits aggregates between machines, as Citus does.
 *
 * For 018_splitting_engine.pl.  A worker's half is an aggregate of its own, which is told
 * the aggregate to run and its arguments, as a row if they are several.  It compares their
 * types with the declared ones exactly, calls the transition function with a new FmgrInfo
 * for each row, without an expression, and ships what the serialize function makes of the
 * state.  The coordinator's half deserializes, combines and finishes.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(worker_row);
PG_FUNCTION_INFO_V1(worker_ship);
PG_FUNCTION_INFO_V1(coordinator_take);
PG_FUNCTION_INFO_V1(coordinator_finish);

/* The state of either half: the aggregate's own, and which aggregate that is. */
typedef struct Half
{
	Oid			transition;
	Oid			combine;
	Oid			serialize;
	Oid			deserialize;
	Oid			finish;
	NullableDatum state;
} Half;

#define MOST_ARGUMENTS 6

static Half *
half_of(FunctionCallInfo fcinfo)
{
	MemoryContext context;
	HeapTuple	tuple;
	Form_pg_aggregate form;
	Half	   *half;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "called outside of an aggregate");
	if (!PG_ARGISNULL(0))
		return (Half *) PG_GETARG_POINTER(0);
	tuple = SearchSysCache1(AGGFNOID, PG_GETARG_DATUM(1));
	form = (Form_pg_aggregate) GETSTRUCT(tuple);
	half = MemoryContextAllocZero(context, sizeof(Half));
	half->transition = form->aggtransfn;
	half->combine = form->aggcombinefn;
	half->serialize = form->aggserialfn;
	half->deserialize = form->aggdeserialfn;
	half->finish = form->aggfinalfn;
	half->state.isnull = true;
	ReleaseSysCache(tuple);
	return half;
}

static void
check_type(Oid aggregate, int argument, Oid type)
{
	Oid		   *declared;
	int			count;

	(void) get_func_signature(aggregate, &declared, &count);
	if (argument >= count || declared[argument] != type)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("could not confirm type correctness")));
}

/* The arguments of a call, which come as one value, or as a row of several. */
static int
arguments_of(FunctionCallInfo fcinfo, NullableDatum *arguments)
{
	HeapTupleHeader row;
	HeapTupleData tuple;
	TupleDesc	desc;
	Datum		values[MOST_ARGUMENTS];
	bool		nulls[MOST_ARGUMENTS];
	int			count;
	int			i;

	if (get_fn_expr_argtype(fcinfo->flinfo, 2) != RECORDOID)
	{
		check_type(PG_GETARG_OID(1), 0, get_fn_expr_argtype(fcinfo->flinfo, 2));
		arguments[0] = fcinfo->args[2];
		return 1;
	}
	row = PG_GETARG_HEAPTUPLEHEADER(2);
	desc = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(row), HeapTupleHeaderGetTypMod(row));
	tuple.t_len = HeapTupleHeaderGetDatumLength(row);
	tuple.t_data = row;
	heap_deform_tuple(&tuple, desc, values, nulls);
	count = desc->natts;
	for (i = 0; i < count; i++)
	{
		check_type(PG_GETARG_OID(1), i, TupleDescAttr(desc, i)->atttypid);
		arguments[i].value = values[i];
		arguments[i].isnull = nulls[i];
	}
	ReleaseTupleDesc(desc);
	return count;
}

/* Calls a function of the aggregate as if nothing were known from the call before. */
static NullableDatum
call(FunctionCallInfo fcinfo, Oid oid, NullableDatum *arguments, int count, Oid collation)
{
	LOCAL_FCINFO(inner, MOST_ARGUMENTS + 1);
	FmgrInfo	function;
	NullableDatum result;

	fmgr_info(oid, &function);
	InitFunctionCallInfoData(*inner, &function, count, collation, fcinfo->context, NULL);
	memcpy(inner->args, arguments, count * sizeof(NullableDatum));
	result.value = FunctionCallInvoke(inner);
	result.isnull = inner->isnull;
	return result;
}

Datum
worker_row(PG_FUNCTION_ARGS)
{
	Half	   *half = half_of(fcinfo);
	NullableDatum arguments[MOST_ARGUMENTS + 1];
	int			count = arguments_of(fcinfo, arguments + 1);

	arguments[0] = half->state;
	half->state = call(fcinfo, half->transition, arguments, count + 1, fcinfo->fncollation);
	PG_RETURN_POINTER(half);
}

Datum
worker_ship(PG_FUNCTION_ARGS)
{
	Half	   *half = PG_ARGISNULL(0) ? NULL : (Half *) PG_GETARG_POINTER(0);

	if (half == NULL || half->state.isnull)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(call(fcinfo, half->serialize, &half->state, 1, InvalidOid).value);
}

Datum
coordinator_take(PG_FUNCTION_ARGS)
{
	Half	   *half = half_of(fcinfo);
	MemoryContext context;
	MemoryContext old;
	NullableDatum shipped[2] = {fcinfo->args[2], {0, true}};
	NullableDatum states[2];

	if (!PG_ARGISNULL(2))
	{
		AggCheckCallContext(fcinfo, &context);
		old = MemoryContextSwitchTo(context);
		states[1] = call(fcinfo, half->deserialize, shipped, 2, InvalidOid);
		states[0] = half->state;
		half->state = call(fcinfo, half->combine, states, 2, InvalidOid);
		MemoryContextSwitchTo(old);
	}
	PG_RETURN_POINTER(half);
}

Datum
coordinator_finish(PG_FUNCTION_ARGS)
{
	Half	   *half = PG_ARGISNULL(0) ? NULL : (Half *) PG_GETARG_POINTER(0);
	NullableDatum result;

	if (half == NULL)
		PG_RETURN_NULL();
	result = call(fcinfo, half->finish, &half->state, 1, InvalidOid);
	if (result.isnull)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(result.value);
}
