/*
 * empty.c
 *	  Functions of bloom_contains' shape that do nothing: what PostgreSQL itself
 *	  takes to call a C function for each row.
 */
#include "postgres.h"

#include "fmgr.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(bench_true);
PG_FUNCTION_INFO_V1(bench_false);

Datum
bench_true(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(true);
}

Datum
bench_false(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(false);
}
