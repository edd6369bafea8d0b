/*
 * planner.c
 *	  What the planner asks about the functions: how many rows will pass.
 *
 * A filter that is known when the query is planned, as a constant or a parameter, tells by
 * its header how many keys it holds, and a list by the header of its first part.  Statistics
 * tell how many different keys a column has: as in a semi-join with the keys, the filter's are
 * taken to be among the column's.  No key is looked up for that.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/snapmgr.h"

#include "bf_estimate.h"
#include "key/key_untyped.h"
#include "list/list.h"
#include "plan/selectivity.h"
#include "value/filter.h"
#include "base/pg_compat.h"

PG_FUNCTION_INFO_V1(bloomfilter_add_support);
PG_FUNCTION_INFO_V1(bloomfilter_contains_support);
PG_FUNCTION_INFO_V1(bloomfilter_contains_sel);
PG_FUNCTION_INFO_V1(bloomfilter_contains_joinsel);
PG_FUNCTION_INFO_V1(bloomfilter_lookup_support);

/*
 * Of the functions that add keys: tells PL/pgSQL, from 18 on, that in
 * "f := bloom_add(f, key)" they may have the variable's filter to change in place.
 * They check all before they change anything; cancelled in between, they leave a filter
 * that has some of the keys.
 */
Datum
bloomfilter_add_support(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(bfpg_modify_in_place((Node *) PG_GETARG_POINTER(0)));
}

/* The largest guess: if it is wrong, NOT must not be expected to leave nothing. */
#define LARGEST_SHARE 0.9

double
bfpg_share_of_rows(PlannerInfo *root, double keys, double others, double rate, Node *key, int varRelid)
{
	VariableStatData column;
	bool		is_default;
	double		distinct;
	double		members;

	examine_variable(root, key, varRelid, &column);
	distinct = get_variable_numdistinct(&column, &is_default);
	if (is_default)
		distinct = Max(distinct, keys + others);
	members = Min(keys / distinct, 1.0);
	ReleaseVariableStats(column);
	return Min(members + (1.0 - members) * rate, LARGEST_SHARE);
}

/* A clause that looks a key up in a filter. */
typedef struct BfpgClause
{
	Node	   *filter;
	Node	   *key;
} BfpgClause;

/* Whether of two declared types of arguments the first is the key's. */
static bool
key_is_first(Oid first)
{
	return first == ANYELEMENTOID || bfpg_is_untyped(first);
}

static BfpgClause
make_clause(Oid function, List *args)
{
	BfpgClause	clause;
	Oid		   *types;
	int			count;
	bool		swapped;

	(void) get_func_signature(function, &types, &count);
	swapped = key_is_first(types[0]);
	clause.filter = swapped ? lsecond(args) : linitial(args);
	clause.key = swapped ? linitial(args) : lsecond(args);
	return clause;
}

/*
 * Of a part all parts are told: each has as many keys as the others.  An exact filter is asked for
 * the keys that it knows: none that isn't a member passes.
 */
static double
share_of_shape(PlannerInfo *root, const bf_exact *shape, Node *key, int varRelid)
{
	const bf_header *header = &shape->level[0];

	return bfpg_share_of_rows(root, bf_estimate_keys(header) * header->parts,
							  shape->levels > 1 ? (double) shape->others * header->parts : 0,
							  shape->levels > 1 ? 0 : bf_estimate_rate(header), key, varRelid);
}

static double
estimate(PlannerInfo *root, const BfpgClause *clause, int varRelid)
{
	Const	   *value = (Const *) estimate_expression_value(root, clause->filter);
	bf_exact	shape;

	if (!IsA(value, Const))
		return BFPG_UNKNOWN_SHARE;
	if (value->constisnull)
		return 0.0;
	bfpg_read_shape(value->constvalue, &shape);
	return share_of_shape(root, &shape, clause->key, varRelid);
}

/* Of bloom_contains and bloom_contained. */
Datum
bloomfilter_contains_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);
	SupportRequestSelectivity *wanted = (SupportRequestSelectivity *) request;
	BfpgClause	clause;

	if (!IsA(request, SupportRequestSelectivity))
		PG_RETURN_POINTER(NULL);
	clause = make_clause(wanted->funcid, wanted->args);
	wanted->selectivity = wanted->is_join ? BFPG_UNKNOWN_SHARE
		: estimate(wanted->root, &clause, wanted->varRelid);
	PG_RETURN_POINTER(wanted);
}

/* RESTRICT of their operators. */
Datum
bloomfilter_contains_sel(PG_FUNCTION_ARGS)
{
	BfpgClause	clause = make_clause(get_opcode(PG_GETARG_OID(1)), (List *) PG_GETARG_POINTER(2));

	PG_RETURN_FLOAT8(estimate((PlannerInfo *) PG_GETARG_POINTER(0), &clause, PG_GETARG_INT32(3)));
}

/* JOIN of their operators: the filter comes from a table that is joined. */
Datum
bloomfilter_contains_joinsel(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(BFPG_UNKNOWN_SHARE);
}

/* An empty list is not expected to stay so for as long as a prepared statement has its plan. */
static double
share_of_list(PlannerInfo *root, BfpgListTable *table, Datum name, Node *key, int varRelid)
{
	Datum		filter;
	bf_exact	shape;
	bool		has_keys;

	if (!bfpg_list_part(table, name, 0, &filter))
		return BFPG_UNKNOWN_SHARE;
	has_keys = bfpg_try_shape(filter, &shape) && shape.level[0].key_type != BF_KEY_NONE;
	bfpg_list_done(table);
	return has_keys ? share_of_shape(root, &shape, key, varRelid) : BFPG_UNKNOWN_SHARE;
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
		return BFPG_UNKNOWN_SHARE;
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
	wanted->selectivity = wanted->is_join ? BFPG_UNKNOWN_SHARE
		: estimate_list(wanted->root, wanted->funcid, wanted->args, wanted->varRelid);
	PG_RETURN_POINTER(wanted);
}
