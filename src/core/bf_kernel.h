/*
 * bf_kernel.h
 *	  The hot operations, in a version for each kind of processor.
 *
 * Every version computes the same bits as the portable one; the tests compare them
 * all.  bf_kernel is chosen once, when the program is loaded.  A new version is a
 * file like bf_avx2.c and a row in bf_kernel.c.
 */
#ifndef BF_KERNEL_H
#define BF_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bf_format.h"

/* The functions are those of the same names, with bf_ before them, in bf_filter.h. */
typedef struct bf_kernel_functions
{
	const char *name;
	bool		(*block_contains) (const uint8_t *block, unsigned log2_block_bits,
								   unsigned probes, uint64_t hash);
	void		(*contains_hashes) (const bf_header *header, const uint8_t *blocks,
									const uint64_t *hashes, size_t count,
									uint8_t *found);
} bf_kernel_functions;

/* What this processor does best. */
extern const bf_kernel_functions *bf_kernel;

/* Those that this processor can run, the best one last; NULL from the end on. */
extern const bf_kernel_functions *bf_usable_kernel(unsigned i);

/* For bf_kernel.c only. */
extern const bf_kernel_functions bf_portable_kernel;

#if defined(__x86_64__)
#define BF_HAVE_AVX2 1
extern const bf_kernel_functions bf_avx2_kernel;
#endif

#endif							/* BF_KERNEL_H */
