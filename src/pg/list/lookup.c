/*
 * lookup.c
 *	  bloom_lookup and bloom_lookup_each: asking a published list by its name.
 *
 * A list that is not there, lacks a part or has one of another set is an error and never
 * a "no".  A call site reads the rows of a list once for all calls under one snapshot, and
 * each part's row when the first key of it comes.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/memutils.h"

#include "ask/access.h"
#include "list/changes.h"
#include "list/list.h"
#include "list/lookup.h"
#include "base/pg_compat.h"
#include "base/report.h"
#include "base/sort.h"

PG_FUNCTION_INFO_V1(bloomfilter_lookup);
PG_FUNCTION_INFO_V1(bloomfilter_lookup_each);
PG_FUNCTION_INFO_V1(bloomfilter_explain_list);
PG_FUNCTION_INFO_V1(bloomfilter_explain_bytes);

/* Reads one part's row, if it is there, and keeps where its filter is. */
static BfpgLookupPart *
read_part(BfpgLookup *lookup, int32 number)
{
	BfpgLookupPart *part;
	BfpgListPart row;

	if (!bfpg_list_part(lookup->schema, PointerGetDatum(lookup->name), number, lookup->context, &row))
		return NULL;
	part = MemoryContextAllocZero(lookup->context, sizeof(BfpgLookupPart));
	part->row = row;
	return part;
}

pg_noreturn static void
refuse_lack(const BfpgLookup *lookup, uint32 part)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("list \"%s\" lacks part %u of %u", text_to_cstring(lookup->name), part, lookup->header.parts),
			 errhint("Publish it again.")));
}

/*
 * The kind of keys in a list whose part 0 has none: that of the first part that has
 * some, or of its changes.  A key without a type is read as the list's kind, not as its part's, since it
 * is the reading that tells which part that is.
 */
static uint32
find_kind(BfpgLookup *lookup)
{
	uint32		i;

	for (i = 1; i < lookup->header.parts; i++)
	{
		bf_shape	shape;
		BfpgListPart part;

		if (!bfpg_list_part(lookup->schema, PointerGetDatum(lookup->name), (int32) i, CurrentMemoryContext, &part))
			refuse_lack(lookup, i);
		bfpg_read_shape(part.filter, &shape);
		if (shape.level[0].key_type != BF_KEY_NONE)
			return shape.level[0].key_type;
	}
	return lookup->changes != NULL ? bfpg_changes_kind(lookup->schema, text_to_cstring(lookup->name)) : BF_KEY_NONE;
}

/* Begins with a list: its part 0 says how many parts there are, and the seed. */
static void
begin_list(BfpgLookup *lookup, text *name)
{
	BfpgLookupPart *first;
	BfpgLookupPart **parts;

	lookup->parts = NULL;		/* should what follows fail */
	MemoryContextReset(lookup->context);
	bfpg_mark_snapshot(&lookup->mark, lookup->context);
	lookup->name = MemoryContextAlloc(lookup->context, VARSIZE_ANY(name));
	memcpy(lookup->name, name, VARSIZE_ANY(name));
	first = read_part(lookup, 0);
	if (first == NULL)
		bfpg_list_unknown(lookup->schema, PointerGetDatum(name));
	lookup->changer = InvalidOid;
	lookup->changes = NULL;
	memset(&lookup->key, 0, sizeof(lookup->key));
	bfpg_access_open(&first->access, first->row.filter);
	lookup->header = first->access.shape->level[0];
	bfpg_access_close(&first->access);
	if (first->row.tracked)
		lookup->changes = bfpg_changes_open(lookup->schema, PointerGetDatum(lookup->name), lookup->header.seed, lookup->context);
	if (lookup->header.key_type == BF_KEY_NONE)
		lookup->header.key_type = find_kind(lookup);
	parts = MemoryContextAllocZero(lookup->context, lookup->header.parts * sizeof(BfpgLookupPart *));
	parts[0] = first;
	lookup->parts = parts;
}

static inline bool
same_name(const text *a, const text *b)
{
	return VARSIZE_ANY_EXHDR(a) == VARSIZE_ANY_EXHDR(b) &&
		memcmp(VARDATA_ANY(a), VARDATA_ANY(b), VARSIZE_ANY_EXHDR(a)) == 0;
}

/* Of many lists that an application looks keys up in, which one didn't take the key. */
static void
tell_list(void *name)
{
	errcontext("key of list \"%s\"", text_to_cstring(name));
}

/* The list of argument 0.  What is kept of it is under a context. */
static void
open_list(BfpgLookup *lookup, FunctionCallInfo fcinfo, MemoryContext context)
{
	text	   *name = PG_GETARG_TEXT_PP(0);

	if (lookup->context == NULL)
	{
		lookup->schema = bfpg_extension_schema(fcinfo->flinfo->fn_oid);
		lookup->context = AllocSetContextCreate(context, "bloomfilter lookup", ALLOCSET_SMALL_SIZES);
	}
	/* Errors name the list until bfpg_lookup_end. */
	lookup->callback = (ErrorContextCallback) {error_context_stack, tell_list, name};
	error_context_stack = &lookup->callback;
	if (lookup->parts == NULL || !same_name(lookup->name, name) || !bfpg_same_snapshot(&lookup->mark))
		begin_list(lookup, name);
}

BfpgLookup *
bfpg_lookup_begin(FunctionCallInfo fcinfo, bool array)
{
	BfpgLookup *lookup;

	if (PG_ARGISNULL(0))
		bfpg_refuse_null("name of a list");
	lookup = bfpg_call_state(fcinfo, 1, array, sizeof(BfpgLookup));
	open_list(lookup, fcinfo, fcinfo->flinfo->fn_mcxt);
	bfpg_check_key_type(&lookup->coder, &lookup->header);
	return lookup;
}

/* Reads the row of another part than 0. */
static pg_noinline BfpgLookupPart *
find_part(BfpgLookup *lookup, uint32 number)
{
	lookup->parts[number] = read_part(lookup, (int32) number);
	if (lookup->parts[number] == NULL)
		refuse_lack(lookup, number);
	return lookup->parts[number];
}

/*
 * Throws unless a filter is a part of the list's set.  Hash and part were computed from the
 * header of part 0: a filter of another set would answer "no" to its own keys.
 */
static inline void
check_part(const BfpgLookup *lookup, uint32 number, const bf_header *header)
{
	if (unlikely(header->part != number || header->parts != lookup->header.parts ||
				 header->seed != lookup->header.seed))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("part %u of list \"%s\" is the filter of another set", number, text_to_cstring(lookup->name)),
				 errdetail("Its seed, its number or the number of parts is not that of the list."),
				 errhint("Publish the list again.")));
	if (header->key_type != BF_KEY_NONE && header->key_type != lookup->header.key_type)
		bfpg_refuse_key_type(header->key_type, lookup->coder.type);
}

static BfpgAccess *
open_part(BfpgLookup *lookup, uint64 hash)
{
	uint32		number = 0;
	BfpgLookupPart *part;

	if (lookup->header.parts > 1)
		number = bf_part_of(hash, lookup->header.parts);
	part = lookup->parts[number];
	if (part == NULL)
		part = find_part(lookup, number);
	bfpg_access_open(&part->access, part->row.filter);
	check_part(lookup, number, &part->access.shape->level[0]);
	return &part->access;
}

Datum
bfpg_lookup_key(BfpgLookup *lookup, Datum key)
{
	if (lookup->key.data == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(lookup->context);

		initStringInfo(&lookup->key);
		MemoryContextSwitchTo(old);
	}
	return bfpg_change_key(&lookup->coder, key, &lookup->key);
}

/* Whether a key with this hash has a change in force, which answers in the filter's place. */
static inline bool
is_changed(BfpgLookup *lookup, Datum key, uint64 hash, BfpgChange *change)
{
	return bfpg_changes_may_have(lookup->changes, hash) &&
		bfpg_changes_find(lookup->changes, hash, bfpg_lookup_key(lookup, key), change);
}

Datum
bloomfilter_lookup(PG_FUNCTION_ARGS)
{
	BfpgLookup *lookup = bfpg_lookup_begin(fcinfo, false);
	BfpgChange	change;
	uint64		hash;
	bool		found;

	if (PG_ARGISNULL(1))
	{
		bfpg_lookup_end(lookup);
		PG_RETURN_NULL();
	}
	hash = bfpg_hash_key(&lookup->coder, PG_GETARG_DATUM(1), lookup->header.seed);
	if (unlikely(lookup->changes != NULL) && is_changed(lookup, PG_GETARG_DATUM(1), hash, &change))
		found = change.value;
	else
	{
		BfpgAccess *access = open_part(lookup, hash);

		found = bfpg_access_contains(access, hash);
		bfpg_access_close(access);
	}
	bfpg_lookup_end(lookup);
	PG_RETURN_BOOL(found);
}

/* Looks up keys that all belong to one part. */
static void
ask_part(BfpgLookup *lookup, const uint64 *hashes, int count, uint8 *found)
{
	BfpgAccess *access = open_part(lookup, hashes[0]);

	bfpg_access_contains_hashes(access, hashes, count, found);
	bfpg_access_close(access);
}

/* An array of keys, and by what their numbers are sorted. */
typedef struct KeyParts
{
	const uint64 *hashes;
	uint32		parts;
} KeyParts;

static inline uint32
part_of(uint64 number, const void *keys)
{
	const KeyParts *of = keys;

	return bf_part_of(of->hashes[number], of->parts);
}

/* Each part is asked once. */
static void
ask_parts(BfpgLookup *lookup, const BfpgKeyArray *keys, uint8 *found)
{
	const KeyParts of = {keys->hashes, lookup->header.parts};
	uint64	   *numbers = palloc(keys->count * sizeof(uint64));
	uint64	   *order = palloc(keys->count * sizeof(uint64));
	uint64	   *hashes = palloc(keys->count * sizeof(uint64));
	uint8	   *in_order = palloc(keys->count);
	Size	   *ends = palloc(of.parts * sizeof(Size));
	Size		at = 0;
	uint32		part;
	int			i;

	for (i = 0; i < keys->count; i++)
		numbers[i] = i;
	bfpg_counting_sort(numbers, keys->count, order, ends, of.parts, part_of, &of);
	for (i = 0; i < keys->count; i++)
		hashes[i] = keys->hashes[order[i]];
	for (part = 0; part < of.parts; at = ends[part++])
		if (ends[part] > at)
			ask_part(lookup, hashes + at, ends[part] - at, in_order + at);
	for (i = 0; i < keys->count; i++)
		found[order[i]] = in_order[i];
}

/* Answers by their changes the keys that have some. */
static void
ask_changes(BfpgLookup *lookup, const BfpgKeyArray *keys, uint8 *found)
{
	int			i;

	bfpg_changes_expect(lookup->changes, keys->count);
	for (i = 0; i < keys->count; i++)
	{
		BfpgChange	change;

		if (is_changed(lookup, keys->keys[keys->places[i]], keys->hashes[i], &change))
			found[i] = change.value;
	}
}

/* A boolean for each key, in an array of the same shape. */
Datum
bloomfilter_lookup_each(PG_FUNCTION_ARGS)
{
	BfpgLookup *lookup = bfpg_lookup_begin(fcinfo, true);
	bf_header	any_part = lookup->header;
	BfpgKeyArray keys;
	uint8	   *found;

	if (PG_ARGISNULL(1))
	{
		bfpg_lookup_end(lookup);
		PG_RETURN_NULL();
	}
	any_part.parts = 1;			/* keys of all parts are in one array */
	any_part.part = 0;
	bfpg_key_array(bfpg_array_argument(&lookup->coder, PG_GETARG_DATUM(1)), &lookup->coder, &any_part, &keys);
	found = palloc(keys.count + 1);
	if (lookup->header.parts > 1)
		ask_parts(lookup, &keys, found);
	else if (keys.count > 0)
		ask_part(lookup, keys.hashes, keys.count, found);
	if (lookup->changes != NULL)
		ask_changes(lookup, &keys, found);
	bfpg_lookup_end(lookup);
	return bfpg_key_array_answers(&keys, found);
}

/*
 * What bloom_lookup of a key sees, which is as bloom_change has it.  The text shows bits and the
 * seed, so that the caller must be allowed to read the filters.
 */
static Datum
explain_key(BfpgLookup *lookup, Datum key)
{
	const uint8 *bytes = (const uint8 *) VARDATA_ANY(DatumGetPointer(key)) + BFPG_KIND_BYTES;
	Size		length = VARSIZE_ANY_EXHDR(DatumGetPointer(key)) - BFPG_KIND_BYTES;
	uint64		hash = bf_hash(bytes, length, lookup->header.seed);
	uint32		number = bf_part_of(hash, lookup->header.parts);
	BfpgLookupPart *part = lookup->parts[number] != NULL ? lookup->parts[number] : find_part(lookup, number);
	BfpgChange	change;
	uint64		state = 0;

	if (lookup->changes != NULL && bfpg_changes_find(lookup->changes, hash, key, &change))
		state = (uint64) change.version * 2 + change.value;
	return bfpg_explain(part->row.filter, lookup->coder.type, bytes, length, state);
}

static void
check_may_explain(FunctionCallInfo fcinfo)
{
	bfpg_list_check_may_read(bfpg_extension_schema(fcinfo->flinfo->fn_oid), text_to_cstring(PG_GETARG_TEXT_PP(0)));
}

Datum
bloomfilter_explain_list(PG_FUNCTION_ARGS)
{
	BfpgLookup *lookup;
	Datum		result;

	check_may_explain(fcinfo);
	lookup = bfpg_lookup_begin(fcinfo, false);
	result = explain_key(lookup, bfpg_lookup_key(lookup, PG_GETARG_DATUM(1)));
	bfpg_lookup_end(lookup);
	PG_RETURN_DATUM(result);
}

pg_noreturn static void
refuse_type_name(const char *type)
{
	StringInfoData names;
	uint32		kind;

	initStringInfo(&names);
	for (kind = BF_KEY_NONE + 1; kind <= BF_KEY_LAST; kind++)
		appendStringInfo(&names, "%s%s", kind > 1 ? ", " : "", bf_key_type_name(kind));
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unknown key type \"%s\"", type),
			 errhint("Types are %s and %s.", names.data, bf_key_type_name(BF_KEY_ROW))));
}

/* The same of the bytes that another program has of a key, by the name of its type. */
Datum
bloomfilter_explain_bytes(PG_FUNCTION_ARGS)
{
	char	   *type = text_to_cstring(PG_GETARG_TEXT_PP(1));
	bytea	   *given = PG_GETARG_BYTEA_PP(2);
	Size		length = VARSIZE_ANY_EXHDR(given);
	int			number = bf_key_type_of_name(type);
	BfpgLookup	lookup = {0};
	StringInfoData key;
	Datum		result;

	check_may_explain(fcinfo);
	if (number < 0)
		refuse_type_name(type);
	if (!bf_key_check((uint32) number, VARDATA_ANY(given), &length, &lookup.coder.type))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("no key of type %s has these bytes", type),
				 errhint("A reader's key tells its type and its bytes.")));
	open_list(&lookup, fcinfo, CurrentMemoryContext);
	if (lookup.header.key_type != BF_KEY_NONE && lookup.header.key_type != lookup.coder.type)
		bfpg_refuse_key_type(lookup.header.key_type, lookup.coder.type);
	initStringInfo(&key);
	result = explain_key(&lookup, bfpg_change_bytes(lookup.coder.type, VARDATA_ANY(given), length, &key));
	bfpg_lookup_end(&lookup);
	PG_RETURN_DATUM(result);
}
