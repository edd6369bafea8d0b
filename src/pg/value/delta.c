/*
 * delta.c
 *	  bloom_diff and bloom_apply: what changes one filter into another.
 *
 * The delta itself is made and read by src/delta, which the client library uses
 * too.  It needs libzstd; an extension built without says so.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "value/filter.h"
#include "base/pg_compat.h"

PG_FUNCTION_INFO_V1(bloomfilter_diff);
PG_FUNCTION_INFO_V1(bloomfilter_apply);

#ifdef BLOOMFILTER_ZSTD

#include "lib/stringinfo.h"

#include "bf_delta.h"

static void *
allocate(void *context, size_t size)
{
	return MemoryContextAllocExtended(context, size,
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
}

static void
release(void *context, void *memory)
{
	if (memory != NULL)
		pfree(memory);
}

static bfd_allocator
current_allocator(void)
{
	bfd_allocator allocator = {allocate, release, CurrentMemoryContext};

	return allocator;
}

static bool
append(void *context, const void *bytes, size_t length)
{
	appendBinaryStringInfo((StringInfo) context, bytes, (int) length);
	return true;
}

static int
delta_sqlstate(bfd_status status)
{
	switch (status)
	{
		case BFD_NO_MEMORY:
			return ERRCODE_OUT_OF_MEMORY;
		case BFD_INCOMPATIBLE:
		case BFD_OTHER_BASE:
			return ERRCODE_DATA_EXCEPTION;
		case BFD_BAD_VERSION:
		case BFD_BAD_METHOD:
			return ERRCODE_FEATURE_NOT_SUPPORTED;
		default:
			return ERRCODE_INVALID_PARAMETER_VALUE;
	}
}

static void
check_delta(bfd_status status)
{
	if (status != BFD_OK)
		ereport(ERROR,
				(errcode(delta_sqlstate(status)),
				 errmsg("bloomfilter delta: %s", bfd_status_text(status)),
				 status == BFD_OTHER_BASE
				 ? errhint("Apply it to the filter that bloom_diff had as its first argument, or fetch the whole new one.")
				 : 0));
}

/* A whole filter with its checksum in the header. */
static BfpgFilter *
whole_filter(Datum value)
{
	BfpgFilter *filter = bfpg_filter_copy(value, CurrentMemoryContext);

	bf_header_write(&filter->header, filter->blocks, bfpg_tick, filter->image);
	return filter;
}

Datum
bloomfilter_diff(PG_FUNCTION_ARGS)
{
	BfpgFilter *from = whole_filter(PG_GETARG_DATUM(0));
	BfpgFilter *to = whole_filter(PG_GETARG_DATUM(1));
	bfd_allocator allocator = current_allocator();
	bfd_filter	old_filter = {&from->header, from->blocks};
	bfd_filter	new_filter = {&to->header, to->blocks};
	StringInfoData delta;
	bfd_sink	sink = {append, &delta};

	initStringInfo(&delta);
	appendStringInfoSpaces(&delta, VARHDRSZ);
	check_delta(bfd_diff(old_filter, new_filter, &allocator, bfpg_tick, &sink));
	bfpg_filter_free(from);
	bfpg_filter_free(to);
	SET_VARSIZE(delta.data, delta.len);
	PG_RETURN_BYTEA_P(delta.data);
}

Datum
bloomfilter_apply(PG_FUNCTION_ARGS)
{
	BfpgFilter *from = whole_filter(PG_GETARG_DATUM(0));
	bytea	   *delta = PG_GETARG_BYTEA_PP(1);
	uint64		total = bf_total_bytes(&from->header);
	bfd_allocator allocator = current_allocator();
	bfd_filter	old_filter = {&from->header, from->blocks};
	struct varlena *result = palloc(VARHDRSZ + total);
	bf_header	header;

	check_delta(bfd_apply(old_filter, VARDATA_ANY(delta), VARSIZE_ANY_EXHDR(delta),
						  &allocator, bfpg_tick, (uint8 *) VARDATA(result), &header));
	SET_VARSIZE(result, VARHDRSZ + total);
	bfpg_filter_free(from);
	PG_RETURN_POINTER(result);
}

#else							/* no libzstd */

static Datum
refuse(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("this bloomfilter was built without libzstd, which deltas need"),
			 errhint("Install the development files of libzstd and build it again.")));
}

Datum
bloomfilter_diff(PG_FUNCTION_ARGS)
{
	return refuse();
}

Datum
bloomfilter_apply(PG_FUNCTION_ARGS)
{
	return refuse();
}

#endif
