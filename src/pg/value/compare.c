/*
 * compare.c
 *	  Whether two filters are equal byte for byte, and a hash to go with it.
 *
 * The hash is what PostgreSQL groups, joins and replicates by: IS DISTINCT FROM of
 * rows, DISTINCT, UNION, and logical replication of tables without a key all look for
 * an equality in a default operator class.  There is no order, as nothing sorts filters.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "value/filter.h"
#include "base/pg_compat.h"

PG_FUNCTION_INFO_V1(bloomfilter_eq);
PG_FUNCTION_INFO_V1(bloomfilter_ne);
PG_FUNCTION_INFO_V1(bloomfilter_hash_value);

/* Bytes between two looks at whether the query is cancelled. */
#define PIECE_BYTES ((size_t) 4 * 1024 * 1024)

/* Whether the bytes are equal; different sizes tell without a detoast. */
static bool
same_bytes(FunctionCallInfo fcinfo)
{
	Datum		a = PG_GETARG_DATUM(0);
	Datum		b = PG_GETARG_DATUM(1);
	struct varlena *flat_a;
	struct varlena *flat_b;
	size_t		length;
	size_t		at;

	if (toast_raw_datum_size(a) != toast_raw_datum_size(b))
		return false;
	flat_a = bfpg_flat_value(a);
	flat_b = bfpg_flat_value(b);
	length = VARSIZE(flat_a) - VARHDRSZ;
	for (at = 0; at < length; at += PIECE_BYTES)
	{
		CHECK_FOR_INTERRUPTS();
		if (memcmp(VARDATA(flat_a) + at, VARDATA(flat_b) + at,
				   Min(PIECE_BYTES, length - at)) != 0)
			return false;
	}
	return true;
}

Datum
bloomfilter_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(same_bytes(fcinfo));
}

Datum
bloomfilter_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(!same_bytes(fcinfo));
}

/*
 * The checksum of all bytes, which a stored filter has in its header; a filter in
 * memory gets one only when it is flattened.
 */
Datum
bloomfilter_hash_value(PG_FUNCTION_ARGS)
{
	Datum		value = PG_GETARG_DATUM(0);
	bf_shape	shape;

	if (bfpg_filter_expanded(value) != NULL)
		value = PointerGetDatum(bfpg_flat_value(value));
	bfpg_read_shape(value, &shape);
	PG_RETURN_UINT32((uint32) shape.level[0].checksum);
}
