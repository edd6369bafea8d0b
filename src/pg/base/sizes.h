/*
 * sizes.h
 *	  The size of a filter for n keys at rate p, searched once and remembered.
 */
#ifndef BFPG_SIZES_H
#define BFPG_SIZES_H

#include "bf_sizing.h"

#pragma GCC visibility push(hidden)

/* bf_size_for_rate with every error thrown. */
extern void bfpg_size_for_rate(int64 n, double p, bf_sizing *sizing);

#pragma GCC visibility pop

#endif							/* BFPG_SIZES_H */
