/*
 * tables.h
 *	  The extension's own tables: the one way to write them, and what keeps everybody else from it.
 *
 * Whoever may do something to a list is decided before (owner.h): the statements of this file run as
 * the tables' owner, a superuser.
 */
#ifndef BFPG_TABLES_H
#define BFPG_TABLES_H

#include "executor/spi.h"
#include "nodes/params.h"
#include "utils/relcache.h"

#include "base/pg_compat.h"

/*
 * A statement's parameters.  A seed can be among them, which auto_explain would write to the
 * server's log from PostgreSQL 16 on.  Nobody logs parameters that come from a function, so these
 * do.  Nor does the planner make constants of them, which would be one more copy of a filter.
 * What they point to stays the caller's.
 */
extern ParamListInfo bfpg_parameters(int count, const ParamExternData *parameters);

static inline ParamExternData
bfpg_parameter(Oid type, Datum value)
{
	return (ParamExternData) {.value = value, .ptype = type};
}

/*
 * Runs a statement on the tables in the extension's schema by SPI, for an expected result: as their
 * owner, with a search_path of pg_catalog alone.  In it current_user is that owner.  Throws before
 * where one of the tables isn't as the extension made it.
 */
extern void bfpg_run_statement(Oid schema, const char *sql, int count, const ParamExternData *parameters, int expected);

/* A value of a result's row, columns from 1 on. */
static inline Datum
bfpg_result(const SPITupleTable *rows, uint64 row, int column)
{
	bool		is_null;

	return SPI_getbinval(rows->vals[row], rows->tupdesc, column, &is_null);
}

/*
 * Runs the plan of a statement that writes this table alone, which the caller has locked, in the same
 * way.  The search_path is the caller's: the statement qualifies all names.
 */
extern void bfpg_run_plan(Relation table, SPIPlanPtr plan, ParamListInfo parameters, int expected);

/* Throws unless a table of the extension belongs to a superuser. */
extern void bfpg_check_table_owner(Relation table);

#endif							/* BFPG_TABLES_H */
