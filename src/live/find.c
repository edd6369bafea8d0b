/*
 * find.c
 *	  Finding the indexes that a question is about.
 *
 * What is found is right, whatever others change meanwhile: each fact is read under the lock
 * that keeps it as it is.  Tables are locked before their indexes: see open.c.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "base/report.h"
#include "engines/engines.h"
#include "live/am.h"
#include "live/target.h"

static BfpgLiveTarget *
add_target(BfpgLiveTargets *targets, Oid table)
{
	BfpgLiveTarget *target;

	/* for all tables below one before their first */
	if (targets->targets == NULL)
		targets->targets = MemoryContextAlloc(targets->context, sizeof *target);
	target = &targets->targets[targets->count++];
	memset(target, 0, sizeof *target);
	target->table = table;
	return target;
}

static void
note_type(BfpgLiveTargets *targets, Relation index)
{
	BfpgKeyCoder coder;

	bfpg_live_check_type(index);
	targets->column_type = TupleDescAttr(RelationGetDescr(index), 0)->atttypid;
	bfpg_column_coder(targets->column_type, DEFAULT_COLLATION_OID, &coder);
	targets->key_type = coder.type;
}

/* Throws unless a locked table keeps its own rows; what may change unseen isn't lasting. */
static void
check_kept(BfpgLiveTargets *targets, Oid table)
{
	if (bfpg_check_kept_here(table))
		return;
	targets->lasting = false;
	targets->of_snapshot = true;
}

static void
note_file(BfpgLiveTarget *target, Relation index)
{
	target->locator = BFPG_LOCATOR(index);
	target->live = *bfpg_live_meta(index);
	target->makers = bfpg_live_makers(index);
}

/* Adds an open index as the one that answers for its table. */
static void
add_index(BfpgLiveTargets *targets, Relation index)
{
	BfpgLiveTarget *target = add_target(targets, index->rd_index->indrelid);

	note_type(targets, index);
	check_kept(targets, target->table);
	if (!bfpg_live_usable(index))
		return;
	target->index = RelationGetRelid(index);
	target->temporary = RelationUsesLocalBuffers(index);
	note_file(target, index);
}

void
bfpg_live_begin_ask(const BfpgLiveTargets *targets, BfpgLiveTarget *target)
{
	Relation	index;

	if (!targets->of_leaves || !OidIsValid(target->index))
		return;
	LockRelationOid(target->index, AccessShareLock);
	if (likely(targets->epoch == bfpg_epoch))
		return;
	index = index_open(target->index, NoLock);
	if (memcmp(&target->locator, &BFPG_LOCATOR(index), sizeof target->locator) != 0)
		note_file(target, index);
	index_close(index, NoLock);
}

void
bfpg_live_end_ask(const BfpgLiveTargets *targets, const BfpgLiveTarget *target)
{
	if (targets->of_leaves && OidIsValid(target->index))
		UnlockRelationOid(target->index, AccessShareLock);
}

/* What makes an index of a table the right one. */
typedef struct Wanted
{
	const char *column;			/* this column alone, or ... */
	List	   *indexes;		/* ... one of these */
	bool		check_rights;	/* not for descendants: the named table's rights count */
} Wanted;

/*
 * Whether an index is of all rows' values in a column, with the column's own equality:
 * false is then right for the whole table.
 */
static bool
covers_column(Relation table, Relation index, const char *column)
{
	AttrNumber	number = get_attnum(RelationGetRelid(table), column);
	Form_pg_attribute attribute;

	if (number == InvalidAttrNumber || index->rd_index->indkey.values[0] != number)
		return false;
	if (!heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL))
		return false;
	attribute = TupleDescAttr(RelationGetDescr(table), number - 1);
	return !OidIsValid(attribute->attcollation) ||
		get_collation_isdeterministic(attribute->attcollation);
}

/* Opens the index that answers for an open table: one to be trusted if there is one.  NULL if there is none. */
static Relation
open_best_index(Relation table, const Wanted *wanted)
{
	Relation	best = NULL;
	ListCell   *cell;

	foreach(cell, RelationGetIndexList(table))
	{
		Oid			candidate = lfirst_oid(cell);
		Relation	index;

		if (wanted->column == NULL && !list_member_oid(wanted->indexes, candidate))
			continue;
		index = index_open(candidate, AccessShareLock);
		if (!bfpg_is_live(index) ||
			(wanted->column != NULL && !covers_column(table, index, wanted->column)) ||
			(best != NULL && bfpg_live_usable(best)))
		{
			index_close(index, AccessShareLock);
			continue;
		}
		if (best != NULL)
			index_close(best, AccessShareLock);
		best = index;
	}
	return best;
}

/* Adds the index that answers for a locked table.  Returns whether there is any. */
static bool
add_table(BfpgLiveTargets *targets, Oid oid, const Wanted *wanted)
{
	Relation	table = table_open(oid, NoLock);
	Relation	index = open_best_index(table, wanted);

	if (index != NULL)
	{
		if (wanted->check_rights)
			targets->lasting = bfpg_live_check_rights(index);
		if (index->rd_rel->relkind == RELKIND_INDEX)
			add_index(targets, index);
		else
			note_type(targets, index);
		index_close(index, targets->of_leaves ? AccessShareLock : NoLock);
	}
	table_close(table, NoLock);
	return index != NULL;
}

/*
 * A relation and all below it, each locked when it is found, as the planner does.
 * Partitions of which DETACH CONCURRENTLY still waits for others are among them: this
 * statement's plan may be from before, and to ask one partition too many denies nothing.
 * find_all_inheritors leaves them out, and serves plain inheritance, which has no such state
 * but may have a table below two others.
 */
static List *
all_below(Oid root, LOCKMODE lock)
{
	char		kind = get_rel_relkind(root);
	List	   *found = list_make1_oid(root);
	ListCell   *cell;

	if (kind != RELKIND_PARTITIONED_TABLE && kind != RELKIND_PARTITIONED_INDEX)
		return find_all_inheritors(root, lock, NULL);
	/* The list grows on the way. */
	foreach(cell, found)
		found = list_concat(found, find_inheritance_children_extended(lfirst_oid(cell), false, lock,
																	  NULL, NULL));
	return found;
}

/*
 * The same, with what came while one of the locks was waited for: a transaction may take rows from
 * one table to another, and add that, as who splits a partition does.  Of what was added nobody
 * knows by a list that was read before.  With all locks held no rows go any more.
 */
static List *
lock_all_below(Oid root)
{
	List	   *found;
	List	   *now;
	uint64		epoch;

	do
	{
		epoch = bfpg_epoch;
		found = all_below(root, AccessShareLock);
		if (epoch == bfpg_epoch)
			return found;
		now = all_below(root, NoLock);
		list_sort(now, list_oid_cmp);
		list_sort(found, list_oid_cmp);
	} while (!equal(now, found));
	return found;
}

/*
 * Adds a table's descendants, itself included.  A leaf without an index that could be
 * trusted is true for each key.
 */
static void
add_descendants(BfpgLiveTargets *targets, Oid root, const Wanted *wanted)
{
	List	   *tables = lock_all_below(root);
	ListCell   *cell;

	targets->of_leaves = true;
	targets->targets = MemoryContextAllocHuge(targets->context, list_length(tables) * sizeof(BfpgLiveTarget));
	foreach(cell, tables)
	{
		Oid			table = lfirst_oid(cell);

		CHECK_FOR_INTERRUPTS();
		if (bfpg_is_compressed(table))
		{
			/* Its index lacks keys. */
			targets->compressed = targets->of_snapshot = true;
			targets->lasting = false;
			add_target(targets, table);
		}
		else if (get_rel_relkind(table) != RELKIND_PARTITIONED_TABLE && !add_table(targets, table, wanted))
			add_target(targets, table);
	}
}

/* The index that was named, or the leaves of a partitioned one. */
static void
find_by_index(BfpgLiveTargets *targets)
{
	Oid			table = bfpg_live_lock_index(targets->relation);
	Relation	index = bfpg_live_open_locked(targets->relation);
	Wanted		wanted = {NULL, NIL, false};

	targets->table = table;
	(void) bfpg_check_kept_here(table);
	bfpg_check_seen_chunk(table);
	bfpg_live_refuse_children(index, table);
	targets->lasting = bfpg_live_check_rights(index);
	bfpg_live_check_column(index);
	if (index->rd_rel->relkind == RELKIND_INDEX)
		add_index(targets, index);
	else
	{
		check_kept(targets, table);
		note_type(targets, index);
		/* Each is locked after its table, as everybody does. */
		wanted.indexes = all_below(targets->relation, NoLock);
		add_descendants(targets, table, &wanted);
	}
	index_close(index, NoLock);
}

static void
refuse_column(Oid table, const char *column)
{
	if (get_attnum(table, column) == InvalidAttrNumber)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of table \"%s\" does not exist", column, get_rel_name(table))));
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("column \"%s\" of table \"%s\" has no bloomfilter index of all rows",
					column, get_rel_name(table)),
			 errhint("Make one with CREATE INDEX ON %s USING bloomfilter (%s).  "
					 "A partial index, or one of an expression, is asked by its own name.",
					 bfpg_qualified_name(table), quote_identifier(column))));
}

static void
find_by_column(BfpgLiveTargets *targets)
{
	Oid			table = targets->relation;
	Wanted		wanted = {NameStr(targets->column), NIL, true};
	char		kind = get_rel_relkind(table);

	if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE && kind != RELKIND_MATVIEW)
	{
		if (kind == '\0')
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_TABLE),
					 errmsg("table with OID %u does not exist", table)));
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a table", get_rel_name(table)),
				 kind == RELKIND_INDEX || kind == RELKIND_PARTITIONED_INDEX ?
				 errhint("An index is asked by its name and the key, without a column.") : 0));
	}
	LockRelationOid(table, AccessShareLock);
	targets->table = table;
	(void) bfpg_check_kept_here(table);
	bfpg_check_seen_chunk(table);
	if (!add_table(targets, table, &wanted))
		refuse_column(table, wanted.column);
	if (kind == RELKIND_PARTITIONED_TABLE || has_subclass(table))
	{
		/* The table's own target is among its descendants. */
		if (targets->targets != NULL)
			pfree(targets->targets);
		targets->targets = NULL;
		targets->count = 0;
		check_kept(targets, table);
		wanted.check_rights = false;
		add_descendants(targets, table, &wanted);
	}
}

void
bfpg_live_search_targets(BfpgLiveTargets *targets)
{
	if (targets->by_column)
		find_by_column(targets);
	else
		find_by_index(targets);
}
