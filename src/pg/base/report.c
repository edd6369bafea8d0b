/*
 * report.c
 *	  The wording and SQLSTATE of errors that more than one file reports.
 *
 * Each rule of the format is worded once, in bf_status_text; what is added here
 * is where the bytes came from and what to do.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "commands/trigger.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "bf_estimate.h"
#include "bf_filter.h"
#include "bf_hash.h"
#include "bf_key.h"
#include "base/pg_compat.h"
#include "base/report.h"
#include "base/settings.h"

void
bfpg_report_invalid(bf_status status, const void *bytes, BfpgDoor door,
					struct Node *escontext)
{
	if (status == BF_BAD_VERSION && bf_format_version(bytes) == BF_EXACT_VERSION)
		bfpg_errsave(escontext,
					 (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					  errmsg("an exact bloomfilter cannot be changed, combined or folded"),
					  errdetail("It is right for the keys that it was built of, and would be wrong for some of them afterwards."),
					  errhint("Publish the list again by its query.")));
	else if (status == BF_BAD_VERSION)
		bfpg_errsave(escontext,
					 (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					  errmsg("invalid bloomfilter value: %s %u", bf_status_text(status),
							 bf_format_version(bytes)),
					  errhint("It was made by another version of bloomfilter; update this one.")));
	else if (status == BF_BAD_HASH)
		bfpg_errsave(escontext,
					 (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					  errmsg("invalid bloomfilter value: %s", bf_status_text(status)),
					  errhint("It was made by a newer version of bloomfilter; update this one.")));
	else if (door == BFPG_DOOR_STORED)
		ereport(ERROR,
				(errcode(door),
				 errmsg("stored bloomfilter value is damaged: %s", bf_status_text(status)),
				 errhint("Build the filter again or restore it from a backup.")));
	else
		bfpg_errsave(escontext,
					 (errcode(door),
					  errmsg("invalid bloomfilter value: %s", bf_status_text(status))));
}

MemoryContext
bfpg_aggregate_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("function %s is part of an aggregate and can't be called by itself", get_func_name(fcinfo->flinfo->fn_oid)),
				 errhint("Call the aggregate.")));
	return context;
}

const TriggerData *
bfpg_trigger_data(FunctionCallInfo fcinfo)
{
	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("%s was called outside of a trigger", get_func_name(fcinfo->flinfo->fn_oid))));
	return (const TriggerData *) fcinfo->context;
}

void
bfpg_refuse_null(const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("%s must not be null", what)));
}

void
bfpg_check_capacity(int64 n)
{
	if (n < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of keys of a bloomfilter must be at least 1, not " INT64_FORMAT, n)));
}

void
bfpg_check_rate(double p)
{
	if (!bf_rate_valid(p))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("false-positive rate of a bloomfilter must be greater than 0 and less than 1, not %.7g", p),
				 errhint("n is the number of keys and p is the rate, in this order: for example 1000000, 0.01 for 1 %%.")));
}

void
bfpg_check_parts(int32 parts)
{
	if (parts < 1 || parts > BF_MAX_PARTS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of parts of a bloomfilter must be between 1 and %d, not %d",
						BF_MAX_PARTS, parts)));
}

void
bfpg_check_fits(const bf_sizing *sizing)
{
	uint32_t	parts = 0;

	if (bf_sizing_fits(sizing))
		return;
	if (bf_rate_valid(sizing->rate))
		parts = bf_parts_for_rate(sizing->capacity, sizing->rate);
	if (parts == 1)				/* a rate that another shape reaches in one */
		parts = 2;
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("a bloomfilter for " UINT64_FORMAT " keys at a false-positive rate of %.7g is too large",
					(uint64) sizing->capacity, sizing->rate),
			 errdetail("It would take " UINT64_FORMAT " bytes; the largest is " UINT64_FORMAT " bytes.",
					   (uint64) bf_sizing_bytes(sizing), (uint64) BF_MAX_BYTES),
			 parts == 0
			 ? errhint("Not even %d parts are enough; ask for fewer keys or a higher rate.", BF_MAX_PARTS)
			 : errhint("Split the keys into %u parts, or ask for a higher rate.", parts)));
}

void
bfpg_check_overflow(const bf_header *header)
{
	if (bfpg_overflow == BFPG_OVERFLOW_IGNORE || !bf_over_capacity(header))
		return;
	ereport(bfpg_overflow == BFPG_OVERFLOW_ERROR ? ERROR : WARNING,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("bloomfilter holds more keys than it was sized for"),
			 errdetail("It holds %s keys, is part %u of %u, and was sized for " UINT64_FORMAT
					   " keys at a false-positive rate of %.7g; "
					   "it holds %s %.0f and has a rate of %.3g.",
					   bf_key_type_name(header->key_type), header->part, header->parts,
					   (uint64) header->capacity, header->rate,
					   bf_is_saturated(header) ? "more than" : "about", bf_estimate_keys(header), bf_estimate_rate(header)),
			 errhint("Build it again with a larger n, or see the setting bloomfilter.overflow.")));
}

/*
 * Sizes remembered at a time, each in a place of its own: to search one can take longer than to
 * build a small filter.  With a single place bloom_agg for groups of 1 to 50 keys takes 1.16 times as long.
 */
#define PLACES 1024

/* capacity 0 where there is none yet. */
static bf_sizing remembered[PLACES];

void
bfpg_size_for_rate(int64 n, double p, bf_sizing *sizing)
{
	bf_sizing  *place;
	uint64		bits;

	bfpg_check_capacity(n);
	bfpg_check_rate(p);
	memcpy(&bits, &p, sizeof(bits));
	place = &remembered[bf_hash_word((uint64) n, bits) % PLACES];
	if (place->capacity != (uint64) n || place->rate != p)
	{
		bf_sizing	found;

		if (!bf_size_for_rate((uint64_t) n, p, &found))
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("a false-positive rate of %.7g cannot be reached for " INT64_FORMAT " keys", p, n),
					 errdetail("Hashes have 64 bits, so that %g of all other keys have the hash of one of these.",
							   (double) n / 18446744073709551616.0),
					 errhint("Ask for a higher rate.")));
		*place = found;
	}
	*sizing = *place;
}

int32
bfpg_choose_parts(int64 n, double p, bf_sizing *sizing)
{
	uint32_t	parts;

	bfpg_size_for_rate(n, p, sizing);
	parts = bf_parts_for_rate((uint64_t) n, p);
	if (parts == 0)
		bfpg_check_fits(sizing);
	return (int32) parts;
}

Datum
bfpg_make_row(FunctionCallInfo fcinfo, Datum *values, int columns, int first_null)
{
	bool	   *nulls = palloc0(columns * sizeof(bool));
	TupleDesc	desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE ||
		desc->natts != columns)
		elog(ERROR, "unexpected result type of a bloomfilter function");
	for (; first_null < columns; first_null++)
		nulls[first_null] = true;
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}

const char *
bfpg_qualified_name(Oid relation)
{
	const char *name = get_rel_name(relation);

	/* Where nobody has locked it, it may be gone by now. */
	return name == NULL ? psprintf("%u", relation) : quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)), name);
}

const char *
bfpg_callable_name(Oid schema, const char *function)
{
	return list_member_oid(fetch_search_path(true), schema) ? function : quote_qualified_identifier(get_namespace_name(schema), function);
}

const char *
bfpg_call_text(Oid schema, const char *procedure, const char *list)
{
	return psprintf("CALL %s(%s)", bfpg_callable_name(schema, procedure), quote_literal_cstr(list));
}

void
bfpg_tick(void)
{
	CHECK_FOR_INTERRUPTS();
}
