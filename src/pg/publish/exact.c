/*
 * exact.c
 *	  Exact lists: from a filter of the members to one that is right for every key of the query.
 *
 * The query is read three times, under one snapshot.
 *
 * 1. Members set bits in level 1, others are counted: build.c.
 * 2. Others that level 1 lets in leave their hashes.  Level 2 is made of these.
 * 3. All keys are looked up, which is the check.  The rows must be those of before: as many
 *	  members, others, and others that level 1 lets in, with the same sum of their hashes.  Level 1
 *	  must have all members, level 2 all others that level 1 lets in.  Members that level 2 lets in
 *	  leave their hashes.
 *
 * Level 3 is made of the members' hashes, and is closed when none of the others' passes it.  A
 * hash that is in both lists is that of a key with both booleans, or of two keys: equal hashes
 * pass all levels alike, so all of these are found, and on_conflict decides.
 *
 * A level that got more keys than it is sized for is sized anew, and all is built again.
 * sql/exact.sql and t/083_exact.pl compare each answer with the query.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "bf_estimate.h"
#include "bf_hashlist.h"
#include "base/pg_compat.h"
#include "base/report.h"
#include "base/sort.h"
#include "publish/build.h"

/* Hashes of all parts: those of a part stand together, sorted, each once. */
typedef struct HashesOfParts
{
	uint64	   *hashes;
	Size	   *starts;
	Size	   *counts;
} HashesOfParts;

/* Room for so many hashes that come by chance. */
static uint64
room_for(double hashes)
{
	return (uint64) (hashes * 1.1 + 6 * sqrt(hashes)) + 1024;
}

double
bfpg_exact_list_bytes(const BfpgPublication *list, const bf_exact *shape)
{
	double		others = (double) shape->level[1].capacity * list->count;
	double		members = (double) shape->level[2].capacity * list->count;

	return sizeof(uint64) * 2 * ((double) room_for(others) + (double) room_for(members));
}

static uint32
part_of(uint64 hash, const void *parts)
{
	return bf_part_of(hash, *(const uint32 *) parts);
}

/* Takes the hashes that a pass has gathered. */
static HashesOfParts
take_hashes(const BfpgPublication *list)
{
	const BfpgHashList *gathered = list->build->shared->list;
	Size		count = (Size) pg_atomic_read_u64(&unconstify(BfpgHashList *, gathered)->count);
	uint32		parts = (uint32) list->count;
	HashesOfParts result;
	Size	   *ends = palloc(parts * sizeof(Size));
	uint32		part;

	result.hashes = MemoryContextAllocHuge(CurrentMemoryContext, (count + 1) * sizeof(uint64));
	result.starts = palloc(parts * sizeof(Size));
	result.counts = palloc(parts * sizeof(Size));
	bfpg_counting_sort(gathered->hashes, count, result.hashes, ends, parts, part_of, &parts);
	for (part = 0; part < parts; part++)
	{
		result.starts[part] = part == 0 ? 0 : ends[part - 1];
		result.counts[part] = bf_hashlist_unique(result.hashes + result.starts[part],
												 ends[part] - result.starts[part], bfpg_tick);
	}
	pfree(ends);
	return result;
}

/* One pass that gathers hashes, again with more room where there was too little. */
static HashesOfParts
gather(const BfpgPublication *list, BfpgPassMode mode, double expected, int64 counts[BFPG_PASS_COUNTS])
{
	BfpgShared *shared = list->build->shared;
	uint64		room = room_for(expected);

	do
	{
		bfpg_shared_gather(shared, room);
		bfpg_publish_pass(list, mode, counts);
		room = pg_atomic_read_u64(&shared->list->count);
	} while (room > shared->list->room);
	return take_hashes(list);
}

/* Keys of all parts that come at a part's rate. */
static double
expected(const BfpgPublication *list, unsigned level, double keys)
{
	double		rate = 0;
	int32		part;

	for (part = 0; part < list->count; part++)
		rate += bf_estimate_rate(&list->shapes[part].level[level]) / list->count;
	return keys * rate;
}

static void
refuse_rows(const BfpgPublication *list, const int64 before[BFPG_PASS_COUNTS], const int64 now[BFPG_PASS_COUNTS])
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_EXCEPTION),
			 errmsg("list \"%s\" was not published: its query returned other rows when it was read again", list->name),
			 errdetail("There were " INT64_FORMAT " members and " INT64_FORMAT " others, then " INT64_FORMAT " and " INT64_FORMAT ", of which "
					   INT64_FORMAT " would get a wrong answer.",
					   list->keys, list->others, now[BFPG_PASS_KEYS], now[BFPG_PASS_OTHERS], now[BFPG_PASS_MISSING]),
			 errhint("The query must return the same keys with the same booleans each time that it runs under one snapshot.")));
}

static void
check_rows(const BfpgPublication *list, const int64 before[BFPG_PASS_COUNTS], const int64 now[BFPG_PASS_COUNTS])
{
	if (now[BFPG_PASS_KEYS] != list->keys || now[BFPG_PASS_OTHERS] != list->others || now[BFPG_PASS_MISSING] != 0 ||
		now[BFPG_PASS_LET_IN] != before[BFPG_PASS_LET_IN] || now[BFPG_PASS_SUM] != before[BFPG_PASS_SUM])
		refuse_rows(list, before, now);
}

/* Reads the query once more for the keys of a hash. */
pg_noreturn static void
refuse_conflict(const BfpgPublication *list, uint64 hash)
{
	BfpgSharedSet *set = list->build->shared->set;
	int64		counts[BFPG_PASS_COUNTS];

	set->wanted = hash;
	set->found_count = 0;
	bfpg_publish_pass(list, BFPG_FIND, counts);
	ereport(ERROR,
			(errcode(ERRCODE_DATA_EXCEPTION),
			 errmsg("list \"%s\" was not published: keys are members and others at once", list->name),
			 set->found_count > 1
			 ? errdetail("The keys \"%s\" and \"%s\" have the same 64-bit hash, and one is a member.", set->found[0], set->found[1])
			 : errdetail("The query returns the key \"%s\" with true and with false.", set->found[0]),
			 errhint("Give each key one boolean, or say on_conflict => true or false, which all such keys then get.")));
}

/* Takes what is in both of two sorted sets out of one of them; returns how many. */
static Size
remove_common(uint64 *hashes, Size *count, const uint64 *other, Size other_count)
{
	Size		kept = 0;
	Size		at = 0;
	Size		i;

	for (i = 0; i < *count; i++)
	{
		while (at < other_count && other[at] < hashes[i])
			at++;
		if (at == other_count || other[at] != hashes[i])
			hashes[kept++] = hashes[i];
	}
	i = *count - kept;
	*count = kept;
	return i;
}

static bool
first_common(const uint64 *a, Size a_count, const uint64 *b, Size b_count, uint64 *hash)
{
	Size		at = 0;
	Size		i;

	for (i = 0; i < a_count; i++)
	{
		while (at < b_count && b[at] < a[i])
			at++;
		*hash = a[i];
		if (at < b_count && b[at] == a[i])
			return true;
	}
	return false;
}

/* Decides which boolean the keys have that are in both lists. */
static void
settle_conflicts(BfpgPublication *list, HashesOfParts *members, HashesOfParts *others)
{
	int32		part;

	list->conflicts = 0;
	for (part = 0; part < list->count; part++)
	{
		uint64	   *a = members->hashes + members->starts[part];
		uint64	   *b = others->hashes + others->starts[part];
		uint64		hash;

		if (!first_common(a, members->counts[part], b, others->counts[part], &hash))
			continue;
		if (list->on_conflict == BFPG_CONFLICT_ERROR)
			refuse_conflict(list, hash);
		else if (list->on_conflict == BFPG_CONFLICT_TRUE)
			list->conflicts += (int64) remove_common(b, &others->counts[part], a, members->counts[part]);
		else
			list->conflicts += (int64) remove_common(a, &members->counts[part], b, others->counts[part]);
	}
}

/* Whether a level has room for the keys that came; else it is to have more the next time. */
static bool
has_room(BfpgPublication *list, unsigned level, const HashesOfParts *hashes)
{
	bool		has = true;
	int32		part;

	for (part = 0; part < list->count; part++)
	{
		if (hashes->counts[part] <= list->shapes[part].level[level].capacity)
			continue;
		list->build->least[level] = Max(list->build->least[level], (uint64) bfpg_round_capacity((double) hashes->counts[part]));
		has = false;
	}
	return has;
}

static void
fill_level_2(BfpgPublication *list, const HashesOfParts *others)
{
	const BfpgShared *shared = list->build->shared;
	int32		part;

	for (part = 0; part < list->count; part++)
	{
		CHECK_FOR_INTERRUPTS();
		bf_exact_add(&list->shapes[part], bfpg_shared_blocks(shared, (uint32) part), 1,
					 others->hashes + others->starts[part], others->counts[part]);
	}
}

/* False where a part's level 3 can't be closed: it is to be larger. */
static bool
close_level_3(BfpgPublication *list, const HashesOfParts *members, const HashesOfParts *others)
{
	const BfpgShared *shared = list->build->shared;
	int32		part;

	for (part = 0; part < list->count; part++)
	{
		bf_exact   *shape = &list->shapes[part];

		if (!bf_exact_close(shape, bfpg_shared_blocks(shared, (uint32) part), members->hashes + members->starts[part],
							members->counts[part], others->hashes + others->starts[part], others->counts[part], bfpg_tick))
		{
			list->build->least[2] = shape->level[2].capacity * 4;
			return false;
		}
	}
	return true;
}

bool
bfpg_publish_finish_exact(BfpgPublication *list)
{
	int64		before[BFPG_PASS_COUNTS];
	int64		now[BFPG_PASS_COUNTS];
	HashesOfParts others = gather(list, BFPG_OTHERS, expected(list, 0, (double) list->others), before);
	HashesOfParts members;

	if (!has_room(list, 1, &others))
		return false;
	fill_level_2(list, &others);
	members = gather(list, BFPG_PROVE, expected(list, 1, (double) list->keys), now);
	check_rows(list, before, now);
	settle_conflicts(list, &members, &others);
	return has_room(list, 2, &members) && close_level_3(list, &members, &others);
}

/* What each part is like, but for its number and the type of its keys. */
static bool
plan_part(const BfpgPublication *list, uint32 parts, bf_exact *shape)
{
	const bf_universe universe = {(uint64) list->n, (uint64) list->planned_others, list->p};
	const bf_universe part = bf_exact_part_universe(&universe, parts);
	const uint64 *least = list->build->least;
	bool		planned = bf_exact_plan(&part, (uint64) list->seed, shape);

	if (planned && least[1] > shape->level[1].capacity)
		planned = bf_exact_resize(shape, 1, least[1], part.members) &&
			bf_exact_resize(shape, 2, shape->level[2].capacity, least[1]);
	if (planned && least[2] > shape->level[2].capacity)
		planned = bf_exact_resize(shape, 2, least[2], shape->level[1].capacity);
	return planned;
}

int32
bfpg_publish_plan_exact(const BfpgPublication *list, bf_exact *shape)
{
	const bf_universe universe = {(uint64) list->n, (uint64) list->planned_others, list->p};
	uint32		parts = Max((uint32) list->parts, bf_exact_parts(&universe));

	while (parts > 0 && parts <= BF_MAX_PARTS && plan_part(list, parts, shape))
	{
		if (bf_exact_fits(shape))
		{
			unsigned	level;

			for (level = 0; level < BF_EXACT_LEVELS; level++)
				shape->level[level].parts = (uint16) parts;
			return (int32) parts;
		}
		parts++;
	}
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("list \"%s\" is too large to be exact", list->name),
			 errdetail("It is planned for n = " INT64_FORMAT " members, " INT64_FORMAT " others and p = %g.",
					   list->n, list->planned_others, list->p)));
}

/* SELECT count(key) FILTER (WHERE member), count(key): one reading more, before anything is known. */
void
bfpg_publish_count_exact(BfpgPublication *list)
{
	const BfpgSource *source = list->build->source;
	Expr	   *key = bfpg_source_key(source);
	Query	   *statement = bfpg_source_select(source, list_make2(bfpg_publish_count(source, key, bfpg_source_member(source)),
																  bfpg_publish_count(source, key, NULL)));
	List	   *rows = bfpg_source_run(source, bfpg_source_plan(source, statement, NULL, true), NULL);
	const NullableDatum *row = bfpg_source_only_row(source, rows, 2);

	list->keys = DatumGetInt64(row[0].value);
	list->others = DatumGetInt64(row[1].value) - list->keys;
}
