/*
 * planner.c
 *	  What the planner asks about the functions: how many rows will pass, and whether the query
 *	  can be run at all.
 *
 * A filter that is known when the query is planned, as a constant or a parameter, tells by
 * its header how many keys it holds, and a list by the header of its first part.  Statistics
 * tell how many different keys a column has: as in a semi-join with the keys, the filter's are
 * taken to be among the column's.  No key is looked up for that.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/pathnodes.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/snapmgr.h"

#include "bf_estimate.h"
#include "key/key.h"
#include "list/list.h"
#include "value/filter.h"
#include "base/pg_compat.h"
#include "engines/engines.h"

PG_FUNCTION_INFO_V1(bloomfilter_add_support);
PG_FUNCTION_INFO_V1(bloomfilter_contains_support);
PG_FUNCTION_INFO_V1(bloomfilter_contains_sel);
PG_FUNCTION_INFO_V1(bloomfilter_contains_joinsel);

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

/*
 * The share where nothing is known of the filter: a column, a scalar subquery, another
 * query's result.  It is meant for filters that let few rows pass, and large enough that three
 * of them, made from the sides of a join, don't make PostgreSQL join whole tables by nested
 * loops: with 0.05 and 0.1 it does.
 */
#define UNKNOWN_SHARE 0.2

/* The largest guess: if it is wrong, NOT must not be expected to leave nothing. */
#define LARGEST_SHARE 0.9

/*
 * The share of a relation's rows whose key, an expression, passes a filter.  A part tells of all
 * parts, as each has as many keys as the others.  An exact filter is looked up for keys that it
 * knows: of these the members pass and no other.  Where nothing is known of the column, it is
 * taken to have all of these.
 */
static double
share_of_rows(PlannerInfo *root, const bf_shape *shape, Node *key, int varRelid)
{
	const bf_header *header = &shape->level[0];
	bool		exact = shape->levels > 1;
	double		keys = bf_estimate_keys(header) * header->parts;
	double		others = exact ? (double) shape->others * header->parts : 0;
	double		rate = exact ? 0 : bf_estimate_rate(header);
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

static BfpgClause
make_clause(Oid function, List *args)
{
	BfpgClause	clause;
	Oid		   *types;
	int			count;
	bool		swapped;

	(void) get_func_signature(function, &types, &count);
	swapped = types[0] == ANYELEMENTOID || bfpg_is_untyped(types[0]);
	clause.filter = swapped ? lsecond(args) : linitial(args);
	clause.key = swapped ? linitial(args) : lsecond(args);
	return clause;
}

/*
 * An empty list is not expected to stay so for as long as a prepared statement has its plan.  What is wrong
 * with a list, or with who asks it, is said when it is asked.
 */
static bool
shape_of_list(Oid function, const Const *name, bf_shape *shape)
{
	BfpgListPart part;

	return !name->constisnull && ActiveSnapshotSet() && bfpg_may_execute(function, GetUserId()) &&
		bfpg_list_part(bfpg_extension_schema(function), name->constvalue, 0, CurrentMemoryContext, &part) &&
		bfpg_try_shape(part.filter, shape) && shape->level[0].key_type != BF_KEY_NONE;
}

/* Of a filter, or of the name of a list. */
static double
estimate(PlannerInfo *root, Oid function, List *args, int varRelid)
{
	BfpgClause	clause = make_clause(function, args);
	Const	   *value = (Const *) estimate_expression_value(root, clause.filter);
	bf_shape	shape;

	if (!IsA(value, Const))
		return UNKNOWN_SHARE;
	if (value->consttype == TEXTOID)
		return shape_of_list(function, value, &shape) ? share_of_rows(root, &shape, clause.key, varRelid) : UNKNOWN_SHARE;
	if (value->constisnull)
		return 0.0;
	bfpg_read_shape(value->constvalue, &shape);
	return share_of_rows(root, &shape, clause.key, varRelid);
}

/* The table that a column is of, of this query or of one around it; 0 where it is another thing. */
static Oid
table_of(Node *node, PlannerInfo *root)
{
	Var		   *column = (Var *) node;
	Index		level;
	RangeTblEntry *entry;

	if (!IsA(node, Var))
		return InvalidOid;
	for (level = column->varlevelsup; level > 0 && root != NULL; level--)
		root = root->parent_root;
	if (root == NULL)
		return InvalidOid;
	entry = rt_fetch(column->varno, root->parse->rtable);
	return entry->rtekind == RTE_RELATION ? entry->relid : InvalidOid;
}

static bool
has_distributed(Node *node, void *root)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return bfpg_is_distributed(table_of(node, root));
	return expression_tree_walker(node, has_distributed, root);
}

/* Another engine would send the filters of all lists to its nodes, for each query. */
static void
refuse_join(PlannerInfo *root, const BfpgClause *clause, Oid function)
{
	Oid			table = root == NULL ? InvalidOid : table_of(clause->filter, root);

	if (OidIsValid(table) && table == get_relname_relid("bloom_generation_part", bfpg_extension_schema(function)) &&
		has_distributed(clause->key, root))
		bfpg_refuse_join();
}

/* Of bloom_contains, bloom_contained and bloom_lookup. */
Datum
bloomfilter_contains_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);
	SupportRequestSelectivity *wanted = (SupportRequestSelectivity *) request;

	if (IsA(request, SupportRequestSimplify))
	{
		SupportRequestSimplify *simplify = (SupportRequestSimplify *) request;
		BfpgClause	clause = make_clause(simplify->fcall->funcid, simplify->fcall->args);

		refuse_join(simplify->root, &clause, simplify->fcall->funcid);
	}
	if (!IsA(request, SupportRequestSelectivity))
		PG_RETURN_POINTER(NULL);
	wanted->selectivity = wanted->is_join ? UNKNOWN_SHARE
		: estimate(wanted->root, wanted->funcid, wanted->args, wanted->varRelid);
	PG_RETURN_POINTER(wanted);
}

/* RESTRICT of their operators. */
Datum
bloomfilter_contains_sel(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(estimate((PlannerInfo *) PG_GETARG_POINTER(0), get_opcode(PG_GETARG_OID(1)),
							  (List *) PG_GETARG_POINTER(2), PG_GETARG_INT32(3)));
}

/* JOIN of their operators: the filter comes from a table that is joined. */
Datum
bloomfilter_contains_joinsel(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(UNKNOWN_SHARE);
}
