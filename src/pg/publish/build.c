/*
 * build.c
 *	  The query of a list, run to build its filters.
 *
 * They are built once, in shared memory that all processes of the query set bits in; see agg.c.
 * Where the server has too little of that, or the plan has no workers, this process alone builds
 * them in its own memory.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/dependency.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "optimizer/cost.h"
#include "parser/parse_relation.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "bf_bits.h"
#include "bf_estimate.h"
#include "bf_key.h"
#include "bf_sizing.h"
#include "base/pg_compat.h"
#include "base/settings.h"
#include "base/report.h"
#include "key/key.h"
#include "publish/build.h"

/* Builds of one run: more than two only where estimates were wrong by magnitudes. */
#define MOST_BUILDS 6

/* A first build is repeated when its n was so many times what the keys need. */
#define WASTEFUL 4

double
bfpg_seconds_since(TimestampTz start)
{
	return (double) (GetCurrentTimestamp() - start) / USECS_PER_SEC;
}

Expr *
bfpg_publish_count(const BfpgSource *source, Expr *key, Expr *filter)
{
	return bfpg_source_aggregate(source, key == NULL ? F_COUNT_ : F_COUNT_ANY, key == NULL ? NIL : list_make1(key), filter);
}

/* The boolean beside the key; of a list that is not exact true. */
static Expr *
member(const BfpgSource *source)
{
	Expr	   *boolean;

	if (source->member == 0)
		return (Expr *) makeBoolConst(true, false);
	boolean = (Expr *) makeVar(1, source->member, source->member_type, -1, InvalidOid, 0);
	/* of a domain */
	if (source->member_type != BOOLOID)
		boolean = (Expr *) makeRelabelType(boolean, BOOLOID, -1, InvalidOid, COERCE_IMPLICIT_CAST);
	return boolean;
}

static Oid
pass_aggregate(const BfpgSource *source)
{
	const Oid	types[] = {BYTEAOID, InvalidOid, BOOLOID};

	return bfpg_source_function(source, "bloom_publish_agg", lengthof(types), types);
}

/* Keys that can be none are refused before any is read.  The type of the others, unless rows alone tell it. */
static uint32
check_key_type(const BfpgPublication *list, const BfpgSource *source)
{
	Oid			type = getBaseType(source->type);
	BfpgKeyCoder coder;

	if (type == list->place.type)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the query of list \"%s\" returns filters, and not keys", list->name),
				 errhint("Publish a filter with SELECT bloom_publish_filter(name, filter), and a set of parts with SELECT bloom_publish_filter(name, array_agg(filter)).")));
	if (bfpg_is_row(type) || bfpg_is_untyped(type))
		return BF_KEY_NONE;
	bfpg_column_coder(type, source->collation, &coder);
	return coder.type;
}

/* SELECT bloom_publish_agg(argument, key, boolean) */
static PlannedStmt *
plan_pass(const BfpgSource *source, bool parallel)
{
	List	   *arguments = list_make3(bfpg_source_parameter(1, BYTEAOID), bfpg_source_key(source), member(source));
	List	   *pass = list_make1(bfpg_source_aggregate(source, pass_aggregate(source), arguments, NULL));

	return bfpg_source_plan(source, bfpg_source_select(source, NULL, pass), NULL, parallel);
}

/* A temporary table is its session's, so that no refresh has the same. */
static void
refuse_temporary(BfpgPublication *list, Query *query)
{
	list->made.temporary = bfpg_reads_temporary(query);
	if (!list->made.temporary)
		return;
	if (list->deed != BFPG_GIVES_QUERY)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("query of list \"%s\" reads a temporary table", list->name),
				 errhint("Make the table again that it read, or CALL bloom_publish.")));
	ereport(NOTICE,
			(errmsg("the query of list \"%s\" is not kept, since it reads a temporary table", list->name),
			 errhint("bloom_refresh has no query then: CALL bloom_publish each time.")));
}

static void
plan_build(BfpgPublication *list)
{
	BfpgBuild  *build = list->made.build;

	build->source = bfpg_source_read(list->name, list->asked.query, list->place.schema);
	refuse_temporary(list, build->source->query);
	build->key_type = check_key_type(list, build->source);
	build->plan = plan_pass(build->source, true);
	build->here = bfpg_source_runs_here(build->plan, pass_aggregate(build->source), &list->made.remote);
	if (list->tracked)
		bfpg_track_check_plan(list, build->plan);
	build->rows = bfpg_source_plan(build->source, copyObject(build->source->query), NULL, true)->planTree->plan_rows;
	list->exact = build->source->member != 0;
	if (!list->exact && list->asked.on_conflict != BFPG_CONFLICT_ERROR)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("on_conflict is for exact lists, and the query of list \"%s\" returns no boolean", list->name),
				 errhint("Return a boolean beside each key, or CALL bloom_publish without on_conflict.")));
}

bf_header
bfpg_publish_part_header(const BfpgPublication *list)
{
	bf_sizing	sizing;
	bf_header	header;

	bfpg_size_for_rate((int64) bf_part_capacity(list->n, list->made.count), list->p, &sizing);
	bfpg_check_fits(&sizing);
	header = bf_sizing_header(&sizing, (uint64) list->seed);
	header.parts = (uint16) list->made.count;
	return header;
}

/* A machine that has less would kill a process of the server, and all others end with it. */
static void
check_memory(const BfpgPublication *list, const bf_shape *shape)
{
	double		needed = bfpg_shared_bytes(shape) / 1024;

	/* hashes that are let in, in up to three copies while they are sent and sorted */
	if (list->exact)
		needed += 3 * sizeof(uint64) * ((double) shape->level[1].capacity + (double) shape->level[2].capacity) * list->made.count / 1024;
	if (needed > bfpg_publish_memory)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("list \"%s\" needs %.0f MB of memory to be built, and bloomfilter.publish_memory is %d MB",
						list->name, ceil(needed / 1024), bfpg_publish_memory / 1024),
				 errdetail("It is planned for n = " INT64_FORMAT " keys at p = %g.", list->n, list->p),
				 errhint("Raise bloomfilter.publish_memory if the machine, or the container, has the memory free.")));
}

/* What the filters are that all processes have made; the others have ended. */
static void
read_filters(BfpgPublication *list)
{
	BfpgShared *shared = list->made.build->shared;
	uint32		key_type = pg_atomic_read_u32(&shared->key_type);
	int32		part;

	/* keys come by day to a list that has none yet, and a host knows by its filters alone how they are to be read */
	if (list->tracked && key_type == BF_KEY_NONE)
		key_type = list->made.build->key_type;
	for (part = 0; part < list->made.count; part++)
	{
		bf_shape   *shape = &list->made.shapes[part];
		bf_header  *header = &shape->level[0];
		unsigned	level;

		*shape = shared->shape;
		header->bits_set = bf_count_bits(bfpg_shared_blocks(shared, (uint32) part), bf_blocks_bytes(header), bfpg_tick);
		for (level = 0; level < shape->levels; level++)
		{
			shape->level[level].part = (uint16) part;
			shape->level[level].key_type = header->bits_set > 0 || list->tracked ? key_type : BF_KEY_NONE;
		}
		/* the value that it is once its header has been written */
		list->made.filters[part] = PointerGetDatum(bfpg_shared_image(shared, (uint32) part) - VARHDRSZ);
	}
}

/* Writes the headers, by which the filters become values. */
static void
finish_shared(BfpgPublication *list)
{
	BfpgShared *shared = list->made.build->shared;
	int32		part;

	for (part = 0; part < list->made.count; part++)
	{
		uint8	   *image = bfpg_shared_image(shared, (uint32) part);
		bf_shape   *shape = &list->made.shapes[part];

		SET_VARSIZE(image - VARHDRSZ, VARHDRSZ + bf_shape_bytes(shape));
		if (list->exact)
			bf_exact_write(shape, image, bfpg_tick);
		else
			bf_header_write(&shape->level[0], image + BF_HEADER_BYTES, bfpg_tick, image);
	}
}

/* That run a plan, this one included, at most for each of its parallel parts. */
static int
processes(const PlannedStmt *plan)
{
	return plan->parallelModeNeeded ? 1 + Max(max_parallel_workers_per_gather, 1) : 1;
}

/* Without workers where they have too little memory to share. */
static void
leave_workers_out(const BfpgPublication *list, const bf_shape *shape)
{
	BfpgBuild  *build = list->made.build;
	const char *lack = processes(build->plan) == 1 ? NULL : bfpg_shared_lack(bfpg_shared_bytes(shape));

	if (lack == NULL)
		return;
	ereport(LOG,
			(errmsg("list \"%s\" is built by one process in its own memory, as there is too little that is shared", list->name),
			 errdetail_internal("%s", lack),
			 errhint("Enlarge /dev/shm, which containers limit to 64 MB unless they are told otherwise.")));
	build->plan = plan_pass(build->source, false);
}

static void
build_here(BfpgPublication *list, const bf_shape *shape)
{
	BfpgBuild  *build = list->made.build;
	const int64 *counts;
	Size		hashes;

	build->shared = bfpg_shared_create(shape, build->source->type, processes(build->plan));
	counts = bfpg_publish_pass(list, BFPG_ADD, &hashes);
	list->made.keys = counts[BFPG_PASS_KEYS];
	list->made.nulls = counts[BFPG_PASS_NULLS];
	if (list->exact)
	{
		list->others.count = counts[BFPG_PASS_OTHERS];
		list->others.unknown = counts[BFPG_PASS_UNKNOWN];
	}
	read_filters(list);
}

static void
free_shared(BfpgBuild *build)
{
	if (build->shared != NULL)
		bfpg_shared_free(build->shared);
	build->shared = NULL;
}

static void
choose_shape(BfpgPublication *list, bf_shape *shape)
{
	bf_header	header;
	bf_sizing	sizing;

	if (list->exact)
	{
		list->made.count = bfpg_publish_exact_shape(list, shape);
		return;
	}
	list->made.count = Max(list->parts, bfpg_choose_parts(list->n, list->p, &sizing));
	header = bfpg_publish_part_header(list);
	bf_shape_of(&header, shape);
}

void
bfpg_publish_build_once(BfpgPublication *list)
{
	BfpgBuild  *build = list->made.build;
	MemoryContext old;
	bf_shape	shape;

	bfpg_progress_begin(list, "building");
	free_shared(build);
	MemoryContextReset(build->context);
	choose_shape(list, &shape);
	check_memory(list, &shape);
	if (build->here)
		leave_workers_out(list, &shape);
	old = MemoryContextSwitchTo(build->context);
	list->made.filters = palloc(list->made.count * sizeof(Datum));
	list->made.shapes = palloc(list->made.count * sizeof(bf_shape));
	if (build->here)
		build_here(list, &shape);
	else
		bfpg_publish_build_apart(list);
	MemoryContextSwitchTo(old);
}

static bool
is_overfull(const BfpgPublication *list)
{
	int			i;

	for (i = 0; i < list->made.count; i++)
		if (bf_over_capacity(&list->made.shapes[i].level[0]))
			return true;
	return false;
}

/* The n of another build, or 0 where the one at hand is good. */
static int64
better_capacity(const BfpgPublication *list, bool guessed)
{
	int64		better = bfpg_round_capacity(bfpg_estimate_list_keys(list));

	if (is_overfull(list))
		return Max(better, bfpg_round_capacity((double) list->n));
	if (guessed && list->n / WASTEFUL > better)
		return better;
	return 0;
}

/*
 * SELECT count(key), and of an exact list count(key) FILTER (WHERE member): one reading more, before
 * anything is known.  Another engine's planner doesn't say how many rows its query has, and it counts
 * faster than it builds.  Returns how many keys are members.
 */
static double
count_keys(BfpgPublication *list)
{
	const BfpgSource *source = list->made.build->source;
	Expr	   *key = bfpg_source_key(source);
	List	   *counts = list_make1(bfpg_publish_count(source, key, NULL));
	const NullableDatum *row;

	bfpg_progress_begin(list, "counting");
	if (list->exact)
		counts = lappend(counts, bfpg_publish_count(source, key, member(source)));
	row = bfpg_source_only_row(source,
							   bfpg_source_run(source, bfpg_source_plan(source, bfpg_source_select(source, NULL, counts), NULL, true), NULL),
							   list_length(counts));
	list->made.build->rows = (double) DatumGetInt64(row[0].value);
	if (!list->exact)
		return list->made.build->rows;
	list->others.count = DatumGetInt64(row[0].value) - DatumGetInt64(row[1].value);
	return (double) DatumGetInt64(row[1].value);
}

static void
check_can_be_exact(const BfpgPublication *list)
{
	if (!list->asked.check)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("list \"%s\" can't be exact without its check", list->name),
				 errhint("CALL bloom_publish without \"check\" => false: an exact list is built by what the check finds.")));
	if (!list->made.build->here)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("list \"%s\" can't be exact: another engine or server computes aggregates over its query", list->name),
				 errhint("Copy the keys into a table of this server first: CREATE TEMP TABLE k AS SELECT ...")));
}

/* The n of a plain list that has none; last_keys: -1 where there was no last time. */
static void
choose_n(BfpgPublication *list, const BfpgLastList *last, double last_keys, double expected)
{
	if (list->n == 0)
		list->n = Max(list->min_n, bfpg_choose_capacity(last->n, last_keys, expected));
}

static void
choose_plain(BfpgPublication *list, const BfpgLastList *last)
{
	double		expected = list->made.build->rows;

	if (list->n == 0 && !last->exists && !list->made.build->here)
		expected = count_keys(list);
	choose_n(list, last, last->exists ? last->keys : -1, expected);
}

/* The same of an exact list, and the others that it is planned for. */
static void
choose_exact(BfpgPublication *list, const BfpgLastList *last)
{
	double		expected = list->made.build->rows;

	check_can_be_exact(list);
	if (!last->exact || last->others < 0)
		expected = count_keys(list);
	choose_n(list, last, last->exact ? last->keys : -1, expected);
	list->others.planned = bfpg_choose_capacity(last->planned_others, last->exact ? (double) last->others : -1, (double) list->others.count);
}

static void
refuse_empty(const BfpgPublication *list)
{
	ereport(ERROR,
			(errcode(ERRCODE_NO_DATA_FOUND),
			 errmsg("the query of list \"%s\" returns no keys", list->name),
			 errdetail("Nothing was published."),
			 errhint("Look-ups in an empty list return false for every key. If that is meant, %s.", bfpg_publish_how_allowed(list, "allow_empty"))));
}

/*
 * Builds until n and the levels are large enough.  The last build of a plain list stays although it is
 * too full: that is warned of.
 */
static void
build_until_good(BfpgPublication *list, bool guessed)
{
	int			builds;

	for (builds = 1; builds <= MOST_BUILDS; builds++)
	{
		int64		better;

		bfpg_publish_build_once(list);
		if (list->made.keys == 0 && !list->asked.allow_empty)
			refuse_empty(list);
		better = better_capacity(list, guessed);
		if (!list->exact && (better == 0 || builds == MOST_BUILDS))
			return;
		if (better == 0 && bfpg_publish_finish_exact(list))
			return;
		if (better > list->n && !guessed)
			ereport(NOTICE,
					(errmsg("list \"%s\" has outgrown n = " INT64_FORMAT " and is built again for " INT64_FORMAT " keys",
							list->name, list->n, better)));
		if (better != 0)
			list->n = better;
	}
	ereport(ERROR,
			(errcode(ERRCODE_DATA_EXCEPTION),
			 errmsg("list \"%s\" was not published: its levels were too small for its keys %d times", list->name, MOST_BUILDS),
			 errhint("The query must return the same keys with the same booleans each time that it runs under one snapshot.")));
}

void
bfpg_publish_build(BfpgPublication *list, const BfpgLastList *last)
{
	TimestampTz start = GetCurrentTimestamp();
	bool		guessed = list->n == 0 && !last->exists;

	list->made.build = palloc0(sizeof(BfpgBuild));
	list->made.build->context = AllocSetContextCreate(CurrentMemoryContext, "bloomfilter build", ALLOCSET_DEFAULT_SIZES);
	plan_build(list);
	if (list->exact)
		choose_exact(list, last);
	else
		choose_plain(list, last);
	build_until_good(list, guessed);
	if (list->made.build->shared != NULL)
		finish_shared(list);
	list->made.build_seconds = bfpg_seconds_since(start) - Max(list->made.check_seconds, 0);
	if (list->asked.check && !list->exact)
		bfpg_publish_check(list);
}

void
bfpg_publish_build_done(BfpgPublication *list)
{
	free_shared(list->made.build);
	UnregisterSnapshot(list->made.build->source->snapshot);
}
