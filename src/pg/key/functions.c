/*
 * functions.c
 *	  What SQL asks of a key without a filter: its hash, and its part in a set.
 */
#include "postgres.h"

#include "bf_hash.h"
#include "key/key.h"
#include "base/pg_compat.h"
#include "base/report.h"

PG_FUNCTION_INFO_V1(bloomfilter_hash);
PG_FUNCTION_INFO_V1(bloomfilter_part);

/*
 * The coder of a call without a filter, which could tell what an untyped key is: taken
 * for text, an integer's hash or part would be another than the one in use.
 */
static BfpgKeyCoder *
typed_coder(FunctionCallInfo fcinfo)
{
	BfpgKeyCoder *coder = bfpg_call_coder(fcinfo, 0, false);

	if (coder->untyped)
		bfpg_refuse_untyped("the key");
	if (bf_key_kind(coder->type) == BF_KEY_ROW)
		bfpg_expect_typed_row(coder);
	return coder;
}

/* XXH64 of the bytes that doc/FORMAT.md gives the key. */
Datum
bloomfilter_hash(PG_FUNCTION_ARGS)
{
	BfpgKeyCoder *coder = typed_coder(fcinfo);

	PG_RETURN_INT64((int64) bfpg_hash_key(coder, PG_GETARG_DATUM(0), (uint64) PG_GETARG_INT64(1)));
}

/* The part, from 0, that a key belongs to in a set of so many. */
Datum
bloomfilter_part(PG_FUNCTION_ARGS)
{
	BfpgKeyCoder *coder = typed_coder(fcinfo);
	int32		parts = PG_GETARG_INT32(1);
	uint64		hash;

	bfpg_check_parts(parts);
	hash = bfpg_hash_key(coder, PG_GETARG_DATUM(0), (uint64) PG_GETARG_INT64(2));
	PG_RETURN_INT32((int32) bf_part_of(hash, (uint32_t) parts));
}
