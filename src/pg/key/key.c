/*
 * key.c
 *	  The coder of a call site: what its keys are, and whether they can be any.  And what SQL asks
 *	  of a key without a filter: its hash, and its part in a set.
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "utils/lsyscache.h"

#include "bf_hash.h"
#include "key/key.h"
#include "base/pg_compat.h"
#include "base/report.h"

PG_FUNCTION_INFO_V1(bloomfilter_hash);
PG_FUNCTION_INFO_V1(bloomfilter_part);

void
bfpg_refuse_untyped(const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDETERMINATE_DATATYPE),
			 errmsg("%s has no type, and without a filter nothing tells its kind", what),
			 errhint("Cast it to the type of the set's keys, for example with ::bigint or ::text.")));
}

/* Without a collation nobody knows. */
void
bfpg_check_collation(Oid collation)
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

/* The type that a function's argument is declared with, if that is one. */
static Oid
declared_type(Oid function, int argno)
{
	Oid		   *types;
	int			count;

	(void) get_func_signature(function, &types, &count);
	return argno < count && !IsPolymorphicType(types[argno]) ? types[argno] : InvalidOid;
}

/*
 * Domains count as what they are over.  What has its number from PostgreSQL's sources is
 * none, which spares most statements a look at the catalog.
 */
static Oid
base_type(Oid type)
{
	return type < FirstGenbkiObjectId ? type : getBaseType(type);
}

static Oid
argument_type(FunctionCallInfo fcinfo, int argno)
{
	Oid			type = InvalidOid;

	if (fcinfo->flinfo != NULL)
	{
		type = get_fn_expr_argtype(fcinfo->flinfo, argno);
		if (!OidIsValid(type))
			type = declared_type(fcinfo->flinfo->fn_oid, argno);
	}
	if (!OidIsValid(type))
		ereport(ERROR,
				(errcode(ERRCODE_INDETERMINATE_DATATYPE),
				 errmsg("could not determine the type of the key of a bloomfilter")));
	return base_type(type);
}

/* The type of the keys themselves, where an argument is an array of them. */
static Oid
element_type(Oid array, BfpgKeyCoder *coder)
{
	Oid			element = get_element_type(array);

	if (!OidIsValid(element))
		bfpg_refuse_type(array);
	coder->element = element;
	get_typlenbyvalalign(element, &coder->length, &coder->by_value, &coder->align);
	return base_type(element);
}

/*
 * Whether a key has lost its collation on the way through an engine that splits
 * aggregates.  It was cast to bloom_key then, and the cast has looked at it.
 */
static bool
is_checked_cast(FunctionCallInfo fcinfo, const BfpgKeyCoder *coder)
{
	return coder->untyped && fcinfo->flinfo->fn_expr == NULL &&
		!OidIsValid(PG_GET_COLLATION());
}

static void
make_coder(FunctionCallInfo fcinfo, int argno, bool array, BfpgKeyCoder *coder)
{
	Oid			type = argument_type(fcinfo, argno);

	memset(coder, 0, sizeof(*coder));
	coder->context = fcinfo->flinfo->fn_mcxt;
	if (bfpg_is_untyped(type))
	{
		coder->untyped = true;
		type = array ? TEXTARRAYOID : TEXTOID;
	}
	if (array)
		type = element_type(type, coder);
	if (!bfpg_find_key_type(type, coder))
	{
		if (!bfpg_is_row(type))
			bfpg_refuse_type(type);
		bfpg_row_coder(coder);
	}
	/* Keys of 8 bytes have none. */
	if (coder->word == NULL && OidIsValid(get_typcollation(type)) && !is_checked_cast(fcinfo, coder))
		bfpg_check_collation(PG_GET_COLLATION());
}

bool
bfpg_find_column_coder(Oid type, Oid collation, BfpgKeyCoder *coder)
{
	memset(coder, 0, sizeof(*coder));
	coder->context = CurrentMemoryContext;
	type = base_type(type);
	return bfpg_find_key_type(type, coder) &&
		(!OidIsValid(get_typcollation(type)) || (OidIsValid(collation) && get_collation_isdeterministic(collation)));
}

void
bfpg_column_coder(Oid type, Oid collation, BfpgKeyCoder *coder)
{
	if (bfpg_find_column_coder(type, collation, coder))
		return;
	if (coder->type == BF_KEY_NONE)
		bfpg_refuse_type(base_type(type));
	bfpg_check_collation(collation);
}

void *
bfpg_make_call_state(FunctionCallInfo fcinfo, int argno, bool array, Size size)
{
	BfpgKeyCoder coder;
	void	   *state;

	make_coder(fcinfo, argno, array, &coder);
	state = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, size);
	*(BfpgKeyCoder *) state = coder;
	fcinfo->flinfo->fn_extra = state;
	return state;
}

void
bfpg_fit_coder(BfpgKeyCoder *coder, const bf_header *header)
{
	if (coder->untyped)
		bfpg_read_as(coder, header->key_type);
	else if (bf_key_kind(coder->type) == BF_KEY_ROW)
		bfpg_expect_row(coder, header->key_type);
	else if (header->key_type != BF_KEY_NONE)
		bfpg_refuse_key_type(header->key_type, coder->type);
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

/*
 * The coder of a call without a filter, which could tell what an untyped key is: taken
 * for text, an integer's hash or part would be another than the one in use.
 */
static BfpgKeyCoder *
typed_coder(FunctionCallInfo fcinfo)
{
	BfpgKeyCoder *coder = bfpg_call_coder(fcinfo, 0, false);

	if (coder->untyped)
		bfpg_refuse_untyped("the key");
	if (bf_key_kind(coder->type) == BF_KEY_ROW)
		bfpg_expect_typed_row(coder);
	return coder;
}

/* XXH64 of the bytes that doc/FORMAT.md gives the key. */
Datum
bloomfilter_hash(PG_FUNCTION_ARGS)
{
	BfpgKeyCoder *coder = typed_coder(fcinfo);

	PG_RETURN_INT64((int64) bfpg_hash_key(coder, PG_GETARG_DATUM(0), (uint64) PG_GETARG_INT64(1)));
}

/* The part, from 0, that a key belongs to in a set of so many. */
Datum
bloomfilter_part(PG_FUNCTION_ARGS)
{
	BfpgKeyCoder *coder = typed_coder(fcinfo);
	int32		parts = PG_GETARG_INT32(1);
	uint64		hash;

	bfpg_check_parts(parts);
	hash = bfpg_hash_key(coder, PG_GETARG_DATUM(0), (uint64) PG_GETARG_INT64(2));
	PG_RETURN_INT32((int32) bf_part_of(hash, (uint32_t) parts));
}
