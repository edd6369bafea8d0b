/*
 * bf_tick.h
 *	  How long loops let their caller cancel them.
 */
#ifndef BF_TICK_H
#define BF_TICK_H

#include <stddef.h>
#include <stdint.h>

#include "bf_limits.h"

/*
 * Called every BF_TICK_BYTES of work by the functions that take one, so that
 * long loops can be cancelled.  It may not return.  NULL where nobody waits.
 */
typedef void (*bf_tick) (void);

/* Calls tick and says how many of the remaining bytes to do before the next. */
static inline uint64_t
bf_tick_step(uint64_t remaining, bf_tick tick)
{
	if (tick != NULL)
		tick();
	return remaining < BF_TICK_BYTES ? remaining : BF_TICK_BYTES;
}

#endif							/* BF_TICK_H */
