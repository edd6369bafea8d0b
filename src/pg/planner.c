/*
 * planner.c
 *	  What the planner asks about the functions.
 */
#include "postgres.h"

#include "fmgr.h"

#include "pg_compat.h"

PG_FUNCTION_INFO_V1(bloomfilter_add_support);

/*
 * Of the functions that add keys: tells PL/pgSQL, from 18 on, that in
 * "f := bloom_add(f, key)" they may have the variable's filter to change in place.
 * They check all before they change anything.
 */
Datum
bloomfilter_add_support(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(bfpg_modify_in_place((Node *) PG_GETARG_POINTER(0)));
}
