/*
 * key_bytes.c
 *	  The bytes of a key, for each SQL type that can be one.
 *
 * To support another SQL type, write a word or hash function below and a row in
 * key_types; a new kind of key bytes starts in src/core/bf_key.h and
 * doc/FORMAT.md.
 */
#include "postgres.h"

#include <sys/socket.h>

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/inet.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "key/key.h"

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

/* Text in the database's encoding is hashed as UTF-8, without the blanks at its end. */
static uint64
key_string(const char *string, int length, const BfpgKeySink *sink)
{
	char	   *utf8 = pg_server_to_any(string, length, PG_UTF8);
	uint64		hash;

	if (utf8 == string)
		return bfpg_sink_bytes(sink, string, bf_key_text(string, length));
	hash = bfpg_sink_bytes(sink, utf8, bf_key_text(utf8, strlen(utf8)));
	pfree(utf8);
	return hash;
}

static uint64
key_text(BfpgKeyCoder *coder, Datum key, const BfpgKeySink *sink)
{
	text	   *value = DatumGetTextPP(key);
	uint64		hash = key_string(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), sink);

	if (PointerGetDatum(value) != key)
		pfree(value);
	return hash;
}

static uint64
key_name(BfpgKeyCoder *coder, Datum key, const BfpgKeySink *sink)
{
	const char *name = NameStr(*DatumGetName(key));

	return key_string(name, strlen(name), sink);
}

static uint64
key_bytea(BfpgKeyCoder *coder, Datum key, const BfpgKeySink *sink)
{
	bytea	   *value = DatumGetByteaPP(key);
	uint64		hash = bfpg_sink_bytes(sink, VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));

	if (PointerGetDatum(value) != key)
		pfree(value);
	return hash;
}

static uint64
key_uuid(BfpgKeyCoder *coder, Datum key, const BfpgKeySink *sink)
{
	return bfpg_sink_bytes(sink, DatumGetUUIDP(key)->data, UUID_LEN);
}

static uint64
key_numeric(BfpgKeyCoder *coder, Datum key, const BfpgKeySink *sink)
{
	/* Unpacked here, as numeric_out would leave its own copy behind. */
	Numeric		value = DatumGetNumeric(key);
	char	   *decimal = DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(value)));
	uint64		hash = bfpg_sink_bytes(sink, decimal, bf_key_numeric(decimal, strlen(decimal)));

	pfree(decimal);
	if (NumericGetDatum(value) != key)
		pfree(value);
	return hash;
}

static uint64
key_inet(BfpgKeyCoder *coder, Datum key, const BfpgKeySink *sink)
{
	inet	   *value = DatumGetInetPP(key);
	uint8		bytes[BF_KEY_MAX_FIXED];
	size_t		length = bf_key_inet(ip_family(value) == PGSQL_AF_INET ? 4 : 6, ip_bits(value), ip_addr(value), bytes);

	if (PointerGetDatum(value) != key)
		pfree(value);
	return bfpg_sink_bytes(sink, bytes, length);
}

static uint64
key_mac(const uint8 *address, size_t length, const BfpgKeySink *sink)
{
	uint8		bytes[BF_KEY_MAX_FIXED];

	return bfpg_sink_bytes(sink, bytes, bf_key_macaddr(address, length, bytes));
}

static uint64
key_macaddr(BfpgKeyCoder *coder, Datum key, const BfpgKeySink *sink)
{
	return key_mac((const uint8 *) DatumGetMacaddrP(key), sizeof(macaddr), sink);
}

static uint64
key_macaddr8(BfpgKeyCoder *coder, Datum key, const BfpgKeySink *sink)
{
	return key_mac((const uint8 *) DatumGetMacaddr8P(key), sizeof(macaddr8), sink);
}

static const struct
{
	Oid			sql_type;
	bf_key_type type;
	BfpgKeyWord word;
	BfpgKeyHash hash;
}			key_types[] =
{
	{INT2OID, BF_KEY_INTEGER, word_int2, NULL},
	{INT4OID, BF_KEY_INTEGER, word_int4, NULL},
	{INT8OID, BF_KEY_INTEGER, word_int8, NULL},
	{TEXTOID, BF_KEY_TEXT, NULL, key_text},
	{VARCHAROID, BF_KEY_TEXT, NULL, key_text},
	{BPCHAROID, BF_KEY_TEXT, NULL, key_text},
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

bool
bfpg_find_key_type(Oid type, BfpgKeyCoder *coder)
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
	return false;
}

bool
bfpg_keys_stand_alone(Oid type)
{
	switch (getBaseType(type))
	{
		case TEXTOID:
		case VARCHAROID:
		case NAMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return false;
		case BPCHAROID:
			return GetDatabaseEncoding() == PG_UTF8;
		default:
			return true;
	}
}

/* In EUC_JP and EUC_TW some characters have two codes.  Both become one in UTF-8, which is converted back to one of them. */
static bool
round_trips(const char *string, Size length)
{
	char	   *utf8 = pg_server_to_any(string, (int) length, PG_UTF8);
	char	   *back;
	bool		same;

	if (utf8 == string)
		return true;
	back = pg_any_to_server(utf8, (int) strlen(utf8), PG_UTF8);
	same = strlen(back) == length && memcmp(back, string, length) == 0;
	pfree(back);
	pfree(utf8);
	return same;
}

static bool
text_stands_alone(const char *string, Size length, bool padded)
{
	Size		kept = bf_key_text(string, length);

	return (padded || kept == length) && round_trips(string, kept);
}

bool
bfpg_key_stands_alone(Oid type, Datum key)
{
	Oid			base = getBaseType(type);
	text	   *value;
	Timestamp	time;
	bool		alone;

	switch (base)
	{
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
			value = DatumGetTextPP(key);
			alone = text_stands_alone(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), base == BPCHAROID);
			if (PointerGetDatum(value) != key)
				pfree(value);
			return alone;
		case NAMEOID:
			return text_stands_alone(NameStr(*DatumGetName(key)), strlen(NameStr(*DatumGetName(key))), false);
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			time = DatumGetTimestamp(key);
			return TIMESTAMP_NOT_FINITE(time) || time < PG_INT64_MAX - (int64) EPOCH_USECS;
		default:
			return true;
	}
}
