/*
 * agg.c
 *	  bloom_publish_agg: reads the keys of a list's query.
 *
 * Each process gathers hashes of keys, as many as its share of maintenance_work_mem has
 * room for, sorts them by the region of the filters that they belong to, and adds them to
 * the filters in shared memory.  A region is locked once for many keys, which is cheaper
 * than atomic operations for each.  Parts of a set are regions like others.  What processes
 * send each other is how many keys they have read, and of an exact list the hashes of the few that
 * a level lets in.
 *
 * The check looks keys up while nobody writes, so that there are no locks: they are gathered
 * in the processor's cache, and a region is a whole part.
 *
 * Of an exact list there are three passes: exact.c.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/memutils.h"

#include "bf_filter.h"
#include "base/pg_compat.h"
#include "base/report.h"
#include "base/settings.h"
#include "base/sort.h"
#include "key/key.h"
#include "publish/build.h"

PG_FUNCTION_INFO_V1(bloomfilter_publish_transfn);
PG_FUNCTION_INFO_V1(bloomfilter_publish_combine);
PG_FUNCTION_INFO_V1(bloomfilter_publish_serialize);
PG_FUNCTION_INFO_V1(bloomfilter_publish_deserialize);
PG_FUNCTION_INFO_V1(bloomfilter_publish_finalfn);

/* The most regions, unless there are more parts: one pass sorts by so many. */
#define MOST_REGIONS 2048

/* The fewest hashes that are gathered to be added, and the most to be looked up. */
#define SMALL_ROOM 65536

/* Keys that are looked up at once. */
#define KEYS_AT_ONCE 1024

/* A process adds its rows to the count of all after so many, and may tell it then: few, as rows may come slowly. */
#define ROWS_AT_ONCE 64

/* Keys of one kind, members or others, that wait to be taken together. */
typedef struct Keys
{
	uint64	   *hashes;			/* NULL: they are only counted */
	Size		count;
} Keys;

/* The state. */
typedef struct Pass
{
	MemoryContext context;		/* of what serves to read rows; NULL: none comes any more */
	BfpgShared *shared;
	BfpgPassMode mode;
	uint64		rows;			/* that this process has read */
	bf_header	kind;			/* of the keys and of each part's blocks */
	const uint8 **blocks;		/* of the parts */
	int			region_shift;	/* of a block's number */
	uint32		regions;		/* of a part */
	Size	   *ends;			/* of each region's hashes, of all parts, once sorted */
	Keys		others;
	Keys		members;
	uint64	   *sorted;
	Size		room;
	int64	   *told;			/* BFPG_PASS_COUNTS numbers, then the hashes that were found */
	Size		told_count;
	Size		told_room;
} Pass;

static Pass *
new_pass(MemoryContext context)
{
	Pass	   *pass = MemoryContextAllocZero(context, sizeof(Pass));

	pass->told_count = BFPG_PASS_COUNTS;
	pass->told_room = KEYS_AT_ONCE;
	pass->told = MemoryContextAllocZero(context, pass->told_room * sizeof(int64));
	return pass;
}

/* Hashes are sent and sorted, in up to three copies, beside the filters. */
static void
check_told(const Pass *pass)
{
	double		bytes = 3.0 * (double) pass->told_room * sizeof(int64);

	if (pass->context != NULL)
		bytes += bfpg_shared_bytes(&pass->shared->shape);
	if (bytes > bfpg_publish_memory * 1024.0)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("the list needs more memory to be built than bloomfilter.publish_memory, which is %d MB", bfpg_publish_memory / 1024),
				 errdetail("A level of an exact list lets in more than %zu keys.", pass->told_count - BFPG_PASS_COUNTS),
				 errhint("Publish the list with a smaller p, or raise bloomfilter.publish_memory if the machine, or the container, has the memory free.")));
}

static void
need_room(Pass *pass, Size count)
{
	if (pass->told_room - pass->told_count >= count)
		return;
	pass->told_room = Max(2 * pass->told_room, pass->told_count + count);
	check_told(pass);
	pass->told = repalloc_huge(pass->told, pass->told_room * sizeof(int64));
}

/*
 * How many hashes are gathered to be added: as many as memory allows, but no more bytes than
 * the filters have, since with those each cache line of them has several already.
 */
static Size
room_to_add(const BfpgShared *shared)
{
	Size		memory = (Size) maintenance_work_mem * 1024 / shared->processes;
	double		enough = Min((double) bfpg_shared_bytes(&shared->shape), (double) MaxAllocHugeSize);

	return Max(Min(memory, (Size) enough) / (2 * sizeof(uint64)), SMALL_ROOM);
}

static void
choose_regions(Pass *pass)
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
}

static uint64 *
make_room(const Pass *pass)
{
	return MemoryContextAllocHuge(pass->context, pass->room * sizeof(uint64));
}

/* The state of a process's first row; the ticket is the same in all rows. */
static Pass *
begin_pass(FunctionCallInfo fcinfo)
{
	MemoryContext outer = bfpg_aggregate_context(fcinfo);
	MemoryContext context = AllocSetContextCreate(outer, "bloomfilter pass", ALLOCSET_DEFAULT_SIZES);
	Pass	   *pass = new_pass(outer);
	uint32		part;

	pass->context = context;
	pass->shared = bfpg_shared_attach(PG_ARGISNULL(1) ? NULL : PG_GETARG_BYTEA_PP(1), get_fn_expr_argtype(fcinfo->flinfo, 2));
	pass->mode = pass->shared->mode;
	pass->kind = pass->shared->shape.level[0];
	pass->kind.key_type = pg_atomic_read_u32(&pass->shared->key_type);
	pass->blocks = MemoryContextAlloc(context, pass->kind.parts * sizeof(uint8 *));
	for (part = 0; part < pass->kind.parts; part++)
		pass->blocks[part] = bfpg_shared_blocks(pass->shared, part);
	choose_regions(pass);
	if (pass->mode != BFPG_OTHERS)
		pass->members.hashes = make_room(pass);
	if (pass->mode == BFPG_OTHERS || pass->mode == BFPG_PROVE)
		pass->others.hashes = make_room(pass);
	pass->sorted = make_room(pass);
	pass->ends = MemoryContextAlloc(context, (Size) pass->regions * pass->kind.parts * sizeof(Size));
	return pass;
}

/* Processes agree on the kind of keys in shared memory: the first one says it. */
static void
note_kind(Pass *pass, uint32 key_type)
{
	uint32		known = BF_KEY_NONE;

	if (!pg_atomic_compare_exchange_u32(&pass->shared->key_type, &known, key_type) &&
		known != key_type)
		bfpg_refuse_key_type(known, key_type);
	pass->kind.key_type = key_type;
}

static inline void
keep_found(Pass *pass, uint64 hash)
{
	need_room(pass, 1);
	pass->told[pass->told_count++] = (int64) hash;
}

static inline bool
in_level_2(const Pass *pass, uint32 part, uint64 hash)
{
	return bf_exact_level_contains(&pass->shared->shape, pass->blocks[part], 1, hash);
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
		pass->told[BFPG_PASS_LET_IN]++;
		pass->told[BFPG_PASS_SUM] = (int64) ((uint64) pass->told[BFPG_PASS_SUM] + hashes[i]);
		if (pass->mode == BFPG_OTHERS)
			keep_found(pass, hashes[i]);
		else
			pass->told[BFPG_PASS_MISSING] += !in_level_2(pass, part, hashes[i]);
	}
}

/* Members must be in level 1; those that level 2 lets in are listed for level 3. */
static void
take_members(Pass *pass, uint32 part, const uint64 *hashes, Size count, const uint8 *found)
{
	Size		i;

	for (i = 0; i < count; i++)
	{
		pass->told[BFPG_PASS_MISSING] += found[i] == 0;
		if (pass->mode == BFPG_PROVE && in_level_2(pass, part, hashes[i]))
			keep_found(pass, hashes[i]);
	}
}

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

static inline uint32
region_of(uint64 hash, const void *of)
{
	const Pass *pass = of;
	uint32		region = bf_block_of(hash, pass->kind.blocks) >> pass->region_shift;

	if (pass->kind.parts > 1)
		region += bf_part_of(hash, pass->kind.parts) * pass->regions;
	return region;
}

/* Takes all hashes, region by region, and counts them. */
static pg_noinline void
empty_hashes(Pass *pass, Keys *keys)
{
	uint32		regions = pass->regions * pass->kind.parts;
	Size		start = 0;
	uint32		region;

	if (keys->count == 0)
		return;
	pass->told[keys == &pass->members ? BFPG_PASS_KEYS : BFPG_PASS_OTHERS] += keys->count;
	if (regions == 1)
		take_region(pass, keys, 0, keys->hashes, keys->count);
	else
	{
		bfpg_counting_sort(keys->hashes, keys->count, pass->sorted, pass->ends, regions, region_of, pass);
		for (region = 0; region < regions; start = pass->ends[region++])
			if (pass->ends[region] > start)
				take_region(pass, keys, region, pass->sorted + start, pass->ends[region] - start);
	}
	keys->count = 0;
}

static void
tell_rows(const Pass *pass, int64 count)
{
	bfpg_progress_rows(pg_atomic_add_fetch_u64(&pass->shared->rows, count));
}

/* No row comes to a state that has told: its key would be lost. */
static inline void
note_row(Pass *pass)
{
	if (unlikely(pass->context == NULL))
		elog(ERROR, "a row came to a state of bloom_publish_agg that has ended");
	if (++pass->rows % ROWS_AT_ONCE == 0)
		tell_rows(pass, ROWS_AT_ONCE);
}

/*
 * Leaves no key that isn't taken: what others see is whole from here on.  The memory is given back: a plan
 * that aggregates each partition by itself keeps all states until its end.
 */
static void
end_pass(Pass *pass)
{
	if (pass->context == NULL)
		return;
	empty_hashes(pass, &pass->members);
	empty_hashes(pass, &pass->others);
	tell_rows(pass, pass->rows % ROWS_AT_ONCE);
	MemoryContextDelete(pass->context);
	pass->context = NULL;
	pass->members.hashes = pass->others.hashes = NULL;
}

/* The kind of the keys is known with the first one. */
static inline uint64
hash_key(FunctionCallInfo fcinfo, Pass *pass)
{
	BfpgKeyCoder *coder = bfpg_call_coder(fcinfo, 2, false);
	uint64		hash;

	if (pass->mode != BFPG_ADD)
		bfpg_check_key_type(coder, &pass->kind);
	hash = bfpg_hash_key(coder, PG_GETARG_DATUM(2), pass->kind.seed);
	if (pass->mode == BFPG_ADD && pass->kind.key_type != coder->type)
		note_kind(pass, coder->type);
	return hash;
}

/* For each row.  Members are the keys whose boolean is true, of a plain list all. */
Datum
bloomfilter_publish_transfn(PG_FUNCTION_ARGS)
{
	Pass	   *pass = PG_ARGISNULL(0) ? begin_pass(fcinfo) : (Pass *) PG_GETARG_POINTER(0);
	Keys	   *keys;

	note_row(pass);
	if (PG_ARGISNULL(2))
	{
		pass->told[BFPG_PASS_NULLS]++;
		PG_RETURN_POINTER(pass);
	}
	pass->told[BFPG_PASS_UNKNOWN] += PG_ARGISNULL(3);
	keys = !PG_ARGISNULL(3) && PG_GETARG_BOOL(3) ? &pass->members : &pass->others;
	if (keys->hashes == NULL)
	{
		pass->told[keys == &pass->members ? BFPG_PASS_KEYS : BFPG_PASS_OTHERS]++;
		PG_RETURN_POINTER(pass);
	}
	keys->hashes[keys->count++] = hash_key(fcinfo, pass);
	if (keys->count == pass->room)
		empty_hashes(pass, keys);
	PG_RETURN_POINTER(pass);
}

Datum
bloomfilter_publish_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context = bfpg_aggregate_context(fcinfo);
	Pass	   *pass = PG_ARGISNULL(0) ? NULL : (Pass *) PG_GETARG_POINTER(0);
	Pass	   *other = PG_ARGISNULL(1) ? NULL : (Pass *) PG_GETARG_POINTER(1);
	Size		count;
	int			i;

	if (pass == NULL && other == NULL)
		PG_RETURN_NULL();
	if (pass == NULL)
		pass = new_pass(context);
	if (other != NULL)
	{
		end_pass(other);
		for (i = 0; i < BFPG_PASS_COUNTS; i++)
			pass->told[i] = (int64) ((uint64) pass->told[i] + (uint64) other->told[i]);
		count = other->told_count - BFPG_PASS_COUNTS;
		need_room(pass, count);
		memcpy(pass->told + pass->told_count, other->told + BFPG_PASS_COUNTS, count * sizeof(int64));
		pass->told_count += count;
		pfree(other->told);
		other->told = NULL;
	}
	PG_RETURN_POINTER(pass);
}

/* Memory for a value that has so many bytes in front of what is told. */
static char *
tell(Pass *pass, Size front)
{
	Size		bytes;
	char	   *value;

	end_pass(pass);
	bytes = front + pass->told_count * sizeof(int64);
	if (!AllocSizeIsValid(bytes))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a level of an exact list lets in too many keys to be sent to another process"),
				 errhint("Publish the list with a smaller p.")));
	value = palloc0(bytes);
	SET_VARSIZE(value, bytes);
	memcpy(value + front, pass->told, pass->told_count * sizeof(int64));
	return value;
}

Datum
bloomfilter_publish_serialize(PG_FUNCTION_ARGS)
{
	Pass	   *pass = (Pass *) PG_GETARG_POINTER(0);
	char	   *value;

	(void) bfpg_aggregate_context(fcinfo);
	value = tell(pass, VARHDRSZ);
	pfree(pass->told);
	pass->told = NULL;
	PG_RETURN_POINTER(value);
}

Datum
bloomfilter_publish_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);
	Size		count = VARSIZE_ANY_EXHDR(bytes) / sizeof(int64);
	Pass	   *pass = new_pass(CurrentMemoryContext);

	(void) bfpg_aggregate_context(fcinfo);
	if (VARSIZE_ANY_EXHDR(bytes) % sizeof(int64) != 0 || count < BFPG_PASS_COUNTS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid state of bloom_publish_agg")));
	need_room(pass, count - BFPG_PASS_COUNTS);
	memcpy(pass->told, VARDATA_ANY(bytes), count * sizeof(int64));
	pass->told_count = count;
	PG_RETURN_POINTER(pass);
}

Datum
bloomfilter_publish_finalfn(PG_FUNCTION_ARGS)
{
	Pass	   *pass = PG_ARGISNULL(0) ? new_pass(CurrentMemoryContext) : (Pass *) PG_GETARG_POINTER(0);
	ArrayType  *array = (ArrayType *) tell(pass, ARR_OVERHEAD_NONULLS(1));

	(void) bfpg_aggregate_context(fcinfo);
	array->ndim = 1;
	array->elemtype = INT8OID;
	ARR_DIMS(array)[0] = (int) pass->told_count;
	ARR_LBOUND(array)[0] = 1;
	PG_RETURN_ARRAYTYPE_P(array);
}
