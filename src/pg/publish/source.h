/*
 * source.h
 *	  The query of a list, and statements around it that are made by hand.
 *
 * The user's text is parsed and analysed once.  What runs is an aggregate over it: a
 * Query with the text's own as a subquery, and functions of the extension by their
 * OIDs.  So no name is looked up by search_path or by the type of the keys, no text of
 * ours is in errors or logs, and parameters, of which the seed may be secret, are no
 * part of the statement.
 */
#ifndef BFPG_SOURCE_H
#define BFPG_SOURCE_H

#include "nodes/params.h"
#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"
#include "utils/snapshot.h"

typedef struct BfpgSource
{
	const char *list;			/* the name, for errors */
	const char *text;
	const char *role;			/* that it runs as */
	Oid			schema;			/* the extension's */
	Query	   *query;			/* analysed, never given to the planner itself */
	AttrNumber	column;			/* of the keys, from 1 on */
	AttrNumber	member;			/* of the booleans of an exact list; 0: there are none */
	Oid			member_type;	/* boolean, or a domain over it */
	Oid			type;			/* of the keys; with the next two of a Var */
	int32		typmod;
	Oid			collation;
	Snapshot	snapshot;		/* all runs see the same */
} BfpgSource;

/*
 * Reads the text of a query.  Throws unless it is one query that returns one column, or a second
 * one that is a boolean, and changes nothing.  The snapshot of the transaction, which must have one for all of its
 * statements, stays registered.
 */
extern BfpgSource *bfpg_source_read(const char *list, const char *text, Oid schema);

/*
 * A function of the extension by its name and its exact argument types, where InvalidOid
 * stands for what functions declare for a key.
 */
extern Oid	bfpg_source_function(const BfpgSource *source, const char *name, int count, const Oid *types);

/* The key, as a column of the statement around the query. */
extern Expr *bfpg_source_key(const BfpgSource *source);

/* A parameter of a statement, by its number from 1 on. */
extern Expr *bfpg_source_parameter(int number, Oid type);

/* An aggregate as an expression of a statement; filter is its FILTER clause, or NULL. */
extern Expr *bfpg_source_aggregate(const BfpgSource *source, Oid function, List *arguments, Expr *filter);

/* SELECT of these expressions FROM an inner statement, NULL: the query. */
extern Query *bfpg_source_select(const BfpgSource *source, Query *inner, List *expressions);

/*
 * Plans a statement, which it changes.  Other engines can't run a plan that was made
 * without its parameters; this server's own plans don't depend on them, so that they may be
 * NULL where the plan is only looked at, or runs here.
 */
extern PlannedStmt *bfpg_source_plan(const BfpgSource *source, Query *statement, ParamListInfo params,
									 bool parallel);

/*
 * Runs a plan, which may be run again, and returns its rows: each an array of as many
 * NullableDatum as there are columns, in the current context.
 */
extern List *bfpg_source_run(const BfpgSource *source, PlannedStmt *plan, ParamListInfo params);

/* The only row of a result; throws where there is none, more than one, or a null in its first columns. */
extern const NullableDatum *bfpg_source_only_row(const BfpgSource *source, List *rows, int columns);

/*
 * Whether the plan calls an aggregate here, in this process and in its workers: false
 * where a foreign server or another engine computes it.  *remote: whether rows come from
 * elsewhere, a foreign server or an engine whose scan has no plans of PostgreSQL's below it.
 */
extern bool bfpg_source_runs_here(PlannedStmt *plan, Oid aggregate, bool *remote);

#endif							/* BFPG_SOURCE_H */
