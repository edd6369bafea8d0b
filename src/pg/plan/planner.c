/*
 * planner.c
 *	  What the planner asks about the functions: how many rows will pass.
 *
 * A filter that is known when the query is planned, as a constant or a parameter, tells by
 * its header how many keys it holds, and the values that statistics have are looked up in
 * it; see share.c.  Operators and functions are estimated alike, and bloom_lookup as they
 * are, by the filters that its list has while the query is planned.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "ask/access.h"
#include "key/key_untyped.h"
#include "list/list.h"
#include "plan/share.h"
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

/* A value that is looked into, in memory or where it is stored. */
static bool
value_contains(void *state, uint64 hash)
{
	return bfpg_access_contains((BfpgAccess *) state, hash);
}

/* A clause that looks a key up in a filter. */
typedef struct BfpgClause
{
	Oid			function;		/* also of an operator */
	List	   *args;
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
	BfpgClause	clause = {.function = function, .args = args};
	Oid		   *types;
	int			count;
	bool		swapped;

	(void) get_func_signature(function, &types, &count);
	swapped = key_is_first(types[0]);
	clause.filter = swapped ? lsecond(args) : linitial(args);
	clause.key = swapped ? linitial(args) : lsecond(args);
	return clause;
}

static bool
is_known(PlannerInfo *root, const BfpgClause *clause)
{
	return IsA(estimate_expression_value(root, clause->filter), Const);
}

/* Whether an expression looks a key up in a filter that is not known. */
static bool
is_unknown_look_up(PlannerInfo *root, Node *node, Oid support)
{
	BfpgClause	clause;
	Oid			function = InvalidOid;
	List	   *args = NIL;

	if (IsA(node, OpExpr))
	{
		function = get_opcode(((OpExpr *) node)->opno);
		args = ((OpExpr *) node)->args;
	}
	else if (IsA(node, FuncExpr))
	{
		function = ((FuncExpr *) node)->funcid;
		args = ((FuncExpr *) node)->args;
	}
	if (!OidIsValid(function) || get_func_support(function) != support)
		return false;
	clause = make_clause(function, args);
	return !is_known(root, &clause);
}

/*
 * Whether a clause comes behind another of its relation whose filter is unknown, too.
 * Filters made from a join's own sides count twice, by themselves and by the conditions of
 * the join.  Were each of three taken for a twentieth, the planner would expect some rows
 * where there are tens of thousands, and join them by nested loops over whole tables.
 */
static bool
is_further(PlannerInfo *root, const BfpgClause *clause)
{
	Oid			support = get_func_support(clause->function);
	int			relation;
	RelOptInfo *rel;
	ListCell   *cell;
	bool		others = false;

	if (!bms_get_singleton_member(pull_varnos(root, clause->key), &relation) ||
		relation >= root->simple_rel_array_size || root->simple_rel_array[relation] == NULL)
		return false;
	rel = root->simple_rel_array[relation];
	foreach(cell, rel->baserestrictinfo)
	{
		Node	   *node = (Node *) lfirst_node(RestrictInfo, cell)->clause;
		List	   *args = IsA(node, OpExpr) ? ((OpExpr *) node)->args
			: IsA(node, FuncExpr) ? ((FuncExpr *) node)->args : NIL;

		if (args != NIL && equal(args, clause->args))
			return others;
		others = others || is_unknown_look_up(root, node, support);
	}
	return false;
}

static double
estimate(PlannerInfo *root, const BfpgClause *clause, int varRelid)
{
	Const	   *value = (Const *) estimate_expression_value(root, clause->filter);
	BfpgAccess	access = {0};
	BfpgKnownFilter known;
	double		share;

	if (!IsA(value, Const))
		return is_further(root, clause) ? 1.0 : BFPG_UNKNOWN_SHARE;
	if (value->constisnull)
		return 0.0;
	bfpg_access_open(&access, value->constvalue);
	known = bfpg_known_filter(access.header);
	/* A part can't tell of keys that belong to another. */
	if (access.header->parts == 1)
		known.contains = value_contains;
	known.state = &access;
	known.is_stored = VARATT_IS_EXTERNAL(DatumGetPointer(value->constvalue));
	share = bfpg_share_of_rows(root, &known, clause->key, varRelid);
	bfpg_access_close(&access);
	return share;
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

/* A part of a list that a value of the statistics belonged to. */
typedef struct BfpgListedPart
{
	Datum		filter;
	BfpgAccess	access;
} BfpgListedPart;

/* A list while it is looked into. */
typedef struct BfpgListLook
{
	BfpgListTable *table;
	Datum		name;
	uint32		count;			/* of parts */
	BfpgListedPart **parts;		/* by their number, NULL until a value belongs to it */
} BfpgListLook;

/* Finds a part; returns NULL if it isn't there or isn't whole. */
static BfpgListedPart *
look_at_part(BfpgListLook *look, uint32 number)
{
	BfpgListedPart *part = look->parts[number];
	bf_header	header;
	Datum		filter;

	if (part != NULL || !bfpg_list_part(look->table, look->name, (int32) number, &filter))
		return part;
	if (bfpg_try_header(filter, &header) && header.parts == look->count)
	{
		part = look->parts[number] = palloc0(sizeof(BfpgListedPart));
		part->filter = datumCopy(filter, false, -1);
	}
	bfpg_list_done(look->table);
	return part;
}

static bool
list_contains(void *state, uint64 hash)
{
	BfpgListLook *look = (BfpgListLook *) state;
	BfpgListedPart *part =
		look_at_part(look, look->count > 1 ? bf_part_of(hash, look->count) : 0);
	bool		found;

	if (part == NULL)
		return true;
	bfpg_access_open(&part->access, part->filter);
	found = bfpg_access_contains(&part->access, hash);
	bfpg_access_close(&part->access);
	return found;
}

/* An empty list is not expected to stay so for as long as a prepared statement has its plan. */
static double
share_of_list(PlannerInfo *root, BfpgListTable *table, Datum name, Node *key, int varRelid)
{
	BfpgListLook look = {.table = table, .name = name};
	BfpgKnownFilter known;
	Datum		filter;
	bf_header	header;
	bool		has_keys;

	if (!bfpg_list_part(table, name, 0, &filter))
		return BFPG_UNKNOWN_SHARE;
	has_keys = bfpg_try_header(filter, &header) && header.key_type != BF_KEY_NONE;
	bfpg_list_done(table);
	if (!has_keys)
		return BFPG_UNKNOWN_SHARE;
	look.count = header.parts;
	look.parts = palloc0(look.count * sizeof(BfpgListedPart *));
	known = bfpg_known_filter(&header);
	known.contains = list_contains;
	known.state = &look;
	known.is_stored = true;
	return bfpg_share_of_rows(root, &known, key, varRelid);
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
