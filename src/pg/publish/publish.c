/*
 * publish.c
 *	  bloom_publish, bloom_refresh, and bloom_publish_filter.
 *
 * The procedure needs one snapshot for the build and its check.  Called by itself, as
 * psql and pg_cron do, it ends the transaction that it was called in and begins its own:
 * run.c.  In a transaction block only the block's owner can do that.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "bf_filter.h"
#include "bf_key.h"
#include "engines/engines.h"
#include "value/filter.h"
#include "list/list.h"
#include "base/pg_compat.h"
#include "base/report.h"
#include "publish/build.h"

PG_FUNCTION_INFO_V1(bloomfilter_publish_query);
PG_FUNCTION_INFO_V1(bloomfilter_refresh);
PG_FUNCTION_INFO_V1(bloomfilter_publish_filter);
PG_FUNCTION_INFO_V1(bloomfilter_publish_filters);

/* Arguments of the procedure. */
enum
{
	ARG_NAME,
	ARG_QUERY,
	ARG_N,
	ARG_P,
	ARG_PARTS,
	ARG_SEED,
	ARG_CHECK,
	ARG_ALLOW_EMPTY,
	ARG_ALLOW_SHRINK,
	ARG_ALLOW_TYPE_CHANGE,
	ARG_ON_CONFLICT,
	ARG_VERBOSE
};

/* Arguments of bloom_refresh, and of the functions that publish values. */
enum
{
	ARG_REFRESH_ALLOW_SHRINK = 1,
	ARG_REFRESH_VERBOSE,
	ARG_VALUE_ALLOW_SHRINK = 2,
	ARG_VALUE_ALLOW_TYPE_CHANGE
};

/* What a list gets that was never given another one. */
#define DEFAULT_RATE 0.01
#define DEFAULT_MAX_SHRINK 0.5

static bool
flag_argument(FunctionCallInfo fcinfo, int argument, const char *what)
{
	if (PG_ARGISNULL(argument))
		bfpg_refuse_null(what);
	return PG_GETARG_BOOL(argument);
}

/* Numbers that aren't given are 0, or less where 0 could be given. */
static void
read_arguments(FunctionCallInfo fcinfo, BfpgPublication *list)
{
	if (PG_ARGISNULL(ARG_QUERY))
		bfpg_refuse_null("query of a list");
	list->asked.query = text_to_cstring(PG_GETARG_TEXT_PP(ARG_QUERY));
	list->asked.settings = bfpg_session_settings();
	if (!PG_ARGISNULL(ARG_N))
	{
		list->n = PG_GETARG_INT64(ARG_N);
		bfpg_check_capacity(list->n);
	}
	if (!PG_ARGISNULL(ARG_P))
	{
		list->p = PG_GETARG_FLOAT8(ARG_P);
		bfpg_check_rate(list->p);
	}
	if (!PG_ARGISNULL(ARG_PARTS))
	{
		list->parts = PG_GETARG_INT32(ARG_PARTS);
		bfpg_check_parts(list->parts);
	}
	list->asked.seed_given = !PG_ARGISNULL(ARG_SEED);
	if (list->asked.seed_given)
		list->seed = PG_GETARG_INT64(ARG_SEED);
	list->asked.check = flag_argument(fcinfo, ARG_CHECK, "check");
	list->asked.allow_empty = flag_argument(fcinfo, ARG_ALLOW_EMPTY, "allow_empty");
	list->asked.allow_shrink = flag_argument(fcinfo, ARG_ALLOW_SHRINK, "allow_shrink");
	list->asked.allow_type_change = flag_argument(fcinfo, ARG_ALLOW_TYPE_CHANGE, "allow_type_change");
	list->asked.verbose = flag_argument(fcinfo, ARG_VERBOSE, "verbose");
	if (!PG_ARGISNULL(ARG_ON_CONFLICT))
		list->asked.on_conflict = PG_GETARG_BOOL(ARG_ON_CONFLICT) ? BFPG_CONFLICT_TRUE : BFPG_CONFLICT_FALSE;
}

void
bfpg_publish_check_owner(BfpgPublication *list)
{
	bfpg_owner_check(list->place.schema, list->name, list->deed, &list->owner);
}

/* How a query that is kept already is run this time. */
static void
read_refresh_arguments(FunctionCallInfo fcinfo, BfpgPublication *list)
{
	list->asked.allow_shrink = flag_argument(fcinfo, ARG_REFRESH_ALLOW_SHRINK, "allow_shrink");
	list->asked.verbose = flag_argument(fcinfo, ARG_REFRESH_VERBOSE, "verbose");
}

void
bfpg_publish_begin(FunctionCallInfo fcinfo, BfpgPublication *list, BfpgDeed deed)
{
	if (PG_ARGISNULL(ARG_NAME))
		bfpg_refuse_null("name of a list");
	memset(list, 0, sizeof(*list));
	list->place.schema = bfpg_extension_schema(fcinfo->flinfo->fn_oid);
	list->place.prefix = psprintf("%s.", quote_identifier(get_namespace_name(list->place.schema)));
	list->place.type = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum("bloomfilter"),
									   ObjectIdGetDatum(list->place.schema));
	list->name = text_to_cstring(PG_GETARG_TEXT_PP(ARG_NAME));
	list->caller = GetUserId();
	list->deed = deed;
	if (deed == BFPG_GIVES_QUERY || deed == BFPG_GIVES_FILTER)
		bfpg_list_check_name(list->name);
	list->others = (BfpgOthers) {-1, -1, -1, -1, -1};
	list->made.keys = list->made.nulls = -1;
	list->made.build_seconds = list->made.check_seconds = -1;
	list->started = GetCurrentTimestamp();
	PreventCommandIfReadOnly("changing a list");
	bfpg_check_coordinator("published");
	bfpg_publish_check_owner(list);
}

bool
bfpg_may_end_transaction(FunctionCallInfo fcinfo)
{
	return fcinfo->context != NULL && IsA(fcinfo->context, CallContext) &&
		!castNode(CallContext, fcinfo->context)->atomic;
}

/* What the caller left open is as it was for this list. */
static void
keep_parameters(BfpgPublication *list, BfpgLastList *last)
{
	list->min_n = list->n > 0 ? list->n : last->min_n;
	if (list->parts == 0)
		list->parts = last->min_parts;
	if (list->p == 0)
		list->p = last->exists ? last->p : DEFAULT_RATE;
	list->asked.max_shrink = last->exists ? last->max_shrink : DEFAULT_MAX_SHRINK;
	list->tracked = list->asked.tracking == BFPG_TRACK || (list->asked.tracking == BFPG_TRACK_AS_BEFORE && last->tracked);
	list->by_table = list->tracked && ((list->asked.tracking == BFPG_TRACK_AS_BEFORE && last->by_table) || bfpg_track_tables(list) != NIL);
	bfpg_publish_forget_most(last);
	list->made.serial = bfpg_next_serial(&list->place, list->name, last);
}

void
bfpg_publish_query(BfpgPublication *list)
{
	BfpgLastList last;
	TimestampTz writing;

	bfpg_publish_check_owner(list);
	if (list->deed == BFPG_GIVES_QUERY)
		bfpg_publish_last(&list->place, list->name, &last);
	else
	{
		bfpg_publish_find(&list->place, list->name, &last);
		bfpg_definition_read(list);
	}
	keep_parameters(list, &last);
	if (!list->asked.seed_given)
		list->seed = last.seed;
	if (list->tracked && list->deed == BFPG_GIVES_QUERY)
		bfpg_track_check_query(list);
	bfpg_publish_build_as_owner(list, &last);
	bfpg_publish_check_owner(list);
	writing = GetCurrentTimestamp();
	bfpg_progress_begin(list, "writing");
	bfpg_publish_write(list, &last);
	bfpg_progress_end(list, writing);
	if (list->tracked)
		bfpg_track_tell_tables(list);
	bfpg_publish_build_done(list);
}

/* In a transaction block, which must have one snapshot for all of its statements. */
static void
run_in_block(BfpgPublication *list)
{
	const char *procedure = list->asked.query == NULL ? "bloom_refresh" : "bloom_publish";

	if (!IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 IsTransactionBlock()
				 ? errmsg("CALL %s cannot run inside a transaction block", procedure)
				 : errmsg("CALL %s cannot be executed from a function", procedure),
				 IsTransactionBlock()
				 ? errhint("Use CALL outside of a transaction block, or begin that with BEGIN ISOLATION LEVEL REPEATABLE READ. Of psql, \"-c\" with two statements is a block: give each its own \"-c\".")
				 : errhint("In a function, a DO block with EXECUTE or an exception handler, or a procedure that is SECURITY DEFINER or has settings, CALL can't begin a transaction. CALL it directly, or SET default_transaction_isolation = 'repeatable read' before the statement.")));
	bfpg_publish_lock(&list->place, list->name, false);
	bfpg_publish_query(list);
}

/* What is known of the publication is in SPI's memory, which outlives the transaction that ends here. */
static void
run(FunctionCallInfo fcinfo, BfpgDeed deed, void (*read) (FunctionCallInfo fcinfo, BfpgPublication *list))
{
	bool		may_end = bfpg_may_end_transaction(fcinfo);
	BfpgPublication list;

	SPI_connect_ext(may_end ? SPI_OPT_NONATOMIC : 0);
	bfpg_publish_begin(fcinfo, &list, deed);
	read(fcinfo, &list);
	if (may_end)
		bfpg_publish_run(&list);
	else
		run_in_block(&list);
	SPI_finish();
}

Datum
bloomfilter_publish_query(PG_FUNCTION_ARGS)
{
	run(fcinfo, BFPG_GIVES_QUERY, read_arguments);
	PG_RETURN_VOID();
}

Datum
bloomfilter_refresh(PG_FUNCTION_ARGS)
{
	run(fcinfo, BFPG_CHANGES, read_refresh_arguments);
	PG_RETURN_VOID();
}

static void
refuse_set(const BfpgPublication *list, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("these filters are not the set of list \"%s\"", list->name),
			 errdetail_internal("%s", detail),
			 errhint("Give all parts of one set, each once, in any order.")));
}

/* Puts the filters in the order of their parts, and reads all of each: what is damaged is an error. */
static void
read_set(BfpgPublication *list, const Datum *filters, int count)
{
	bf_header	header;
	bf_header	first;
	bool	   *there = palloc0(count * sizeof(bool));
	int			i;

	list->made.filters = palloc(count * sizeof(Datum));
	list->made.shapes = palloc(count * sizeof(bf_shape));
	list->made.count = count;
	for (i = 0; i < count; i++)
	{
		BfpgFilter *filter = bfpg_filter_load(filters[i], CurrentMemoryContext);

		header = *filter->header;
		if (header.parts != count)
			refuse_set(list, psprintf("One is a part of %u; %d were given.", header.parts, count));
		if (there[header.part])
			refuse_set(list, psprintf("Part %u is there twice.", header.part));
		there[header.part] = true;
		list->made.filters[header.part] = filters[i];
		list->made.shapes[header.part] = filter->shape;
		bfpg_filter_free(filter);
	}
	first = list->made.shapes[0].level[0];
	for (i = 1; i < count; i++)
	{
		header = list->made.shapes[i].level[0];
		if (list->made.shapes[i].levels != list->made.shapes[0].levels)
			refuse_set(list, "Some are exact and some are not.");
		first.part = (uint16) i;
		if (!bf_compatible(&first, &header) || header.capacity != first.capacity || header.rate != first.rate)
			refuse_set(list, psprintf("Part %d differs in n, p, seed or type of keys from a part before it.", i));
		if (first.key_type == BF_KEY_NONE)
			first.key_type = header.key_type;
	}
	list->exact = list->made.shapes[0].levels > 1;
	if (list->exact)
		list->others.planned = (int64) list->made.shapes[0].others * count;
}

/* Publishes filters that are there already, inside the caller's transaction. */
static int64
publish_filters(FunctionCallInfo fcinfo, const Datum *filters, int count)
{
	BfpgPublication list;
	BfpgLastList last;

	SPI_connect();
	bfpg_publish_begin(fcinfo, &list, BFPG_GIVES_FILTER);
	list.asked.allow_shrink = flag_argument(fcinfo, ARG_VALUE_ALLOW_SHRINK, "allow_shrink");
	list.asked.allow_type_change = flag_argument(fcinfo, ARG_VALUE_ALLOW_TYPE_CHANGE, "allow_type_change");
	read_set(&list, filters, count);
	bfpg_publish_lock(&list.place, list.name, !IsolationUsesXactSnapshot());
	bfpg_publish_check_owner(&list);
	bfpg_publish_last(&list.place, list.name, &last);
	keep_parameters(&list, &last);
	if (list.tracked)
		bfpg_track_check_query(&list);
	list.n = (int64) list.made.shapes[0].level[0].capacity;
	if (count > 1)
		list.n = (int64) ((double) list.n * count);
	list.p = list.made.shapes[0].level[0].rate;
	list.seed = (int64) list.made.shapes[0].level[0].seed;
	bfpg_publish_write(&list, &last);
	SPI_finish();
	return list.made.serial;
}

Datum
bloomfilter_publish_filter(PG_FUNCTION_ARGS)
{
	Datum		filter;

	if (PG_ARGISNULL(1))
		bfpg_refuse_null("filter of a list");
	filter = PG_GETARG_DATUM(1);
	PG_RETURN_INT64(publish_filters(fcinfo, &filter, 1));
}

Datum
bloomfilter_publish_filters(PG_FUNCTION_ARGS)
{
	ArrayType  *array;
	Datum	   *filters;
	int			count;

	if (PG_ARGISNULL(1))
		bfpg_refuse_null("filters of a list");
	array = PG_GETARG_ARRAYTYPE_P(1);
	if (ARR_NDIM(array) == 0)
		bfpg_refuse_null("filters of a list");
	if (array_contains_nulls(array))
		bfpg_refuse_null("filter of a list");
	deconstruct_array(array, ARR_ELEMTYPE(array), -1, false, TYPALIGN_INT, &filters, NULL, &count);
	PG_RETURN_INT64(publish_filters(fcinfo, filters, count));
}
