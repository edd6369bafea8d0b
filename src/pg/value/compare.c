/*
 * compare.c
 *	  Whether two filters are equal byte for byte, and a hash to go with it.
 *
 * The hash is what PostgreSQL groups, joins and replicates by: IS DISTINCT FROM of
 * rows, DISTINCT, UNION, and logical replication of tables without a key all look for
 * an equality in a default operator class.  There is no order, as nothing sorts filters.
 */
#include "postgres.h"

#include "value/filter.h"
#include "base/pg_compat.h"

PG_FUNCTION_INFO_V1(bloomfilter_eq);
PG_FUNCTION_INFO_V1(bloomfilter_ne);
PG_FUNCTION_INFO_V1(bloomfilter_hash_value);

/* Whether the bytes are equal; different sizes tell without a detoast. */
static bool
same_bytes(FunctionCallInfo fcinfo)
{
	Datum		a = PG_GETARG_DATUM(0);
	Datum		b = PG_GETARG_DATUM(1);
	struct varlena *flat_a;
	struct varlena *flat_b;

	if (toast_raw_datum_size(a) != toast_raw_datum_size(b))
		return false;
	flat_a = bfpg_flat_value(a);
	flat_b = bfpg_flat_value(b);
	return memcmp(VARDATA(flat_a), VARDATA(flat_b), VARSIZE(flat_a) - VARHDRSZ) == 0;
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
