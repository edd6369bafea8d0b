/*
 * list.c
 *	  The filters of published lists, read from the extension's own tables.
 *
 * The index is read by the functions that are meant for the system's catalogs: they
 * take any table, are the same in all majors, and compare text by the collation "C",
 * which the column has for this reason.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "list/list.h"
#include "list/owner.h"
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

HeapTuple
bfpg_list_newest_row(Relation table, Datum name, SysScanDesc *scan)
{
	const char *index = psprintf("%s_pkey", RelationGetRelationName(table));
	ScanKeyData key;

	ScanKeyInit(&key, 1, BTEqualStrategyNumber, F_TEXTEQ, name);
	*scan = systable_beginscan(table, bfpg_list_relation(RelationGetNamespace(table), index), true, NULL, 1, &key);
	return systable_getnext(*scan);
}

void
bfpg_list_check_may_read(Oid schema, const char *list)
{
	Oid			table = bfpg_list_relation(schema, "bloom_generation_part");
	BfpgOwner	owner;

	if (pg_class_aclcheck(table, GetUserId(), ACL_SELECT) == ACLCHECK_OK)
		return;
	bfpg_owner_find(schema, list, &owner);
	if (!OidIsValid(owner.role) || !has_privs_of_role(GetUserId(), owner.role))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_TABLE, get_rel_name(table));
}

/* Finds a row by the primary key. */
bool
bfpg_list_part(Oid schema, Datum name, int32 part, MemoryContext context, Datum *filter)
{
	Relation	table = table_open(bfpg_list_relation(schema, "bloom_generation_part"), AccessShareLock);
	ScanKeyData keys[3];
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		is_null = false;

	bfpg_check_list_table(RelationGetRelid(table));
	ScanKeyInit(&keys[0], PART_NAME, BTEqualStrategyNumber, F_TEXTEQ, name);
	ScanKeyInit(&keys[1], PART_BACK, BTEqualStrategyNumber, F_INT2EQ,
				Int16GetDatum(BFPG_CURRENT));
	ScanKeyInit(&keys[2], PART_PART, BTEqualStrategyNumber, F_INT4EQ, Int32GetDatum(part));
	scan = systable_beginscan(table, bfpg_list_relation(schema, "bloom_generation_part_pkey"),
							  true, GetActiveSnapshot(), lengthof(keys), keys);
	tuple = systable_getnext(scan);
	if (tuple != NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(context);

		*filter = datumCopy(heap_getattr(tuple, PART_FILTER, RelationGetDescr(table), &is_null), false, -1);
		MemoryContextSwitchTo(old);
	}
	systable_endscan(scan);
	table_close(table, NoLock);
	Assert(!is_null);
	return tuple != NULL;
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
