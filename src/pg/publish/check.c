/*
 * check.c
 *	  Whether a list that was built has all keys of its query.
 *
 * The query is run again, under the same snapshot.  Its keys are looked up in the filters before
 * a byte is written.  Where rows come from another engine and the filter isn't large, it goes
 * there as a parameter, so that no rows have to travel.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "utils/timestamp.h"

#include "bf_filter.h"
#include "base/pg_compat.h"
#include "list/list.h"
#include "publish/build.h"
#include "value/filter.h"

/* Bytes of a filter that is sent to other engines, which take it as text: twice as long. */
#define MOST_SENT ((uint64) 128 * 1024 * 1024)

static void
refuse_keys(const BfpgPublication *list, int64 asked, int64 missing)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_EXCEPTION),
			 errmsg("list \"%s\" was not published: its filter lacks keys of its query", list->name),
			 errdetail("The build read " INT64_FORMAT " keys, the check " INT64_FORMAT ", of which " INT64_FORMAT " are missing.",
					   list->keys, asked, missing),
			 list->remote
			 ? errhint("Rows come from another engine or server, which may show each statement what was just written there. Use BEGIN ISOLATION LEVEL REPEATABLE READ; CALL bloom_publish(...); COMMIT, or publish while nobody writes.")
			 : errhint("The query must return the same keys each time that it runs under one snapshot.")));
}

static void
check_counts(const BfpgPublication *list, int64 asked, int64 missing)
{
	if (missing > 0 || asked != list->keys)
		refuse_keys(list, asked, missing);
}

static void
check_here(const BfpgPublication *list)
{
	BfpgBuild  *build = list->build;
	int64		counts[BFPG_PASS_COUNTS];

	if (build->shared == NULL)
		build->shared = bfpg_shared_adopt(list->headers, list->filters, build->source->type);
	bfpg_publish_pass(list, BFPG_CHECK, counts);
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
	List	   *rows = bfpg_source_run(source, bfpg_source_plan(source, statement, params, false), params);
	const NullableDatum *row = bfpg_source_only_row(source, rows, 2);

	check_counts(list, DatumGetInt64(row[0].value), DatumGetInt64(row[1].value));
}

void
bfpg_publish_check(BfpgPublication *list)
{
	TimestampTz start = GetCurrentTimestamp();

	if (list->remote && list->count == 1 && bf_blocks_bytes(&list->headers[0]) <= MOST_SENT)
		check_by_value(list);
	else
		check_here(list);
	list->check_seconds = bfpg_seconds_since(start);
}
