/*
 * am.c
 *	  The index access method "bloomfilter": what it can and can't do, and its options.
 *
 * Its operator classes have no operators.  So the planner finds no clause that the
 * index could answer and never considers it, which costs nothing; functions look keys
 * up in it.  It holds no row pointers: VACUUM has nothing to remove.
 *
 * PostgreSQL has no options of 64 bits, and shows limits of numbers with six digits
 * after the point: all are read from text.
 */
#include "postgres.h"

#include "access/reloptions.h"
#include "fmgr.h"
#include "nodes/pathnodes.h"

#include "bf_sizing.h"
#include "live/am.h"
#include "base/report.h"

PG_FUNCTION_INFO_V1(bloomfilter_index_handler);

#define DEFAULT_RATE 0.01

/* The parsed options as PostgreSQL lays them out. */
typedef struct StoredOptions
{
	int32		vl_len_;
	int			n;				/* offsets of texts */
	int			p;
	int			seed;
} StoredOptions;

static relopt_kind options_kind;

static void
check_read(const char *name, const char *text, const char *end, const char *hint)
{
	if (end == text || *end != '\0' || errno != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for option \"%s\" of a bloomfilter index: %s", name, text),
				 errhint("%s", hint)));
}

/* An option without text is as if it weren't given: 0. */
static int64
read_number(const char *name, const char *text)
{
	char	   *end;
	int64		value;

	if (*text == '\0')
		return 0;
	errno = 0;
	value = strtoll(text, &end, 10);
	check_read(name, text, end, "It is a whole number of 64 bits.");
	return value;
}

static double
read_rate(const char *text)
{
	char	   *end;
	double		rate;

	if (*text == '\0')
		return DEFAULT_RATE;
	errno = 0;
	rate = strtod(text, &end);
	check_read("p", text, end, "It is a false-positive rate between 0 and 1, for example 0.01.");
	bfpg_check_rate(rate);
	return rate;
}

static void
check_p(const char *text)
{
	(void) read_rate(text);
}

static void
check_n(const char *text)
{
	if (*text != '\0')
		bfpg_check_capacity(read_number("n", text));
}

static void
check_seed(const char *text)
{
	(void) read_number("seed", text);
}

void
bfpg_live_options_init(void)
{
	options_kind = add_reloption_kind();
	add_string_reloption(options_kind, "n", "Number of keys to size the filter for", "", check_n, AccessExclusiveLock);
	add_string_reloption(options_kind, "p", "False-positive rate at n keys", "", check_p, AccessExclusiveLock);
	add_string_reloption(options_kind, "seed", "Seed of the keys' hashes", "", check_seed, AccessExclusiveLock);
}

bytea *
bfpg_live_parse_options(Datum options, bool validate)
{
	static const relopt_parse_elt table[] = {
		{"n", RELOPT_TYPE_STRING, offsetof(StoredOptions, n)},
		{"p", RELOPT_TYPE_STRING, offsetof(StoredOptions, p)},
		{"seed", RELOPT_TYPE_STRING, offsetof(StoredOptions, seed)},
	};

	return (bytea *) build_reloptions(options, validate, options_kind,
									  sizeof(StoredOptions), table, lengthof(table));
}

/* The text of an option, empty where it is not given. */
static const char *
stored_text(StoredOptions *stored, int offset)
{
	return offset == 0 ? "" : (const char *) stored + offset;
}

BfpgLiveOptions
bfpg_live_options(Relation index)
{
	StoredOptions *stored = (StoredOptions *) index->rd_options;

	if (stored == NULL)
		return (BfpgLiveOptions) {0, DEFAULT_RATE, 0};
	return (BfpgLiveOptions) {
		.n = (uint64) read_number("n", stored_text(stored, stored->n)),
		.p = read_rate(stored_text(stored, stored->p)),
		.seed = (uint64) read_number("seed", stored_text(stored, stored->seed))
	};
}

/*
 * Nothing is deleted, and VACUUM reads no page: a damaged one is no reason not to vacuum the
 * table.  CREATE INDEX CONCURRENTLY is shown no row here, and adds all again.
 */
static IndexBulkDeleteResult *
bulk_delete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
			IndexBulkDeleteCallback callback, void *callback_state)
{
	return stats != NULL ? stats : palloc0(sizeof(IndexBulkDeleteResult));
}

static IndexBulkDeleteResult *
vacuum_cleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	if (info->analyze_only)
		return stats;
	if (stats == NULL)
		stats = palloc0(sizeof(IndexBulkDeleteResult));
	stats->num_pages = RelationGetNumberOfBlocks(info->index);
	stats->num_index_tuples = info->num_heap_tuples;
	stats->estimated_count = true;
	return stats;
}

/* Never chosen: there is no operator by which it could be. */
static void
cost_estimate(PlannerInfo *root, IndexPath *path, double loop_count,
			  Cost *startup, Cost *total, Selectivity *selectivity,
			  double *correlation, double *pages)
{
	*startup = *total = 1e300;
	*selectivity = 1.0;
	*correlation = 0.0;
	*pages = path->indexinfo->pages;
}

static void
refuse_scan(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("a bloomfilter index cannot be scanned"),
			 errhint("Ask it with bloom_index_contains.")));
}

static IndexScanDesc
begin_scan(Relation index, int keys, int order_bys)
{
	refuse_scan();
	return NULL;
}

static void
rescan(IndexScanDesc scan, ScanKey keys, int key_count, ScanKey order_bys, int order_by_count)
{
	refuse_scan();
}

static void
end_scan(IndexScanDesc scan)
{
	refuse_scan();
}

/* Any operator class will do: all that matters is the type, which the build looks at. */
static bool
validate(Oid opclass)
{
	return true;
}

static const IndexAmRoutine routine = {
	.type = T_IndexAmRoutine,
	/* Readers take predicate locks on pages, and insertions check them. */
	.ampredlocks = true,
	.amusemaintenanceworkmem = true,
	BFPG_AM_CAN_BUILD_PARALLEL
	.ambuild = bfpg_live_build,
	.ambuildempty = bfpg_live_build_empty,
	.aminsert = bfpg_live_insert,
	.ambulkdelete = bulk_delete,
	.amvacuumcleanup = vacuum_cleanup,
	.amcostestimate = cost_estimate,
	.amoptions = bfpg_live_parse_options,
	.ambuildphasename = bfpg_live_build_phase,
	.amvalidate = validate,
	.ambeginscan = begin_scan,
	.amrescan = rescan,
	.amendscan = end_scan,
};

Datum
bloomfilter_index_handler(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(bfpg_am_routine(&routine));
}

bool
bfpg_is_live(Relation index)
{
	return index->rd_indam != NULL && index->rd_indam->aminsert == bfpg_live_insert;
}
