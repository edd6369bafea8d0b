/*
 * publish_check.c
 *	  Whether a list that was built has all keys of its query, and was written as built.
 *
 * The query is run again, under the same snapshot.  Its keys are looked up in the
 * filters where they were built, before a byte is written.  Filters that were built apart
 * are looked up as they were stored.  Where rows come from another engine and the filter
 * isn't large, it goes there as a parameter, so that no rows have to travel.  In all cases
 * what was written is read back once and compared.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "bf_filter.h"
#include "bf_hash.h"
#include "base/activity.h"
#include "base/pg_compat.h"
#include "list/list.h"
#include "list/publish_build.h"
#include "list/statement.h"
#include "value/filter.h"

/* Random hashes that are looked up to measure the rate. */
#define MEASURED_HASHES 100000

/* Their seed: of no list, unless somebody chose it and has just these keys. */
#define MEASURE_SEED UINT64CONST(0x9e3779b97f4a7c15)

/* Bytes of a filter that is sent to other engines, which take it as text: twice as long. */
#define MOST_SENT ((uint64) 128 * 1024 * 1024)

static void
refuse_keys(const BfpgPublication *list, int64 asked, int64 missing)
{
	bfpg_publish_refuse(list, ERRCODE_DATA_EXCEPTION,
						psprintf("list \"%s\" was not published: its filter lacks keys of its query", list->name),
						psprintf("The build read " INT64_FORMAT " keys, the check " INT64_FORMAT ", of which " INT64_FORMAT " are missing.",
								 list->keys, asked, missing),
						list->remote
						? "Rows come from another engine or server, which may show each statement what was just written there. Use BEGIN ISOLATION LEVEL REPEATABLE READ; CALL bloom_publish(...); COMMIT, or publish while nobody writes."
						: "The query must return the same keys each time that it runs under one snapshot.");
}

static void
check_counts(const BfpgPublication *list, int64 asked, int64 missing)
{
	if (missing > 0 || asked != list->keys)
		refuse_keys(list, asked, missing);
}

/* In shared memory. */
static void
check_shared(const BfpgPublication *list)
{
	BfpgShared *shared = list->build->shared;
	int64		counts[BFPG_PASS_COUNTS];

	bfpg_publish_pass(list->build, bfpg_pass_of_shared(shared), counts);
	bfpg_shared_seal(shared);
	check_counts(list, counts[BFPG_PASS_KEYS], counts[BFPG_PASS_MISSING]);
}

/* As they are stored. */
static void
check_list(const BfpgPublication *list)
{
	int64		counts[BFPG_PASS_COUNTS];

	bfpg_publish_pass_of_list(list, counts);
	check_counts(list, counts[BFPG_PASS_KEYS], counts[BFPG_PASS_MISSING]);
}

/* SELECT count(key), count(key) FILTER (WHERE NOT bloom_contains($1, key)), not in parallel. */
static void
check_by_value(const BfpgPublication *list)
{
	const BfpgSource *source = list->build->source;
	const Oid	types[] = {list->place.type, InvalidOid};
	const ParamExternData filter = bfpg_parameter(list->place.type, list->filters[0]);
	Expr	   *key = bfpg_source_key(source);
	Expr	   *contains = (Expr *)
		makeFuncExpr(bfpg_source_function(source, "bloom_contains", lengthof(types), types), BOOLOID,
					 list_make2(bfpg_source_parameter(1, list->place.type), key),
					 InvalidOid, source->collation, COERCE_EXPLICIT_CALL);
	Query	   *statement = bfpg_source_select(source,
											   list_make2(bfpg_publish_count(source, key, NULL),
														  bfpg_publish_count(source, key,
																			 makeBoolExpr(NOT_EXPR, list_make1(contains), -1))));
	ParamListInfo params = bfpg_parameters(1, &filter);
	List	   *rows = bfpg_source_run(source, bfpg_source_plan(source, statement, params, false), params, false);
	const NullableDatum *row = bfpg_source_only_row(source, rows, 2);

	check_counts(list, DatumGetInt64(row[0].value), DatumGetInt64(row[1].value));
}

void
bfpg_publish_check_built(BfpgPublication *list)
{
	BfpgBuild  *build = list->build;
	TimestampTz start = GetCurrentTimestamp();
	bool		by_value = list->remote && list->count == 1 && bf_blocks_bytes(&list->headers[0]) <= MOST_SENT;

	if (!by_value && build->shared == NULL)
		return;
	bfpg_activity_phase("checking", list->keys);
	if (by_value)
		check_by_value(list);
	else
		check_shared(list);
	build->checked = true;
	list->check_seconds = bfpg_seconds_since(start);
}

static void
refuse_part(const BfpgPublication *list, int32 part)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("list \"%s\" was not published: part %d is not stored as it was built", list->name, part),
			 errhint("Look for rules on bloom_generation_part.")));
}

static bool
is_as_built(Datum stored, Datum built)
{
	struct varlena *flat = bfpg_flat_value(built);
	bool		same = bfpg_has_bytes(stored, VARDATA(flat), VARSIZE(flat) - VARHDRSZ);

	if (PointerGetDatum(flat) != built)
		pfree(flat);
	return same;
}

/* Reads what was written: all bytes of each part. */
static void
read_back(const BfpgPublication *list)
{
	Datum		name = CStringGetTextDatum(list->name);
	BfpgListTable table;
	int32		part;

	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
	bfpg_list_open(list->place.schema, &table);
	for (part = 0; part < list->count; part++)
	{
		Datum		value;

		if (!bfpg_list_part(&table, name, part, &value) || !is_as_built(value, list->filters[part]))
			refuse_part(list, part);
		bfpg_list_done(&table);
	}
	bfpg_list_close(&table);
	PopActiveSnapshot();
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
	if (parts > 1)
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

/* The share of absent keys that the filters let pass, found by asking. */
static double
measure_rate(const BfpgPublication *list)
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

void
bfpg_publish_check(BfpgPublication *list)
{
	TimestampTz start = GetCurrentTimestamp();
	double		before = Max(list->check_seconds, 0);

	bfpg_activity_phase("checking what was written", -1);
	if (!list->build->checked)
		check_list(list);
	read_back(list);
	list->check_seconds = before + bfpg_seconds_since(start);
	list->measured_rate = measure_rate(list);
}
