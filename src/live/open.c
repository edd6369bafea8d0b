/*
 * open.c
 *	  Locking and opening live indexes, for a user who may look at them.
 *
 * A table is locked before its indexes, and all locks but those of partitions' indexes are kept
 * until the transaction ends, as a scan does; those of a parallel worker, until it ends.  The
 * table's matters: REINDEX CONCURRENTLY and DROP INDEX CONCURRENTLY wait for those who hold one
 * before they let insertions pass an index by.
 *
 * An answer tells of keys, so the user must be allowed to read them.  Row security
 * that is active for the asker refuses: the filter can't tell which rows are hidden.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/predicate.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "base/report.h"
#include "engines/engines.h"
#include "live/am.h"
#include "live/target.h"

pg_noreturn static void
refuse_missing(Oid relation)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_TABLE),
			 errmsg("index with OID %u does not exist", relation),
			 errdetail("REINDEX CONCURRENTLY gives an index another OID."),
			 errhint("Ask by table and column, which outlive it.")));
}

static void
refuse_relation(Oid relation)
{
	const char *name = get_rel_name(relation);

	if (name == NULL)
		refuse_missing(relation);
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("\"%s\" is not a bloomfilter index", name),
			 errhint("Make one with CREATE INDEX ... USING bloomfilter.")));
}

Oid
bfpg_live_lock_index(Oid index)
{
	char		kind = get_rel_relkind(index);
	Oid			table;

	if (kind != '\0' && kind != RELKIND_INDEX && kind != RELKIND_PARTITIONED_INDEX)
		refuse_relation(index);
	table = IndexGetRelation(index, true);
	if (OidIsValid(table))
	{
		LockRelationOid(table, AccessShareLock);
		LockRelationOid(index, AccessShareLock);
		/* It may have been dropped, and the OID be another's, before we had the lock. */
		if (IndexGetRelation(index, true) == table)
			return table;
	}
	refuse_missing(index);
}

Relation
bfpg_live_open_locked(Oid oid)
{
	Relation	index = index_open(oid, NoLock);

	if (!bfpg_is_live(index))
		refuse_relation(oid);
	return index;
}

/*
 * The index of a table that others inherit from has the rows of that table alone, where a
 * query of the table has theirs, too.  A partitioned one has no rows.
 */
void
bfpg_live_refuse_children(Relation index, Oid table)
{
	if (index->rd_rel->relkind != RELKIND_INDEX ||
		find_inheritance_children(table, NoLock) == NIL)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("index \"%s\" has not the keys of the tables that inherit from \"%s\"",
					RelationGetRelationName(index), get_rel_name(table)),
			 errhint("Ask by table and column, which asks these, too, or name the index of each.")));
}

/*
 * ALTER TABLE gives a column another type in place if the bytes stay the same, as from text to
 * citext, and asks none of its indexes.
 */
void
bfpg_live_check_type(Relation index)
{
	Oid			type = TupleDescAttr(RelationGetDescr(index), 0)->atttypid;
	BfpgKeyCoder coder;

	if (!bfpg_find_key_type(getBaseType(type), &coder))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index \"%s\" cannot have keys of type %s, the type that its column has now",
						RelationGetRelationName(index), format_type_be(type)),
				 errhint("Drop it with DROP INDEX %s.", bfpg_qualified_name(RelationGetRelid(index)))));
}

/*
 * An index of a column has its bytes, whose equality is that of the column only if that has a
 * deterministic collation.  An index of an expression has the collation that somebody wrote.
 */
void
bfpg_live_check_column(Relation index)
{
	AttrNumber	number = index->rd_index->indkey.values[0];
	Oid			type;
	int32		typmod;
	Oid			collation = InvalidOid;

	bfpg_live_check_type(index);
	if (number != 0)
		get_atttypetypmodcoll(index->rd_index->indrelid, number, &type, &typmod, &collation);
	if (OidIsValid(collation) && !get_collation_isdeterministic(collation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index \"%s\" does not know which keys are equal to its column's nondeterministic collation \"%s\"",
						RelationGetRelationName(index), get_collation_name(collation)),
				 errhint("Make an index of an expression whose equal values have equal bytes, for example of lower(key) COLLATE \"C\".")));
}

bool
bfpg_live_is_built(Oid index)
{
	HeapTuple	row = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	bool		built = !HeapTupleIsValid(row) || ((Form_pg_index) GETSTRUCT(row))->indisready;

	if (HeapTupleIsValid(row))
		ReleaseSysCache(row);
	return built;
}

static void
check_built(Oid index)
{
	if (!bfpg_live_is_built(index))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is being built, or its build was cancelled", get_rel_name(index)),
				 errhint("If nobody builds it, drop it with DROP INDEX.")));
}

void
bfpg_live_refuse_partitioned(Oid index)
{
	if (get_rel_relkind(index) == RELKIND_PARTITIONED_INDEX)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("index \"%s\" is partitioned and has no pages of its own", get_rel_name(index)),
				 errhint("Name the index of each partition: SELECT relid FROM pg_partition_tree(%s) WHERE isleaf.", quote_literal_cstr(bfpg_qualified_name(index)))));
}

/*
 * Whether the user may read what an index tells of: its column, or the whole table if the
 * index is partial or has an expression.
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

/* Returns whether the table has no policy at all: whom one exempts may depend on who called. */
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
bfpg_live_check_rights(Relation index)
{
	Oid			table = index->rd_index->indrelid;

	if (!may_read(index))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_TABLE, get_rel_name(table));
	return check_row_security(table);
}

Relation
bfpg_live_open_index(Oid oid, bool for_statistics)
{
	Oid			table = bfpg_live_lock_index(oid);
	Relation	index = bfpg_live_open_locked(oid);

	check_built(oid);
	(void) bfpg_check_kept_here(table);
	/* A member of pg_stat_scan_tables may look at statistics, too. */
	if (!for_statistics || !has_privs_of_role(GetUserId(), ROLE_PG_STAT_SCAN_TABLES))
		(void) bfpg_live_check_rights(index);
	if (!for_statistics)
	{
		bfpg_live_check_column(index);
		bfpg_live_refuse_children(index, table);
	}
	bfpg_live_refuse_partitioned(oid);
	/* All of it is read, so a later insertion of any key is a conflict. */
	PredicateLockRelation(index, GetActiveSnapshot());
	return index;
}

Relation
bfpg_live_open_whole(Oid oid)
{
	Relation	index = bfpg_live_open_index(oid, false);
	BfpgLiveMakers makers = bfpg_live_makers(index);

	if (!bfpg_live_usable(index) || TransactionIdIsValid(bfpg_live_unseen_maker(&makers)))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not ready to be asked", RelationGetRelationName(index)),
				 errhint("It is not valid, or was built after this transaction began: "
						 "try again in another, or rebuild it with REINDEX.")));
	return index;
}

bool
bfpg_live_lock_if_free(Oid index)
{
	Oid			table = IndexGetRelation(index, true);

	return !OidIsValid(table) ||
		(ConditionalLockRelationOid(table, AccessShareLock) &&
		 ConditionalLockRelationOid(index, AccessShareLock));
}
