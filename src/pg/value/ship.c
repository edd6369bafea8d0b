/*
 * ship.c
 *	  What application servers fetch: chunks of a filter; and what proves it whole.
 */
#include "postgres.h"

#include "value/filter.h"
#include "base/pg_compat.h"

PG_FUNCTION_INFO_V1(bloomfilter_chunk);
PG_FUNCTION_INFO_V1(bloomfilter_verify);

/*
 * Bytes of the format from an offset on, read by a slice; fewer, or none, at the
 * end.  Within one snapshot the chunks of a value fit together.
 */
Datum
bloomfilter_chunk(PG_FUNCTION_ARGS)
{
	struct varlena *attr = (struct varlena *) PG_GETARG_POINTER(0);
	int64		offset = PG_GETARG_INT64(1);
	int32		length = PG_GETARG_INT32(2);

	if (offset < 0 || length < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("offset and length of a chunk must not be negative")));
	if (offset >= (int64) BF_MAX_BYTES)
		length = offset = 0;
	length = Min(length, (int32) (BF_MAX_BYTES - offset));
	PG_RETURN_POINTER(detoast_attr_slice(attr, (int32) offset, length));
}

/* Whether checksum and popcount are right: reads the whole value. */
Datum
bloomfilter_verify(PG_FUNCTION_ARGS)
{
	bf_status	status;
	BfpgFilter *filter = bfpg_filter_check(PG_GETARG_DATUM(0), CurrentMemoryContext,
										   &status);

	if (filter == NULL)
		PG_RETURN_BOOL(false);
	bfpg_filter_free(filter);
	PG_RETURN_BOOL(true);
}
