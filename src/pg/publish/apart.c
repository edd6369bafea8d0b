/*
 * apart.c
 *	  Building a list where its rows are: another engine, or a foreign server, computes aggregates.
 *
 * It makes a filter of the rows of each shard.  Those of one part are united, and the parts of a
 * list are groups of one statement.
 */
#include "postgres.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"

#include "bf_bytes.h"
#include "bf_filter.h"
#include "bf_key.h"
#include "base/pg_compat.h"
#include "key/key.h"
#include "publish/build.h"
#include "value/filter.h"

/*
 * A list's parts, n, p and seed on their way to where its rows are, and a key on its way to a filter:
 * its hash, its type and these.  An engine may make a row of each key whose aggregate has two arguments.
 */
#define SHAPE_BYTES 28
#define KEY_BYTES (12 + SHAPE_BYTES)

PG_FUNCTION_INFO_V1(bloomfilter_publish_key);
PG_FUNCTION_INFO_V1(bloomfilter_publish_part);
PG_FUNCTION_INFO_V1(bloomfilter_publish_apart_transfn);

extern Datum bloomfilter_create_part(PG_FUNCTION_ARGS);

typedef struct Shape
{
	int32		parts;
	int64		n;
	float8		p;
	int64		seed;
} Shape;

/* Columns of its rows. */
enum
{
	BUILT_PART,
	BUILT_FILTER,
	BUILT_KEYS,
	BUILT_ROWS
};

static bytea *
write_shape(const BfpgPublication *list)
{
	bytea	   *shape = palloc(VARHDRSZ + SHAPE_BYTES);
	uint8	   *bytes = (uint8 *) VARDATA(shape);
	uint64		rate;

	memcpy(&rate, &list->p, sizeof(rate));
	SET_VARSIZE(shape, VARHDRSZ + SHAPE_BYTES);
	bf_store_le(bytes, 4, (uint32) list->made.count);
	bf_store_le64(bytes + 4, (uint64) list->n);
	bf_store_le64(bytes + 12, rate);
	bf_store_le64(bytes + 20, (uint64) list->seed);
	return shape;
}

static void
read_shape(const uint8 *bytes, Shape *shape)
{
	uint64		rate = bf_load_le64(bytes + 12);

	memcpy(&shape->p, &rate, sizeof(rate));
	shape->parts = (int32) bf_load_le(bytes, 4);
	shape->n = (int64) bf_load_le64(bytes + 4);
	shape->seed = (int64) bf_load_le64(bytes + 20);
}

pg_noreturn static void
refuse_call(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("these are not arguments that bloom_publish gives this function"),
			 errdetail("It is a part of bloom_publish and of no use by itself.")));
}

static const uint8 *
read_bytes(bytea *value, Size size)
{
	if (VARSIZE_ANY_EXHDR(value) != size)
		refuse_call();
	return (const uint8 *) VARDATA_ANY(value);
}

/* Keys of all types become one type, since an engine may split no aggregate whose arguments are polymorphic. */
Datum
bloomfilter_publish_key(PG_FUNCTION_ARGS)
{
	BfpgKeyCoder *coder = bfpg_call_coder(fcinfo, 0, false);
	const uint8 *shape = read_bytes(PG_GETARG_BYTEA_PP(1), SHAPE_BYTES);
	bytea	   *key = palloc(VARHDRSZ + KEY_BYTES);
	uint8	   *bytes = (uint8 *) VARDATA(key);

	SET_VARSIZE(key, VARHDRSZ + KEY_BYTES);
	bf_store_le64(bytes, bfpg_hash_key(coder, PG_GETARG_DATUM(0), bf_load_le64(shape + 20)));
	bf_store_le(bytes + 8, 4, coder->type);
	memcpy(bytes + 12, shape, SHAPE_BYTES);
	PG_RETURN_BYTEA_P(key);
}

/* bloom_part() of what the key has become, so that an untyped key, which it refuses, has the part of the text that it is here. */
Datum
bloomfilter_publish_part(PG_FUNCTION_ARGS)
{
	const uint8 *key = read_bytes(PG_GETARG_BYTEA_PP(0), KEY_BYTES);
	Shape		shape;

	read_shape(key + 12, &shape);
	bfpg_check_parts(shape.parts);
	PG_RETURN_INT32((int32) bf_part_of(bf_load_le64(key), (uint32) shape.parts));
}

/* An empty filter: the part that its first key belongs to. */
static BfpgFilter *
start_filter(const uint8 *key, uint32 type, MemoryContext context)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	BfpgFilter *filter;
	Shape		shape;

	read_shape(key + 12, &shape);
	if (!bf_key_is_kind(bf_key_kind(type)) || !bf_key_columns_valid(type))
		refuse_call();
	filter = bfpg_filter_expanded(DirectFunctionCall5(bloomfilter_create_part,
													  Int32GetDatum((int32) bf_part_of(bf_load_le64(key), (uint32) shape.parts)),
													  Int32GetDatum(shape.parts), Int64GetDatum(shape.n),
													  Float8GetDatum(shape.p), Int64GetDatum(shape.seed)));
	filter->header->key_type = type;
	MemoryContextSwitchTo(old);
	return filter;
}

/* The state is a bloomfilter, by which engines split the aggregate; bloom_union_agg's function combines two. */
Datum
bloomfilter_publish_apart_transfn(PG_FUNCTION_ARGS)
{
	MemoryContext context = bfpg_aggregate_context(fcinfo);
	BfpgFilter *filter;
	const uint8 *key;
	uint64		hash;
	uint32		type;

	if (PG_ARGISNULL(1))
	{
		if (PG_ARGISNULL(0))
			PG_RETURN_NULL();
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	}
	key = read_bytes(PG_GETARG_BYTEA_PP(1), KEY_BYTES);
	hash = bf_load_le64(key);
	type = (uint32) bf_load_le(key + 8, 4);
	filter = PG_ARGISNULL(0) ? start_filter(key, type, context) : bfpg_filter_writable(PG_GETARG_DATUM(0), context);
	if (filter->header->key_type != type)
		bfpg_refuse_key_type(filter->header->key_type, type);
	bfpg_check_part(filter->header, hash);
	bf_add(filter->header, filter->blocks, hash);
	return bfpg_filter_rw_datum(filter);
}

static Expr *
call(const BfpgSource *source, const char *name, const Oid *types, Oid result, List *arguments)
{
	return (Expr *) makeFuncExpr(bfpg_source_function(source, name, list_length(arguments), types), result,
								 arguments, InvalidOid, source->collation, COERCE_EXPLICIT_CALL);
}

/* GROUP BY 1, an integer. */
static void
group_by_first(Query *query)
{
	SortGroupClause *clause = makeNode(SortGroupClause);

	linitial_node(TargetEntry, query->targetList)->ressortgroupref = 1;
	clause->tleSortGroupRef = 1;
	clause->eqop = Int4EqualOperator;
	clause->sortop = Int4LessOperator;
	clause->hashable = true;
	query->groupClause = list_make1(clause);
}

/*
 * SELECT bloom_publish_part(hashed), bloom_publish_apart(hashed), count(key), count(*)
 * FROM (SELECT bloom_publish_key(key, shape) AS hashed, key FROM query)
 * GROUP BY 1
 *
 * Of one part 0 is its number, and there are no groups: their key would be hashed once more.
 */
static Query *
make_statement(const BfpgPublication *list)
{
	const BfpgSource *source = list->made.build->source;
	const Oid	key_types[] = {InvalidOid, BYTEAOID};
	const Oid	types[] = {BYTEAOID};
	Expr	   *hashed = (Expr *) makeVar(1, 1, BYTEAOID, -1, InvalidOid, 0);
	Expr	   *key = (Expr *) makeVar(1, 2, source->type, source->typmod, source->collation, 0);
	Expr	   *part = (Expr *) makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(0), false, true);
	List	   *inner = list_make2(call(source, "bloom_publish_key", key_types, BYTEAOID,
										list_make2(bfpg_source_key(source), bfpg_source_parameter(1, BYTEAOID))),
								   bfpg_source_key(source));
	Oid			apart = bfpg_source_function(source, "bloom_publish_apart", 1, types);
	Query	   *query;

	if (list->made.count > 1)
		part = call(source, "bloom_publish_part", types, INT4OID, list_make1(copyObject(hashed)));
	query = bfpg_source_select(source, bfpg_source_select(source, NULL, inner),
							   list_make4(part, bfpg_source_aggregate(source, apart, list_make1(hashed), NULL),
										  bfpg_publish_count(source, key, NULL), bfpg_publish_count(source, NULL, NULL)));
	if (list->made.count > 1)
		group_by_first(query);
	return query;
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
	bf_header	expected = bfpg_publish_part_header(list);
	int32		part;

	for (part = 0; part < list->made.count; part++)
	{
		const bf_header *header = &list->made.shapes[part].level[0];

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
	bool	   *there = palloc0(list->made.count * sizeof(bool));
	ListCell   *cell;
	bf_header	header;
	int32		part;

	list->made.keys = list->made.nulls = 0;
	foreach(cell, rows)
	{
		const NullableDatum *row = lfirst(cell);
		int64		keys = DatumGetInt64(row[BUILT_KEYS].value);

		list->made.keys += keys;
		list->made.nulls += DatumGetInt64(row[BUILT_ROWS].value) - keys;
		if (row[BUILT_PART].isnull || row[BUILT_FILTER].isnull)
			continue;
		part = DatumGetInt32(row[BUILT_PART].value);
		if (part < 0 || part >= list->made.count || there[part])
			refuse_result(list, psprintf("Part %d of %d came, or came twice.", part, list->made.count));
		list->made.filters[part] = row[BUILT_FILTER].value;
		there[part] = true;
	}
	for (part = 0; part < list->made.count; part++)
	{
		if (!there[part])		/* no key belongs to it */
		{
			header = bfpg_publish_part_header(list);
			header.part = (uint16) part;
			list->made.filters[part] = bfpg_filter_ro_datum(bfpg_filter_new(&header, CurrentMemoryContext));
		}
		bfpg_read_header(list->made.filters[part], &header);
		bf_shape_of(&header, &list->made.shapes[part]);
	}
	check_headers(list);
	pfree(there);
}

/*
 * Planned once for an n: the check reads the placements of shards that the build has read.  On
 * the node where a shard has come since, the transaction's snapshot is older than its rows.
 */
static PlannedStmt *
plan_statement(BfpgPublication *list, ParamListInfo params)
{
	BfpgBuild  *build = list->made.build;
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(build));

	if (build->apart_n != list->n)
		build->apart = bfpg_source_plan(build->source, make_statement(list), params, true);
	build->apart_n = list->n;
	MemoryContextSwitchTo(old);
	return build->apart;
}

void
bfpg_publish_build_apart(BfpgPublication *list)
{
	const ParamExternData shape = bfpg_parameter(BYTEAOID, PointerGetDatum(write_shape(list)));
	ParamListInfo params = bfpg_parameters(1, &shape);

	take_filters(list, bfpg_source_run(list->made.build->source, plan_statement(list, params), params));
}
