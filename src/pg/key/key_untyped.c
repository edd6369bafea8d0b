/*
 * key_untyped.c
 *	  Keys as they are written: literals and parameters without a type.
 *
 * To SQL a bloom_key is like a text.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "key/key.h"
#include "base/pg_compat.h"

PG_FUNCTION_INFO_V1(bloomfilter_key_in);
PG_FUNCTION_INFO_V1(bloomfilter_key_from_text);
PG_FUNCTION_INFO_V1(bloomfilter_key_from_bpchar);

/* Whether a value's text is the key that the value is: so it is with PostgreSQL's own strings. */
static bool
is_string(Oid type)
{
	type = getBaseType(type);
	return type == TEXTOID || type == VARCHAROID || type == BPCHAROID || type == UNKNOWNOID;
}

/*
 * PostgreSQL lets every type be cast to a string type by its text, which says nothing of
 * what is equal: citext's case, the scale of a numeric, DateStyle.  The executor tells
 * an input function of the cast that it is called for; the planner, which works casts of
 * constants out, calls it as a function.  Literals and parameters come without an
 * expression, and for text and varchar there are casts of their own.
 */
static void
check_source(const FmgrInfo *function)
{
	Node	   *cast = function == NULL ? NULL : (Node *) function->fn_expr;
	Oid			source = InvalidOid;

	if (cast == NULL)
		return;
	if (IsA(cast, CoerceViaIO))
		source = exprType((Node *) ((CoerceViaIO *) cast)->arg);
	if (OidIsValid(source) && is_string(source))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_CANNOT_COERCE),
			 OidIsValid(source)
			 ? errmsg("cannot cast type %s to bloom_key", format_type_be(source))
			 : errmsg("cannot cast a value that is not text to bloom_key"),
			 errhint("Give the key as it is, without the cast. If its text is meant, with the case and the form in which it comes, cast it to text first.")));
}

Datum
bloomfilter_key_in(PG_FUNCTION_ARGS)
{
	check_source(fcinfo->flinfo);
	return textin(fcinfo);
}

/*
 * The explicit casts look at the collation, too: an engine that calls an aggregate's
 * functions by itself may not tell them any.
 */
Datum
bloomfilter_key_from_text(PG_FUNCTION_ARGS)
{
	bfpg_check_collation(PG_GET_COLLATION());
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

Datum
bloomfilter_key_from_bpchar(PG_FUNCTION_ARGS)
{
	bfpg_check_collation(PG_GET_COLLATION());
	return rtrim1(fcinfo);
}

/* Its input function is in this file, wherever the extension is installed. */
bool
bfpg_is_untyped(Oid type)
{
	Oid			input;
	Oid			parameter;
	FmgrInfo	function;

	/* No type of PostgreSQL itself. */
	if (type < FirstNormalObjectId || get_typtype(type) != TYPTYPE_BASE)
		return false;
	getTypeInputInfo(type, &input, &parameter);
	fmgr_info(input, &function);
	return function.fn_addr == bloomfilter_key_in;
}

/* Reads the text of keys as one SQL type. */
typedef struct BfpgReader
{
	FmgrInfo	input;
	Oid			parameter;
	bool		by_value;
	BfpgKeyCoder coder;			/* for what is read */
} BfpgReader;

/*
 * The type that reads the keys of a kind, if the same text is always the same key.
 * It depends on settings for dates and times, on the type for real and double
 * precision, whose nearest numbers to 0.1 are two, and on the driver for bytea: where the
 * server doesn't say that a parameter is bytea many drivers send the bytes as they are,
 * which would be read as the escape format.
 */
static Oid
reading_type(bf_key_type type)
{
	switch (type)
	{
		case BF_KEY_INTEGER:
			return INT8OID;
		case BF_KEY_UUID:
			return UUIDOID;
		case BF_KEY_NUMERIC:
			return NUMERICOID;
		case BF_KEY_INET:
			return INETOID;
		case BF_KEY_MACADDR:	/* it reads six bytes, too, as the same key */
			return MACADDR8OID;
		default:
			return InvalidOid;
	}
}

static uint64
key_read(BfpgKeyCoder *coder, Datum key, const BfpgKeySink *sink)
{
	BfpgReader *reader = coder->reader;
	char	   *string = TextDatumGetCString(key);
	Datum		value = InputFunctionCall(&reader->input, string, reader->parameter, -1);
	uint64		hash = bfpg_sink_key(&reader->coder, value, sink);

	if (!reader->by_value)
		pfree(DatumGetPointer(value));
	pfree(string);
	return hash;
}

static void
make_reader(BfpgKeyCoder *coder, Oid type)
{
	BfpgReader *reader = coder->reader;
	Oid			input;

	if (reader == NULL)
		reader = coder->reader = MemoryContextAlloc(coder->context, sizeof(BfpgReader));
	memset(reader, 0, sizeof(*reader));
	getTypeInputInfo(type, &input, &reader->parameter);
	fmgr_info_cxt(input, &reader->input, coder->context);
	reader->by_value = get_typbyval(type);
	if (!bfpg_find_key_type(type, &reader->coder))
		elog(ERROR, "type %u is none of keys", type);
	coder->type = reader->coder.type;
	coder->word = NULL;
	coder->hash = key_read;
}

static uint64
key_unreadable(BfpgKeyCoder *coder, Datum key, const BfpgKeySink *sink)
{
	bfpg_refuse_key_type(coder->type, BF_KEY_TEXT);
	return 0;
}

void
bfpg_read_as(BfpgKeyCoder *coder, bf_key_type type)
{
	if (type == BF_KEY_TEXT || type == BF_KEY_NONE)
		(void) bfpg_find_key_type(TEXTOID, coder);
	else if (OidIsValid(reading_type(type)))
		make_reader(coder, reading_type(type));
	else
	{
		coder->type = type;
		coder->hash = key_unreadable;
	}
}

/* varchar and cidr have the operators of text and inet. */
Oid
bfpg_reading_type_of_column(Oid type)
{
	type = getBaseType(type);
	if (type == BYTEAOID)
		bfpg_refuse_key_type(BF_KEY_BYTEA, BF_KEY_TEXT);
	if (type == VARCHAROID)
		return TEXTOID;
	return type == CIDROID ? INETOID : type;
}

void
bfpg_read_as_column(BfpgKeyCoder *coder, Oid type)
{
	if (getBaseType(type) == BYTEAOID)
	{
		bfpg_read_as(coder, BF_KEY_BYTEA);
		return;
	}
	type = bfpg_reading_type_of_column(type);
	if (type == TEXTOID)
		(void) bfpg_find_key_type(TEXTOID, coder);
	else
		make_reader(coder, type);
}

ArrayType *
bfpg_array_argument(const BfpgKeyCoder *coder, Datum argument)
{
	if (coder->untyped)
		argument = OidInputFunctionCall(F_ARRAY_IN, TextDatumGetCString(argument), TEXTOID, -1);
	return DatumGetArrayTypeP(argument);
}
