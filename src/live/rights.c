/*
 * rights.c
 *	  Who may look keys up in a live filter.
 *
 * An answer tells of keys, so the user must be allowed to read them.  Row security
 * that is active for the asker refuses: the filter can't tell which rows are hidden.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "miscadmin.h"
#include "nodes/bitmapset.h"
#include "optimizer/optimizer.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"

#include "live/compat.h"
#include "live/rights.h"

/*
 * Whether the user may read the column of the index: of an expression's or a partial
 * index, the table.
 */
static bool
may_read(Relation index)
{
	Oid			table = index->rd_index->indrelid;
	AttrNumber	column = index->rd_index->indkey.values[0];

	if (pg_class_aclcheck(table, GetUserId(), ACL_SELECT) == ACLCHECK_OK)
		return true;
	if (column == 0 || !heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL))
		return false;
	return pg_attribute_aclcheck(table, column, GetUserId(), ACL_SELECT) == ACLCHECK_OK;
}

/* Returns whether the table has none at all; who is exempt may depend on who called. */
static bool
check_row_security(Oid table)
{
	int			active = check_enable_rls(table, InvalidOid, true);

	if (active == RLS_ENABLED)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("row security of table \"%s\" hides rows, and its bloomfilter index cannot tell which",
						get_rel_name(table)),
				 errhint("Ask as a role that bypasses row security, for example in a function of such an owner.")));
	return active == RLS_NONE;
}

bool
bfpg_live_may_ask(Relation index)
{
	return may_read(index) &&
		check_enable_rls(index->rd_index->indrelid, InvalidOid, true) != RLS_ENABLED;
}

bool
bfpg_live_check_rights(Relation index)
{
	Oid			table = index->rd_index->indrelid;

	if (!may_read(index))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_TABLE, get_rel_name(table));
	return check_row_security(table);
}

void
bfpg_live_check_statistics_rights(Relation index)
{
	if (!has_privs_of_role(GetUserId(), ROLE_PG_STAT_SCAN_TABLES))
		(void) bfpg_live_check_rights(index);
}
