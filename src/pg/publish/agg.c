/*
 * agg.c
 *	  bloom_publish_agg: reads the keys of a list's query.
 *
 * Each process gathers hashes of keys, as many as its share of maintenance_work_mem has
 * room for, sorts them by the region of the filters that they belong to, and adds them to
 * the filters in shared memory.  A region is locked once for many keys, which is cheaper
 * than atomic operations for each.  Parts of a set are regions like others.  What processes
 * send each other is how many keys they have read.
 *
 * The check looks keys up while nobody writes, so that there are no locks: they are gathered
 * in the processor's cache, and a region is a whole part.
 *
 * Of an exact list there are three passes, and rows have a boolean: exact.c.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "bf_filter.h"
#include "base/pg_compat.h"
#include "base/report.h"
#include "base/sort.h"
#include "key/key.h"
#include "publish/agg.h"

PG_FUNCTION_INFO_V1(bloomfilter_publish_transfn);
PG_FUNCTION_INFO_V1(bloomfilter_publish_combine);
PG_FUNCTION_INFO_V1(bloomfilter_publish_serialize);
PG_FUNCTION_INFO_V1(bloomfilter_publish_deserialize);
PG_FUNCTION_INFO_V1(bloomfilter_publish_finalfn);

/* The most regions, unless there are more parts: one pass sorts by so many. */
#define MOST_REGIONS 2048

/* The fewest hashes that are gathered to be added, and the most to be looked up. */
#define SMALL_ROOM 65536

/* Keys that are hashed and counted at once, and looked up. */
#define KEYS_AT_ONCE 1024

/* Keys of one kind, members or others, that wait to be taken together. */
typedef struct Keys
{
	uint64	   *hashes;			/* then words that aren't hashed yet; NULL: this pass only counts them */
	Size		count;
	Size		hashed;
	Size		next;			/* count at which there is something to do */
} Keys;

typedef struct Pass
{
	BfpgPassMode mode;
	BfpgShared *shared;			/* NULL in a state that came from a worker */
	bf_header	kind;			/* of the keys and of each part's blocks */
	const uint8 **blocks;		/* of the parts */
	int			region_shift;	/* of a block's number */
	uint32		regions;		/* of a part */
	Size	   *ends;			/* of each region's hashes, of all parts, once sorted */
	BfpgKeyWord word;			/* of keys that are words until they are hashed, else NULL */
	Keys		others;
	Keys		members;
	uint64	   *sorted;
	Size		room;
	uint64	   *found;			/* hashes on their way to the list of all processes */
	Size		found_count;
	int64		counts[BFPG_PASS_COUNTS];
} Pass;

static void
attach_shared(Pass *pass, const bytea *ticket, Oid type, MemoryContext context)
{
	uint32		part;

	pass->shared = bfpg_shared_attach(ticket, type, context);
	pass->mode = pass->shared->set->mode;
	pass->kind = pass->shared->set->shape.level[0];
	pass->kind.key_type = pg_atomic_read_u32(&pass->shared->set->key_type);
	pass->blocks = MemoryContextAlloc(context, pass->shared->parts * sizeof(uint8 *));
	for (part = 0; part < pass->shared->parts; part++)
		pass->blocks[part] = bfpg_shared_blocks(pass->shared, part);
}

/*
 * How many hashes are gathered to be added: as many as memory allows, but no more bytes than
 * the filters have, since with those each cache line of them has several already.
 */
static Size
room_to_add(const BfpgShared *shared)
{
	Size		memory = (Size) maintenance_work_mem * 1024 / shared->set->processes;
	double		enough = Min(bfpg_shared_bytes(&shared->set->shape), MaxAllocHugeSize);

	return Max(Min(memory, (Size) enough) / (2 * sizeof(uint64)), SMALL_ROOM);
}

static void
make_keys(const Pass *pass, Keys *keys, MemoryContext context)
{
	keys->hashes = MemoryContextAllocHuge(context, pass->room * sizeof(uint64));
	keys->next = Min(KEYS_AT_ONCE, pass->room);
}

/* Regions of all parts, and room for hashes. */
static void
make_room(Pass *pass, MemoryContext context)
{
	if (pass->mode == BFPG_ADD)
	{
		pass->room = room_to_add(pass->shared);
		do
			pass->regions = ((pass->kind.blocks - 1) >> ++pass->region_shift) + 1;
		while ((uint64) pass->regions * pass->kind.parts > MOST_REGIONS && pass->regions > 1);
	}
	else
	{
		pass->room = Min((Size) KEYS_AT_ONCE * pass->kind.parts, SMALL_ROOM);
		pass->region_shift = 31;	/* past all numbers of blocks */
		pass->regions = 1;
	}
	if (pass->mode != BFPG_OTHERS && pass->mode != BFPG_FIND)
		make_keys(pass, &pass->members, context);
	if (pass->mode == BFPG_OTHERS || pass->mode == BFPG_PROVE)
		make_keys(pass, &pass->others, context);
	pass->found = MemoryContextAlloc(context, KEYS_AT_ONCE * sizeof(uint64));
	pass->sorted = MemoryContextAllocHuge(context, pass->room * sizeof(uint64));
	pass->ends = MemoryContextAlloc(context, (Size) pass->regions * pass->kind.parts * sizeof(Size));
}

/* Processes agree on the kind of keys in shared memory: the first one says it. */
static void
note_kind(Pass *pass, uint32 key_type)
{
	uint32		known = BF_KEY_NONE;

	if (!pg_atomic_compare_exchange_u32(&pass->shared->set->key_type, &known, key_type) &&
		known != key_type)
		bfpg_refuse_key_type(known, key_type);
	pass->kind.key_type = key_type;
}

/* The state of a process's first row; the ticket is the same in all rows. */
static Pass *
begin_pass(FunctionCallInfo fcinfo)
{
	MemoryContext context = bfpg_aggregate_context(fcinfo);
	Pass	   *pass = MemoryContextAllocZero(context, sizeof(Pass));
	BfpgKeyCoder *coder = bfpg_call_coder(fcinfo, 2, false);

	if (PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("bloom_publish_agg is a part of bloom_publish and of no use by itself")));
	attach_shared(pass, PG_GETARG_BYTEA_PP(1), get_fn_expr_argtype(fcinfo->flinfo, 2), context);
	if (pass->mode != BFPG_ADD)
		bfpg_check_key_type(coder, &pass->kind);
	else if (coder->word != NULL)
		note_kind(pass, coder->type);
	pass->word = coder->word;
	make_room(pass, context);
	return pass;
}

/* Puts the hashes that were found into the list of all processes. */
static void
send_found(Pass *pass)
{
	if (pass->found_count > 0)
		bfpg_shared_append(pass->shared, pass->found, pass->found_count);
	pass->found_count = 0;
}

static inline void
keep_found(Pass *pass, uint64 hash)
{
	pass->found[pass->found_count++] = hash;
	if (pass->found_count == KEYS_AT_ONCE)
		send_found(pass);
}

/* Whether level 2 of a part has a key. */
static inline bool
in_level_2(const Pass *pass, uint32 part, uint64 hash)
{
	return bf_exact_level_contains(&pass->shared->set->shape, pass->blocks[part], 1, hash);
}

/* Others that level 1 lets in are listed for level 2; in the check it must have them. */
static void
take_others(Pass *pass, uint32 part, const uint64 *hashes, Size count, const uint8 *found)
{
	Size		i;

	for (i = 0; i < count; i++)
	{
		if (!found[i])
			continue;
		pass->counts[BFPG_PASS_LET_IN]++;
		pass->counts[BFPG_PASS_SUM] = (int64) ((uint64) pass->counts[BFPG_PASS_SUM] + hashes[i]);
		if (pass->mode == BFPG_OTHERS)
			keep_found(pass, hashes[i]);
		else
			pass->counts[BFPG_PASS_MISSING] += !in_level_2(pass, part, hashes[i]);
	}
}

/* Members must be in level 1; those that level 2 lets in are listed for level 3. */
static void
take_members(Pass *pass, uint32 part, const uint64 *hashes, Size count, const uint8 *found)
{
	Size		i;

	for (i = 0; i < count; i++)
	{
		pass->counts[BFPG_PASS_MISSING] += found[i] == 0;
		if (pass->mode == BFPG_PROVE && in_level_2(pass, part, hashes[i]))
			keep_found(pass, hashes[i]);
	}
}

/* Adds the hashes of a region or looks them up. */
static void
take_region(Pass *pass, const Keys *keys, uint32 region, const uint64 *hashes, Size count)
{
	uint32		part = region / pass->regions;
	uint8		found[KEYS_AT_ONCE];
	Size		at;
	Size		length;

	CHECK_FOR_INTERRUPTS();
	if (pass->mode == BFPG_ADD)
	{
		bfpg_shared_add(pass->shared, part, region, hashes, count);
		return;
	}
	for (at = 0; at < count; at += length)
	{
		length = Min(count - at, KEYS_AT_ONCE);
		bf_contains_hashes(&pass->kind, pass->blocks[part], hashes + at, length, found);
		if (keys == &pass->members)
			take_members(pass, part, hashes + at, length, found);
		else
			take_others(pass, part, hashes + at, length, found);
	}
}

/* The region of a hash, of all parts. */
static inline uint32
region_of(uint64 hash, const void *of)
{
	const Pass *pass = of;
	uint32		region = bf_block_of(hash, pass->kind.blocks) >> pass->region_shift;

	if (pass->kind.parts > 1)
		region += bf_part_of(hash, pass->kind.parts) * pass->regions;
	return region;
}

/* Hashes the words that came since, and counts their keys. */
static void
hash_keys(Pass *pass, Keys *keys)
{
	Size		came = keys->count - keys->hashed;

	CHECK_FOR_INTERRUPTS();
	if (pass->word != NULL)
		bf_hash_words(keys->hashes + keys->hashed, came, pass->kind.seed);
	keys->hashed = keys->count;
	pass->counts[keys == &pass->members ? BFPG_PASS_KEYS : BFPG_PASS_OTHERS] += came;
	(void) pg_atomic_fetch_add_u64(&pass->shared->set->keys, (int64) came);
}

/* Takes all hashes, region by region. */
static void
empty_hashes(Pass *pass, Keys *keys)
{
	uint32		regions = pass->regions * pass->kind.parts;
	Size		start = 0;
	uint32		region;

	if (regions == 1)
		take_region(pass, keys, 0, keys->hashes, keys->count);
	else
	{
		bfpg_counting_sort(keys->hashes, keys->count, pass->sorted, pass->ends, regions, region_of, pass);
		for (region = 0; region < regions; start = pass->ends[region++])
			if (pass->ends[region] > start)
				take_region(pass, keys, region, pass->sorted + start, pass->ends[region] - start);
	}
	keys->count = keys->hashed = 0;
}

/* What there is to do with so many hashes. */
static pg_noinline void
take_hashes(Pass *pass, Keys *keys)
{
	hash_keys(pass, keys);
	if (keys->count == pass->room)
		empty_hashes(pass, keys);
	keys->next = Min(keys->count + KEYS_AT_ONCE, pass->room);
}

static void
end_keys(Pass *pass, Keys *keys)
{
	if (keys->hashes == NULL)
		return;
	hash_keys(pass, keys);
	empty_hashes(pass, keys);
}

/* Leaves no key that isn't taken: what others see is whole from here on. */
static void
end_pass(Pass *pass)
{
	if (pass->shared == NULL)
		return;
	end_keys(pass, &pass->members);
	end_keys(pass, &pass->others);
	send_found(pass);
}

/* The hash of a key that has no word. */
static pg_noinline uint64
hash_one(FunctionCallInfo fcinfo, Pass *pass)
{
	BfpgKeyCoder *coder = bfpg_call_coder(fcinfo, 2, false);
	uint64		hash;

	if (pass->mode != BFPG_ADD)
		bfpg_check_key_type(coder, &pass->kind);
	hash = bfpg_hash_key(coder, PG_GETARG_DATUM(2), pass->kind.seed);
	/* The columns of a row are known with the first key. */
	if (pass->mode == BFPG_ADD && pass->kind.key_type != coder->type)
		note_kind(pass, coder->type);
	return hash;
}

/* Notes a key that has the wanted hash, as a text. */
static void
find_key(FunctionCallInfo fcinfo, const Pass *pass)
{
	BfpgKeyCoder *coder = bfpg_call_coder(fcinfo, 2, false);
	Oid			output;
	bool		is_varlena;

	if (bfpg_hash_key(coder, PG_GETARG_DATUM(2), pass->kind.seed) != pass->shared->set->wanted)
		return;
	getTypeOutputInfo(get_fn_expr_argtype(fcinfo->flinfo, 2), &output, &is_varlena);
	bfpg_shared_note(pass->shared, OidOutputFunctionCall(output, PG_GETARG_DATUM(2)));
}

/* A key that is only counted, or whose hash is looked for. */
static pg_noinline void
count_key(FunctionCallInfo fcinfo, Pass *pass, const Keys *keys)
{
	if (pass->mode == BFPG_FIND)
		find_key(fcinfo, pass);
	pass->counts[keys == &pass->members ? BFPG_PASS_KEYS : BFPG_PASS_OTHERS]++;
}

/* Members or others, by the boolean. */
static inline Keys *
keys_of_row(FunctionCallInfo fcinfo, Pass *pass)
{
	pass->counts[BFPG_PASS_UNKNOWN] += PG_ARGISNULL(3);
	return !PG_ARGISNULL(3) && PG_GETARG_BOOL(3) ? &pass->members : &pass->others;
}

/* For each row: what is seldom needed is in functions of its own.  All keys of a plain list are members. */
Datum
bloomfilter_publish_transfn(PG_FUNCTION_ARGS)
{
	Pass	   *pass = PG_ARGISNULL(0) ? NULL : (Pass *) PG_GETARG_POINTER(0);
	Keys	   *keys;

	if (pass == NULL)
		pass = begin_pass(fcinfo);
	if (PG_ARGISNULL(2))
	{
		pass->counts[BFPG_PASS_NULLS]++;
		PG_RETURN_POINTER(pass);
	}
	keys = PG_NARGS() == 3 ? &pass->members : keys_of_row(fcinfo, pass);
	if (keys->hashes == NULL)
	{
		count_key(fcinfo, pass, keys);
		PG_RETURN_POINTER(pass);
	}
	keys->hashes[keys->count++] = pass->word != NULL ? pass->word(PG_GETARG_DATUM(2)) : hash_one(fcinfo, pass);
	if (keys->count == keys->next)
		take_hashes(pass, keys);
	PG_RETURN_POINTER(pass);
}

Datum
bloomfilter_publish_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context = bfpg_aggregate_context(fcinfo);
	Pass	   *pass = PG_ARGISNULL(0) ? NULL : (Pass *) PG_GETARG_POINTER(0);
	Pass	   *other = PG_ARGISNULL(1) ? NULL : (Pass *) PG_GETARG_POINTER(1);
	int			i;

	if (pass == NULL && other == NULL)
		PG_RETURN_NULL();
	if (pass == NULL)
		pass = MemoryContextAllocZero(context, sizeof(Pass));
	if (other != NULL)
	{
		end_pass(other);
		for (i = 0; i < BFPG_PASS_COUNTS; i++)
			pass->counts[i] = (int64) ((uint64) pass->counts[i] + (uint64) other->counts[i]);
	}
	PG_RETURN_POINTER(pass);
}

Datum
bloomfilter_publish_serialize(PG_FUNCTION_ARGS)
{
	Pass	   *pass = (Pass *) PG_GETARG_POINTER(0);
	bytea	   *bytes = palloc(VARHDRSZ + sizeof(pass->counts));

	(void) bfpg_aggregate_context(fcinfo);
	end_pass(pass);
	SET_VARSIZE(bytes, VARHDRSZ + sizeof(pass->counts));
	memcpy(VARDATA(bytes), pass->counts, sizeof(pass->counts));
	PG_RETURN_BYTEA_P(bytes);
}

Datum
bloomfilter_publish_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);
	Pass	   *pass = palloc0(sizeof(Pass));

	(void) bfpg_aggregate_context(fcinfo);
	if (VARSIZE_ANY_EXHDR(bytes) != sizeof(pass->counts))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid state of bloom_publish_agg")));
	memcpy(pass->counts, VARDATA_ANY(bytes), sizeof(pass->counts));
	PG_RETURN_POINTER(pass);
}

Datum
bloomfilter_publish_finalfn(PG_FUNCTION_ARGS)
{
	Pass	   *pass = PG_ARGISNULL(0) ? NULL : (Pass *) PG_GETARG_POINTER(0);
	Datum		counts[BFPG_PASS_COUNTS];
	int			i;

	(void) bfpg_aggregate_context(fcinfo);
	if (pass != NULL)
		end_pass(pass);
	for (i = 0; i < BFPG_PASS_COUNTS; i++)
		counts[i] = Int64GetDatum(pass == NULL ? 0 : pass->counts[i]);
	PG_RETURN_ARRAYTYPE_P(construct_array(counts, BFPG_PASS_COUNTS, INT8OID, sizeof(int64),
										  FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}
