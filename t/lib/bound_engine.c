/*
 * bound_engine.c
 *	  An engine that plans a statement by its parameters, as Citus does.
 *
 * For 018_splitting_engine.pl, with table "sharded" as the one that the engine distributes.  A statement
 * whose parameters are not all given when it is planned gets a plan that fails when it
 * runs: PostgreSQL would have made another one by then.  A subquery with OFFSET is planned
 * apart, without any parameters.
 */
#include "postgres.h"

#include "fmgr.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/planner.h"
#include "utils/lsyscache.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

static planner_hook_type next_hook;

typedef struct Look
{
	ParamListInfo given;		/* NULL below an OFFSET */
	bool		sharded;
	bool		unresolved;
} Look;

static bool
look_at(Node *node, void *context)
{
	Look	   *look = context;

	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry *entry = (RangeTblEntry *) node;

		if (entry->rtekind == RTE_RELATION && strcmp(get_rel_name(entry->relid), "sharded") == 0)
			look->sharded = true;
		return false;
	}
	if (IsA(node, Param))
	{
		Param	   *param = (Param *) node;

		if (param->paramkind == PARAM_EXTERN &&
			(look->given == NULL || param->paramid > look->given->numParams))
			look->unresolved = true;
		return false;
	}
	if (IsA(node, Query))
	{
		Query	   *query = (Query *) node;
		ParamListInfo given = look->given;

		if (query->limitOffset != NULL)
			look->given = NULL;
		query_tree_walker(query, look_at, look, QTW_EXAMINE_RTES_BEFORE);
		look->given = given;
		return false;
	}
	return expression_tree_walker(node, look_at, look);
}

static Node *
refuse(CustomScan *scan)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("could not create distributed plan")));
	return NULL;
}

static const CustomScanMethods methods = {"bound_engine", refuse};

static PlannedStmt *
plan_bound(Query *parse, const char *text, int options, ParamListInfo given
#if PG_VERSION_NUM >= 190000
		   ,ExplainState *es
#endif
)
{
	Look		look = {given};
	PlannedStmt *plan;

	look_at((Node *) parse, &look);
#if PG_VERSION_NUM >= 190000
	plan = next_hook ? next_hook(parse, text, options, given, es) : standard_planner(parse, text, options, given, es);
#else
	plan = next_hook ? next_hook(parse, text, options, given) : standard_planner(parse, text, options, given);
#endif
	if (look.sharded && look.unresolved)
	{
		CustomScan *scan = makeNode(CustomScan);

		scan->methods = &methods;
		plan->planTree = &scan->scan.plan;
	}
	return plan;
}

void
_PG_init(void)
{
	next_hook = planner_hook;
	planner_hook = plan_bound;
}
