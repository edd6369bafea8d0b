/*
 * parts.c
 *	  Sets of filters: which part a key belongs to.
 */
#include "postgres.h"

#include "bf_hash.h"
#include "key.h"
#include "pg_compat.h"
#include "report.h"

PG_FUNCTION_INFO_V1(bloomfilter_part);

Datum
bloomfilter_part(PG_FUNCTION_ARGS)
{
	const BfKeyCoder *coder = bfpg_call_coder(fcinfo, 0, false);
	int32		parts = PG_GETARG_INT32(1);
	uint64		hash;

	bfpg_check_parts(parts);
	hash = bfpg_hash_key(coder, PG_GETARG_DATUM(0), (uint64) PG_GETARG_INT64(2));
	PG_RETURN_INT32((int32) bf_part_of(hash, (uint32_t) parts));
}
