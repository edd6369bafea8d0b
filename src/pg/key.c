/*
 * key.c
 *	  From a Datum of any supported SQL type to the hash of its key bytes.
 *
 * To support another SQL type, write a word or hash function below and a row in
 * key_types; a new kind of key bytes starts in src/core/bf_key.h and
 * doc/FORMAT.md.
 */
#include "postgres.h"

#include <sys/socket.h>

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/inet.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "key.h"
#include "pg_compat.h"
#include "text_source.h"

/* PostgreSQL counts from 2000-01-01, the format from 1970-01-01. */
#define EPOCH_DAYS (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)
#define EPOCH_USECS ((uint64) EPOCH_DAYS * (uint64) USECS_PER_DAY)

static uint64
word_int2(Datum key)
{
	return (uint64) (int64) DatumGetInt16(key);
}

static uint64
word_int4(Datum key)
{
	return (uint64) (int64) DatumGetInt32(key);
}

static uint64
word_int8(Datum key)
{
	return (uint64) DatumGetInt64(key);
}

static uint64
word_date(Datum key)
{
	DateADT		date = DatumGetDateADT(key);

	if (DATE_IS_NOBEGIN(date))
		return (uint64) PG_INT64_MIN;
	if (DATE_IS_NOEND(date))
		return (uint64) PG_INT64_MAX;
	return (uint64) ((int64) date + EPOCH_DAYS);
}

/* The last of PostgreSQL's years wrap around: still one value each. */
static uint64
word_timestamp(Datum key)
{
	Timestamp	time = DatumGetTimestamp(key);

	if (TIMESTAMP_NOT_FINITE(time))
		return (uint64) time;
	return (uint64) time + EPOCH_USECS;
}

static uint64
word_float4(Datum key)
{
	return bf_key_float_word(DatumGetFloat4(key));
}

static uint64
word_float8(Datum key)
{
	return bf_key_float_word(DatumGetFloat8(key));
}

/* Text in the database's encoding is hashed as UTF-8. */
static uint64
key_string(const char *string, int length, uint64 seed)
{
	char	   *utf8 = pg_server_to_any(string, length, PG_UTF8);
	uint64		hash;

	if (utf8 == string)
		return bf_hash(string, length, seed);
	hash = bf_hash(utf8, strlen(utf8), seed);
	pfree(utf8);
	return hash;
}

static uint64
key_text(Datum key, uint64 seed)
{
	text	   *value = DatumGetTextPP(key);
	uint64		hash = key_string(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), seed);

	if (PointerGetDatum(value) != key)
		pfree(value);
	return hash;
}

/* char(n) without its padding, as its comparison ignores it. */
static uint64
key_bpchar(Datum key, uint64 seed)
{
	BpChar	   *value = DatumGetBpCharPP(key);
	char	   *data = VARDATA_ANY(value);
	uint64		hash = key_string(data, bpchartruelen(data, VARSIZE_ANY_EXHDR(value)), seed);

	if (PointerGetDatum(value) != key)
		pfree(value);
	return hash;
}

static uint64
key_name(Datum key, uint64 seed)
{
	const char *name = NameStr(*DatumGetName(key));

	return key_string(name, strlen(name), seed);
}

static uint64
key_enum(Datum key, uint64 seed)
{
	char	   *label = DatumGetCString(DirectFunctionCall1(enum_out, key));
	uint64		hash = key_string(label, strlen(label), seed);

	pfree(label);
	return hash;
}

static uint64
key_bytea(Datum key, uint64 seed)
{
	bytea	   *value = DatumGetByteaPP(key);
	uint64		hash = bf_hash(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), seed);

	if (PointerGetDatum(value) != key)
		pfree(value);
	return hash;
}

static uint64
key_uuid(Datum key, uint64 seed)
{
	return bf_hash(DatumGetUUIDP(key)->data, UUID_LEN, seed);
}

static uint64
key_numeric(Datum key, uint64 seed)
{
	char	   *decimal = DatumGetCString(DirectFunctionCall1(numeric_out, key));
	uint64		hash = bf_hash(decimal, bf_key_numeric(decimal, strlen(decimal)), seed);

	pfree(decimal);
	return hash;
}

static uint64
key_inet(Datum key, uint64 seed)
{
	inet	   *value = DatumGetInetPP(key);
	uint8		bytes[BF_KEY_MAX_FIXED];
	size_t		length;

	length = bf_key_inet(ip_family(value) == PGSQL_AF_INET ? 4 : 6, ip_bits(value),
						 ip_addr(value), bytes);
	if (PointerGetDatum(value) != key)
		pfree(value);
	return bf_hash(bytes, length, seed);
}

static uint64
key_mac(const uint8 *address, size_t length, uint64 seed)
{
	uint8		bytes[BF_KEY_MAX_FIXED];

	return bf_hash(bytes, bf_key_macaddr(address, length, bytes), seed);
}

static uint64
key_macaddr(Datum key, uint64 seed)
{
	return key_mac((const uint8 *) DatumGetMacaddrP(key), sizeof(macaddr), seed);
}

static uint64
key_macaddr8(Datum key, uint64 seed)
{
	return key_mac((const uint8 *) DatumGetMacaddr8P(key), sizeof(macaddr8), seed);
}

static const struct
{
	Oid			sql_type;
	bf_key_type type;
	BfpgKeyWord	word;
	BfpgKeyHash	hash;
}			key_types[] =
{
	{INT2OID, BF_KEY_INTEGER, word_int2, NULL},
	{INT4OID, BF_KEY_INTEGER, word_int4, NULL},
	{INT8OID, BF_KEY_INTEGER, word_int8, NULL},
	{TEXTOID, BF_KEY_TEXT, NULL, key_text},
	{VARCHAROID, BF_KEY_TEXT, NULL, key_text},
	{BPCHAROID, BF_KEY_TEXT, NULL, key_bpchar},
	{NAMEOID, BF_KEY_TEXT, NULL, key_name},
	{BYTEAOID, BF_KEY_BYTEA, NULL, key_bytea},
	{UUIDOID, BF_KEY_UUID, NULL, key_uuid},
	{NUMERICOID, BF_KEY_NUMERIC, NULL, key_numeric},
	{FLOAT4OID, BF_KEY_FLOAT, word_float4, NULL},
	{FLOAT8OID, BF_KEY_FLOAT, word_float8, NULL},
	{DATEOID, BF_KEY_DATE, word_date, NULL},
	{TIMESTAMPOID, BF_KEY_TIMESTAMP, word_timestamp, NULL},
	{TIMESTAMPTZOID, BF_KEY_TIMESTAMPTZ, word_timestamp, NULL},
	{INETOID, BF_KEY_INET, NULL, key_inet},
	{CIDROID, BF_KEY_INET, NULL, key_inet},
	{MACADDROID, BF_KEY_MACADDR, NULL, key_macaddr},
	{MACADDR8OID, BF_KEY_MACADDR, NULL, key_macaddr8},
};

/* The row of a base type; enums stand for themselves. */
static bool
find_key_type(Oid type, BfpgKeyCoder *coder)
{
	int			i;

	for (i = 0; i < lengthof(key_types); i++)
	{
		if (key_types[i].sql_type == type)
		{
			coder->type = key_types[i].type;
			coder->word = key_types[i].word;
			coder->hash = key_types[i].hash;
			return true;
		}
	}
	if (type_is_enum(type))
	{
		coder->type = BF_KEY_TEXT;
		coder->word = NULL;
		coder->hash = key_enum;
		return true;
	}
	return false;
}

bool
bfpg_is_key_type(Oid type)
{
	BfpgKeyCoder	ignored;

	return find_key_type(getBaseType(type), &ignored);
}

void
bfpg_refuse_type(Oid type)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("a key of a bloomfilter cannot be of type %s", format_type_be(type)),
			 errhint("Cast it to a type whose equal values have equal bytes, for example with ::text.")));
}

/*
 * Texts that are equal under a nondeterministic collation may have different
 * bytes.  Without a collation nobody knows.
 */
static void
check_collation(Oid collation)
{
	if (!OidIsValid(collation))
		ereport(ERROR,
				(errcode(ERRCODE_INDETERMINATE_COLLATION),
				 errmsg("could not determine which collation the key of a bloomfilter has"),
				 errhint("Use the COLLATE clause, for example COLLATE \"C\".")));
	if (!get_collation_isdeterministic(collation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a key of a bloomfilter cannot have the nondeterministic collation \"%s\"",
						get_collation_name(collation)),
				 errhint("Make equal keys equal bytes, for example with lower(key), and add COLLATE \"C\".")));
}

void
bfpg_key_coder(FunctionCallInfo fcinfo, int argno, bool array, BfpgKeyCoder *coder)
{
	Oid			type = InvalidOid;

	if (fcinfo->flinfo != NULL)
		type = get_fn_expr_argtype(fcinfo->flinfo, argno);
	if (!OidIsValid(type))
		ereport(ERROR,
				(errcode(ERRCODE_INDETERMINATE_DATATYPE),
				 errmsg("could not determine the type of the key of a bloomfilter")));
	type = getBaseType(type);
	if (array)
	{
		Oid			element = get_element_type(type);

		if (!OidIsValid(element))
			bfpg_refuse_type(type);
		coder->element = element;
		get_typlenbyvalalign(element, &coder->length, &coder->by_value, &coder->align);
		type = getBaseType(element);
	}
	if (!find_key_type(type, coder))
		bfpg_refuse_type(type);
	if (OidIsValid(get_typcollation(type)))
	{
		check_collation(PG_GET_COLLATION());
		bfpg_check_text_source(bfpg_argument_expression(fcinfo, argno));
	}
}

const BfpgKeyCoder *
bfpg_make_call_coder(FunctionCallInfo fcinfo, int argno, bool array)
{
	BfpgKeyCoder	coder;
	BfpgKeyCoder *kept;

	bfpg_key_coder(fcinfo, argno, array, &coder);
	kept = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(BfpgKeyCoder));
	*kept = coder;
	fcinfo->flinfo->fn_extra = kept;
	return kept;
}

/* The SQL type to cast keys of a kind to. */
static const char *
cast_target(unsigned key_type)
{
	if (key_type == BF_KEY_INTEGER)
		return "bigint";
	if (key_type == BF_KEY_FLOAT)
		return "double precision";
	return bf_key_type_name(key_type);
}

void
bfpg_refuse_key_type(const bf_header *header, bf_key_type type)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("bloomfilter holds %s keys, not %s",
					bf_key_type_name(header->key_type), bf_key_type_name(type)),
			 errhint("Cast the key, for example with ::%s.", cast_target(header->key_type))));
}

void
bfpg_refuse_part(const bf_header *header, uint64 hash)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("key belongs to part %u of %u, not to part %u",
					bf_part_of(hash, header->parts), header->parts, header->part),
			 errhint("Choose the filter by bloom_part(key, %u, seed), with the seed of the filters.",
					 header->parts)));
}
