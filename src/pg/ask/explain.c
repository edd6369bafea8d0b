/*
 * explain.c
 *	  bloom_explain: what a look-up of one key computes and sees, as text.
 *
 * The whole filter is read and checked, unlike in a look-up: who calls this asks why an
 * answer is what it is.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "ask/explain.h"
#include "value/filter.h"
#include "base/pg_compat.h"

PG_FUNCTION_INFO_V1(bloomfilter_explain);

void
bfpg_key_bytes(BfpgKeyCoder *coder, Datum key, StringInfo bytes)
{
	BfpgKeySink sink = {0, bytes};

	initStringInfo(bytes);
	(void) bfpg_sink_key(coder, key, &sink);
}

Datum
bfpg_explain(Datum filter, uint32 key_type, const StringInfoData *key)
{
	/* Flat, as one that was just made has no checksum. */
	Datum		flat = PointerGetDatum(bfpg_flat_value(filter));
	bf_exact	shape;
	bf_status	status;
	BfpgFilter *copy = bfpg_filter_load(flat, CurrentMemoryContext, &shape, &status);
	char		text[BF_EXPLAIN_ROOM];

	if (status != BF_OK)
		bfpg_report_invalid(status, copy->image, BFPG_DOOR_STORED, NULL);
	bf_explain(text, &shape, copy->blocks, key_type, key->data, (size_t) key->len);
	bfpg_filter_free(copy);
	return CStringGetTextDatum(text);
}

Datum
bloomfilter_explain(PG_FUNCTION_ARGS)
{
	BfpgKeyCoder *coder = bfpg_call_coder(fcinfo, 1, false);
	bf_exact	shape;
	StringInfoData key;

	bfpg_read_shape(PG_GETARG_DATUM(0), &shape);
	bfpg_check_key_type(coder, &shape.level[0]);
	bfpg_key_bytes(coder, PG_GETARG_DATUM(1), &key);
	PG_RETURN_DATUM(bfpg_explain(PG_GETARG_DATUM(0), coder->type, &key));
}
