/*
 * search.c
 *	  bloom_search: the rows of a table that have a key, read from those partitions only
 *	  whose live index doesn't rule it out.
 *
 * It runs SELECT * FROM table WHERE column = key with one condition more, made of the bounds
 * of the partitions that are left: rows of a partition meet its bounds, so none is lost, and
 * PostgreSQL prunes the others by them.  As it is a query of the table, rights, row security
 * and the snapshot are those of a query.  The condition is put into the analysed query as
 * PostgreSQL has it: written as text it would be read by settings and search_path.  Whose expressions
 * run, those of policies and of partition keys, run as the caller, as in any query of the table or
 * of a view: nothing runs with rights that the caller hasn't got.  (t/023_as_owner.pl.)
 *
 * Bounds that PostgreSQL can't prune by, those of hash partitions, leave the result right
 * and the partitions read.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/partition.h"
#include "executor/executor.h"
#include "executor/tstoreReceiver.h"
#include "funcapi.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "storage/lmgr.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"

#include "base/pg_compat.h"
#include "engines/engines.h"
#include "key/key.h"
#include "live/target.h"

PG_FUNCTION_INFO_V1(bloomfilter_search);

/* What is searched. */
typedef struct Search
{
	Oid			table;
	const char *column;
	Oid			key_type;
	Datum		key;
} Search;

/* The table whose row type the first argument has. */
static Oid
table_of(FunctionCallInfo fcinfo)
{
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, 0);
	Oid			table = OidIsValid(type) ? get_typ_typrelid(type) : InvalidOid;

	if (!OidIsValid(table))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("first argument of bloom_search must have the row type of a table"),
				 errhint("For a table named log, write NULL::log.")));
	return table;
}

/* A key without a type is read as SQL reads it beside the column. */
static void
read_key(FunctionCallInfo fcinfo, Search *search)
{
	AttrNumber	number = get_attnum(search->table, search->column);
	Oid			input;
	Oid			parameter;

	search->key_type = get_fn_expr_argtype(fcinfo->flinfo, 2);
	search->key = PG_GETARG_DATUM(2);
	if (!bfpg_is_untyped(search->key_type) || number == InvalidAttrNumber)
		return;
	search->key_type = bfpg_reading_type_of_column(get_atttype(search->table, number));
	getTypeInputInfo(search->key_type, &input, &parameter);
	search->key = OidInputFunctionCall(input, TextDatumGetCString(search->key), parameter, -1);
}

/* What the rows of a partition meet, in the columns of the table; NIL if that is nothing. */
static List *
bounds_of(Relation table, Oid partition)
{
	Relation	relation = table_open(partition, NoLock);
	List	   *bounds = copyObject(RelationGetPartitionQual(relation));

	if (bounds != NIL)
		bounds = map_partition_varattnos(bounds, 1, table, relation);
	table_close(relation, NoLock);
	return bounds;
}

/* The condition that leaves these partitions; NULL if one of them has no bounds. */
static Node *
bounds_of_any(Oid oid, List *partitions)
{
	Relation	table = table_open(oid, NoLock);
	List	   *any = NIL;
	ListCell   *cell;
	bool		bounded = true;

	foreach(cell, partitions)
	{
		List	   *bounds = bounds_of(table, lfirst_oid(cell));

		bounded = bounded && bounds != NIL;
		any = lappend(any, make_ands_explicit(bounds));
	}
	table_close(table, NoLock);
	if (!bounded)
		return NULL;
	return (Node *) (list_length(any) == 1 ? linitial(any) : makeBoolExpr(OR_EXPR, any, -1));
}

/*
 * The query of the table by its text, which is what the server's log tells.  The table is locked,
 * but its schema may be renamed, and another table be found by the name.
 */
static Query *
analyse(const Search *search, const char *text)
{
	Oid			type = search->key_type;
	List	   *parsed = pg_parse_query(text);
	List	   *queries = pg_analyze_and_rewrite_fixedparams(linitial_node(RawStmt, parsed),
															 text, &type, 1, NULL);
	Query	   *query = linitial_node(Query, queries);

	if (linitial_node(RangeTblEntry, query->rtable)->relid != search->table)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("the table of bloom_search was renamed meanwhile"),
				 errhint("Repeat the statement.")));
	return query;
}

/* Runs the query with one condition more, unless that is NULL. */
static void
run_with(const Search *search, Node *condition, ReturnSetInfo *result)
{
	char	   *text = psprintf("SELECT * FROM %s AS t WHERE t.%s OPERATOR(pg_catalog.=) $1",
								quote_qualified_identifier(get_namespace_name(get_rel_namespace(search->table)),
														   get_rel_name(search->table)),
								quote_identifier(search->column));
	Query	   *query = analyse(search, text);
	ParamListInfo parameters = makeParamList(1);
	DestReceiver *receiver = CreateTuplestoreDestReceiver();
	PlannedStmt *plan;

	if (condition != NULL)
		query->jointree->quals = make_and_qual(query->jointree->quals, condition);
	parameters->params[0].value = search->key;
	parameters->params[0].isnull = false;
	parameters->params[0].ptype = search->key_type;
	parameters->params[0].pflags = PARAM_FLAG_CONST;
	plan = bfpg_plan_query(query, text, CURSOR_OPT_PARALLEL_OK, parameters);
	bfpg_check_seen_below(search->table, GetActiveSnapshot());
	/* The row type may have columns that were dropped, where SELECT * has none. */
	SetTuplestoreDestReceiverParams(receiver, result->setResult, result->econtext->ecxt_per_query_memory, false,
									result->setDesc, "table has changed");
	bfpg_execute(plan, text, parameters, receiver);
	receiver->rDestroy(receiver);
}

/*
 * Where row security is active for the caller the filters aren't asked, as they tell of rows
 * that it hides: all partitions are read.
 */
Datum
bloomfilter_search(PG_FUNCTION_ARGS)
{
	Search		search = {.table = table_of(fcinfo)};
	Node	   *condition = NULL;

	InitMaterializedSRF(fcinfo, 0);
	if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
		return (Datum) 0;
	search.column = NameStr(*PG_GETARG_NAME(1));
	LockRelationOid(search.table, AccessShareLock);
	if (check_enable_rls(search.table, InvalidOid, true) != RLS_ENABLED)
	{
		List	   *tables = bfpg_live_tables_of(fcinfo, search.table);

		if (tables == NIL)
			return (Datum) 0;
		condition = bounds_of_any(search.table, tables);
	}
	read_key(fcinfo, &search);
	run_with(&search, condition, (ReturnSetInfo *) fcinfo->resultinfo);
	return (Datum) 0;
}
