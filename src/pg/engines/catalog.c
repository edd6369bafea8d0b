/*
 * catalog.c
 *	  Reading the catalogs of other engines.
 *
 * An engine is known by its catalog, found by schema and name and never through search_path.
 * A catalog of another shape is an error: read wrongly it could say that rows are here that
 * aren't.  Anybody who may create schemas could make such tables, and stop all look-ups by
 * them.  So only those count that a superuser owns, or that belong to the engine's extension.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/stratnum.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "engines/catalog.h"

static void
refuse_shape(Relation catalog)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("table \"%s.%s\" has not the columns that bloomfilter knows",
					get_namespace_name(RelationGetNamespace(catalog)), RelationGetRelationName(catalog)),
			 errdetail("It tells which tables' rows are kept by another engine, and not by the tables themselves."),
			 errhint("Update bloomfilter, which may know this version of the engine.")));
}

Relation
bfpg_open_catalog(const char *engine, const char *schema, const char *name)
{
	Oid			namespace = get_namespace_oid(schema, true);
	Oid			oid = OidIsValid(namespace) ? get_relname_relid(name, namespace) : InvalidOid;
	Oid			extension;
	Relation	catalog;

	if (!OidIsValid(oid))
		return NULL;
	catalog = relation_open(oid, AccessShareLock);
	extension = getExtensionOfObject(RelationRelationId, oid);
	if (!superuser_arg(catalog->rd_rel->relowner) &&
		(!OidIsValid(extension) || strcmp(get_extension_name(extension), engine) != 0))
	{
		relation_close(catalog, AccessShareLock);
		return NULL;
	}
	if (catalog->rd_rel->relkind != RELKIND_RELATION)
		refuse_shape(catalog);
	return catalog;
}

void
bfpg_catalog_key(Relation catalog, ScanKeyData *key, const char *column, Oid type,
				 RegProcedure equal, Datum value)
{
	AttrNumber	number = get_attnum(RelationGetRelid(catalog), column);

	if (number == InvalidAttrNumber || get_atttype(RelationGetRelid(catalog), number) != type)
		refuse_shape(catalog);
	ScanKeyInit(key, number, BTEqualStrategyNumber, equal, value);
}

bool
bfpg_catalog_row(Relation catalog, const char *index, Snapshot snapshot, ScanKeyData *keys, int count,
				 const char *column, BfpgCatalogRow *row)
{
	Oid			by = index == NULL ? InvalidOid : get_relname_relid(index, RelationGetNamespace(catalog));
	ScanKeyData wanted;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		found;
	bool		is_null;

	if (column != NULL)
		bfpg_catalog_key(catalog, &wanted, column, INT4OID, F_INT4EQ, 0);
	scan = systable_beginscan(catalog, by, OidIsValid(by), snapshot, count, keys);
	tuple = systable_getnext(scan);
	found = HeapTupleIsValid(tuple);
	if (column != NULL && found)
	{
		row->maker = HeapTupleHeaderGetXmin(tuple->t_data);
		row->number = DatumGetInt32(heap_getattr(tuple, wanted.sk_attno, RelationGetDescr(catalog), &is_null));
	}
	systable_endscan(scan);
	relation_close(catalog, AccessShareLock);
	return found;
}
