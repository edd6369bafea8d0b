/*
 * source.c
 *	  The query of a list, and statements around it that are made by hand.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/analyze.h"
#include "parser/parse_relation.h"
#include "rewrite/rewriteHandler.h"
#include "rewrite/rewriteManip.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "base/pg_compat.h"
#include "base/settings.h"
#include "engines/engines.h"
#include "list/list.h"
#include "publish/source.h"

/* The most arguments of a function of ours. */
#define MOST_ARGUMENTS 6

/* Errors show the list and the user's text, with a position in that. */
static void
add_context(void *arg)
{
	const BfpgSource *source = arg;
	int			position = geterrposition();

	if (position > 0)
	{
		errposition(0);
		internalerrposition(position);
		internalerrquery(source->text);
	}
	errcontext("query of list \"%s\", run as role \"%s\"", source->list, source->role);
}

static void
begin_context(const BfpgSource *source, ErrorContextCallback *callback)
{
	callback->callback = add_context;
	callback->arg = unconstify(BfpgSource *, source);
	callback->previous = error_context_stack;
	error_context_stack = callback;
}

static void
refuse(const BfpgSource *source, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("the query of list \"%s\" must return the keys, and of an exact list a boolean beside each", source->list),
			 errdetail_internal("%s", detail),
			 errhint("Select the key, of an exact list the key and a boolean. A key of several columns is a row: ROW(a, b).")));
}

/* The columns that are of the result, not just sorted by: the key, then the boolean. */
static void
find_columns(BfpgSource *source)
{
	List	   *columns = NIL;
	TargetEntry *column;
	ListCell   *cell;

	foreach(cell, source->query->targetList)
		if (!lfirst_node(TargetEntry, cell)->resjunk)
			columns = lappend(columns, lfirst(cell));
	if (columns == NIL || list_length(columns) > 2)
		refuse(source, psprintf("It returns %d columns.", list_length(columns)));
	column = linitial(columns);
	source->column = column->resno;
	source->type = exprType((Node *) column->expr);
	source->typmod = exprTypmod((Node *) column->expr);
	source->collation = exprCollation((Node *) column->expr);
	if (list_length(columns) == 1)
		return;
	column = lsecond(columns);
	source->member = column->resno;
	source->member_type = exprType((Node *) column->expr);
	if (getBaseType(source->member_type) != BOOLOID)
		refuse(source, "Its second column is no boolean.");
}

/*
 * A WITH that changes rows would not be rewritten below the top of a statement, where
 * PostgreSQL itself doesn't allow it.
 */
BfpgSource *
bfpg_source_read(const char *list, const char *text, Oid schema)
{
	BfpgSource *source = palloc0(sizeof(BfpgSource));
	ErrorContextCallback callback;
	List	   *statements;

	source->list = list;
	source->text = text;
	source->schema = schema;
	source->role = GetUserNameFromId(GetUserId(), false);
	begin_context(source, &callback);
	statements = pg_parse_query(text);
	if (list_length(statements) == 1)
		source->query = parse_analyze_fixedparams(linitial_node(RawStmt, statements), text, NULL, 0, NULL);
	error_context_stack = callback.previous;
	if (source->query == NULL || source->query->commandType != CMD_SELECT || source->query->utilityStmt != NULL ||
		source->query->hasModifyingCTE)
		refuse(source, "It is not one query that returns rows and changes none.");
	find_columns(source);
	source->snapshot = RegisterSnapshot(GetTransactionSnapshot());
	return source;
}

Oid
bfpg_source_function(const BfpgSource *source, const char *name, int count, const Oid *types)
{
	Oid			exact[MOST_ARGUMENTS];
	Oid			bloom_key = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum("bloom_key"),
											ObjectIdGetDatum(source->schema));
	Oid			key = getBaseType(source->type) == bloom_key ? bloom_key : ANYELEMENTOID;
	int			i;

	for (i = 0; i < count; i++)
		exact[i] = OidIsValid(types[i]) ? types[i] : key;
	return bfpg_extension_function(source->schema, name, count, exact);
}

Expr *
bfpg_source_key(const BfpgSource *source)
{
	return (Expr *) makeVar(1, source->column, source->type, source->typmod, source->collation, 0);
}

Expr *
bfpg_source_parameter(int number, Oid type)
{
	Param	   *parameter = makeNode(Param);

	parameter->paramkind = PARAM_EXTERN;
	parameter->paramid = number;
	parameter->paramtype = type;
	parameter->paramtypmod = -1;
	parameter->location = -1;
	return (Expr *) parameter;
}

/* The keys are the only arguments that may have a collation. */
Expr *
bfpg_source_aggregate(const BfpgSource *source, Oid function, List *arguments, Expr *filter)
{
	Aggref	   *aggregate = makeNode(Aggref);
	ListCell   *cell;

	aggregate->aggfnoid = function;
	aggregate->aggtype = get_func_rettype(function);
	aggregate->inputcollid = source->collation;
	foreach(cell, arguments)
	{
		Expr	   *argument = lfirst(cell);

		aggregate->args = lappend(aggregate->args,
								  makeTargetEntry(argument, foreach_current_index(cell) + 1, NULL, false));
		aggregate->aggargtypes = lappend_oid(aggregate->aggargtypes, exprType((Node *) argument));
	}
	aggregate->aggfilter = filter;
	aggregate->aggstar = arguments == NIL;
	aggregate->aggkind = AGGKIND_NORMAL;
	aggregate->aggsplit = AGGSPLIT_SIMPLE;
	aggregate->aggno = -1;
	aggregate->aggtransno = -1;
	aggregate->location = -1;
	return (Expr *) aggregate;
}

Query *
bfpg_source_select(const BfpgSource *source, Query *inner, List *expressions)
{
	ParseState *state = make_parsestate(NULL);
	Query	   *query = makeNode(Query);
	ListCell   *cell;

	state->p_sourcetext = source->text;
	addNSItemToQuery(state,
					 addRangeTableEntryForSubquery(state, inner != NULL ? inner : copyObject(source->query), makeAlias("q", NIL), false, true),
					 true, false, false);
	query->commandType = CMD_SELECT;
	query->querySource = QSRC_ORIGINAL;
	query->canSetTag = true;
	query->rtable = state->p_rtable;
	query->jointree = makeFromExpr(state->p_joinlist, NULL);
	foreach(cell, expressions)
	{
		int			column = list_length(query->targetList) + 1;

		query->targetList = lappend(query->targetList,
									makeTargetEntry(lfirst(cell), column, psprintf("column%d", column), false));
	}
	/* As which statement it is counted: the user's. */
	query->queryId = source->query->queryId;
	query->stmt_location = source->query->stmt_location;
	query->stmt_len = source->query->stmt_len;
	free_parsestate(state);
	query->hasAggs = contain_aggs_of_level((Node *) query->targetList, 0);
	return query;
}

/* Runs with our settings; to be undone by AtEOXact_GUC. */
static int
set_own_settings(void)
{
	int			nest = NewGUCNestLevel();

	bfpg_set("bloomfilter.overflow", "ignore");
	bfpg_keep_aggregates_whole();
	return nest;
}

PlannedStmt *
bfpg_source_plan(const BfpgSource *source, Query *statement, ParamListInfo params, bool parallel)
{
	ErrorContextCallback callback;
	List	   *rewritten;
	PlannedStmt *plan;
	int			nest = set_own_settings();

	begin_context(source, &callback);
	PushCopiedSnapshot(source->snapshot);
	rewritten = QueryRewrite(statement);
	if (list_length(rewritten) != 1)
		elog(ERROR, "a query was rewritten to %d", list_length(rewritten));
	plan = bfpg_plan_query(linitial_node(Query, rewritten), source->text,
						   parallel ? CURSOR_OPT_PARALLEL_OK : 0, params);
	bfpg_check_seen(plan, source->snapshot);
	bfpg_check_placements(source->snapshot);
	PopActiveSnapshot();
	error_context_stack = callback.previous;
	AtEOXact_GUC(false, nest);
	return plan;
}

/* Takes rows of the executor into lists of ours. */
typedef struct RowReceiver
{
	DestReceiver receiver;
	MemoryContext context;
	List	   *rows;
} RowReceiver;

static bool
take_row(TupleTableSlot *slot, DestReceiver *self)
{
	RowReceiver *receiver = (RowReceiver *) self;
	MemoryContext old = MemoryContextSwitchTo(receiver->context);
	TupleDesc	columns = slot->tts_tupleDescriptor;
	NullableDatum *row = palloc0(columns->natts * sizeof(NullableDatum));
	int			i;

	slot_getallattrs(slot);
	for (i = 0; i < columns->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(columns, i);

		row[i].isnull = slot->tts_isnull[i];
		if (!row[i].isnull)
			row[i].value = datumCopy(slot->tts_values[i], column->attbyval, column->attlen);
	}
	receiver->rows = lappend(receiver->rows, row);
	MemoryContextSwitchTo(old);
	return true;
}

List *
bfpg_source_run(const BfpgSource *source, PlannedStmt *plan, ParamListInfo params)
{
	ErrorContextCallback callback;
	RowReceiver receiver = {*None_Receiver, CurrentMemoryContext, NIL};
	int			nest = set_own_settings();

	receiver.receiver.receiveSlot = take_row;
	begin_context(source, &callback);
	PushCopiedSnapshot(source->snapshot);
	bfpg_execute(plan, source->text, params, &receiver.receiver);
	PopActiveSnapshot();
	error_context_stack = callback.previous;
	AtEOXact_GUC(false, nest);
	return receiver.rows;
}

/* Other servers and engines may answer anything. */
const NullableDatum *
bfpg_source_only_row(const BfpgSource *source, List *rows, int columns)
{
	const NullableDatum *row = list_length(rows) == 1 ? linitial(rows) : NULL;
	int			i;

	for (i = 0; row != NULL && i < columns; i++)
		if (row[i].isnull)
			row = NULL;
	if (row == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("list \"%s\" was not published: what computes its aggregates gave no result", source->list)));
	return row;
}

/* What is looked for in a plan. */
typedef struct PlanLook
{
	Oid			aggregate;
	bool		here;			/* an Agg node computes it */
	bool		remote;			/* there is a scan of rows from elsewhere */
	bool		elsewhere;		/* and one that computes the aggregate itself */
} PlanLook;

static bool
mentions(Node *node, void *aggregate)
{
	if (node == NULL)
		return false;
	if (IsA(node, Aggref) && ((Aggref *) node)->aggfnoid == *(Oid *) aggregate)
		return true;
	return expression_tree_walker(node, mentions, aggregate);
}

static void look_at_plans(List *plans, PlanLook *look);

/* A scan of rows from elsewhere, with what is computed there. */
static void
look_at_scan(const Plan *plan, bool remote, List *computed, PlanLook *look)
{
	look->remote |= remote;
	look->elsewhere |= mentions((Node *) computed, &look->aggregate) || mentions((Node *) plan->targetlist, &look->aggregate);
}

/* PostgreSQL walks plans only once they have been prepared to run, which may reach other servers.  A node that isn't known here is an error. */
static void
look_at_plan(Plan *plan, PlanLook *look)
{
	if (plan == NULL)
		return;
	check_stack_depth();
	switch (nodeTag(plan))
	{
		case T_ForeignScan:
			look_at_scan(plan, true, ((ForeignScan *) plan)->fdw_scan_tlist, look);
			break;
		case T_CustomScan:
			look_at_scan(plan, ((CustomScan *) plan)->custom_plans == NIL, ((CustomScan *) plan)->custom_scan_tlist, look);
			look_at_plans(((CustomScan *) plan)->custom_plans, look);
			break;
		case T_Agg:
			look->here |= mentions((Node *) plan->targetlist, &look->aggregate);
			break;
		case T_Append:
			look_at_plans(((Append *) plan)->appendplans, look);
			break;
		case T_MergeAppend:
			look_at_plans(((MergeAppend *) plan)->mergeplans, look);
			break;
		case T_SubqueryScan:
			look_at_plan(((SubqueryScan *) plan)->subplan, look);
			break;
			/* what reads rows here, alone or with bitmaps below it */
		case T_SeqScan: case T_SampleScan: case T_IndexScan: case T_IndexOnlyScan: case T_BitmapHeapScan: case T_BitmapIndexScan:
		case T_BitmapAnd: case T_BitmapOr: case T_TidScan: case T_TidRangeScan: case T_FunctionScan: case T_TableFuncScan:
		case T_ValuesScan: case T_CteScan: case T_NamedTuplestoreScan: case T_WorkTableScan: case T_Result:
			/* what has plans below it as its left and right tree */
		case T_ProjectSet: case T_RecursiveUnion: case T_NestLoop: case T_MergeJoin: case T_HashJoin: case T_Hash: case T_Material:
		case T_Memoize: case T_Sort: case T_IncrementalSort: case T_Group: case T_WindowAgg: case T_Unique: case T_Gather:
		case T_GatherMerge: case T_SetOp: case T_LockRows: case T_Limit:
			break;
		default:
			elog(ERROR, "unrecognized node type: %d", (int) nodeTag(plan));
	}
	look_at_plan(plan->lefttree, look);
	look_at_plan(plan->righttree, look);
}

static void
look_at_plans(List *plans, PlanLook *look)
{
	ListCell   *cell;

	foreach(cell, plans)
		look_at_plan(lfirst(cell), look);
}

bool
bfpg_source_runs_here(PlannedStmt *plan, Oid aggregate, bool *remote)
{
	PlanLook	look = {aggregate};

	look_at_plan(plan->planTree, &look);
	look_at_plans(plan->subplans, &look);
	*remote = look.remote;
	return look.here && !look.elsewhere;
}
