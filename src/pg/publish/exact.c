/*
 * exact.c
 *	  Exact lists: from a filter of the members to one that is right for every key of the query.
 *
 * The query is read three times, under one snapshot.
 *
 * 1. Members set bits in level 1, others are counted: build.c.
 * 2. Level 2 is made of the hashes of others that level 1 lets in, which this pass returns.
 * 3. All keys are looked up, which is the check.  The rows must be those of before: as many
 *	  members, others, and others that level 1 lets in, with the same sum of their hashes.  Level 1
 *	  must have all members, level 2 all others that level 1 lets in.  It returns the hashes of
 *	  members that level 2 lets in.
 *
 * Level 3 is made of the members' hashes, and is closed when none of the others' passes it.  A
 * hash that is in both lists is that of a key with both booleans, or of two keys: equal hashes
 * pass all levels alike, so all of these are found, and on_conflict decides.
 *
 * A level that got more keys than it is sized for is sized anew, and all is built again.
 * sql/exact.sql compares each answer with the query, t/063_publish_build.pl the ways to build.
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "bf_hashlist.h"
#include "base/pg_compat.h"
#include "base/report.h"
#include "base/sort.h"
#include "ask/access.h"
#include "key/key.h"
#include "publish/build.h"

PG_FUNCTION_INFO_V1(bloomfilter_publish_text);

/* Hashes of each part, sorted, each once. */
typedef struct HashesOfParts
{
	uint64	  **hashes;
	Size	   *counts;
} HashesOfParts;

static uint32
part_of(uint64 hash, const void *parts)
{
	return bf_part_of(hash, *(const uint32 *) parts);
}

/* One pass, and the hashes of the keys that a level lets in. */
static HashesOfParts
pass(const BfpgPublication *list, BfpgPassMode mode, const int64 **counts)
{
	uint32		parts = (uint32) list->made.count;
	HashesOfParts result = {palloc(parts * sizeof(uint64 *)), palloc(parts * sizeof(Size))};
	Size	   *ends = palloc(parts * sizeof(Size));
	uint64	   *sorted;
	Size		start = 0;
	Size		count;
	uint32		part;

	*counts = bfpg_publish_pass(list, mode, &count);
	sorted = MemoryContextAllocHuge(CurrentMemoryContext, (count + 1) * sizeof(uint64));
	bfpg_counting_sort((const uint64 *) *counts + BFPG_PASS_COUNTS, count, sorted, ends, parts, part_of, &parts);
	for (part = 0; part < parts; start = ends[part++])
	{
		result.hashes[part] = sorted + start;
		result.counts[part] = bf_hashlist_unique(sorted + start, ends[part] - start, bfpg_tick);
	}
	return result;
}

static void
check_rows(const BfpgPublication *list, const int64 *before, const int64 *now)
{
	if (now[BFPG_PASS_KEYS] == list->made.keys && now[BFPG_PASS_OTHERS] == list->others.count && now[BFPG_PASS_MISSING] == 0 &&
		now[BFPG_PASS_LET_IN] == before[BFPG_PASS_LET_IN] && now[BFPG_PASS_SUM] == before[BFPG_PASS_SUM])
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATA_EXCEPTION),
			 errmsg("list \"%s\" was not published: its query returned other rows when it was read again", list->name),
			 errdetail("There were " INT64_FORMAT " members and " INT64_FORMAT " others, then " INT64_FORMAT " and " INT64_FORMAT ", of which "
					   INT64_FORMAT " would get a wrong answer.",
					   list->made.keys, list->others.count, now[BFPG_PASS_KEYS], now[BFPG_PASS_OTHERS], now[BFPG_PASS_MISSING]),
			 errhint("The query must return the same keys with the same booleans each time that it runs under one snapshot.")));
}

/* The text of a key with this hash; else NULL. */
Datum
bloomfilter_publish_text(PG_FUNCTION_ARGS)
{
	Oid			output;
	bool		is_varlena;

	if (bfpg_hash_key(bfpg_call_coder(fcinfo, 0, false), PG_GETARG_DATUM(0), (uint64) PG_GETARG_INT64(1)) != (uint64) PG_GETARG_INT64(2))
		PG_RETURN_NULL();
	getTypeOutputInfo(get_fn_expr_argtype(fcinfo->flinfo, 0), &output, &is_varlena);
	PG_RETURN_TEXT_P(cstring_to_text(OidOutputFunctionCall(output, PG_GETARG_DATUM(0))));
}

/* min(bloom_publish_text(key, $1, $2)), or max */
static Expr *
text_of_hash(const BfpgSource *source, Oid aggregate)
{
	const Oid	types[] = {InvalidOid, INT8OID, INT8OID};
	Expr	   *text = (Expr *) makeFuncExpr(bfpg_source_function(source, "bloom_publish_text", lengthof(types), types), TEXTOID,
											 list_make3(bfpg_source_key(source), bfpg_source_parameter(1, INT8OID), bfpg_source_parameter(2, INT8OID)),
											 C_COLLATION_OID, source->collation, COERCE_EXPLICIT_CALL);
	Aggref	   *result = (Aggref *) bfpg_source_aggregate(source, aggregate, list_make1(text), NULL);

	result->aggcollid = result->inputcollid = C_COLLATION_OID;
	return (Expr *) result;
}

/* Reads the query once more for the keys of a hash. */
pg_noreturn static void
refuse_conflict(const BfpgPublication *list, uint64 hash)
{
	const BfpgSource *source = list->made.build->source;
	const ParamExternData parameters[] = {
		bfpg_parameter(INT8OID, Int64GetDatum(list->seed)),
		bfpg_parameter(INT8OID, Int64GetDatum((int64) hash)),
	};
	ParamListInfo params = bfpg_parameters(lengthof(parameters), parameters);
	Query	   *statement = bfpg_source_select(source, NULL, list_make2(text_of_hash(source, F_MIN_TEXT), text_of_hash(source, F_MAX_TEXT)));
	List	   *rows = bfpg_source_run(source, bfpg_source_plan(source, statement, params, true), params);
	const NullableDatum *row = bfpg_source_only_row(source, rows, 2);
	const char *first = TextDatumGetCString(row[0].value);
	const char *last = TextDatumGetCString(row[1].value);

	ereport(ERROR,
			(errcode(ERRCODE_DATA_EXCEPTION),
			 errmsg("list \"%s\" was not published: keys are members and others at once", list->name),
			 strcmp(first, last) == 0 ? errdetail("The query returns the key \"%s\" with true and with false.", first)
			 : errdetail("The keys \"%s\" and \"%s\" are equal, or have the same 64-bit hash, and only one is a member.", first, last),
			 errhint("Give each key one boolean, or %s, or false, which all such keys then get.", bfpg_publish_how_allowed(list, "on_conflict"))));
}

/* Takes what is in both of two sorted arrays out of one of them; returns how many, the first of which is in *first. */
static Size
remove_common(uint64 *hashes, Size *count, const uint64 *other, Size other_count, uint64 *first)
{
	Size		kept = 0;
	Size		at = 0;
	Size		i;

	for (i = 0; i < *count; i++)
	{
		if (i % BFPG_SORT_STEP == 0)
			CHECK_FOR_INTERRUPTS();
		while (at < other_count && other[at] < hashes[i])
			at++;
		if (at == other_count || other[at] != hashes[i])
			hashes[kept++] = hashes[i];
		else if (kept == i)
			*first = hashes[i];
	}
	i = *count - kept;
	*count = kept;
	return i;
}

/* Decides which boolean the keys have that are in both lists. */
static void
settle_conflicts(BfpgPublication *list, HashesOfParts *members, HashesOfParts *others)
{
	int32		part;

	list->others.conflicts = 0;
	for (part = 0; part < list->made.count; part++)
	{
		uint64	   *a = members->hashes[part];
		uint64	   *b = others->hashes[part];
		uint64		first;
		Size		removed = list->asked.on_conflict == BFPG_CONFLICT_TRUE
			? remove_common(b, &others->counts[part], a, members->counts[part], &first)
			: remove_common(a, &members->counts[part], b, others->counts[part], &first);

		if (removed > 0 && list->asked.on_conflict == BFPG_CONFLICT_ERROR)
			refuse_conflict(list, first);
		list->others.conflicts += (int64) removed;
	}
}

/* Whether a level has room for the keys that came; else it is to have more the next time. */
static bool
has_room(BfpgPublication *list, unsigned level, const HashesOfParts *hashes)
{
	bool		has = true;
	int32		part;

	for (part = 0; part < list->made.count; part++)
	{
		if (hashes->counts[part] <= list->made.shapes[part].level[level].capacity)
			continue;
		list->made.build->least[level] = Max(list->made.build->least[level], (uint64) bfpg_round_capacity((double) hashes->counts[part]));
		has = false;
	}
	return has;
}

static void
fill_level_2(BfpgPublication *list, const HashesOfParts *others)
{
	BfpgShared *shared = list->made.build->shared;
	int32		part;

	for (part = 0; part < list->made.count; part++)
	{
		CHECK_FOR_INTERRUPTS();
		bf_exact_add(&list->made.shapes[part], bfpg_shared_blocks(shared, (uint32) part), 1,
					 others->hashes[part], others->counts[part], bfpg_tick);
	}
}

/* False where a part's level 3 can't be closed: it is to be larger. */
static bool
close_level_3(BfpgPublication *list, const HashesOfParts *members, const HashesOfParts *others)
{
	BfpgShared *shared = list->made.build->shared;
	int32		part;

	for (part = 0; part < list->made.count; part++)
	{
		bf_shape   *shape = &list->made.shapes[part];

		if (!bf_exact_close(shape, bfpg_shared_blocks(shared, (uint32) part), members->hashes[part],
							members->counts[part], others->hashes[part], others->counts[part], bfpg_tick))
		{
			list->made.build->least[2] = shape->level[2].capacity * 4;
			return false;
		}
	}
	return true;
}

bool
bfpg_publish_finish_exact(BfpgPublication *list)
{
	const int64 *before;
	const int64 *now;
	TimestampTz start = GetCurrentTimestamp();
	HashesOfParts others;
	HashesOfParts members;

	bfpg_progress_begin(list, "finding others that level 1 lets in");
	others = pass(list, BFPG_OTHERS, &before);
	if (!has_room(list, 1, &others))
		return false;
	fill_level_2(list, &others);
	bfpg_progress_begin(list, "checking");
	members = pass(list, BFPG_PROVE, &now);
	check_rows(list, before, now);
	settle_conflicts(list, &members, &others);
	if (!has_room(list, 2, &members) || !close_level_3(list, &members, &others))
		return false;
	list->made.check_seconds = bfpg_seconds_since(start);
	return true;
}

int32
bfpg_publish_exact_shape(const BfpgPublication *list, bf_shape *shape)
{
	const bf_universe universe = {(uint64) list->n, (uint64) list->others.planned, list->p};
	uint32		parts = Max((uint32) list->parts, bf_exact_parts(&universe));
	unsigned	level;

	for (; parts > 0 && parts <= BF_MAX_PARTS; parts++)
	{
		const bf_universe part = bf_exact_part_universe(&universe, parts);

		if (!bf_exact_plan_least(&part, (uint64) list->seed, list->made.build->least, shape))
			break;
		if (bf_exact_fits(shape))
		{
			for (level = 0; level < BF_EXACT_LEVELS; level++)
				shape->level[level].parts = (uint16) parts;
			return (int32) parts;
		}
	}
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("list \"%s\" is too large to be exact", list->name),
			 errdetail("It is planned for n = " INT64_FORMAT " members, " INT64_FORMAT " others and p = %g.",
					   list->n, list->others.planned, list->p)));
}
