/*
 * agg_state.h
 *	  The state of bloom_agg: an array of hashes that becomes a filter when the
 *	  array is no longer small beside it.
 */
#ifndef BFPG_AGG_STATE_H
#define BFPG_AGG_STATE_H

#include "value/filter.h"
#include "key/key.h"

/* What a call of the aggregate says; the same in each row of a group. */
typedef struct BfpgAggParameters
{
	int64		n;				/* keys of all parts; 0: as many as come */
	double		p;
	uint64		seed;
	int32		parts;			/* 1: a whole filter */
} BfpgAggParameters;

/* Arguments of the longest form of an aggregate, the state included. */
#define BFPG_AGG_ARGUMENTS 6

/*
 * Keys are added to the array at count.  When it is full, it either goes into the filter, or is sorted
 * and its repeats are dropped (sorted moves to count), or it gets more room.
 */
typedef struct BfpgAggState
{
	BfpgAggParameters parameters;
	NullableDatum arguments[BFPG_AGG_ARGUMENTS];	/* that parameters were read from */
	MemoryContext context;		/* of the array and the filter */
	BfpgKeyCoder *coder;		/* where calls have no memory of their own, else NULL */
	bf_header	sized;			/* of the filter: its key type and part, and where n is given its size */
	BfpgFilter *filter;			/* NULL while there is only the array */
	uint64	   *hashes;			/* those not yet in the filter */
	uint64		count;
	uint64		sorted;			/* as many are sorted, each once */
	uint64		room;			/* hashes that the array has room for */
	uint64		unique_at;		/* sort it when it is full and this long */
	bool		has_part;		/* the part is known, as soon as there is a key of one */
} BfpgAggState;

/* A state without keys.  Throws where no filter can have these parameters. */
extern BfpgAggState *bfpg_agg_new(const BfpgAggParameters *parameters, uint32 key_type, MemoryContext context);

/* Whether any key was added; rows with NULL keys make a state too. */
static inline bool
bfpg_agg_has_keys(const BfpgAggState *state)
{
	return state->filter != NULL || state->count > 0;
}

/* Throws if a row's parameters are not those of its group. */
extern void bfpg_agg_check_parameters(const BfpgAggState *state, const BfpgAggParameters *parameters);

extern void bfpg_agg_make_room(BfpgAggState *state);

/* The first key of a part says which part it is; throws for one of another part. */
extern void bfpg_agg_check_part(BfpgAggState *state, uint64 hash);

static inline void
bfpg_agg_add(BfpgAggState *state, uint64 hash)
{
	if (state->parameters.parts > 1)
		bfpg_agg_check_part(state, hash);
	if (state->count == state->room)
		bfpg_agg_make_room(state);
	state->hashes[state->count++] = hash;
}

/* Adds all keys of another state, whose array is sorted for it. */
extern void bfpg_agg_merge(BfpgAggState *state, BfpgAggState *other);

/*
 * To and from the bytes that parallel workers send.  A state read from them shares their
 * memory and is only good for merging.
 */
extern bytea *bfpg_agg_serialize(BfpgAggState *state);
extern BfpgAggState *bfpg_agg_deserialize(bytea *bytes);

/* The filter of all keys, at least one.  The state can take more keys afterwards. */
extern Datum bfpg_agg_result(BfpgAggState *state);

#endif							/* BFPG_AGG_STATE_H */
