/*
 * am.h
 *	  The index access method "bloomfilter".
 */
#ifndef BFPG_LIVE_AM_H
#define BFPG_LIVE_AM_H

#include "utils/rel.h"

#pragma GCC visibility push(hidden)

/* Once, when the library is loaded. */
extern void bfpg_live_init(void);

/* Whether an index is one of ours. */
extern bool bfpg_is_live(Relation index);

#pragma GCC visibility pop

#endif							/* BFPG_LIVE_AM_H */
