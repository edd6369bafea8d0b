/*
 * bf_portable.c
 *	  The hot operations in plain C, for any processor, and which version of them this one runs.
 */
#include "bf_batch.h"
#include "bf_kernel.h"

/*
 * Probes that are made without looking at each other's answers: their loads
 * overlap, and there is no branch to guess wrong until all are done.
 */
#define PROBES_AT_ONCE 8

static inline bool
block_contains(const uint8_t *block, unsigned log2_block_bits,
			   unsigned probes, uint64_t hash)
{
	unsigned	i = 0;

	for (;;)
	{
		unsigned	end = probes - i > PROBES_AT_ONCE ? i + PROBES_AT_ONCE : probes;
		unsigned	all = 1;

		for (; i < end; i++)
		{
			uint32_t	bit = bf_probe_bit(bf_probe(hash, i), log2_block_bits);

			all &= (unsigned) block[bit >> 3] >> (bit & 7);
		}
		if (i == probes)
			return all & 1;
		if ((all & 1) == 0)
			return false;
	}
}

static void
contains_hashes(const bf_header *header, const uint8_t *blocks,
				const uint64_t *hashes, size_t count, uint8_t *found)
{
	bf_batch_contains(header, blocks, hashes, count, found, block_contains);
}

static void
add_hashes(bf_header *header, uint8_t *blocks, const uint64_t *hashes, size_t count)
{
	bf_batch_add(header, blocks, hashes, count);
}

const bf_kernel_functions bf_portable_kernel = {
	"portable", block_contains, contains_hashes, add_hashes
};

const bf_kernel_functions *bf_kernel = &bf_portable_kernel;

#ifdef BF_HAVE_AVX2
static bool
has_avx2(void)
{
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
}
#endif

const bf_kernel_functions *
bf_usable_kernel(unsigned i)
{
	if (i == 0)
		return &bf_portable_kernel;
#ifdef BF_HAVE_AVX2
	if (i == 1 && has_avx2())
		return &bf_avx2_kernel;
#endif
	return NULL;
}

/* Before main, or when a server loads the library: no thread can see it change. */
__attribute__((constructor))
static void
choose_kernel(void)
{
	unsigned	i;

	for (i = 0; bf_usable_kernel(i) != NULL; i++)
		bf_kernel = bf_usable_kernel(i);
}
