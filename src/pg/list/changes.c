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
 * 4. At REPEATABLE READ a transaction may see two rows of a key: one that a publish has removed since its
 *	  snapshot, and its own.  Its own counts, even with a lesser version, as after the clock was set back.
 *	  (J45, J46.)
 *
 * t/090_tracked.pl fails without each of these.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/xact.h"
#include "port/pg_bitutils.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "bf_bytes.h"
#include "bf_hash.h"
#include "list/changes.h"
#include "list/list.h"

/* Columns of bloom_absorbed behind the name, which is the first one, as in bloom_change. */
enum
{
	ABSORBED_BACK = 2,
	ABSORBED_KEY = 3,
	ABSORBED_VERSION = 4
};

/*
 * A probe of an index costs some microseconds, and reading all changes of a list a tenth of one each:
 * after so many probes under one snapshot they are read, unless there are more than these.
 */
static const struct
{
	int64		probes;
	uint32		changes;
}			reads[] =
{
	{1, 16},
	{64, 1000},
	{2048, 100000}
};

/* Changes whose bits share a word, at most.  Of a hundred keys that weren't changed then fewer than one is looked for. */
#define CHANGES_A_WORD 4

/* A change that was read.  They lie behind one another: where there are many, each page of memory more costs time. */
typedef struct KeyChange
{
	int64		version;
	uint32		length:30,
				value:1,
				absorbed:1;
	char		key[FLEXIBLE_ARRAY_MEMBER];
} KeyChange;

/* Where the next one lies. */
#define KEY_CHANGE_BYTES(length) MAXALIGN(offsetof(KeyChange, key) + (Size) (length))

/* Changes that take more aren't read: their keys are large. */
#define MOST_BYTES ((Size) 64 * 1024 * 1024)

/* While the index shows so many rows, a page of the table can be read. */
#define ROWS_FOR_A_PAGE 20

typedef enum ListTable
{
	CHANGE,
	ABSORBED
} ListTable;

/*
 * Begins to read the list's rows that fit some keys; keys[0] becomes its name.  The table stays locked until the
 * transaction ends, as list.c's.  Where up to so many rows are wanted in any order (0: a few), and the table has few
 * pages, these are read without the index; but in SERIALIZABLE that would conflict with changes of all other lists.
 */
static SysScanDesc
begin_scan(const BfpgChanges *changes, ListTable which, ScanKeyData *keys, int count, uint32 most, Relation *table)
{
	static const char *const names[][2] = {{"bloom_change", "bloom_change_pkey"}, {"bloom_absorbed", "bloom_absorbed_pkey"}};
	bool		by_index;

	*table = table_open(bfpg_list_relation(changes->schema, names[which][0]), AccessShareLock);
	by_index = most == 0 || IsolationIsSerializable() || RelationGetNumberOfBlocks(*table) > most / ROWS_FOR_A_PAGE;
	ScanKeyInit(&keys[0], BFPG_CHANGE_NAME, BTEqualStrategyNumber, F_TEXTEQ, changes->name);
	return systable_beginscan(*table, bfpg_list_relation(changes->schema, names[which][1]), by_index, GetActiveSnapshot(), count, keys);
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

/* Whether this transaction wrote it: see 4. */
static inline bool
is_own(HeapTuple tuple)
{
	return TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple->t_data));
}

static inline uint32
kind_of(const bytea *key)
{
	return VARSIZE_ANY_EXHDR(key) < BFPG_KIND_BYTES ? BF_KEY_NONE : (uint32) bf_load_le((const uint8 *) VARDATA_ANY(key), BFPG_KIND_BYTES);
}

BfpgChanges *
bfpg_changes_open(Oid schema, Datum name, uint64 seed, MemoryContext context)
{
	BfpgChanges *changes = MemoryContextAlloc(context, sizeof(BfpgChanges));

	*changes = (BfpgChanges) {.schema = schema, .name = name, .seed = seed, .context = context};
	return changes;
}

/* The hash that a filter has of a key; of what isn't a key, and came by a restore, any. */
static inline uint64
hash_of(const BfpgChanges *changes, const bytea *key)
{
	Size		length = VARSIZE_ANY_EXHDR(key);

	if (length < BFPG_KIND_BYTES)
		return 0;
	return bf_hash((const uint8 *) VARDATA_ANY(key) + BFPG_KIND_BYTES, length - BFPG_KIND_BYTES, changes->seed);
}

static inline KeyChange *
kept_at(const BfpgChanges *changes, uint32 slot)
{
	return (KeyChange *) (changes->kept.data + slot - 1);
}

/* The slot that has a key's change, or in which it goes, which is 0. */
static uint32 *
find_slot(const BfpgChanges *changes, uint64 hash, const bytea *key)
{
	uint32		length = VARSIZE_ANY_EXHDR(key);
	uint32		last = ((uint32) 1 << changes->log2_slots) - 1;
	uint32		at = hash & last;

	for (; changes->slots[at] != 0; at = (at + 1) & last)
	{
		const KeyChange *other = kept_at(changes, changes->slots[at]);

		if (other->length == length && memcmp(other->key, VARDATA_ANY(key), length) == 0)
			break;
	}
	return &changes->slots[at];
}

/* Frees a key that was not read where it is stored: what was read stays as long as its context. */
static inline void
free_if_copy(bytea *key, Datum stored)
{
	if ((Pointer) key != DatumGetPointer(stored))
		pfree(key);
}

/* False: all would be too much. */
static bool
keep_change(BfpgChanges *changes, HeapTuple tuple, Relation table)
{
	Datum		stored = column(tuple, BFPG_CHANGE_KEY, table);
	bytea	   *key = DatumGetByteaPP(stored);
	uint32		length = VARSIZE_ANY_EXHDR(key);
	uint64		hash = hash_of(changes, key);
	uint32		slot = changes->kept.len + 1;
	uint32	   *at;
	KeyChange  *kept;
	BfpgChange	change;

	if (changes->kept.len + KEY_CHANGE_BYTES(length) > MOST_BYTES)
		return false;
	enlargeStringInfo(&changes->kept, KEY_CHANGE_BYTES(length));
	read_change(tuple, table, &change);
	kept = kept_at(changes, slot);
	kept->version = change.version;
	kept->length = length;
	kept->value = change.value;
	kept->absorbed = false;
	memcpy(kept->key, VARDATA_ANY(key), length);
	at = find_slot(changes, hash, key);
	if (*at == 0 || is_own(tuple))
		*at = slot;
	changes->bits[hash >> changes->bits_shift] |= bfpg_changes_bits(hash);
	changes->kept.len += KEY_CHANGE_BYTES(length);
	free_if_copy(key, stored);
	return true;
}

/* Keeps all changes of the list; false: there are more than most, or they are too much. */
static bool
keep_changes(BfpgChanges *changes, uint32 most)
{
	ScanKeyData key;
	Relation	table;
	SysScanDesc scan;
	HeapTuple	tuple;
	uint32		count = 0;

	scan = begin_scan(changes, CHANGE, &key, 1, most, &table);
	while ((tuple = systable_getnext(scan)) != NULL && count < most && keep_change(changes, tuple, table))
		count++;
	end_scan(scan, table);
	return tuple == NULL;
}

/* Marks those that the current generation has absorbed. */
static void
mark_absorbed(BfpgChanges *changes, uint32 most)
{
	ScanKeyData keys[2];
	Relation	table;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&keys[1], ABSORBED_BACK, BTEqualStrategyNumber, F_INT2EQ, Int16GetDatum(BFPG_CURRENT));
	scan = begin_scan(changes, ABSORBED, keys, lengthof(keys), most, &table);
	while ((tuple = systable_getnext(scan)) != NULL)
	{
		Datum		stored = column(tuple, ABSORBED_KEY, table);
		bytea	   *key = DatumGetByteaPP(stored);
		uint32		slot = *find_slot(changes, hash_of(changes, key), key);

		if (slot != 0 && kept_at(changes, slot)->version == DatumGetInt64(column(tuple, ABSORBED_VERSION, table)))
			kept_at(changes, slot)->absorbed = true;
		free_if_copy(key, stored);
	}
	end_scan(scan, table);
}

/* Reads all changes, if there are no more of the list's than most. */
static void
read_all(BfpgChanges *changes, uint32 most)
{
	MemoryContext context = AllocSetContextCreate(changes->context, "bloomfilter changes", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	int			log2_words = pg_ceil_log2_32(most / CHANGES_A_WORD);
	bool		read;

	initStringInfo(&changes->kept);
	changes->log2_slots = pg_ceil_log2_32(most * 2);
	changes->slots = palloc0(sizeof(uint32) << changes->log2_slots);
	changes->bits = palloc0(sizeof(uint64) << log2_words);
	changes->bits_shift = 64 - log2_words;
	read = keep_changes(changes, most);
	if (read)
		mark_absorbed(changes, most);
	MemoryContextSwitchTo(old);
	if (!read)
	{
		changes->bits = NULL;
		MemoryContextDelete(context);
	}
}

void
bfpg_changes_expect(BfpgChanges *changes, int keys)
{
	changes->probes += keys;
	while (changes->bits == NULL && changes->tried < lengthof(reads) &&
		   changes->probes > reads[changes->tried].probes)
		read_all(changes, reads[changes->tried++].changes);
}

static bool
is_absorbed(const BfpgChanges *changes, Datum key, int64 version)
{
	ScanKeyData keys[3];
	Relation	table;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		absorbed;

	ScanKeyInit(&keys[1], ABSORBED_BACK, BTEqualStrategyNumber, F_INT2EQ, Int16GetDatum(BFPG_CURRENT));
	ScanKeyInit(&keys[2], ABSORBED_KEY, BTEqualStrategyNumber, F_BYTEAEQ, key);
	scan = begin_scan(changes, ABSORBED, keys, lengthof(keys), 0, &table);
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
	bool		found = false;

	ScanKeyInit(&keys[1], BFPG_CHANGE_KEY, BTEqualStrategyNumber, F_BYTEAEQ, key);
	scan = begin_scan(changes, CHANGE, keys, lengthof(keys), 0, &table);
	for (; (tuple = systable_getnext(scan)) != NULL; found = true)
		if (!found || is_own(tuple))
			read_change(tuple, table, change);
	end_scan(scan, table);
	return found && !is_absorbed(changes, key, change->version);
}

void
bfpg_changes_each(Oid schema, const char *list, BfpgSeeChange see, void *state)
{
	BfpgChanges *changes = bfpg_changes_open(schema, CStringGetTextDatum(list), 0, CurrentMemoryContext);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "bloomfilter change", ALLOCSET_SMALL_SIZES);
	ScanKeyData name;
	Relation	table;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		more = true;

	scan = begin_scan(changes, CHANGE, &name, 1, 0, &table);
	while (more && (tuple = systable_getnext(scan)) != NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(context);
		bytea	   *key = DatumGetByteaPP(column(tuple, BFPG_CHANGE_KEY, table));
		BfpgChange	change;

		read_change(tuple, table, &change);
		if (!is_absorbed(changes, PointerGetDatum(key), change.version))
			more = see(state, kind_of(key), key, change.value);
		MemoryContextSwitchTo(old);
		MemoryContextReset(context);
	}
	end_scan(scan, table);
	MemoryContextDelete(context);
}

static bool
see_member(void *state, uint32 kind, const bytea *key, bool value)
{
	if (value)
		*(uint32 *) state = kind;
	return *(uint32 *) state == BF_KEY_NONE;
}

uint32
bfpg_changes_kind(Oid schema, const char *list)
{
	uint32		kind = BF_KEY_NONE;

	bfpg_changes_each(schema, list, see_member, &kind);
	return kind;
}

bool
bfpg_changes_find(BfpgChanges *changes, uint64 hash, Datum key, BfpgChange *change)
{
	const KeyChange *kept;
	uint32		slot;

	if (changes->bits == NULL)
		bfpg_changes_expect(changes, 1);
	if (changes->bits == NULL)
		return probe(changes, key, change);
	slot = *find_slot(changes, hash, (const bytea *) DatumGetPointer(key));
	if (slot == 0)
		return false;
	kept = kept_at(changes, slot);
	*change = (BfpgChange) {kept->value, kept->version};
	return !kept->absorbed;
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
