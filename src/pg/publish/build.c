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
#define MOST_BUILDS 4

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
	const Oid	types[] = {BYTEAOID, InvalidOid};

	return bfpg_source_function(source, BFPG_PUBLISH_AGG, lengthof(types), types);
}

/* SELECT bloom_publish_agg(argument, key) */
static List *
pass_expressions(const BfpgSource *source)
{
	BfpgCall	call = {
		pass_aggregate(source), INT8ARRAYOID,
		list_make2(bfpg_source_parameter(1, BYTEAOID), bfpg_source_key(source)), NULL
	};

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

/* The ticket is the argument.  The server's log may have it, where it is of no use after the pass. */
void
bfpg_publish_pass(const BfpgPublication *list, int64 counts[BFPG_PASS_COUNTS])
{
	const BfpgBuild *build = list->build;
	ParamListInfo params = pass_parameters(bfpg_shared_ticket(build->shared));
	PlannedStmt *plan = bfpg_shared_is_own(build->shared) ? plan_alone(list, params) : build->plan;
	const NullableDatum *row = bfpg_source_only_row(build->source, bfpg_source_run(build->source, plan, params), 1);
	ArrayType  *array = DatumGetArrayTypeP(row[0].value);

	Assert(ARR_DIMS(array)[0] == BFPG_PASS_COUNTS && !ARR_HASNULL(array));
	memcpy(counts, ARR_DATA_PTR(array), BFPG_PASS_COUNTS * sizeof(int64));
	if ((uint64) counts[BFPG_PASS_KEYS] != pg_atomic_read_u64(&build->shared->head->keys))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("list \"%s\" was not published: its processes read " INT64_FORMAT " keys and took " UINT64_FORMAT,
						list->name, counts[BFPG_PASS_KEYS], pg_atomic_read_u64(&build->shared->head->keys))));
	bfpg_shared_seal(build->shared);
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
check_memory(const BfpgPublication *list, const bf_header *header)
{
	double		needed = bfpg_shared_bytes(header) / 1024;

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
		bf_header  *header = &list->headers[part];

		*header = shared->head->header;
		header->part = (uint16) part;
		header->bits_set = bf_count_bits(shared->images[part] + BF_HEADER_BYTES, bf_blocks_bytes(header), bfpg_tick);
		header->key_type = header->bits_set > 0 ? key_type : BF_KEY_NONE;
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

		SET_VARSIZE(image - VARHDRSZ, VARHDRSZ + bf_total_bytes(&list->headers[part]));
		bf_header_write(&list->headers[part], image + BF_HEADER_BYTES, bfpg_tick, image);
	}
}

static void
build_here(BfpgPublication *list, const bf_header *header)
{
	BfpgBuild  *build = list->build;
	char	   *reason = NULL;
	int64		counts[BFPG_PASS_COUNTS];

	build->shared = bfpg_shared_create(header, build->source->type, bfpg_source_processes(build->plan), &reason);
	if (build->shared == NULL)
	{
		ereport(LOG,
				(errmsg("list \"%s\" is built by one process in its own memory, as there is too little that is shared", list->name),
				 errdetail_internal("%s", reason),
				 errhint("Enlarge /dev/shm, which containers limit to 64 MB unless they are told otherwise.")));
		build->shared = bfpg_shared_own(header, build->source->type);
	}
	bfpg_publish_pass(list, counts);
	list->keys = counts[BFPG_PASS_KEYS];
	list->nulls = counts[BFPG_PASS_NULLS];
	take_shared(list);
}

static void
free_shared(BfpgBuild *build)
{
	if (build->shared != NULL)
		bfpg_shared_free(build->shared);
	build->shared = NULL;
}

/* One build with the n that the list has now, in place of the one before. */
static void
build_once(BfpgPublication *list)
{
	BfpgBuild  *build = list->build;
	MemoryContext old;
	bf_header	header;

	free_shared(build);
	MemoryContextReset(build->context);
	old = MemoryContextSwitchTo(build->context);
	list->count = Max(list->parts, bfpg_plan_parts(list->n, list->p));
	header = bfpg_publish_plan_part(list);
	check_memory(list, &header);
	list->filters = palloc(list->count * sizeof(Datum));
	list->headers = palloc(list->count * sizeof(bf_header));
	if (build->here)
		build_here(list, &header);
	else
		bfpg_publish_build_apart(list);
	MemoryContextSwitchTo(old);
}

static bool
is_overfull(const BfpgPublication *list)
{
	int			i;

	for (i = 0; i < list->count; i++)
		if (bf_over_capacity(&list->headers[i]))
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

void
bfpg_publish_build(BfpgPublication *list, const BfpgLastList *last)
{
	TimestampTz start = GetCurrentTimestamp();
	bool		given = list->n != 0;
	int			builds;

	list->build = palloc0(sizeof(BfpgBuild));
	list->build->context = AllocSetContextCreate(CurrentMemoryContext, "bloomfilter build", ALLOCSET_DEFAULT_SIZES);
	plan_build(list);
	if (!given)
		list->n = Max(list->min_n, bfpg_plan_capacity(last, list->build->rows));
	for (builds = 1;; builds++)
	{
		int64		better;

		build_once(list);
		better = better_capacity(list, !given && !last->exists);
		if (list->keys == 0 && !list->allow_empty)
			ereport(ERROR,
					(errcode(ERRCODE_NO_DATA_FOUND),
					 errmsg("the query of list \"%s\" returns no keys", list->name),
					 errdetail("Nothing was published."),
					 errhint("Look-ups in an empty list return false for every key. If that is meant, add allow_empty => true.")));
		if (better == 0 || builds == MOST_BUILDS)
			break;
		if (better > list->n && (given || last->exists))
			ereport(NOTICE,
					(errmsg("list \"%s\" has outgrown n = " INT64_FORMAT " and is built again for " INT64_FORMAT " keys",
							list->name, list->n, better)));
		list->n = better;
	}
	if (list->build->shared != NULL)
		finish_shared(list);
	list->build_seconds = bfpg_seconds_since(start);
	if (list->check)
		bfpg_publish_check(list);
}

void
bfpg_publish_build_done(BfpgPublication *list)
{
	free_shared(list->build);
	bfpg_source_done(list->build->source);
}
