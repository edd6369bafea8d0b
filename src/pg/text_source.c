/*
 * text_source.c
 *	  Refusing what the parser took for text on its own.
 *
 * At run time a call's expression shows the cast, unless the planner has folded it
 * into a constant.  So the planner is watched too, by the support function of the
 * text overloads: when it simplifies a call, the query that it has in hand still
 * stands as the parser left it.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "nodes/execnodes.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "key.h"
#include "pg_compat.h"
#include "text_source.h"

PG_FUNCTION_INFO_V1(bloomfilter_key_support);
PG_FUNCTION_INFO_V1(bloomfilter_add_support);

/* The arguments of a call, however it is written, if it calls this function. */
static List *
call_arguments(Node *node, Oid function)
{
	if (IsA(node, FuncExpr) && ((FuncExpr *) node)->funcid == function)
		return ((FuncExpr *) node)->args;
	if (IsA(node, OpExpr) && get_opcode(((OpExpr *) node)->opno) == function)
		return ((OpExpr *) node)->args;
	if (IsA(node, ScalarArrayOpExpr) &&
		get_opcode(((ScalarArrayOpExpr *) node)->opno) == function)
		return ((ScalarArrayOpExpr *) node)->args;
	return NIL;
}

/* The arguments of the window function that is accumulated by this function. */
static List *
window_arguments(WindowAggState *window, Oid transition)
{
	ListCell   *cell;

	foreach(cell, window->funcs)
	{
		WindowFunc *call = ((WindowFuncExprState *) lfirst(cell))->wfunc;
		HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(call->winfnoid));
		bool		found = false;

		if (HeapTupleIsValid(tuple))
		{
			found = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggtransfn == transition;
			ReleaseSysCache(tuple);
		}
		if (found)
			return call->args;
	}
	return NIL;
}

Node *
bfpg_argument_expression(FunctionCallInfo fcinfo, int argno)
{
	Aggref	   *aggref = AggGetAggref(fcinfo);
	List	   *args = NIL;

	/* A transition function's first argument is the state. */
	if (aggref != NULL)
		return argno - 1 < list_length(aggref->args)
			? (Node *) ((TargetEntry *) list_nth(aggref->args, argno - 1))->expr : NULL;
	if (fcinfo->context != NULL && IsA(fcinfo->context, WindowAggState))
	{
		args = window_arguments((WindowAggState *) fcinfo->context, fcinfo->flinfo->fn_oid);
		argno--;
	}
	else if (fcinfo->flinfo->fn_expr != NULL)
		args = call_arguments(fcinfo->flinfo->fn_expr, fcinfo->flinfo->fn_oid);
	return argno < list_length(args) ? (Node *) list_nth(args, argno) : NULL;
}

void
bfpg_check_text_source(Node *expression)
{
	Node	   *source = NULL;
	Oid			type;
	Oid			element;

	/* Texts alone have a source: a domain over bloomfilter is relabelled, too. */
	if (expression == NULL || !OidIsValid(get_typcollation(exprType(expression))))
		return;
	if (IsA(expression, RelabelType) &&
		((RelabelType *) expression)->relabelformat == COERCE_IMPLICIT_CAST)
		source = (Node *) ((RelabelType *) expression)->arg;
	else if (IsA(expression, ArrayCoerceExpr) &&
			 ((ArrayCoerceExpr *) expression)->coerceformat == COERCE_IMPLICIT_CAST)
		source = (Node *) ((ArrayCoerceExpr *) expression)->arg;
	if (source == NULL)
		return;
	type = getBaseType(exprType(source));
	element = get_element_type(type);
	if (OidIsValid(element))
		type = getBaseType(element);
	if (!bfpg_is_key_type(type))
		bfpg_refuse_type(type);
}

/* Looks at all calls of a function in a query, its subqueries included. */
static bool
check_calls(Node *node, void *function)
{
	ListCell   *cell;

	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, check_calls, function, 0);
	foreach(cell, call_arguments(node, *(Oid *) function))
		bfpg_check_text_source(lfirst(cell));
	return expression_tree_walker(node, check_calls, function);
}

/* Of the text overloads: refuses a cast before it can be folded away. */
static Node *
watch_planner(Node *request)
{
	if (IsA(request, SupportRequestSimplify))
	{
		SupportRequestSimplify *simplify = (SupportRequestSimplify *) request;

		if (simplify->root != NULL)
			check_calls((Node *) simplify->root->parse, &simplify->fcall->funcid);
	}
	return NULL;
}

Datum
bloomfilter_key_support(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(watch_planner((Node *) PG_GETARG_POINTER(0)));
}

/*
 * Of the functions that add keys: also tells PL/pgSQL, from 18 on, that in
 * "f := bloom_add(f, key)" they may have the variable's filter to change in place.
 * They check all before they change anything.
 */
Datum
bloomfilter_add_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	watch_planner(request);
	PG_RETURN_POINTER(bfpg_modify_in_place(request));
}
