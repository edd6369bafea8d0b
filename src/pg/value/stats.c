/*
 * stats.c
 *	  What a filter is and what it would be: sizes, estimates, and whether it is whole.
 *
 * All but bloom_verify read a header at most, and so cost the same for every size.
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"

#include "bf_estimate.h"
#include "bf_sizing.h"
#include "value/filter.h"
#include "key/key.h"
#include "base/report.h"

PG_FUNCTION_INFO_V1(bloomfilter_sizing);
PG_FUNCTION_INFO_V1(bloomfilter_stats);
PG_FUNCTION_INFO_V1(bloomfilter_cardinality);
PG_FUNCTION_INFO_V1(bloomfilter_fpr);
PG_FUNCTION_INFO_V1(bloomfilter_verify);

#define SIZING_COLUMNS 10
#define STATS_COLUMNS 18

/* The calculator: what a filter for n keys at rate p takes. */
Datum
bloomfilter_sizing(PG_FUNCTION_ARGS)
{
	int64		n = PG_GETARG_INT64(0);
	double		p = PG_GETARG_FLOAT8(1);
	double		ideal_bits = -bf_ln(p > 0 ? p : 1) / (M_LN2 * M_LN2);
	Datum		values[SIZING_COLUMNS];
	bf_sizing	sizing;
	const bf_geometry *geometry = &sizing.geometry;
	int32		parts = bfpg_choose_parts(n, p, &sizing);
	double		bits = (double) (geometry->blocks << geometry->log2_block_bits);

	values[0] = Int64GetDatum((int64) (geometry->blocks << geometry->log2_block_bits));
	values[1] = Int64GetDatum((int64) bf_sizing_bytes(&sizing));
	values[2] = Int32GetDatum((int32) geometry->probes);
	values[3] = Int32GetDatum((int32) 1 << geometry->log2_block_bits);
	values[4] = Int64GetDatum((int64) geometry->blocks);
	values[5] = Float8GetDatum(bits / (double) n);
	values[6] = Float8GetDatum(sizing.expected_rate);
	values[7] = Int64GetDatum((int64) ceil((double) n * ideal_bits));
	values[8] = Int32GetDatum(Max((int32) rint(ideal_bits * M_LN2), 1));
	values[9] = Int32GetDatum(parts);
	return bfpg_make_row(fcinfo, values, SIZING_COLUMNS, SIZING_COLUMNS);
}

static int64
whole_keys(const bf_header *header)
{
	return (int64) rint(bf_estimate_keys(header));
}

Datum
bloomfilter_stats(PG_FUNCTION_ARGS)
{
	Datum		values[STATS_COLUMNS];
	char		keys[BF_KEY_TEXT_BYTES];
	bf_shape	shape;
	bf_header	header;

	bfpg_read_shape(PG_GETARG_DATUM(0), &shape);
	header = shape.level[0];
	values[0] = Int64GetDatum((int64) header.capacity);
	values[1] = Float8GetDatum(header.rate);
	values[2] = Int64GetDatum((int64) bf_total_bits(&header));
	values[3] = Int64GetDatum((int64) bf_shape_bytes(&shape));
	values[4] = Int32GetDatum(header.probes);
	values[5] = Int32GetDatum((int32) 1 << header.log2_block_bits);
	values[6] = Int64GetDatum((int64) header.blocks);
	values[7] = Int64GetDatum((int64) header.seed);
	values[8] = CStringGetTextDatum(bf_key_type_text(header.key_type, keys));
	values[9] = Int64GetDatum((int64) header.bits_set);
	values[10] = Float8GetDatum(bf_fill(&header));
	values[11] = Int64GetDatum(whole_keys(&header));
	values[12] = Float8GetDatum(bf_estimate_rate(&header));
	values[13] = Int32GetDatum(header.part);
	values[14] = Int32GetDatum(header.parts);
	values[15] = Int32GetDatum(shape.levels == 1 ? BF_FORMAT_VERSION : BF_EXACT_VERSION);
	values[16] = Int32GetDatum((int32) shape.levels);
	values[17] = Int64GetDatum((int64) shape.others);
	return bfpg_make_row(fcinfo, values, STATS_COLUMNS, shape.levels == 1 ? STATS_COLUMNS - 1 : STATS_COLUMNS);
}

Datum
bloomfilter_cardinality(PG_FUNCTION_ARGS)
{
	bf_shape	shape;

	bfpg_read_shape(PG_GETARG_DATUM(0), &shape);
	PG_RETURN_INT64(whole_keys(&shape.level[0]));
}

Datum
bloomfilter_fpr(PG_FUNCTION_ARGS)
{
	bf_shape	shape;

	bfpg_read_shape(PG_GETARG_DATUM(0), &shape);
	PG_RETURN_FLOAT8(bf_estimate_rate(&shape.level[0]));
}

/* Whether checksum and popcount are right: reads the whole value. */
Datum
bloomfilter_verify(PG_FUNCTION_ARGS)
{
	struct varlena *value = bfpg_flat_value(PG_GETARG_DATUM(0));
	bf_shape	shape;
	bf_status	status = bf_any_parse(VARDATA(value), VARSIZE(value) - VARHDRSZ, bfpg_tick, &shape);

	PG_FREE_IF_COPY(value, 0);
	PG_RETURN_BOOL(status == BF_OK);
}
