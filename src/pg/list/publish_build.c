/*
 * publish_build.c
 *	  The query of a list, run to build its filters and to check them.
 *
 * Both are one aggregate over the query each, which PostgreSQL may run in parallel.
 * The parts of a set are grouped behind an OFFSET '0': the planner then takes them for
 * two hundred groups and hashes, where bloom_part itself would look to it like as many
 * groups as there are keys, to be sorted.  A 0 without quotes would be cast only after
 * the planner has looked whether it is one, and cost the parallel plan.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "nodes/plannodes.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/plancache.h"
#include "utils/timestamp.h"

#include "bf_estimate.h"
#include "bf_filter.h"
#include "bf_sizing.h"
#include "value/filter.h"
#include "base/pg_compat.h"
#include "list/progress.h"
#include "list/publish.h"
#include "base/sizes.h"

/* Builds of one run: more than two only where estimates were wrong by magnitudes. */
#define MOST_BUILDS 4

/* A first build is repeated when its n was so many times what the keys need. */
#define WASTEFUL 4

/* Random hashes that are asked to measure the rate. */
#define MEASURED_HASHES 100000

/* Their seed: of no list, unless somebody chose it and has just these keys. */
#define MEASURE_SEED UINT64CONST(0x9e3779b97f4a7c15)

/* Columns of the statements. */
enum
{
	BUILT_PART = 1,
	BUILT_FILTER = 2,
	BUILT_KEYS = 3
};

static double
seconds_since(TimestampTz start)
{
	return (double) (GetCurrentTimestamp() - start) / USECS_PER_SEC;
}

static void
refuse_query(const BfpgPublication *list, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("the query of list \"%s\" must return one column, the keys", list->name),
			 errdetail_internal("%s", detail)));
}

/*
 * Refuses what isn't a query of one column of keys, before anything of it runs, and
 * returns how many rows the planner expects of it.
 */
static double
look_at_query(const BfpgPublication *list)
{
	SPIPlanPtr	plan = SPI_prepare(list->query, 0, NULL);
	List	   *sources;
	CachedPlan *cached;
	TupleDesc	columns;
	PlannedStmt *statement;
	double		rows;

	if (plan == NULL)
		refuse_query(list, SPI_result_code_string(SPI_result));
	sources = SPI_plan_get_plan_sources(plan);
	if (list_length(sources) != 1)
		refuse_query(list, "It is not one query that returns rows and changes none.");
	columns = ((CachedPlanSource *) linitial(sources))->resultDesc;
	if (columns == NULL || columns->natts != 1)
		refuse_query(list, psprintf("It returns %d columns.", columns == NULL ? 0 : columns->natts));
	cached = SPI_plan_get_cached_plan(plan);
	if (cached == NULL)
		refuse_query(list, "It can't be planned.");
	statement = linitial_node(PlannedStmt, cached->stmt_list);
	if (statement->commandType != CMD_SELECT || statement->hasModifyingCTE)
		refuse_query(list, "It is not one query that returns rows and changes none.");
	rows = statement->planTree->plan_rows;
	ReleaseCachedPlan(cached, 0);
	SPI_freeplan(plan);
	return rows;
}

/* The query as it stands in FROM, whatever comment it ends with. */
static const char *
as_source(const BfpgPublication *list)
{
	return psprintf("(\n%s\n) AS q(key)", list->query);
}

/* n, p and seed as the arguments of an aggregate. */
static const char *
parameters(const BfpgPublication *list)
{
	return psprintf("'" INT64_FORMAT "'::pg_catalog.int8, '%.17g'::pg_catalog.float8, '" INT64_FORMAT "'::pg_catalog.int8",
					list->n, list->p, list->seed);
}

static const char *
build_statement(const BfpgPublication *list)
{
	const char *prefix = list->place.prefix;

	if (list->count == 1)
		return psprintf("SELECT 0, %sbloom_agg(q.key, %s), pg_catalog.count(q.key) FROM %s",
						prefix, parameters(list), as_source(list));
	return psprintf("SELECT s.part, %sbloom_part_agg(s.key, %d, %s), pg_catalog.count(*) "
					"FROM (SELECT %sbloom_part(q.key, %d, '" INT64_FORMAT "'::pg_catalog.int8) AS part, q.key "
					"FROM %s OFFSET '0') AS s WHERE s.part IS NOT NULL GROUP BY s.part",
					prefix, list->count, parameters(list),
					prefix, list->count, list->seed, as_source(list));
}

/* An empty part, for one that no key belongs to. */
static Datum
empty_part(const BfpgPublication *list, int32 part)
{
	bf_sizing	sizing;
	bf_header	header;

	bfpg_size_for_rate((int64) bf_part_capacity(list->n, list->count), list->p, &sizing);
	bfpg_check_fits(&sizing);
	header = bf_sizing_header(&sizing, (uint64) list->seed);
	header.part = (uint16) part;
	header.parts = (uint16) list->count;
	return bfpg_filter_ro_datum(bfpg_filter_new(&header, CurrentMemoryContext));
}

/* Takes the filters from the rows of the statement, which stay where they are. */
static void
take_filters(BfpgPublication *list, SPITupleTable *rows)
{
	bool	   *there = palloc0(list->count * sizeof(bool));
	uint64		i;
	int32		part;

	list->filters = palloc(list->count * sizeof(Datum));
	list->headers = palloc(list->count * sizeof(bf_header));
	list->keys = 0;
	for (i = 0; i < rows->numvals; i++)
	{
		bool		is_null;

		part = DatumGetInt32(SPI_getbinval(rows->vals[i], rows->tupdesc, BUILT_PART, &is_null));
		list->filters[part] = SPI_getbinval(rows->vals[i], rows->tupdesc, BUILT_FILTER, &is_null);
		there[part] = !is_null;
		list->keys += DatumGetInt64(SPI_getbinval(rows->vals[i], rows->tupdesc, BUILT_KEYS, &is_null));
	}
	for (part = 0; part < list->count; part++)
	{
		if (!there[part])
			list->filters[part] = empty_part(list, part);
		bfpg_read_header(list->filters[part], &list->headers[part]);
	}
	pfree(there);
}

/* One build with the n that the list has now.  Too many keys are our business. */
static SPITupleTable *
build_once(BfpgPublication *list, bool fixed_parts)
{
	int			nest = NewGUCNestLevel();
	int			status;

	bfpg_progress_phase(BFPG_PHASE_BUILD, -1);
	if (!fixed_parts)
		list->count = bfpg_plan_parts(list->n, list->p);
	(void) set_config_option("bloomfilter.overflow", "ignore", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	status = SPI_execute(build_statement(list), false, 0);
	AtEOXact_GUC(true, nest);
	if (status != SPI_OK_SELECT)
		elog(ERROR, "SPI_execute returned %s", SPI_result_code_string(status));
	take_filters(list, SPI_tuptable);
	return SPI_tuptable;
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
	int64		step = bfpg_plan_step(bfpg_estimate_list_keys(list));

	if (is_overfull(list))
		return Max(step, bfpg_plan_step((double) list->n));
	if (guessed && list->n / WASTEFUL > step)
		return step;
	return 0;
}

void
bfpg_publish_build(BfpgPublication *list, const BfpgLastList *last)
{
	TimestampTz start = GetCurrentTimestamp();
	double		rows = look_at_query(list);
	bool		given = list->n != 0;
	bool		fixed_parts = list->parts != 0;
	int			builds;

	if (!given)
		list->n = bfpg_plan_capacity(last, rows);
	list->count = list->parts;
	for (builds = 1;; builds++)
	{
		SPITupleTable *built = build_once(list, fixed_parts);
		int64		better = better_capacity(list, !given && !last->exists);

		if (list->keys == 0 && !list->allow_empty)
			ereport(ERROR,
					(errcode(ERRCODE_NO_DATA_FOUND),
					 errmsg("the query of list \"%s\" returns no keys", list->name),
					 errdetail("Nothing was published."),
					 errhint("An empty list answers every question with no. If that is meant, add allow_empty => true.")));
		if (better == 0 || builds == MOST_BUILDS)
			break;
		if (better > list->n && (given || last->exists))
			ereport(NOTICE,
					(errmsg("list \"%s\" has outgrown n = " INT64_FORMAT " and is built again for " INT64_FORMAT " keys",
							list->name, list->n, better)));
		SPI_freetuptable(built);
		list->n = better;
	}
	list->build_seconds = seconds_since(start);
}

void
bfpg_publish_check(BfpgPublication *list)
{
	TimestampTz start = GetCurrentTimestamp();
	const char *statement = psprintf("SELECT %sbloom_missing(%s, q.key), pg_catalog.count(q.key) FROM %s",
									 list->place.prefix, quote_literal_cstr(list->name), as_source(list));
	bool		is_null;
	int64		missing;
	int64		asked;

	bfpg_progress_phase(BFPG_PHASE_CHECK, list->keys);
	if (SPI_execute(statement, false, 0) != SPI_OK_SELECT || SPI_processed != 1)
		elog(ERROR, "the check of a list returned no row");
	missing = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null));
	asked = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 2, &is_null));
	if (missing > 0 || asked != list->keys)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("list \"%s\" was not published: its filter lacks keys of its query", list->name),
				 errdetail("The build read " INT64_FORMAT " keys, the check " INT64_FORMAT ", of which " INT64_FORMAT " are missing.",
						   list->keys, asked, missing),
				 errhint("The query must return the same keys each time that it runs under one snapshot.")));
	list->check_seconds = seconds_since(start);
	list->measured_rate = bfpg_measure_rate(list);
}

/* A hash that is asked, and the part that it belongs to. */
typedef struct BfpgMeasured
{
	uint32		part;
	uint64		hash;
} BfpgMeasured;

static int
by_part(const void *a, const void *b)
{
	uint32		one = ((const BfpgMeasured *) a)->part;
	uint32		other = ((const BfpgMeasured *) b)->part;

	return one < other ? -1 : one > other;
}

/*
 * Hashes of keys that nobody has, in the order of their parts: any 64 bits are as
 * likely as any others, whatever the type of the keys.
 */
static BfpgMeasured *
random_hashes(uint32 parts)
{
	BfpgMeasured *hashes = palloc(MEASURED_HASHES * sizeof(BfpgMeasured));
	int			i;

	for (i = 0; i < MEASURED_HASHES; i++)
	{
		hashes[i].hash = bf_hash_word(PG_UINT64_MAX / 3 + (uint64) i, MEASURE_SEED);
		hashes[i].part = parts > 1 ? bf_part_of(hashes[i].hash, parts) : 0;
	}
	qsort(hashes, MEASURED_HASHES, sizeof(BfpgMeasured), by_part);
	return hashes;
}

/* How many of the hashes, all of one part, a filter lets pass. */
static int
count_passing(const bf_header *header, Datum filter, const BfpgMeasured *hashes, int count)
{
	struct varlena *flat = bfpg_flat_value(filter);
	const uint8 *blocks = (const uint8 *) VARDATA(flat) + BF_HEADER_BYTES;
	int			passed = 0;
	int			i;

	for (i = 0; i < count; i++)
		passed += bf_contains(header, blocks, hashes[i].hash);
	if (PointerGetDatum(flat) != filter)
		pfree(flat);
	return passed;
}

double
bfpg_measure_rate(const BfpgPublication *list)
{
	BfpgMeasured *hashes = random_hashes((uint32) list->count);
	int			passed = 0;
	int			at;
	int			length;

	for (at = 0; at < MEASURED_HASHES; at += length)
	{
		uint32		part = hashes[at].part;

		for (length = 1; at + length < MEASURED_HASHES && hashes[at + length].part == part;)
			length++;
		passed += count_passing(&list->headers[part], list->filters[part], hashes + at, length);
	}
	pfree(hashes);
	return (double) passed / MEASURED_HASHES;
}
