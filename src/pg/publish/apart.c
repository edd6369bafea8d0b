/*
 * apart.c
 *	  Building a list by bloom_agg, where another engine, or a foreign server, computes aggregates.
 *
 * It makes filters of its own and merges them.  The parts of a list are groups.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"

#include "bf_filter.h"
#include "bf_key.h"
#include "base/pg_compat.h"
#include "publish/build.h"
#include "value/filter.h"

/* Parameters of the statements. */
enum
{
	PARAMETER_N = 1,
	PARAMETER_P,
	PARAMETER_SEED,
	PARAMETER_PARTS
};

/* Columns of their rows; a whole filter has no part. */
enum
{
	BUILT_PART,
	BUILT_FILTER,
	BUILT_KEYS,
	BUILT_ROWS
};

static ParamListInfo
make_parameters(const BfpgPublication *list)
{
	const ParamExternData parameters[] = {
		bfpg_parameter(INT8OID, Int64GetDatum(list->n)),
		bfpg_parameter(FLOAT8OID, Float8GetDatum(list->p)),
		bfpg_parameter(INT8OID, Int64GetDatum(list->seed)),
		bfpg_parameter(INT4OID, Int32GetDatum(list->count)),
	};

	return bfpg_parameters(lengthof(parameters), parameters);
}

/* n, p and seed, as the last arguments of an aggregate. */
static List *
add_parameters(List *arguments)
{
	arguments = lappend(arguments, bfpg_source_parameter(PARAMETER_N, INT8OID));
	arguments = lappend(arguments, bfpg_source_parameter(PARAMETER_P, FLOAT8OID));
	return lappend(arguments, bfpg_source_parameter(PARAMETER_SEED, INT8OID));
}

/* SELECT 0, bloom_agg(key, n, p, seed), count(key), count(*) */
static Query *
whole_statement(const BfpgPublication *list)
{
	const BfpgSource *source = list->build->source;
	const Oid	types[] = {InvalidOid, INT8OID, FLOAT8OID, INT8OID};
	Expr	   *key = bfpg_source_key(source);
	BfpgCall	call = {
		bfpg_source_function(source, "bloom_agg", lengthof(types), types),
		list->place.type, add_parameters(list_make1(key)), NULL
	};

	return bfpg_source_select(source,
							  list_make4(makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(0), false, true),
										 bfpg_source_aggregate(source, &call),
										 bfpg_publish_count(source, key, NULL),
										 bfpg_publish_count(source, NULL, NULL)));
}

/* SELECT part, bloom_part_agg(key, parts, n, p, seed), count(key), count(*) GROUP BY part */
static Query *
parts_statement(const BfpgPublication *list)
{
	const BfpgSource *source = list->build->source;
	const Oid	part_types[] = {InvalidOid, INT4OID, INT8OID};
	const Oid	types[] = {InvalidOid, INT4OID, INT8OID, FLOAT8OID, INT8OID};
	Expr	   *parts = bfpg_source_parameter(PARAMETER_PARTS, INT4OID);
	Expr	   *part = (Expr *)
		makeFuncExpr(bfpg_source_function(source, "bloom_part", lengthof(part_types), part_types), INT4OID,
					 list_make3(bfpg_source_key(source), parts, bfpg_source_parameter(PARAMETER_SEED, INT8OID)),
					 InvalidOid, source->collation, COERCE_EXPLICIT_CALL);
	Query	   *inner = bfpg_source_select(source, list_make2(part, bfpg_source_key(source)));
	Expr	   *key = bfpg_source_key_at(source, 2);
	BfpgCall	call = {
		bfpg_source_function(source, "bloom_part_agg", lengthof(types), types),
		list->place.type, add_parameters(list_make2(key, parts)), NULL
	};

	return bfpg_source_group(source, inner,
							 list_make4(makeVar(1, 1, INT4OID, -1, InvalidOid, 0),
										bfpg_source_aggregate(source, &call),
										bfpg_publish_count(source, key, NULL),
										bfpg_publish_count(source, NULL, NULL)),
							 list->remote);
}

/* An empty part, for one that no key belongs to. */
static Datum
empty_part(const BfpgPublication *list, int32 part)
{
	bf_header	header = bfpg_publish_plan_part(list);

	header.part = (uint16) part;
	return bfpg_filter_ro_datum(bfpg_filter_new(&header, CurrentMemoryContext));
}

/* Other servers and engines may answer anything. */
static void
refuse_result(const BfpgPublication *list, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("list \"%s\" was not published: what computes its aggregates gave filters of another kind", list->name),
			 errdetail_internal("%s", detail),
			 errhint("All servers that take part must have the same version of the extension.")));
}

/* The parts of a set have all but their number in common, and so has what is looked up in them. */
static void
check_headers(const BfpgPublication *list)
{
	bf_header	expected = bfpg_publish_plan_part(list);
	int32		part;

	for (part = 0; part < list->count; part++)
	{
		const bf_header *header = &list->headers[part];

		expected.part = (uint16) part;
		if (!bf_compatible(&expected, header))
			refuse_result(list, psprintf("Part %d has not the geometry, the seed or the keys that were asked for.", part));
		if (expected.key_type == BF_KEY_NONE)
			expected.key_type = header->key_type;
	}
}

static void
take_filters(BfpgPublication *list, List *rows)
{
	bool	   *there = palloc0(list->count * sizeof(bool));
	ListCell   *cell;
	int32		part;

	list->keys = list->nulls = 0;
	foreach(cell, rows)
	{
		const NullableDatum *row = lfirst(cell);
		int64		keys = DatumGetInt64(row[BUILT_KEYS].value);

		list->keys += keys;
		list->nulls += DatumGetInt64(row[BUILT_ROWS].value) - keys;
		if (row[BUILT_PART].isnull || row[BUILT_FILTER].isnull)
			continue;
		part = DatumGetInt32(row[BUILT_PART].value);
		if (part < 0 || part >= list->count || there[part])
			refuse_result(list, psprintf("Part %d of %d came, or came twice.", part, list->count));
		list->filters[part] = row[BUILT_FILTER].value;
		there[part] = true;
	}
	for (part = 0; part < list->count; part++)
	{
		if (!there[part])
			list->filters[part] = empty_part(list, part);
		bfpg_read_header(list->filters[part], &list->headers[part]);
	}
	check_headers(list);
	pfree(there);
}

void
bfpg_publish_build_apart(BfpgPublication *list)
{
	const BfpgSource *source = list->build->source;
	Query	   *statement = list->count == 1 ? whole_statement(list) : parts_statement(list);
	ParamListInfo params = make_parameters(list);

	take_filters(list, bfpg_source_run(source, bfpg_source_plan(source, statement, params, true), params));
}
