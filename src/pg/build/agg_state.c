/*
 * agg_state.c
 *	  The state of bloom_agg.
 *
 * It begins as an array of hashes and becomes a filter only when the array would be
 * no longer small beside it.  So small groups are small, workers of a parallel query
 * send each other arrays rather than half-empty filters, and where n is not given
 * the filter is sized for the keys that came.
 *
 * Hashes always go through the array.  When it is full, it is either sorted, loses its repeats
 * and is enlarged, or, once there is a filter, added to that, many at a time, so
 * that their cache misses overlap.
 *
 * The filter's bytes depend on the keys and the parameters only, not on the order
 * of rows, on workers or on when the array gave way.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "build/agg_state.h"
#include "bf_filter.h"
#include "bf_hashlist.h"
#include "bf_sizing.h"
#include "key/key.h"
#include "base/pg_compat.h"
#include "base/report.h"

/* Hashes that a new array has room for: small, as most groups of a GROUP BY are. */
#define FIRST_ROOM 16

/* Room of the array in front of a filter: some batches, within the first cache. */
#define FRONT_ROOM (BF_BATCH * 4)

/* An array with repeats is at most this many times as long as without. */
#define REPEATS 4

/*
 * The array gives way to the filter when it is this share of the filter's size.
 * Both exist for a moment, so this is what a build takes beside the filter.
 */
#define HASHES_SHARE 8

/* What a shipped state begins with, in the machine's order of bytes, as its hashes are. */
typedef struct BfpgShipped
{
	uint8		kind;
	uint8		zero;
	uint16		part;
	int32		parts;
	int64		n;
	double		p;
	uint64		seed;
	uint32		key_type;		/* the hashes or the filter come after this */
} BfpgShipped;

#define SHIPPED_HEADER (offsetof(BfpgShipped, key_type) + sizeof(uint32))

/* What follows the header; a change of meaning takes a new number. */
enum
{
	KIND_HASHES = 1,				/* hashes */
	KIND_FILTER = 2				/* the blocks of the sized filter */
};

/* The header of the filter for so many keys, or for the parameters' n. */
static bf_header
size_filter(const BfpgAggState *state, int64 n)
{
	const BfpgAggParameters *parameters = &state->parameters;
	bf_sizing	sizing;
	bf_header	header;

	bfpg_size_for_rate(n, parameters->p, &sizing);
	bfpg_check_fits(&sizing);
	header = bf_sizing_header(&sizing, parameters->seed);
	header.key_type = state->sized.key_type;
	header.part = state->sized.part;
	header.parts = (uint16) parameters->parts;
	return header;
}

BfpgAggState *
bfpg_agg_new(const BfpgAggParameters *parameters, uint32 key_type, MemoryContext context)
{
	BfpgAggState *state = MemoryContextAllocZero(context, sizeof(BfpgAggState));

	state->parameters = *parameters;
	state->context = context;
	state->sized.key_type = key_type;
	if (parameters->n == 0)
		bfpg_check_rate(parameters->p);
	else
		state->sized = size_filter(state, bf_part_capacity(parameters->n, parameters->parts));
	state->room = FIRST_ROOM;
	state->unique_at = FIRST_ROOM;
	state->hashes = MemoryContextAlloc(context, FIRST_ROOM * sizeof(uint64));
	return state;
}

void
bfpg_agg_check_parameters(const BfpgAggState *state,
						  const BfpgAggParameters *parameters)
{
	const BfpgAggParameters *first = &state->parameters;

	if (parameters->n != first->n || parameters->p != first->p ||
		parameters->seed != first->seed || parameters->parts != first->parts)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("parameters of a bloomfilter must not change within a group"),
				 errdetail("n, p, seed and parts were " INT64_FORMAT ", %g, " INT64_FORMAT " and %d, "
						   "and are " INT64_FORMAT ", %g, " INT64_FORMAT " and %d (n is 0 where it is not given).",
						   first->n, first->p, (int64) first->seed, first->parts,
						   parameters->n, parameters->p, (int64) parameters->seed,
						   parameters->parts)));
}

void
bfpg_agg_check_part(BfpgAggState *state, uint64 hash)
{
	uint16		part = (uint16) bf_part_of(hash, state->parameters.parts);

	if (!state->has_part)
	{
		state->has_part = true;
		state->sized.part = part;
	}
	else if (part != state->sized.part)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("keys of parts %u and %u of %d are in one group",
						state->sized.part, part, state->parameters.parts),
				 errhint("Use GROUP BY bloom_part(key, %d, " INT64_FORMAT ").",
						 state->parameters.parts, (int64) state->parameters.seed)));
}

static void
flush_hashes(BfpgAggState *state)
{
	bfpg_filter_add_hashes(state->filter, state->hashes, state->count);
	state->count = state->sorted = 0;
}

static void
resize_array(BfpgAggState *state, uint64 room)
{
	state->hashes = repalloc_huge(state->hashes, room * sizeof(uint64));
	state->room = room;
}

static void
become_filter(BfpgAggState *state)
{
	state->filter = bfpg_filter_new(&state->sized, state->context);
	flush_hashes(state);
	resize_array(state, FRONT_ROOM);
}

static void
became_sorted(BfpgAggState *state, uint64 count)
{
	state->count = state->sorted = count;
	state->unique_at = Max(count * REPEATS, FIRST_ROOM);
}

static void
make_sorted(BfpgAggState *state)
{
	if (state->sorted < state->count)
		became_sorted(state, bf_hashlist_unique(state->hashes, state->count, bfpg_tick));
}

/*
 * Whether an array of so many hashes is too large beside the filter.  One that is no
 * longer than that in front of a filter costs nothing.
 */
static bool
gives_way(const BfpgAggState *state, uint64 count)
{
	return state->parameters.n != 0 && count > FRONT_ROOM &&
		count * sizeof(uint64) > bf_blocks_bytes(&state->sized) / HASHES_SHARE;
}

void
bfpg_agg_make_room(BfpgAggState *state)
{
	bool		give_way = gives_way(state, state->room * 2);

	if (state->filter != NULL)
	{
		flush_hashes(state);
		return;
	}
	if (give_way || state->count >= state->unique_at)
		make_sorted(state);
	if (state->count <= state->room / 2)
		return;
	if (give_way)
		become_filter(state);
	else
		resize_array(state, state->room * 2);
}

static void
merge_filter(BfpgAggState *state, const BfpgFilter *filter)
{
	if (state->filter == NULL)
		become_filter(state);
	bf_union(state->filter->header, state->filter->blocks, filter->header, filter->blocks, bfpg_tick);
}

static void
refuse_shipment(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
			 errmsg("invalid state of bloom_agg")));
}

/* Sorted arrays are merged, not sorted again. */
static void
merge_hashes(BfpgAggState *state, BfpgAggState *other)
{
	uint64		count;

	make_sorted(other);
	if (state->filter != NULL)
	{
		bfpg_filter_add_hashes(state->filter, other->hashes, other->count);
		return;
	}
	make_sorted(state);
	count = state->count + other->count;
	if (count > state->room)
		resize_array(state, count);
	became_sorted(state, bf_hashlist_merge(state->hashes, state->count, other->hashes, other->count, bfpg_tick));
	if (gives_way(state, state->count))
		become_filter(state);
}

void
bfpg_agg_merge(BfpgAggState *state, BfpgAggState *other)
{
	bfpg_agg_check_parameters(state, &other->parameters);
	if (!bfpg_agg_has_keys(other))
		return;
	if (state->sized.key_type == BF_KEY_ROW)	/* without columns: it has no keys */
		state->sized.key_type = other->sized.key_type;
	if (state->sized.key_type != other->sized.key_type ||
		(state->has_part && state->sized.part != other->sized.part))
		elog(ERROR, "bloom_agg states of different keys");
	state->has_part = true;
	state->sized.part = other->sized.part;
	if (other->filter != NULL)
		merge_filter(state, other->filter);
	if (other->count > 0)
		merge_hashes(state, other);
}

static bytea *
ship(const BfpgAggState *state, uint8 kind, const void *payload, uint64 length)
{
	const BfpgAggParameters *parameters = &state->parameters;
	BfpgShipped header = {
		.kind = kind, .part = state->sized.part, .parts = parameters->parts, .n = parameters->n,
		.p = parameters->p, .seed = parameters->seed, .key_type = state->sized.key_type
	};
	bytea	   *result = palloc(VARHDRSZ + SHIPPED_HEADER + length);

	SET_VARSIZE(result, VARHDRSZ + SHIPPED_HEADER + length);
	memcpy(VARDATA(result), &header, SHIPPED_HEADER);
	memcpy((uint8 *) VARDATA(result) + SHIPPED_HEADER, payload, length);
	return result;
}

static bytea *
ship_hashes(const BfpgAggState *state)
{
	uint64		length = state->count * sizeof(uint64);

	if (length > MaxAllocSize - VARHDRSZ - SHIPPED_HEADER)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many keys for a parallel build of a bloomfilter of unknown size"),
				 errdetail("A worker gathered " UINT64_FORMAT " different keys.", state->count),
				 errhint("Give bloom_agg the number of keys, n.")));
	return ship(state, KIND_HASHES, state->hashes, length);
}

/* The sorted array, or of a filter the blocks: its header follows from the parameters. */
bytea *
bfpg_agg_serialize(BfpgAggState *state)
{
	if (state->filter == NULL)
		make_sorted(state);
	if (state->filter == NULL && state->parameters.n != 0 &&
		state->count * sizeof(uint64) > bf_blocks_bytes(&state->sized))
		become_filter(state);
	if (state->filter == NULL)
		return ship_hashes(state);
	flush_hashes(state);
	return ship(state, KIND_FILTER, state->filter->blocks, bf_blocks_bytes(&state->sized));
}

/*
 * A shipped filter, to be merged from where it is; that counts its bits.  It has
 * come through shared memory as PostgreSQL's own rows do, so it has no checksum.
 */
static BfpgFilter *
unship_filter(const BfpgAggState *state, uint8 *payload, uint64 length)
{
	BfpgFilter *filter = palloc0(sizeof(BfpgFilter));

	if (length != bf_blocks_bytes(&state->sized))
		refuse_shipment();
	filter->header = &filter->shape.level[0];
	*filter->header = state->sized;
	filter->blocks = payload;
	return filter;
}

static void
unship_hashes(BfpgAggState *state, const uint8 *payload, uint64 length)
{
	uint32		parts = (uint32) state->parameters.parts;
	uint64		i;

	state->count = length / sizeof(uint64);
	resize_array(state, Max(state->count, FIRST_ROOM));
	memcpy(state->hashes, payload, length);
	if (!bf_hashlist_is_set(state->hashes, state->count))
		refuse_shipment();
	for (i = 0; i < state->count && parts > 1; i++)
		if (bf_part_of(state->hashes[i], parts) != state->sized.part)
			refuse_shipment();
	became_sorted(state, state->count);
}

BfpgAggState *
bfpg_agg_deserialize(bytea *shipped)
{
	uint8	   *payload = (uint8 *) VARDATA_ANY(shipped) + SHIPPED_HEADER;
	uint64		length = VARSIZE_ANY_EXHDR(shipped);
	BfpgShipped header;
	BfpgAggParameters parameters;
	BfpgAggState *state;

	if (length < SHIPPED_HEADER)
		refuse_shipment();
	length -= SHIPPED_HEADER;
	memcpy(&header, VARDATA_ANY(shipped), SHIPPED_HEADER);
	if (header.parts < 1 || header.parts > BF_MAX_PARTS ||
		header.part >= header.parts || header.n < 0 ||
		!bf_key_is_kind(bf_key_kind(header.key_type)) ||
		!(bf_key_columns_valid(header.key_type) || header.key_type == BF_KEY_ROW))
		refuse_shipment();

	parameters = (BfpgAggParameters) {header.n, header.p, header.seed, header.parts};
	state = bfpg_agg_new(&parameters, header.key_type, CurrentMemoryContext);
	state->sized.part = header.part;
	if (header.kind == KIND_FILTER && header.n != 0)
		state->filter = unship_filter(state, payload, length);
	else if (header.kind == KIND_HASHES && length % sizeof(uint64) == 0)
		unship_hashes(state, payload, length);
	else
		refuse_shipment();
	if (header.key_type == BF_KEY_ROW && bfpg_agg_has_keys(state))
		refuse_shipment();
	return state;
}

/* A filter of the hashes, sized for it where n is not given. */
static Datum
hashes_result(BfpgAggState *state)
{
	bf_header	header = state->sized;
	BfpgFilter *filter;

	make_sorted(state);
	if (state->parameters.n == 0)
		header = size_filter(state, (int64) state->count);
	filter = bfpg_filter_new(&header, CurrentMemoryContext);
	bfpg_filter_add_hashes(filter, state->hashes, state->count);
	/* Here it is known how many keys there are, as it isn't of a filter. */
	if (state->count > header.capacity)
		bfpg_check_overflow(filter->header);
	return bfpg_filter_ro_datum(filter);
}

Datum
bfpg_agg_result(BfpgAggState *state)
{
	if (state->filter == NULL)
		return hashes_result(state);
	flush_hashes(state);
	bfpg_check_overflow(state->filter->header);
	return bfpg_filter_ro_datum(state->filter);
}
