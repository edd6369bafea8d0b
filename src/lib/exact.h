/*
 * exact.h
 *	  Building an exact filter of hashes.
 */
#ifndef LBF_EXACT_H
#define LBF_EXACT_H

#include "handle.h"

/* Two sets of hashes, sorted, each once. */
typedef struct lbf_universe
{
	const uint64_t *members;
	size_t		member_count;
	const uint64_t *others;
	size_t		other_count;
	double		rate;			/* for all other keys */
	uint64_t	seed;
	uint32_t	key_type;
} lbf_universe;

/* One filter without a part, whose bytes are to be sealed. */
extern int	lbf_exact_build(const lbf_universe *universe, bloomfilter **filter);

#endif							/* LBF_EXACT_H */
