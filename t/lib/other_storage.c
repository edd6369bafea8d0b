/*
 * other_storage.c
 *	  What an engine that keeps rows elsewhere does, as far as 082_elsewhere.pl needs it.
 *
 * A table access method that is not heap, and the announcement that an engine's metadata of
 * a table has changed, as Citus and TimescaleDB make it.
 */
#include "postgres.h"

#include "access/tableam.h"
#include "fmgr.h"
#include "utils/inval.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(other_storage);
PG_FUNCTION_INFO_V1(announce);

Datum
other_storage(PG_FUNCTION_ARGS)
{
	static TableAmRoutine routine;

	routine = *GetHeapamTableAmRoutine();
	PG_RETURN_POINTER(&routine);
}

Datum
announce(PG_FUNCTION_ARGS)
{
	CacheInvalidateRelcacheByRelid(PG_GETARG_OID(0));
	PG_RETURN_VOID();
}
