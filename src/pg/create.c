/*
 * create.c
 *	  Empty filters: by keys and rate, by bits per key, by bits and probes.
 */
#include "postgres.h"

#include "bf_sizing.h"
#include "pg_compat.h"
#include "value.h"

PG_FUNCTION_INFO_V1(bloomfilter_create);
PG_FUNCTION_INFO_V1(bloomfilter_create_bits_per_key);
PG_FUNCTION_INFO_V1(bloomfilter_create_sized);
PG_FUNCTION_INFO_V1(bloomfilter_reset);
PG_FUNCTION_INFO_V1(bloomfilter_random_seed);

static Datum
create_filter(const bf_sizing *sizing, int64 seed)
{
	bf_header	header;

	bfpg_check_fits(sizing);
	header = bf_sizing_header(sizing, (uint64) seed);
	return bfpg_filter_rw_datum(bfpg_filter_new(&header, CurrentMemoryContext));
}

Datum
bloomfilter_create(PG_FUNCTION_ARGS)
{
	bf_sizing	sizing;

	bfpg_size_for_rate(PG_GETARG_INT64(0), PG_GETARG_FLOAT8(1), &sizing);
	return create_filter(&sizing, PG_GETARG_INT64(2));
}

Datum
bloomfilter_create_bits_per_key(PG_FUNCTION_ARGS)
{
	int64		n = PG_GETARG_INT64(0);
	double		bits_per_key = PG_GETARG_FLOAT8(1);
	bf_sizing	sizing;

	bfpg_check_capacity(n);
	if (!bf_bits_per_key_valid(bits_per_key))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bits per key of a bloomfilter must be between %g and %g, not %g",
						BF_MIN_BITS_PER_KEY, BF_MAX_BITS_PER_KEY, bits_per_key),
				 errhint("10 bits per key give a false-positive rate of about 1 %%.")));
	bf_size_for_bits_per_key((uint64) n, bits_per_key, &sizing);
	return create_filter(&sizing, PG_GETARG_INT64(2));
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
	return create_filter(&sizing, PG_GETARG_INT64(2));
}

/* The same parameters, no keys. */
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
