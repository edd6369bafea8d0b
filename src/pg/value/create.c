/*
 * create.c
 *	  Empty filters: by keys and rate, by bits per key, by bits and probes; parts; and seeds.
 */
#include "postgres.h"

#include "bf_sizing.h"
#include "value/filter.h"
#include "base/pg_compat.h"
#include "base/report.h"

PG_FUNCTION_INFO_V1(bloomfilter_create);
PG_FUNCTION_INFO_V1(bloomfilter_create_sized);
PG_FUNCTION_INFO_V1(bloomfilter_create_part);
PG_FUNCTION_INFO_V1(bloomfilter_reset);
PG_FUNCTION_INFO_V1(bloomfilter_random_seed);

static Datum
create_part(const bf_sizing *sizing, int64 seed, int32 part, int32 parts)
{
	bf_header	header;

	bfpg_check_fits(sizing);
	header = bf_sizing_header(sizing, (uint64) seed);
	header.part = (uint16) part;
	header.parts = (uint16) parts;
	return bfpg_filter_rw_datum(bfpg_filter_new(&header, CurrentMemoryContext));
}

Datum
bloomfilter_create(PG_FUNCTION_ARGS)
{
	bf_sizing	sizing;

	bfpg_size_for_rate(PG_GETARG_INT64(0), PG_GETARG_FLOAT8(1), &sizing);
	return create_part(&sizing, PG_GETARG_INT64(2), 0, 1);
}

Datum
bloomfilter_create_sized(PG_FUNCTION_ARGS)
{
	int64		m = PG_GETARG_INT64(0);
	int32		k = PG_GETARG_INT32(1);
	bf_sizing	sizing;

	if (m < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of bits of a bloomfilter must be at least 1, not " INT64_FORMAT, m)));
	if (k < 1 || k > BF_MAX_PROBES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of hashes of a bloomfilter must be between 1 and %d, not %d",
						BF_MAX_PROBES, k)));
	bf_size_for_bits((uint64) m, (unsigned) k, &sizing);
	return create_part(&sizing, PG_GETARG_INT64(2), 0, 1);
}

/* What bloom_part_agg would make of no keys: n is the whole set's. */
Datum
bloomfilter_create_part(PG_FUNCTION_ARGS)
{
	int32		part = PG_GETARG_INT32(0);
	int32		parts = PG_GETARG_INT32(1);
	int64		n = PG_GETARG_INT64(2);
	bf_sizing	sizing;

	bfpg_check_parts(parts);
	if (part < 0 || part >= parts)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("part of a set of %d bloomfilters must be between 0 and %d, not %d",
						parts, parts - 1, part)));
	bfpg_check_capacity(n);
	bfpg_size_for_rate((int64) bf_part_capacity((uint64) n, (uint32) parts), PG_GETARG_FLOAT8(3), &sizing);
	return create_part(&sizing, PG_GETARG_INT64(4), part, parts);
}

Datum
bloomfilter_reset(PG_FUNCTION_ARGS)
{
	bf_header	header;

	bfpg_read_header(PG_GETARG_DATUM(0), &header);
	header.key_type = 0;
	header.bits_set = 0;
	return bfpg_filter_rw_datum(bfpg_filter_new(&header, CurrentMemoryContext));
}

/*
 * A seed that nobody can guess, from the server's strong random source.  Without
 * it, whoever knows the seed can look for keys that are found although they were
 * never added.
 */
Datum
bloomfilter_random_seed(PG_FUNCTION_ARGS)
{
	int64		seed;

	if (!pg_strong_random(&seed, sizeof(seed)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not get a random seed")));
	PG_RETURN_INT64(seed);
}
