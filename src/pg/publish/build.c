/*
 * build.c
 *	  The query of a list, run to build its filters.
 *
 * They are built once, in shared memory that all processes of the query set bits in; see agg.c.
 * Where the server has too little of that, this process alone builds them in its own memory.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "bf_bits.h"
#include "bf_estimate.h"
#include "bf_key.h"
#include "bf_sizing.h"
#include "base/pg_compat.h"
#include "base/settings.h"
#include "base/report.h"
#include "publish/build.h"
#include "value/filter.h"

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
	BfpgCall	call = {
		key == NULL ? F_COUNT_ : F_COUNT_ANY, INT8OID, key == NULL ? NIL : list_make1(key), filter
	};

	return bfpg_source_aggregate(source, &call);
}

/* The argument is read for each row, where a function would cost. */
static ParamListInfo
pass_parameters(bytea *argument)
{
	const ParamExternData parameter = bfpg_parameter(BYTEAOID, PointerGetDatum(argument));
	ParamListInfo params = bfpg_parameters(1, &parameter);

	params->paramFetch = NULL;
	return params;
}

static Oid
pass_aggregate(const BfpgSource *source)
{
	const Oid	types[] = {BYTEAOID, InvalidOid, BOOLOID};

	return bfpg_source_function(source, BFPG_PUBLISH_AGG, source->member != 0 ? 3 : 2, types);
}

/* SELECT bloom_publish_agg(argument, key), or (argument, key, boolean) */
static List *
pass_expressions(const BfpgSource *source)
{
	BfpgCall	call = {
		pass_aggregate(source), INT8ARRAYOID,
		list_make2(bfpg_source_parameter(1, BYTEAOID), bfpg_source_key(source)), NULL
	};

	if (source->member != 0)
		call.arguments = lappend(call.arguments, bfpg_source_member(source));
	return list_make1(bfpg_source_aggregate(source, &call));
}

/*
 * A plan for filters that only this process has.  An engine such as Citus plans by the parameter's
 * value, and may then leave the aggregate to this server.  A foreign server leaves it where the
 * query has an OFFSET.
 */
static PlannedStmt *
plan_alone(const BfpgPublication *list, ParamListInfo params)
{
	const BfpgSource *source = list->build->source;
	Oid			aggregate = pass_aggregate(source);
	PlannedStmt *plan = bfpg_source_plan(source, bfpg_source_select(source, pass_expressions(source)), params, false);

	if (!bfpg_source_runs_here(plan, aggregate))
		plan = bfpg_source_plan(source, bfpg_source_select_here(source, pass_expressions(source)), params, false);
	if (!bfpg_source_runs_here(plan, aggregate))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("list \"%s\" was not published: its keys can't be looked up here, as another engine computes aggregates over its query",
						list->name),
				 errhint("Publish it in one part of at most 128 MB, which is sent to that engine, or with \"check\" => false.")));
	return plan;
}

/* Keys that a pass takes; the others are only counted. */
static int64
taken(BfpgPassMode mode, const int64 counts[BFPG_PASS_COUNTS])
{
	switch (mode)
	{
		case BFPG_ADD:
		case BFPG_CHECK:
			return counts[BFPG_PASS_KEYS];
		case BFPG_OTHERS:
			return counts[BFPG_PASS_OTHERS];
		case BFPG_PROVE:
			return counts[BFPG_PASS_KEYS] + counts[BFPG_PASS_OTHERS];
		case BFPG_FIND:
			break;
	}
	return 0;
}

/* The ticket is the argument.  The server's log may have it, where it is of no use after the pass. */
void
bfpg_publish_pass(const BfpgPublication *list, BfpgPassMode mode, int64 counts[BFPG_PASS_COUNTS])
{
	const BfpgBuild *build = list->build;
	ParamListInfo params;
	PlannedStmt *plan;
	const NullableDatum *row;
	ArrayType  *array;

	bfpg_shared_begin(build->shared, mode);
	params = pass_parameters(bfpg_shared_ticket(build->shared));
	plan = bfpg_shared_is_own(build->shared) ? plan_alone(list, params) : build->plan;
	row = bfpg_source_only_row(build->source, bfpg_source_run(build->source, plan, params), 1);
	array = DatumGetArrayTypeP(row[0].value);
	Assert(ARR_DIMS(array)[0] == BFPG_PASS_COUNTS && !ARR_HASNULL(array));
	memcpy(counts, ARR_DATA_PTR(array), BFPG_PASS_COUNTS * sizeof(int64));
	if ((uint64) taken(mode, counts) != pg_atomic_read_u64(&build->shared->head->keys))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("list \"%s\" was not published: its processes read " INT64_FORMAT " keys and took " UINT64_FORMAT,
						list->name, taken(mode, counts), pg_atomic_read_u64(&build->shared->head->keys))));
	bfpg_shared_begin(build->shared, BFPG_CHECK);
}

/* Plans the aggregate over the query, and looks where it would run. */
static void
plan_build(BfpgPublication *list)
{
	BfpgBuild  *build = list->build;

	build->source = bfpg_source_read(list->name, list->query, list->place.schema);
	build->plan = bfpg_source_plan(build->source,
								   bfpg_source_select(build->source, pass_expressions(build->source)), NULL, true);
	build->here = bfpg_source_runs_here(build->plan, pass_aggregate(build->source));
	list->remote = bfpg_source_is_remote(build->plan);
	build->rows = bfpg_source_rows(build->source);
	list->exact = build->source->member != 0;
	if (!list->exact && list->on_conflict != BFPG_CONFLICT_ERROR)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("on_conflict is for exact lists, and the query of list \"%s\" returns no boolean", list->name),
				 errhint("Return a boolean beside each key, or leave on_conflict out.")));
}

bf_header
bfpg_publish_plan_part(const BfpgPublication *list)
{
	bf_sizing	sizing;
	bf_header	header;

	bfpg_size_for_rate((int64) bf_part_capacity(list->n, list->count), list->p, &sizing);
	bfpg_check_fits(&sizing);
	header = bf_sizing_header(&sizing, (uint64) list->seed);
	header.parts = (uint16) list->count;
	return header;
}

/* A machine that has less would kill a process of the server, and all others end with it. */
static void
check_memory(const BfpgPublication *list, const bf_exact *shape)
{
	double		needed = bfpg_shared_bytes(shape) / 1024;

	if (list->exact)
		needed += bfpg_exact_list_bytes(list, shape) / 1024;

	if (needed > bfpg_publish_memory)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("list \"%s\" needs %.0f MB of memory to be built, and bloomfilter.publish_memory is %d MB",
						list->name, ceil(needed / 1024), bfpg_publish_memory / 1024),
				 errdetail("It is planned for n = " INT64_FORMAT " keys at p = %g.", list->n, list->p),
				 errhint("Raise bloomfilter.publish_memory if the machine, or the container, has the memory free.")));
}

/* Takes the filters from shared memory.  Other processes have ended. */
static void
take_shared(BfpgPublication *list)
{
	const BfpgShared *shared = list->build->shared;
	uint32		key_type = pg_atomic_read_u32(&shared->head->key_type);
	int32		part;

	for (part = 0; part < list->count; part++)
	{
		bf_exact   *shape = &list->shapes[part];
		bf_header  *header = &shape->level[0];
		unsigned	level;

		*shape = shared->head->shape;
		header->bits_set = bf_count_bits(bfpg_shared_blocks(shared, (uint32) part), bf_blocks_bytes(header), bfpg_tick);
		for (level = 0; level < shape->levels; level++)
		{
			shape->level[level].part = (uint16) part;
			shape->level[level].key_type = header->bits_set > 0 ? key_type : BF_KEY_NONE;
		}
		list->filters[part] = bfpg_shared_value(shared, (uint32) part);
	}
}

/* Writes the headers, by which the filters become values. */
static void
finish_shared(BfpgPublication *list)
{
	const BfpgShared *shared = list->build->shared;
	int32		part;

	for (part = 0; part < list->count; part++)
	{
		uint8	   *image = shared->images[part];
		bf_exact   *shape = &list->shapes[part];

		SET_VARSIZE(image - VARHDRSZ, VARHDRSZ + bf_exact_bytes(shape));
		if (list->exact)
			bf_exact_write(shape, image, bfpg_tick);
		else
			bf_header_write(&shape->level[0], image + BF_HEADER_BYTES, bfpg_tick, image);
	}
}

static void
build_here(BfpgPublication *list, const bf_exact *shape)
{
	BfpgBuild  *build = list->build;
	char	   *reason = NULL;
	int64		counts[BFPG_PASS_COUNTS];

	build->shared = bfpg_shared_create(shape, build->source->type, bfpg_source_processes(build->plan), &reason);
	if (build->shared == NULL)
	{
		ereport(LOG,
				(errmsg("list \"%s\" is built by one process in its own memory, as there is too little that is shared", list->name),
				 errdetail_internal("%s", reason),
				 errhint("Enlarge /dev/shm, which containers limit to 64 MB unless they are told otherwise.")));
		build->shared = bfpg_shared_own(shape, build->source->type);
	}
	bfpg_publish_pass(list, BFPG_ADD, counts);
	list->keys = counts[BFPG_PASS_KEYS];
	list->nulls = counts[BFPG_PASS_NULLS];
	if (list->exact)
	{
		list->others = counts[BFPG_PASS_OTHERS];
		list->unknown = counts[BFPG_PASS_UNKNOWN];
	}
	take_shared(list);
}

static void
free_shared(BfpgBuild *build)
{
	if (build->shared != NULL)
		bfpg_shared_free(build->shared);
	build->shared = NULL;
}

/* How many parts there are, and what each is like. */
static void
plan_shape(BfpgPublication *list, bf_exact *shape)
{
	bf_header	header;

	if (list->exact)
	{
		list->count = bfpg_publish_plan_exact(list, shape);
		return;
	}
	list->count = Max(list->parts, bfpg_plan_parts(list->n, list->p));
	header = bfpg_publish_plan_part(list);
	bf_exact_of(&header, shape);
}

/* One build with the n that the list has now, in place of the one before. */
static void
build_once(BfpgPublication *list)
{
	BfpgBuild  *build = list->build;
	MemoryContext old;
	bf_exact	shape;

	free_shared(build);
	MemoryContextReset(build->context);
	old = MemoryContextSwitchTo(build->context);
	plan_shape(list, &shape);
	check_memory(list, &shape);
	list->filters = palloc(list->count * sizeof(Datum));
	list->shapes = palloc(list->count * sizeof(bf_exact));
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

	for (i = 0; i < list->count; i++)
		if (bf_over_capacity(&list->shapes[i].level[0]))
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

/* The n of the list, and the others that an exact one is planned for. */
static void
plan_capacity(BfpgPublication *list, const BfpgLastList *last)
{
	bool		given = list->n != 0;

	if (!list->exact)
	{
		if (!given)
			list->n = Max(list->min_n, bfpg_plan_capacity(last->n, last->exists ? last->keys : -1, list->build->rows));
		return;
	}
	if (!list->check)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("list \"%s\" can't be exact without its check", list->name),
				 errhint("Leave \"check\" => false out: an exact list is built by what the check finds.")));
	if (!list->build->here)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("list \"%s\" can't be exact: another engine or server computes aggregates over its query", list->name),
				 errhint("Copy the keys into a table of this server first: CREATE TEMP TABLE k AS SELECT ...")));
	if (!last->exact || last->others < 0)
		bfpg_publish_count_exact(list);
	if (!given)
		list->n = Max(list->min_n, bfpg_plan_capacity(last->n, last->exact ? last->keys : -1, (double) list->keys));
	list->planned_others = bfpg_plan_capacity(last->planned_others, last->exact ? (double) last->others : -1, (double) list->others);
}

static void
refuse_empty(const BfpgPublication *list)
{
	ereport(ERROR,
			(errcode(ERRCODE_NO_DATA_FOUND),
			 errmsg("the query of list \"%s\" returns no keys", list->name),
			 errdetail("Nothing was published."),
			 errhint("Look-ups in an empty list return false for every key. If that is meant, add allow_empty => true.")));
}

/* One build; false where another one is needed, with the n that the list has then. */
static bool
try_build(BfpgPublication *list, bool known, bool guessed, bool last_try)
{
	int64		better;

	build_once(list);
	better = better_capacity(list, guessed);
	if (list->keys == 0 && !list->allow_empty)
		refuse_empty(list);
	if (better == 0 || last_try)
		return !list->exact || bfpg_publish_finish_exact(list);
	if (better > list->n && known)
		ereport(NOTICE,
				(errmsg("list \"%s\" has outgrown n = " INT64_FORMAT " and is built again for " INT64_FORMAT " keys",
						list->name, list->n, better)));
	list->n = better;
	return false;
}

void
bfpg_publish_build(BfpgPublication *list, const BfpgLastList *last)
{
	TimestampTz start = GetCurrentTimestamp();
	bool		given = list->n != 0;
	bool		done = false;
	int			builds;

	list->build = palloc0(sizeof(BfpgBuild));
	list->build->context = AllocSetContextCreate(CurrentMemoryContext, "bloomfilter build", ALLOCSET_DEFAULT_SIZES);
	plan_build(list);
	plan_capacity(list, last);
	for (builds = 1; !done && builds <= MOST_BUILDS; builds++)
		done = try_build(list, given || last->exists, !given && !last->exists && !list->exact,
						 !list->exact && builds == MOST_BUILDS);
	if (!done)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("list \"%s\" was not published: its levels were too small for its keys %d times", list->name, MOST_BUILDS),
				 errhint("The query must return the same keys with the same booleans each time that it runs under one snapshot.")));
	if (list->build->shared != NULL)
		finish_shared(list);
	list->build_seconds = bfpg_seconds_since(start) - Max(list->check_seconds, 0);
	if (list->check && !list->exact)
		bfpg_publish_check(list);
}

void
bfpg_publish_build_done(BfpgPublication *list)
{
	free_shared(list->build);
	bfpg_source_done(list->build->source);
}
