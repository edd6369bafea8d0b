/*
 * next_oid.c
 *	  Sets the cluster's counter of identifiers, while the server runs.
 *
 * For 016_reused_toast_id.pl and 020_places.pl: pg_resetwal can't do that in a transaction.
 */
#include "postgres.h"

#include "access/transam.h"
#include "fmgr.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(set_next_oid);

#if PG_VERSION_NUM >= 170000
#define COUNTERS TransamVariables
#else
#define COUNTERS ShmemVariableCache
#endif

Datum
set_next_oid(PG_FUNCTION_ARGS)
{
	COUNTERS->nextOid = (Oid) PG_GETARG_INT64(0);
	PG_RETURN_VOID();
}
