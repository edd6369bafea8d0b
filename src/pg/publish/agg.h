/*
 * agg.h
 *	  The aggregate that reads the keys of a list's query: into the filters that are
 *	  built, or to look all of them up.
 */
#ifndef BFPG_PUBLISH_AGG_H
#define BFPG_PUBLISH_AGG_H

#include "publish/shared.h"

#pragma GCC visibility push(hidden)

/* Its name; the arguments are the ticket of the filters, a bytea, and a key. */
#define BFPG_PUBLISH_AGG "bloom_publish_agg"

/* What it returns, as an array of bigint. */
typedef enum BfpgPassCount
{
	BFPG_PASS_KEYS,
	BFPG_PASS_NULLS,
	BFPG_PASS_MISSING,			/* keys that the filters lack */
	BFPG_PASS_COUNTS
} BfpgPassCount;

#pragma GCC visibility pop

#endif							/* BFPG_PUBLISH_AGG_H */
