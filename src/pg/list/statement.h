/*
 * statement.h
 *	  Statements of our own around a list: their parameters, and how they run.
 *
 * A seed can be among the parameters, which auto_explain would write to the server's log from
 * PostgreSQL 16 on.  Nobody logs parameters that come from a function, so these do.  Nor does
 * the planner make constants of them, which would be one more copy of a filter.
 */
#ifndef BFPG_STATEMENT_H
#define BFPG_STATEMENT_H

#include "nodes/params.h"

#pragma GCC visibility push(hidden)

static inline ParamExternData
bfpg_parameter(Oid type, Datum value)
{
	return (ParamExternData) {.value = value, .ptype = type};
}

/* Copies the parameters; what they point to stays the caller's. */
extern ParamListInfo bfpg_parameters(int count, const ParamExternData *parameters);

/* Runs a statement by SPI, with a search_path of pg_catalog alone, for an expected result. */
extern void bfpg_run_statement(const char *sql, int count, const ParamExternData *parameters, int expected);

#pragma GCC visibility pop

#endif							/* BFPG_STATEMENT_H */
