/*
 * key_refuse.c
 *	  Errors of types, and what to ask in the place of a key.
 *
 * Who follows a hint gets the answer that EXISTS gives with SQL's equality, or there is no hint: a
 * cast may round a key, or make a text of it that the filter doesn't have, which denies a member.
 * (t/021_equal_pairs.pl follows them for all pairs of types, sql/hints.sql each form.)
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "key/key.h"

/* What to take of a value of a type that can't be a key; NULL if nothing is equal where the values are. */
static const char *
substitute(Oid type)
{
	char		category;
	bool		preferred;

	switch (type)
	{
		case OIDOID:
			return "key::bigint";
		case BOOLOID:
			return "key::int";
		case CHAROID:
		case BITOID:
		case VARBITOID:
		case TIMEOID:
			return "key::text";
	}
	if (type_is_enum(type))
		return "key::text";
	get_type_category_preferred(type, &category, &preferred);
	return category == TYPCATEGORY_STRING ? "lower(key::text)" : NULL;
}

void
bfpg_refuse_type(Oid type)
{
	const char *other = substitute(type);

	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("a key of a bloomfilter cannot be of type %s", format_type_be(type)),
			 type_is_array(type) ?
			 errhint("Keys are its elements: unnest makes rows of them, and functions like bloom_lookup_each look them up.") :
			 other == NULL ? errdetail("Equal values of this type may have different bytes.") :
			 errhint("Take %s in its place, where keys are added and where they are looked up.", other)));
}

/* The type to which a text is cast where keys of a kind are held. */
static const char *
type_of_text(bf_key_type held)
{
	switch (held)
	{
		case BF_KEY_INTEGER:
			return "bigint";
		case BF_KEY_MACADDR:
			return "macaddr8";
		case BF_KEY_UUID:
		case BF_KEY_NUMERIC:
		case BF_KEY_DATE:
		case BF_KEY_TIMESTAMP:
		case BF_KEY_TIMESTAMPTZ:
		case BF_KEY_INET:
			return bf_key_type_name(held);
		default:
			return NULL;
	}
}

/* The type to which SQL itself casts a key before it compares it with those that are held. */
static const char *
type_of_comparison(bf_key_type held, bf_key_type asked)
{
	if (held == BF_KEY_NUMERIC && asked == BF_KEY_INTEGER)
		return "numeric";
	if (held == BF_KEY_FLOAT && (asked == BF_KEY_INTEGER || asked == BF_KEY_NUMERIC))
		return "double precision";
	if (held == BF_KEY_TIMESTAMP && asked == BF_KEY_DATE)
		return "timestamp";
	if (held == BF_KEY_TIMESTAMPTZ && (asked == BF_KEY_DATE || asked == BF_KEY_TIMESTAMP))
		return "timestamptz";
	return NULL;
}

static int
hint(unsigned held, unsigned asked)
{
	const char *type = asked == BF_KEY_TEXT ? type_of_text(held) : type_of_comparison(held, asked);

	if (bf_key_kind(held) == BF_KEY_ROW)
		return errhint("Ask for a row whose columns are of these types.");
	if (type != NULL)
		return errhint("Ask for key::%s.", type);
	if (held == BF_KEY_BYTEA && asked == BF_KEY_TEXT)
		return errhint("Ask for decode(key, 'hex') if the key is written in hexadecimal.");
	if (held == BF_KEY_FLOAT && asked == BF_KEY_TEXT)
		return errhint("Ask for key::double precision, or for key::real if the keys were of that type.");
	if (held != BF_KEY_TEXT)
		return 0;
	return errhint("Ask for the text that was made of such a value where keys were added%s.",
				   asked == BF_KEY_BYTEA ? ", for example encode(key, 'hex')" :
				   asked == BF_KEY_INET ? ", for example host(key)" : "");
}

void
bfpg_refuse_key_type(unsigned held, unsigned asked)
{
	char		held_text[BF_KEY_TEXT_BYTES];
	char		asked_text[BF_KEY_TEXT_BYTES];

	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("bloomfilter holds %s keys, not %s",
					bf_key_type_text(held, held_text), bf_key_type_text(asked, asked_text)),
			 hint(held, asked)));
}
