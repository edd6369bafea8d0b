/*
 * plan.c
 *	  What the planner asks about bloom_index_contains: how many rows will pass.
 *
 * Estimated as stored filters are, with the number of keys and the rate that a few pages of
 * the index tell.  What is wrong with a question, or with who asks it, is said when it is
 * asked, and not while it is planned.
 */
#include "postgres.h"

#include <math.h>

#include "access/genam.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "list/list.h"
#include "plan/share.h"
#include "value/filter.h"
#include "live/am.h"
#include "live/read.h"
#include "live/rights.h"
#include "live/stats.h"
#include "live/target.h"

PG_FUNCTION_INFO_V1(bloomfilter_index_contains_support);

/* Of so many partitions at most pages are looked at: the others are taken to be like these. */
#define MOST_SAMPLED 32

/* In so many at most the values of statistics are looked up. */
#define MOST_ASKED 8

/* Whether an index is one that the current user may ask, and has its pages. */
static bool
may_ask_index(Oid oid)
{
	char		kind = get_rel_relkind(oid);
	Relation	index;
	bool		may;

	if ((kind != RELKIND_INDEX && kind != RELKIND_PARTITIONED_INDEX) ||
		!bfpg_live_lock_if_free(oid) || !bfpg_live_is_built(oid))
		return false;
	index = index_open(oid, NoLock);
	may = bfpg_is_live(index) && bfpg_live_may_ask(index);
	index_close(index, NoLock);
	return may;
}

static bool
may_ask_column(Oid oid, const char *column)
{
	char		kind = get_rel_relkind(oid);
	Relation	table;
	Oid			index;

	if ((kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE && kind != RELKIND_MATVIEW) ||
		!ConditionalLockRelationOid(oid, AccessShareLock))
		return false;
	table = table_open(oid, NoLock);
	index = bfpg_live_index_of_column(table, column);
	table_close(table, NoLock);
	return OidIsValid(index) && may_ask_index(index);
}

static bool
targets_contain(void *state, uint64 hash)
{
	const BfpgLiveTargets *targets = (const BfpgLiveTargets *) state;
	int			i;

	for (i = 0; i < targets->count; i++)
		if (bfpg_live_contains(&targets->targets[i], hash))
			return true;
	return false;
}

/* What all targets together are; returns false if one of them says true to all. */
static bool
know_targets(const BfpgLiveTargets *targets, BfpgKnownFilter *known)
{
	int			sampled = Min(targets->count, MOST_SAMPLED);
	double		absent = 1.0;
	bool		one_seed = true;
	int			i;

	for (i = 0; i < targets->count; i++)
	{
		const BfpgLiveTarget *target = &targets->targets[i];
		Relation	index;
		double		keys;
		double		rate;

		if (!OidIsValid(target->index))
			return false;
		one_seed = one_seed && target->live.header.seed == targets->targets[0].live.header.seed;
		if (i >= sampled)
			continue;
		index = index_open(target->index, NoLock);
		bfpg_live_estimate(index, &keys, &rate);
		index_close(index, NoLock);
		known->keys += keys * targets->count / sampled;
		absent *= pow(1.0 - rate, (double) targets->count / sampled);
	}
	known->rate = 1.0 - absent;
	known->key_type = targets->key_type;
	if (targets->count > 0)
		known->seed = targets->targets[0].live.header.seed;
	if (one_seed && targets->count <= MOST_ASKED)
		known->contains = targets_contain;
	known->state = (void *) targets;
	return true;
}

static double
estimate_live(PlannerInfo *root, Oid relation, const NameData *column, Node *key, int varRelid)
{
	BfpgLiveTargets targets = {0};
	BfpgKnownFilter known = {0};

	if (!ActiveSnapshotSet() ||
		!(column == NULL ? may_ask_index(relation) : may_ask_column(relation, NameStr(*column))))
		return BFPG_UNKNOWN_SHARE;
	(void) bfpg_live_find_targets(&targets, relation, column, CurrentMemoryContext);
	if (!know_targets(&targets, &known))
		return BFPG_UNKNOWN_SHARE;
	return bfpg_share_of_rows(root, &known, key, varRelid);
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
	bool		by_column = list_length(call->args) == 3;
	Datum		relation;
	Datum		column = (Datum) 0;

	if (call->is_join || !bfpg_may_execute(call->funcid) ||
		!get_constant(call->root, linitial(call->args), &relation) ||
		(by_column && !get_constant(call->root, lsecond(call->args), &column)))
		return BFPG_UNKNOWN_SHARE;
	return estimate_live(call->root, DatumGetObjectId(relation),
						 by_column ? DatumGetName(column) : NULL,
						 llast(call->args), call->varRelid);
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
