/*
 * planner.c
 *	  What the planner asks about the functions: how many rows will pass.
 *
 * A filter that is known when the query is planned, as a constant or a parameter, tells by
 * its header how many keys it holds, and statistics tell how many different ones a column
 * has: as in a semi-join with the keys, the filter's are taken to be among the column's.
 * That they are is a guess, so the values that statistics have of the column are asked for.
 * Operators and functions are estimated alike, and bloom_lookup as they are, by the filters
 * that its list has while the query is planned.
 */
#include "postgres.h"

#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "access/htup_details.h"
#include "fmgr.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/snapmgr.h"

#include "bf_estimate.h"
#include "value/filter.h"
#include "key/key_untyped.h"
#include "list/list.h"
#include "base/pg_compat.h"

PG_FUNCTION_INFO_V1(bloomfilter_add_support);
PG_FUNCTION_INFO_V1(bloomfilter_contains_support);
PG_FUNCTION_INFO_V1(bloomfilter_contains_sel);
PG_FUNCTION_INFO_V1(bloomfilter_contains_joinsel);
PG_FUNCTION_INFO_V1(bloomfilter_lookup_support);

/*
 * The share of rows where the filter is not known: a column, or a scalar subquery.  It is
 * meant for filters that let few rows pass, and large enough that a nested loop over a
 * large table is not chosen on the strength of it.
 */
#define UNKNOWN_SHARE 0.05

/* The largest guess: if it is wrong, NOT must not be expected to leave nothing. */
#define LARGEST_SHARE 0.9

/*
 * Of the functions that add keys: tells PL/pgSQL, from 18 on, that in
 * "f := bloom_add(f, key)" they may have the variable's filter to change in place.
 * They check all before they change anything.
 */
Datum
bloomfilter_add_support(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(bfpg_modify_in_place((Node *) PG_GETARG_POINTER(0)));
}

/* A known filter, in memory, and how the values of a column are hashed for it. */
typedef struct BfpgSampler
{
	bf_header	header;
	const uint8 *blocks;
	BfpgKeyCoder coder;
} BfpgSampler;

/*
 * Whether a column's values can be asked for: a filter that is still stored would be
 * read for it.
 */
static bool
can_sample(BfpgSampler *sampler, Datum filter, const VariableStatData *column)
{
	struct varlena *flat;

	if (!HeapTupleIsValid(column->statsTuple) || !column->acl_ok ||
		VARATT_IS_EXTERNAL(DatumGetPointer(filter)) ||
		!bfpg_find_key_type(getBaseType(column->atttype), &sampler->coder) ||
		sampler->coder.type != sampler->header.key_type || sampler->header.parts > 1)
		return false;
	flat = pg_detoast_datum_packed((struct varlena *) DatumGetPointer(filter));
	sampler->blocks = (const uint8 *) VARDATA_ANY(flat) + BF_HEADER_BYTES;
	return true;
}

static bool
passes(BfpgSampler *sampler, Datum value)
{
	return bf_contains(&sampler->header, sampler->blocks,
					   bfpg_hash_key(&sampler->coder, value, sampler->header.seed));
}

/*
 * The share of the values that statistics have no frequency of.  Of the histogram's bounds
 * so many pass; the guess must agree with them.  Two are the least and the largest value,
 * and may be no sample of the others.
 */
static double
share_of_others(BfpgSampler *sampler, HeapTuple statistics, double guess)
{
	AttStatsSlot slot;
	int			passed = 0;
	double		least = 0.0;
	double		most = 1.0;
	int			i;

	if (get_attstatsslot(&slot, statistics, STATISTIC_KIND_HISTOGRAM, InvalidOid,
						 ATTSTATSSLOT_VALUES))
	{
		for (i = 0; i < slot.nvalues; i++)
			passed += passes(sampler, slot.values[i]);
		least = (double) Max(passed - 2, 0) / slot.nvalues;
		most = (double) (passed + 1) / (slot.nvalues + 1);
		free_attstatsslot(&slot);
	}
	return Max(least, Min(most, guess));
}

/* The share of a column's values that pass, by its statistics. */
static double
share_by_statistics(BfpgSampler *sampler, HeapTuple statistics, double guess)
{
	double		nulls = ((Form_pg_statistic) GETSTRUCT(statistics))->stanullfrac;
	AttStatsSlot slot;
	double		passed = 0.0;
	double		common = 0.0;
	int			i;

	if (get_attstatsslot(&slot, statistics, STATISTIC_KIND_MCV, InvalidOid,
						 ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS))
	{
		for (i = 0; i < slot.nvalues; i++)
		{
			common += slot.numbers[i];
			if (passes(sampler, slot.values[i]))
				passed += slot.numbers[i];
		}
		free_attstatsslot(&slot);
	}
	return passed + share_of_others(sampler, statistics, guess) * Max(1.0 - nulls - common, 0.0);
}

/*
 * The share of a column's different keys that a filter holds or lets through: of a part
 * all parts do, since each has as many keys as the others and is asked for its own.
 */
static double
share_of_keys(const bf_header *header, double different)
{
	double		members = Min(bf_estimate_keys(header) * header->parts / different, 1.0);

	return members + (1.0 - members) * bf_estimate_rate(header);
}

/* The share of rows that a known filter lets pass. */
static double
share_of_rows(PlannerInfo *root, Datum filter, const bf_header *header, Node *key, int varRelid)
{
	VariableStatData column;
	BfpgSampler sampler = {.header = *header};
	bool		is_default;
	double		share;

	examine_variable(root, key, varRelid, &column);
	share = share_of_keys(header, get_variable_numdistinct(&column, &is_default));
	if (can_sample(&sampler, filter, &column))
		share = share_by_statistics(&sampler, column.statsTuple, share);
	else
		share = Min(share, LARGEST_SHARE);
	ReleaseVariableStats(column);
	return share;
}

static double
estimate(PlannerInfo *root, Node *filter, Node *key, int varRelid)
{
	Const	   *known = (Const *) estimate_expression_value(root, filter);
	bf_header	header;

	if (!IsA(known, Const))
		return UNKNOWN_SHARE;
	if (known->constisnull)
		return 0.0;
	bfpg_read_header(known->constvalue, &header);
	return share_of_rows(root, known->constvalue, &header, key, varRelid);
}

/* Whether of two declared types of arguments the first is the key's. */
static bool
key_is_first(Oid first)
{
	return first == ANYELEMENTOID || bfpg_is_untyped(first);
}

static double
estimate_arguments(PlannerInfo *root, Oid first_type, List *args, int varRelid)
{
	Node	   *first = linitial(args);
	Node	   *second = lsecond(args);

	return key_is_first(first_type)
		? estimate(root, second, first, varRelid)
		: estimate(root, first, second, varRelid);
}

/* Of bloom_contains and bloom_contained. */
Datum
bloomfilter_contains_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);
	SupportRequestSelectivity *wanted = (SupportRequestSelectivity *) request;
	Oid		   *types;
	int			count;

	if (!IsA(request, SupportRequestSelectivity))
		PG_RETURN_POINTER(NULL);
	(void) get_func_signature(wanted->funcid, &types, &count);
	wanted->selectivity = wanted->is_join ? UNKNOWN_SHARE
		: estimate_arguments(wanted->root, types[0], wanted->args, wanted->varRelid);
	PG_RETURN_POINTER(wanted);
}

/* RESTRICT of their operators. */
Datum
bloomfilter_contains_sel(PG_FUNCTION_ARGS)
{
	Oid			left;
	Oid			right;

	op_input_types(PG_GETARG_OID(1), &left, &right);
	PG_RETURN_FLOAT8(estimate_arguments((PlannerInfo *) PG_GETARG_POINTER(0), left,
										(List *) PG_GETARG_POINTER(2), PG_GETARG_INT32(3)));
}

/* JOIN of their operators: the filter comes from a table that is joined. */
Datum
bloomfilter_contains_joinsel(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(UNKNOWN_SHARE);
}

/*
 * The share of rows that pass a list's first part and, as all are alike, each other.  An
 * empty list is not expected to stay so for as long as a prepared statement has its plan.
 */
static double
share_of_list(PlannerInfo *root, BfpgListTable *table, Datum name, Node *key, int varRelid)
{
	double		share = UNKNOWN_SHARE;
	Datum		filter;
	bf_header	header;

	if (!bfpg_list_part(table, name, 0, &filter))
		return share;
	if (bfpg_try_header(filter, &header) && header.key_type != BF_KEY_NONE)
		share = share_of_rows(root, filter, &header, key, varRelid);
	bfpg_list_done(table);
	return share;
}

/* What is wrong with a list, or with who asks it, is said when it is asked. */
static double
estimate_list(PlannerInfo *root, Oid function, List *args, int varRelid)
{
	Const	   *name = (Const *) estimate_expression_value(root, linitial(args));
	BfpgListTable table;
	double		share;

	if (!IsA(name, Const) || name->constisnull || !ActiveSnapshotSet() ||
		!bfpg_may_execute(function) ||
		!bfpg_list_try_open(bfpg_extension_schema(function), &table))
		return UNKNOWN_SHARE;
	share = share_of_list(root, &table, name->constvalue, lsecond(args), varRelid);
	bfpg_list_close(&table);
	return share;
}

/* Of bloom_lookup. */
Datum
bloomfilter_lookup_support(PG_FUNCTION_ARGS)
{
	SupportRequestSelectivity *wanted = (SupportRequestSelectivity *) PG_GETARG_POINTER(0);

	if (!IsA(wanted, SupportRequestSelectivity))
		PG_RETURN_POINTER(NULL);
	wanted->selectivity = wanted->is_join ? UNKNOWN_SHARE
		: estimate_list(wanted->root, wanted->funcid, wanted->args, wanted->varRelid);
	PG_RETURN_POINTER(wanted);
}
