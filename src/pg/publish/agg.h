/*
 * agg.h
 *	  The aggregate that reads the keys of a list's query: into the filters that are
 *	  built, or to look all of them up.
 */
#ifndef BFPG_PUBLISH_AGG_H
#define BFPG_PUBLISH_AGG_H

#include "publish/shared.h"

#pragma GCC visibility push(hidden)

/* Its name; the arguments are the ticket of the filters, a bytea, a key, and whether it is a member. */
#define BFPG_PUBLISH_AGG "bloom_publish_agg"

/* What it returns, as an array of bigint. */
typedef enum BfpgPassCount
{
	BFPG_PASS_KEYS,				/* members: of a plain list all keys */
	BFPG_PASS_OTHERS,
	BFPG_PASS_NULLS,
	BFPG_PASS_UNKNOWN,			/* others whose boolean is null */
	BFPG_PASS_MISSING,			/* keys whose answer would be wrong */
	BFPG_PASS_LET_IN,			/* others that level 1 lets in */
	BFPG_PASS_SUM,				/* of their hashes, modulo 2^64 */
	BFPG_PASS_COUNTS
} BfpgPassCount;

#pragma GCC visibility pop

#endif							/* BFPG_PUBLISH_AGG_H */
