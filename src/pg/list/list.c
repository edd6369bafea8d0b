/*
 * list.c
 *	  The filters of published lists, read from the extension's own tables.
 *
 * The index is read by the functions that are meant for the system's catalogs: they
 * take any table, are the same in all majors, and compare text by the collation "C",
 * which the column has for this reason.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "list/list.h"
#include "base/elsewhere.h"
#include "base/pg_compat.h"

/* Columns of bloom_generation_part. */
enum
{
	PART_NAME = 1,
	PART_BACK = 2,
	PART_PART = 3,
	PART_FILTER = 4
};

Oid
bfpg_extension_schema(Oid function)
{
	Oid			schema = get_func_namespace(function);

	if (!OidIsValid(schema))
		elog(ERROR, "function %u has no schema", function);
	return schema;
}

#define PARTS_TABLE "bloom_generation_part"
#define PARTS_INDEX "bloom_generation_part_pkey"

Oid
bfpg_list_relation(Oid schema, const char *name)
{
	Oid			relation = get_relname_relid(name, schema);

	if (!OidIsValid(relation))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation \"%s\" of bloomfilter is not in schema \"%s\"",
						name, get_namespace_name(schema)),
				 errhint("Run ALTER EXTENSION bloomfilter UPDATE.")));
	return relation;
}

static Oid
parts_table(Oid schema)
{
	return bfpg_list_relation(schema, PARTS_TABLE);
}

void
bfpg_list_check_may_read(Oid schema)
{
	Oid			table = parts_table(schema);

	if (pg_class_aclcheck(table, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_TABLE, get_rel_name(table));
}

void
bfpg_list_open(Oid schema, BfpgListTable *table)
{
	table->table = table_open(parts_table(schema), AccessShareLock);
	bfpg_check_list_table(RelationGetRelid(table->table));
	table->schema = schema;
	table->scan = NULL;
}

bool
bfpg_list_try_open(Oid schema, BfpgListTable *table)
{
	if (!OidIsValid(get_relname_relid(PARTS_TABLE, schema)) ||
		!OidIsValid(get_relname_relid(PARTS_INDEX, schema)))
		return false;
	bfpg_list_open(schema, table);
	return true;
}

void
bfpg_list_close(BfpgListTable *table)
{
	table_close(table->table, NoLock);
}

static Datum
column(const BfpgListTable *table, HeapTuple tuple, int number)
{
	bool		is_null;
	Datum		value = heap_getattr(tuple, number, RelationGetDescr(table->table), &is_null);

	if (is_null)
		elog(ERROR, "column %d of a published list's row is null", number);
	return value;
}

/* Finds a row by the primary key. */
static HeapTuple
scan_for(BfpgListTable *table, Datum name, int32 part)
{
	ScanKeyData keys[3];

	ScanKeyInit(&keys[0], PART_NAME, BTEqualStrategyNumber, F_TEXTEQ, name);
	ScanKeyInit(&keys[1], PART_BACK, BTEqualStrategyNumber, F_INT2EQ,
				Int16GetDatum(BFPG_CURRENT));
	ScanKeyInit(&keys[2], PART_PART, BTEqualStrategyNumber, F_INT4EQ, Int32GetDatum(part));
	table->scan = systable_beginscan(table->table,
									 bfpg_list_relation(table->schema, PARTS_INDEX),
									 true, GetActiveSnapshot(), lengthof(keys), keys);
	return systable_getnext(table->scan);
}

bool
bfpg_list_part(BfpgListTable *table, Datum name, int32 part, Datum *filter)
{
	HeapTuple	tuple = scan_for(table, name, part);

	if (tuple == NULL)
	{
		bfpg_list_done(table);
		return false;
	}
	*filter = column(table, tuple, PART_FILTER);
	return true;
}

void
bfpg_list_done(BfpgListTable *table)
{
	if (table->scan != NULL)
		systable_endscan(table->scan);
	table->scan = NULL;
}

void
bfpg_list_unknown(Datum name)
{
	const char *list = text_to_cstring(DatumGetTextPP(name));

	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("list \"%s\" is not published", list),
			 errhint("Publish it with CALL bloom_publish(%s, 'SELECT ...'), or look for its name in bloom_published.",
					 quote_literal_cstr(list))));
}

void
bfpg_list_damaged(Datum name, uint32 part, uint32 parts)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("list \"%s\" lacks part %u of %u",
					text_to_cstring(DatumGetTextPP(name)), part, parts),
			 errhint("Publish it again.")));
}

void
bfpg_list_mixed(Datum name, uint32 part)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("part %u of list \"%s\" is the filter of another set",
					part, text_to_cstring(DatumGetTextPP(name))),
			 errdetail("Its seed, its number or the number of parts is not that of the list."),
			 errhint("Publish the list again.")));
}
