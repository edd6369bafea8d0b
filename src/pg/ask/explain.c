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
	BfpgFilter *copy = bfpg_filter_copy(flat, CurrentMemoryContext);
	char		text[BF_EXPLAIN_ROOM];

	bf_explain(text, &copy->header, copy->blocks, key_type, key->data, (size_t) key->len);
	bfpg_filter_free(copy);
	return CStringGetTextDatum(text);
}

Datum
bloomfilter_explain(PG_FUNCTION_ARGS)
{
	BfpgKeyCoder *coder = bfpg_call_coder(fcinfo, 1, false);
	bf_header	header;
	StringInfoData key;

	bfpg_read_header(PG_GETARG_DATUM(0), &header);
	bfpg_check_key_type(coder, &header);
	bfpg_key_bytes(coder, PG_GETARG_DATUM(1), &key);
	PG_RETURN_DATUM(bfpg_explain(PG_GETARG_DATUM(0), coder->type, &key));
}
