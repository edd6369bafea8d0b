/*
 * options.h
 *	  WITH (n = ..., p = ..., seed = ...) of CREATE INDEX.
 */
#ifndef BFPG_LIVE_OPTIONS_H
#define BFPG_LIVE_OPTIONS_H

#include "utils/rel.h"

#pragma GCC visibility push(hidden)

typedef struct BfpgLiveOptions
{
	uint64		n;				/* 0: not given */
	double		p;
	uint64		seed;
} BfpgLiveOptions;

/* Makes the options known; once, when the library is loaded. */
extern void bfpg_live_options_init(void);

/* amoptions. */
extern bytea *bfpg_live_parse_options(Datum options, bool validate);

extern BfpgLiveOptions bfpg_live_options(Relation index);

#pragma GCC visibility pop

#endif							/* BFPG_LIVE_OPTIONS_H */
