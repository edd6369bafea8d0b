/*
 * changes.c
 *	  Changes of a list that are in force: keys whose answer isn't the filter's.
 *
 * bloom_change has one row for each key that was changed, bloom_absorbed what the generations have
 * absorbed.  A change is in force unless the current generation has absorbed its very version:
 *
 * 1. A publish absorbs, as its last statement, what its snapshot sees: the rows of its query and
 *	  the versions of their changes are of one moment.  (Mutations J1, J2.)
 * 2. A key that is changed again has another version, which nothing has absorbed.  (J3.)
 * 3. Both tables and the filter's row are read under one snapshot.  (J4.)
 *
 * t/090_tracked.pl fails without each of these.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "common/hashfn.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "bf_bytes.h"
#include "base/pg_compat.h"
#include "list/changes.h"
#include "list/list.h"

/* Columns of bloom_absorbed. */
enum
{
	ABSORBED_NAME = 1,
	ABSORBED_BACK = 2,
	ABSORBED_KEY = 3,
	ABSORBED_VERSION = 4
};

/*
 * A probe costs some microseconds, and reading all changes of a list some tenths of one each: after
 * so many probes under one snapshot they are read, unless there are more than these.
 */
static const struct
{
	int64		probes;
	int64		changes;
}			reads[] =
{
	{64, 1000},
	{8192, 100000}
};

typedef struct TableEntry
{
	bytea	   *key;
	uint32		hash;
	BfpgChange	change;
	char		status;
} TableEntry;

static inline uint32
hash_key(const bytea *key)
{
	return hash_bytes((const unsigned char *) VARDATA_ANY(key), (int) VARSIZE_ANY_EXHDR(key));
}

static inline bool
same_key(const bytea *a, const bytea *b)
{
	return VARSIZE_ANY_EXHDR(a) == VARSIZE_ANY_EXHDR(b) && memcmp(VARDATA_ANY(a), VARDATA_ANY(b), VARSIZE_ANY_EXHDR(a)) == 0;
}

#define SH_PREFIX changed
#define SH_ELEMENT_TYPE TableEntry
#define SH_KEY_TYPE bytea *
#define SH_KEY key
#define SH_HASH_KEY(table, key) hash_key(key)
#define SH_EQUAL(table, a, b) same_key(a, b)
#define SH_STORE_HASH
#define SH_GET_HASH(table, entry) (entry)->hash
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

struct BfpgChanges
{
	Oid			change;			/* the tables and their indexes */
	Oid			change_index;
	Oid			absorbed;
	Oid			absorbed_index;
	Datum		name;
	MemoryContext context;
	uint32		kind;
	int64		probes;			/* and keys that will be looked for */
	int			reads;			/* how many of the limits above were tried */
	changed_hash *table;		/* all of them, or NULL: probe */
};

/* Both tables stay locked until the transaction ends, as list.c's. */
static SysScanDesc
begin_scan(Oid relation, Oid index, Relation *table, int count, ScanKeyData *keys)
{
	*table = table_open(relation, AccessShareLock);
	return systable_beginscan(*table, index, true, GetActiveSnapshot(), count, keys);
}

static void
end_scan(SysScanDesc scan, Relation table)
{
	systable_endscan(scan);
	table_close(table, NoLock);
}

static inline Datum
column(HeapTuple tuple, int number, Relation table)
{
	bool		is_null;

	return heap_getattr(tuple, number, RelationGetDescr(table), &is_null);
}

static void
read_change(HeapTuple tuple, Relation table, BfpgChange *change)
{
	change->value = DatumGetBool(column(tuple, BFPG_CHANGE_VALUE, table));
	change->version = DatumGetInt64(column(tuple, BFPG_CHANGE_VERSION, table));
}

static inline uint32
kind_of(const bytea *key)
{
	return VARSIZE_ANY_EXHDR(key) < BFPG_KIND_BYTES ? BF_KEY_NONE : (uint32) bf_load_le((const uint8 *) VARDATA_ANY(key), BFPG_KIND_BYTES);
}

BfpgChanges *
bfpg_changes_open(Oid schema, Datum name, MemoryContext context)
{
	BfpgChanges any = {
		.change = bfpg_list_relation(schema, "bloom_change"),
		.change_index = bfpg_list_relation(schema, "bloom_change_pkey"),
		.absorbed = bfpg_list_relation(schema, "bloom_absorbed"),
		.absorbed_index = bfpg_list_relation(schema, "bloom_absorbed_pkey"),
		.name = name,
		.context = context,
	};
	BfpgChanges *changes = NULL;
	ScanKeyData key;
	Relation	table;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, BFPG_CHANGE_NAME, BTEqualStrategyNumber, F_TEXTEQ, name);
	scan = begin_scan(any.change, any.change_index, &table, 1, &key);
	tuple = systable_getnext(scan);
	if (tuple != NULL)
	{
		changes = MemoryContextAlloc(context, sizeof(BfpgChanges));
		*changes = any;
		changes->kind = kind_of(DatumGetByteaPP(column(tuple, BFPG_CHANGE_KEY, table)));
	}
	end_scan(scan, table);
	return changes;
}

uint32
bfpg_changes_kind(const BfpgChanges *changes)
{
	return changes->kind;
}

/* The next row of the absorbed ones whose key isn't less than this one; they have the same order. */
static HeapTuple
skip_absorbed(SysScanDesc scan, HeapTuple tuple, Relation table, Datum key)
{
	while (tuple != NULL &&
		   DatumGetInt32(DirectFunctionCall2(byteacmp, column(tuple, ABSORBED_KEY, table), key)) < 0)
		tuple = systable_getnext(scan);
	return tuple;
}

/* Shows all changes in force, in the order of their keys; false, on the way, if the list has more than most. */
static bool
scan_all(const BfpgChanges *changes, int64 most, void (*see) (void *state, Datum key, const BfpgChange *change), void *state)
{
	ScanKeyData keys[2];
	Relation	table;
	Relation	absorbed_table;
	SysScanDesc scan;
	SysScanDesc absorbed_scan;
	HeapTuple	tuple;
	HeapTuple	absorbed;
	int64		count = 0;

	ScanKeyInit(&keys[0], BFPG_CHANGE_NAME, BTEqualStrategyNumber, F_TEXTEQ, changes->name);
	ScanKeyInit(&keys[1], ABSORBED_BACK, BTEqualStrategyNumber, F_INT2EQ, Int16GetDatum(BFPG_CURRENT));
	scan = begin_scan(changes->change, changes->change_index, &table, 1, keys);
	absorbed_scan = begin_scan(changes->absorbed, changes->absorbed_index, &absorbed_table, 2, keys);
	absorbed = systable_getnext(absorbed_scan);
	while ((tuple = systable_getnext(scan)) != NULL && ++count <= most)
	{
		Datum		key = column(tuple, BFPG_CHANGE_KEY, table);
		BfpgChange	change;

		read_change(tuple, table, &change);
		absorbed = skip_absorbed(absorbed_scan, absorbed, absorbed_table, key);
		if (absorbed != NULL && DatumGetInt64(column(absorbed, ABSORBED_VERSION, absorbed_table)) == change.version &&
			DatumGetBool(DirectFunctionCall2(byteaeq, column(absorbed, ABSORBED_KEY, absorbed_table), key)))
			continue;
		see(state, key, &change);
	}
	end_scan(scan, table);
	end_scan(absorbed_scan, absorbed_table);
	return count <= most;
}

static void
add_to_table(void *state, Datum key, const BfpgChange *change)
{
	bool		found;

	changed_insert(state, DatumGetByteaPCopy(key), &found)->change = *change;
}

/* Reads all changes in force, if there are no more of the list's than most. */
static void
read_all(BfpgChanges *changes, int64 most)
{
	MemoryContext context = AllocSetContextCreate(changes->context, "bloomfilter changes", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	changed_hash *all = changed_create(context, 256, NULL);
	bool		read = scan_all(changes, most, add_to_table, all);

	MemoryContextSwitchTo(old);
	if (read)
		changes->table = all;
	else
		MemoryContextDelete(context);
}

/* Who wants to see changes, and the memory of one. */
typedef struct Looker
{
	BfpgSeeChange see;
	void	   *state;
	MemoryContext context;
} Looker;

static void
show_change(void *state, Datum key, const BfpgChange *change)
{
	const Looker *looker = state;
	MemoryContext old = MemoryContextSwitchTo(looker->context);
	const bytea *bytes = DatumGetByteaPP(key);

	looker->see(looker->state, kind_of(bytes), bytes, change->value);
	MemoryContextSwitchTo(old);
	MemoryContextReset(looker->context);
}

void
bfpg_changes_each(Oid schema, const char *list, BfpgSeeChange see, void *state)
{
	BfpgChanges *changes = bfpg_changes_open(schema, CStringGetTextDatum(list), CurrentMemoryContext);
	Looker		looker = {see, state, AllocSetContextCreate(CurrentMemoryContext, "bloomfilter change", ALLOCSET_SMALL_SIZES)};

	if (changes != NULL)
		(void) scan_all(changes, PG_INT64_MAX, show_change, &looker);
	MemoryContextDelete(looker.context);
}

void
bfpg_changes_expect(BfpgChanges *changes, int keys)
{
	changes->probes += keys;
	while (changes->table == NULL && changes->reads < lengthof(reads) &&
		   changes->probes > reads[changes->reads].probes)
		read_all(changes, reads[changes->reads++].changes);
}

/* Whether the current generation has absorbed this version of a key. */
static bool
is_absorbed(const BfpgChanges *changes, Datum key, int64 version)
{
	ScanKeyData keys[3];
	Relation	table;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		absorbed;

	ScanKeyInit(&keys[0], ABSORBED_NAME, BTEqualStrategyNumber, F_TEXTEQ, changes->name);
	ScanKeyInit(&keys[1], ABSORBED_BACK, BTEqualStrategyNumber, F_INT2EQ, Int16GetDatum(BFPG_CURRENT));
	ScanKeyInit(&keys[2], ABSORBED_KEY, BTEqualStrategyNumber, F_BYTEAEQ, key);
	scan = begin_scan(changes->absorbed, changes->absorbed_index, &table, lengthof(keys), keys);
	tuple = systable_getnext(scan);
	absorbed = tuple != NULL && DatumGetInt64(column(tuple, ABSORBED_VERSION, table)) == version;
	end_scan(scan, table);
	return absorbed;
}

static bool
probe(const BfpgChanges *changes, Datum key, BfpgChange *change)
{
	ScanKeyData keys[2];
	Relation	table;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&keys[0], BFPG_CHANGE_NAME, BTEqualStrategyNumber, F_TEXTEQ, changes->name);
	ScanKeyInit(&keys[1], BFPG_CHANGE_KEY, BTEqualStrategyNumber, F_BYTEAEQ, key);
	scan = begin_scan(changes->change, changes->change_index, &table, lengthof(keys), keys);
	tuple = systable_getnext(scan);
	if (tuple != NULL)
		read_change(tuple, table, change);
	end_scan(scan, table);
	return tuple != NULL && !is_absorbed(changes, key, change->version);
}

bool
bfpg_changes_find(BfpgChanges *changes, Datum key, BfpgChange *change)
{
	const TableEntry *entry;

	if (changes->table == NULL)
		bfpg_changes_expect(changes, 1);
	if (changes->table == NULL)
		return probe(changes, key, change);
	entry = changed_lookup(changes->table, (bytea *) DatumGetPointer(key));
	if (entry != NULL)
		*change = entry->change;
	return entry != NULL;
}

/* Room for what stands before a key's bytes. */
static void
begin_key(StringInfo buffer)
{
	const char	front[VARHDRSZ + BFPG_KIND_BYTES] = {0};

	resetStringInfo(buffer);
	appendBinaryStringInfo(buffer, front, sizeof(front));
}

static Datum
end_key(uint32 kind, StringInfo buffer)
{
	SET_VARSIZE(buffer->data, buffer->len);
	bf_store_le((uint8 *) buffer->data + VARHDRSZ, BFPG_KIND_BYTES, kind);
	return PointerGetDatum(buffer->data);
}

Datum
bfpg_change_key(BfpgKeyCoder *coder, Datum key, StringInfo buffer)
{
	BfpgKeySink sink = {0, buffer};

	begin_key(buffer);
	(void) bfpg_sink_key(coder, key, &sink);
	/* A row's kind is known now. */
	return end_key(coder->type, buffer);
}

Datum
bfpg_change_bytes(uint32 kind, const void *bytes, Size length, StringInfo buffer)
{
	begin_key(buffer);
	appendBinaryStringInfo(buffer, bytes, length);
	return end_key(kind, buffer);
}
