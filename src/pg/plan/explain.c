/*
 * explain.c
 *	  EXPLAIN (ANALYZE, BLOOMFILTER): how filters were asked.
 *
 * What the process has asked since the option was read, which is when EXPLAIN began.
 */
#include "postgres.h"

#include "ask/copies.h"
#include "plan/explain.h"
#include "base/pg_compat.h"

#ifdef BFPG_CAN_EXPLAIN

#include "commands/defrem.h"
#include "commands/explain.h"
#include "commands/explain_format.h"
#include "commands/explain_state.h"

static explain_per_plan_hook_type prev_per_plan_hook = NULL;
static int	extension_id;

/* Remembers what had been asked before. */
static void
take_option(ExplainState *es, DefElem *option, ParseState *pstate)
{
	BfpgTally  *before = NULL;

	if (defGetBoolean(option))
	{
		before = palloc(sizeof(*before));
		*before = bfpg_tally();
	}
	SetExplainExtensionState(es, extension_id, before);
}

static void
explain_plan(PlannedStmt *plan, IntoClause *into, ExplainState *es, const char *query,
			 ParamListInfo params, QueryEnvironment *environment)
{
	const BfpgTally *before = GetExplainExtensionState(es, extension_id);

	if (prev_per_plan_hook != NULL)
		prev_per_plan_hook(plan, into, es, query, params, environment);
	if (before != NULL && es->analyze)
	{
		BfpgTally	now = bfpg_tally();

		ExplainPropertyUInteger("Bloomfilter Keys", NULL, now.keys - before->keys, es);
		ExplainPropertyUInteger("Bloomfilter Slices", NULL, now.slices - before->slices, es);
		ExplainPropertyUInteger("Bloomfilter Copies", NULL, now.copies - before->copies, es);
	}
}

void
bfpg_explain_init(void)
{
	extension_id = GetExplainExtensionId("bloomfilter");
	bfpg_register_explain("bloomfilter", take_option);
	prev_per_plan_hook = explain_per_plan_hook;
	explain_per_plan_hook = explain_plan;
}

#else

void
bfpg_explain_init(void)
{
}

#endif
