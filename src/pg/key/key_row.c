/*
 * key_row.c
 *	  Keys of several columns: ROW(...) and composite types.
 *
 * Each column has a coder of its own, as if it were the key.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "key/key.h"
#include "base/pg_compat.h"

typedef struct BfpgRow
{
	MemoryContext context;		/* of what is made for one type of row */
	TupleDesc	desc;			/* NULL: none is known */
	Oid			type;			/* of the rows that it describes */
	int32		typmod;
	uint64		version;		/* of a named type, which ALTER TYPE changes */
	uint32		key_type;		/* of these rows */
	bool		typed_only;		/* no untyped columns */
	bool		has_untyped;	/* read as a filter's columns, or as text */
	Datum	   *values;			/* of the current row */
	bool	   *nulls;
	int			count;			/* of columns */
	int			places[BF_KEY_MAX_COLUMNS];	/* in values */
	bool		is_cstring[BF_KEY_MAX_COLUMNS];	/* a literal in ROW(...) */
	BfpgKeyCoder columns[BF_KEY_MAX_COLUMNS];
	StringInfoData bytes;		/* of the current key */
} BfpgRow;

bool
bfpg_is_row(Oid type)
{
	return type == RECORDOID || type_is_rowtype(type);
}

static void
refuse_columns(int count)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("a row that is a key of a bloomfilter must have 1 to %d columns, not %d",
					BF_KEY_MAX_COLUMNS, count)));
}

/* The coder of one more column, of which a filter has this type, or 0. */
static void
add_column(BfpgRow *row, Form_pg_attribute attribute, unsigned expected)
{
	BfpgKeyCoder *column = &row->columns[row->count];
	Oid			type = getBaseType(attribute->atttypid);

	memset(column, 0, sizeof(*column));
	column->context = row->context;
	row->is_cstring[row->count] = type == UNKNOWNOID;
	if (type == UNKNOWNOID || bfpg_is_untyped(type))
	{
		if (row->typed_only)
			bfpg_refuse_untyped("a column of the key");
		row->has_untyped = true;
		column->untyped = true;
		if (OidIsValid(attribute->attcollation))
			bfpg_check_collation(attribute->attcollation);
		bfpg_read_as(column, expected);
	}
	else if (!bfpg_find_key_type(type, column))
		bfpg_refuse_type(type);
	else if (OidIsValid(get_typcollation(type)))
		bfpg_check_collation(attribute->attcollation);
	row->places[row->count++] = attribute->attnum - 1;
	if (!bf_key_row_add(&row->key_type, column->type))
		refuse_columns(row->desc->natts);
}

/* Columns that are not dropped. */
static int
count_columns(TupleDesc desc)
{
	int			count = 0;
	int			i;

	for (i = 0; i < desc->natts; i++)
		count += !TupleDescAttr(desc, i)->attisdropped;
	return count;
}

/* Made when it is needed, as a coder is copied before. */
static BfpgRow *
row_of(BfpgKeyCoder *coder)
{
	if (coder->row == NULL)
	{
		coder->row = MemoryContextAllocZero(coder->context, sizeof(BfpgRow));
		coder->row->context = AllocSetContextCreate(coder->context, "bloomfilter row key",
													ALLOCSET_SMALL_SIZES);
	}
	return coder->row;
}

/* An anonymous row's type never changes. */
static uint64
version_of(Oid type)
{
	return type == RECORDOID ? 0 : assign_record_type_identifier(type, -1);
}

static bool
is_described(const BfpgRow *row, HeapTupleHeader header)
{
	return row->desc != NULL && row->type == HeapTupleHeaderGetTypeId(header) &&
		row->typmod == HeapTupleHeaderGetTypMod(header) &&
		row->version == version_of(row->type);
}

/* Makes the columns' coders for another type of row than before. */
static void
describe(BfpgKeyCoder *coder, Oid type, int32 typmod)
{
	BfpgRow    *row = coder->row;
	MemoryContext old;
	TupleDesc	desc;
	int			count;
	int			i;

	row->desc = NULL;
	MemoryContextReset(row->context);
	old = MemoryContextSwitchTo(row->context);
	desc = lookup_rowtype_tupdesc_copy(type, typmod);
	count = count_columns(desc);
	if (count < 1 || count > BF_KEY_MAX_COLUMNS)
		refuse_columns(count);
	row->count = 0;
	row->key_type = BF_KEY_ROW;
	row->has_untyped = false;
	for (i = 0; i < desc->natts; i++)
		if (!TupleDescAttr(desc, i)->attisdropped)
			add_column(row, TupleDescAttr(desc, i), bf_key_column(coder->type, row->count));
	row->values = palloc(desc->natts * sizeof(Datum));
	row->nulls = palloc(desc->natts * sizeof(bool));
	initStringInfo(&row->bytes);
	MemoryContextSwitchTo(old);
	row->type = type;
	row->typmod = typmod;
	row->version = version_of(type);
	row->desc = desc;
}

static void
sink_column(BfpgRow *row, int i)
{
	BfpgKeySink sink = {0, &row->bytes};
	Datum		value = row->values[row->places[i]];
	uint8		head[BF_KEY_COLUMN_HEAD] = {0};
	int			start = row->bytes.len;
	Datum		text = (Datum) 0;

	if (row->nulls[row->places[i]])
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("column %d of a bloomfilter's key must not be null", i + 1),
				 errhint("Leave such rows out, or put a value in the place of a null, for example with coalesce.")));
	appendBinaryStringInfo(&row->bytes, (char *) head, sizeof(head));
	if (row->is_cstring[i])
		value = text = CStringGetTextDatum(DatumGetCString(value));
	(void) bfpg_sink_key(&row->columns[i], value, &sink);
	if (row->is_cstring[i])
		pfree(DatumGetPointer(text));
	bf_key_row_head(row->columns[i].type, (uint32) (row->bytes.len - start - BF_KEY_COLUMN_HEAD),
					(uint8 *) row->bytes.data + start);
}

static uint64
key_row(BfpgKeyCoder *coder, Datum key, const BfpgKeySink *sink)
{
	BfpgRow    *row = row_of(coder);
	HeapTupleHeader header = DatumGetHeapTupleHeader(key);
	HeapTupleData tuple;
	int			i;

	if (!is_described(row, header))
		describe(coder, HeapTupleHeaderGetTypeId(header), HeapTupleHeaderGetTypMod(header));
	if (coder->type != row->key_type)
	{
		if (coder->type != BF_KEY_ROW)
			bfpg_refuse_key_type(coder->type, row->key_type);
		coder->type = row->key_type;
	}
	memset(&tuple, 0, sizeof(tuple));
	tuple.t_len = HeapTupleHeaderGetDatumLength(header);
	tuple.t_data = header;
	heap_deform_tuple(&tuple, row->desc, row->values, row->nulls);
	resetStringInfo(&row->bytes);
	for (i = 0; i < row->count; i++)
		sink_column(row, i);
	if (PointerGetDatum(header) != key)
		pfree(header);
	return bfpg_sink_bytes(sink, row->bytes.data, row->bytes.len);
}

void
bfpg_row_coder(BfpgKeyCoder *coder)
{
	coder->type = BF_KEY_ROW;
	coder->word = NULL;
	coder->hash = key_row;
}

void
bfpg_expect_row(BfpgKeyCoder *coder, uint32 key_type)
{
	BfpgRow    *row = row_of(coder);

	if (key_type == BF_KEY_NONE)
		key_type = BF_KEY_ROW;
	else if (bf_key_kind(key_type) != BF_KEY_ROW)
		bfpg_refuse_key_type(key_type, coder->type);
	coder->type = key_type;
	/* The columns' coders still read untyped columns as another filter's: describe() makes them anew. */
	if (row->has_untyped && row->key_type != key_type)
		row->desc = NULL;
}

void
bfpg_expect_typed_row(BfpgKeyCoder *coder)
{
	row_of(coder)->typed_only = true;
	coder->type = BF_KEY_ROW;
}
