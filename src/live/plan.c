/*
 * plan.c
 *	  What the planner asks about bloom_index_contains: how many rows will pass.
 *
 * Estimated as stored filters are, by what the catalogs say of the index and its table: how
 * many keys there are, and the option p.  No page of the index is read, and no lock is
 * waited for: what is wrong with a question, or with who asks it, is said when it is asked.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_statistic.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "plan/selectivity.h"
#include "live/am.h"
#include "live/target.h"

PG_FUNCTION_INFO_V1(bloomfilter_index_contains_support);

/* What the catalogs say of all filters that answer together. */
typedef struct Known
{
	double		keys;
	double		rate;
} Known;

/* The number of rows that a relation's row in pg_class has, or -1. */
static double
rows_of(Oid relation)
{
	HeapTuple	row = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	double		rows = -1.0;

	if (!HeapTupleIsValid(row))
		return rows;
	rows = ((Form_pg_class) GETSTRUCT(row))->reltuples;
	ReleaseSysCache(row);
	return rows;
}

/* How many of so many keys are different, by the statistics of the column or expression. */
static double
different_keys(Relation index, double keys)
{
	AttrNumber	column = index->rd_index->indkey.values[0];
	Oid			relation = column == 0 ? RelationGetRelid(index) : index->rd_index->indrelid;
	bool		of_children = index->rd_rel->relkind == RELKIND_PARTITIONED_INDEX;
	HeapTuple	row = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(relation),
									  Int16GetDatum(column == 0 ? 1 : column), BoolGetDatum(of_children));
	double		different;

	if (!HeapTupleIsValid(row))
		return keys;
	different = ((Form_pg_statistic) GETSTRUCT(row))->stadistinct;
	ReleaseSysCache(row);
	if (different < 0.0)
		return keys * -different;
	return different > 0.0 ? Min(keys, different) : keys;
}

/*
 * Sums up the leaves of an index, which nobody locks.  Returns false if the rows of one aren't
 * known; so nothing is known of an index that was made for an empty table, until ANALYZE.
 */
static bool
know_index(Relation index, Known *known)
{
	ListCell   *cell;
	int			leaves = 0;

	known->keys = 0.0;
	foreach(cell, find_all_inheritors(RelationGetRelid(index), NoLock, NULL))
	{
		double		rows;

		if (get_rel_relkind(lfirst_oid(cell)) != RELKIND_INDEX)
			continue;
		rows = rows_of(lfirst_oid(cell));
		if (rows < 0.0)
			return false;
		known->keys += rows;
		leaves++;
	}
	known->keys = different_keys(index, known->keys);
	known->rate = 1.0 - pow(1.0 - bfpg_live_options(index).p, leaves);
	return known->keys > 0.0;
}

/* Looks an index up that is valid and that the current user may ask. */
static bool
know_named_index(Oid oid, Known *known)
{
	char		kind = get_rel_relkind(oid);
	Relation	index;
	bool		may;

	if ((kind != RELKIND_INDEX && kind != RELKIND_PARTITIONED_INDEX) || !bfpg_live_lock_if_free(oid))
		return false;
	/* Gone, if it was dropped before it was locked. */
	index = try_relation_open(oid, NoLock);
	if (index == NULL)
		return false;
	may = bfpg_is_live(index) && index->rd_index->indisvalid && bfpg_live_may_ask(index) &&
		know_index(index, known);
	relation_close(index, NoLock);
	return may;
}

/* The same of a column's index; what tables that inherit from this one have isn't known. */
static bool
know_column(Oid oid, const char *column, Known *known)
{
	char		kind = get_rel_relkind(oid);
	Relation	table;
	Oid			index;

	if ((kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE && kind != RELKIND_MATVIEW) ||
		(kind == RELKIND_RELATION && has_subclass(oid)) ||
		!ConditionalLockRelationOid(oid, AccessShareLock))
		return false;
	table = table_open(oid, NoLock);
	index = bfpg_live_index_of_column(table, column);
	table_close(table, NoLock);
	return OidIsValid(index) && know_named_index(index, known);
}

static bool
get_constant(PlannerInfo *root, Node *argument, Datum *value)
{
	Const	   *known = (Const *) estimate_expression_value(root, argument);

	if (!IsA(known, Const) || known->constisnull)
		return false;
	*value = known->constvalue;
	return true;
}

/* Of bloom_index_contains, which has two arguments with an index and three with a column. */
static double
estimate_call(SupportRequestSelectivity *call)
{
	Datum		relation;
	Datum		column;
	Known		known;
	bool		is_known;

	if (call->is_join || !bfpg_may_execute(call->funcid, GetUserId()) ||
		!get_constant(call->root, linitial(call->args), &relation))
		return BFPG_UNKNOWN_SHARE;
	if (list_length(call->args) == 2)
		is_known = know_named_index(DatumGetObjectId(relation), &known);
	else
		is_known = get_constant(call->root, lsecond(call->args), &column) &&
			know_column(DatumGetObjectId(relation), NameStr(*DatumGetName(column)), &known);
	return !is_known ? BFPG_UNKNOWN_SHARE
		: bfpg_share_of_rows(call->root, known.keys, 0, known.rate, llast(call->args), call->varRelid);
}

Datum
bloomfilter_index_contains_support(PG_FUNCTION_ARGS)
{
	SupportRequestSelectivity *wanted = (SupportRequestSelectivity *) PG_GETARG_POINTER(0);

	if (!IsA(wanted, SupportRequestSelectivity))
		PG_RETURN_POINTER(NULL);
	wanted->selectivity = estimate_call(wanted);
	PG_RETURN_POINTER(wanted);
}
