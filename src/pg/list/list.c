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
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/pg_am.h"
#include "catalog/pg_proc.h"
#include "common/hashfn.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "base/pg_compat.h"
#include "base/pin.h"
#include "base/report.h"
#include "engines/engines.h"
#include "list/list.h"
#include "list/owner.h"
#include "list/tables.h"

/* Columns of bloom_generation_part. */
enum
{
	PART_NAME = 1,
	PART_BACK = 2,
	PART_PART = 3,
	PART_FILTER = 4,
	PART_TRACKED = 5
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

Oid
bfpg_extension_function(Oid schema, const char *name, int count, const Oid *types)
{
	Oid			function = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum(name),
										   PointerGetDatum(buildoidvector(types, count)), ObjectIdGetDatum(schema));

	if (!OidIsValid(function))
		elog(ERROR, "function %s of the extension is missing", name);
	return function;
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

bool
bfpg_list_read(Oid schema, const char *table, Datum name, int count, const char *const *columns, NullableDatum *values)
{
	Relation	relation = table_open(bfpg_list_relation(schema, table), AccessShareLock);
	TupleDesc	desc = RelationGetDescr(relation);
	SysScanDesc scan;
	HeapTuple	tuple;
	int			i;

	bfpg_check_table_owner(relation);
	tuple = bfpg_list_newest_row(relation, name, &scan);
	for (i = 0; tuple != NULL && i < count; i++)
	{
		int			number = SPI_fnumber(desc, columns[i]);

		values[i].value = heap_getattr(tuple, number, desc, &values[i].isnull);
		if (!values[i].isnull)
			values[i].value = datumCopy(values[i].value, TupleDescAttr(desc, number - 1)->attbyval, TupleDescAttr(desc, number - 1)->attlen);
	}
	systable_endscan(scan);
	table_close(relation, NoLock);
	return tuple != NULL;
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

/*
 * Where this process last found the row of a part: an index scan is most of what a look-up of one
 * key costs, and the row moves once a night.  A place is only a hint.  What is there counts as the
 * row, and the index isn't asked, because (t/061_lookup.pl):
 *
 * 1. The page is one of the table's file as it is now.  Its length doesn't shrink while the table
 *	  is locked.
 * 2. The tuple is visible to the snapshot that the index would be read by; heap_fetch also does
 *	  what SERIALIZABLE needs.
 * 3. It has the row's name, generation and part.
 * 4. The primary key allows one such tuple that is visible, so the index would show this one.
 */
#define PLACES 1024

/* By a hash of name and part, offset 0 where there is none. */
static ItemPointerData places[PLACES];

static ItemPointer
place_of(Datum name, int32 part)
{
	const text *list = (text *) DatumGetPointer(name);
	uint32		hash = hash_bytes((const unsigned char *) VARDATA_ANY(list), (int) VARSIZE_ANY_EXHDR(list));

	return &places[(hash + (uint32) part) % PLACES];
}

static bool
is_part(Relation table, HeapTuple tuple, Datum name, int32 part)
{
	TupleDesc	desc = RelationGetDescr(table);
	bool		is_null;
	const text *list = (text *) DatumGetPointer(name);
	const text *found = (text *) DatumGetPointer(heap_getattr(tuple, PART_NAME, desc, &is_null));

	return DatumGetInt16(heap_getattr(tuple, PART_BACK, desc, &is_null)) == BFPG_CURRENT &&
		DatumGetInt32(heap_getattr(tuple, PART_PART, desc, &is_null)) == part &&
		!VARATT_IS_EXTERNAL(found) && !VARATT_IS_COMPRESSED(found) &&
		VARSIZE_ANY_EXHDR(found) == VARSIZE_ANY_EXHDR(list) &&
		memcmp(VARDATA_ANY(found), VARDATA_ANY(list), VARSIZE_ANY_EXHDR(list)) == 0;
}

/* Finds a row where it was the last time.  Its page is pinned then. */
static bool
find_by_place(Relation table, Datum name, int32 part, HeapTuple tuple, Buffer *buffer)
{
	BlockNumber pages = InvalidBlockNumber;
	Buffer		page;
	bool		found;

	tuple->t_self = *place_of(name, part);
	if (!ItemPointerIsValid(&tuple->t_self) || table->rd_rel->relam != HEAP_TABLE_AM_OID)
		return false;
	page = bfpg_pin_page(table, ItemPointerGetBlockNumber(&tuple->t_self), &pages);
	if (!BufferIsValid(page))
		return false;
	found = heap_fetch(table, GetActiveSnapshot(), tuple, buffer, false);
	ReleaseBuffer(page);
	if (!found || is_part(table, tuple, name, part))
		return found;
	ReleaseBuffer(*buffer);
	return false;
}

/* Copies what a look-up needs of a row. */
static void
read_part(Relation table, HeapTuple tuple, MemoryContext context, BfpgListPart *part)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	bool		is_null;

	part->filter = datumCopy(heap_getattr(tuple, PART_FILTER, RelationGetDescr(table), &is_null), false, -1);
	part->tracked = DatumGetBool(heap_getattr(tuple, PART_TRACKED, RelationGetDescr(table), &is_null));
	MemoryContextSwitchTo(old);
}

/* By the primary key. */
static bool
find_by_index(Relation table, Datum name, int32 number, MemoryContext context, BfpgListPart *part)
{
	ScanKeyData keys[3];
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&keys[0], PART_NAME, BTEqualStrategyNumber, F_TEXTEQ, name);
	ScanKeyInit(&keys[1], PART_BACK, BTEqualStrategyNumber, F_INT2EQ, Int16GetDatum(BFPG_CURRENT));
	ScanKeyInit(&keys[2], PART_PART, BTEqualStrategyNumber, F_INT4EQ, Int32GetDatum(number));
	scan = systable_beginscan(table, bfpg_list_relation(RelationGetNamespace(table), "bloom_generation_part_pkey"),
							  true, GetActiveSnapshot(), lengthof(keys), keys);
	tuple = systable_getnext(scan);
	if (tuple != NULL)
	{
		read_part(table, tuple, context, part);
		*place_of(name, number) = tuple->t_self;
	}
	systable_endscan(scan);
	return tuple != NULL;
}

bool
bfpg_list_part(Oid schema, Datum name, int32 number, MemoryContext context, BfpgListPart *part)
{
	Relation	table = table_open(bfpg_list_relation(schema, "bloom_generation_part"), AccessShareLock);
	HeapTupleData tuple;
	Buffer		buffer;
	bool		found;

	bfpg_check_list_table(RelationGetRelid(table));
	found = find_by_place(table, name, number, &tuple, &buffer);
	if (found)
	{
		read_part(table, &tuple, context, part);
		ReleaseBuffer(buffer);
	}
	else
		found = find_by_index(table, name, number, context, part);
	table_close(table, NoLock);
	return found;
}

void
bfpg_list_unknown(Oid schema, Datum name)
{
	const char *list = text_to_cstring(DatumGetTextPP(name));

	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("list \"%s\" is not published", list),
			 errhint("Publish it with CALL %s(%s, 'SELECT ...'), or look for its name in bloom_published.",
					 bfpg_callable_name(schema, "bloom_publish"), quote_literal_cstr(list))));
}

const BfpgListQuery *bfpg_list_queries;

void
bfpg_list_check_query(Oid schema, const char *list)
{
	const BfpgListQuery *query;

	for (query = bfpg_list_queries; query != NULL; query = query->outer)
		if (query->schema == schema && strcmp(query->list, list) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_IN_USE),
					 errmsg("list \"%s\" is being published by this session", list),
					 errdetail("A function that its query calls changes the list, or one of its keys."),
					 errhint("CALL bloom_publish with a query that only reads. Change keys before it, or after it.")));
}

/*
 * What a list may be called: what hosts take, too, since they ask for it, show it and have it in files.
 */

/* Bytes of a name in UTF-8, as doc/FEED.md has it. */
#define MOST_NAME_BYTES 200

/* What is no control character, and doesn't change the direction of what is shown around it. */
static bool
is_shown(pg_wchar c)
{
	return c >= ' ' && (c < 0x7f || c > 0x9f) && c != 0x61c && c != 0x200e && c != 0x200f &&
		(c < 0x2028 || c > 0x202e) && (c < 0x2066 || c > 0x2069) && c != 0xfeff;
}

static bool
is_name(const char *text)
{
	const unsigned char *at = (const unsigned char *) text;
	int			length = (int) strlen(text);

	if (length < 1 || length > MOST_NAME_BYTES || text[0] == ' ' || text[length - 1] == ' ' ||
		!pg_verify_mbstr(PG_UTF8, text, length, true))
		return false;
	for (; *at != '\0'; at += pg_utf_mblen(at))
		if (!is_shown(utf8_to_unicode(at)))
			return false;
	return true;
}

void
bfpg_list_check_name(const char *name)
{
	if (!is_name(pg_server_to_any(name, (int) strlen(name), PG_UTF8)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("a list can't have this name"),
				 errdetail("A name has between 1 and %d bytes of UTF-8, no space at its ends, no control character, and none that changes the direction of text.",
						   MOST_NAME_BYTES)));
}
