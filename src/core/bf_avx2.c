/*
 * bf_avx2.c
 *	  The hot operations for x86-64 with AVX2 and BMI2: eight probes at a time.
 */
#include "bf_batch.h"

#ifdef BF_HAVE_AVX2

#include <immintrin.h>

#define KERNEL __attribute__((target("avx2,bmi2")))
#define KERNEL_INLINE KERNEL static inline __attribute__((always_inline))

#define PROBES_AT_ONCE 8

KERNEL_INLINE __m256i
load(const void *bytes)
{
	return _mm256_loadu_si256((const __m256i *) bytes);
}

/* Where the eight 64-bit numbers of two registers get their halves put together. */
#define LANE_ORDER 0, 1, 4, 5, 2, 3, 6, 7

KERNEL_INLINE __m256i
lower_halves(__m256i a, __m256i b)
{
	return _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88));
}

KERNEL_INLINE __m256i
upper_halves(__m256i a, __m256i b)
{
	return _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0xdd));
}

/*
 * The bits within the block of probes i .. i + 7, in LANE_ORDER.  A bit's number is
 * the top of a 64-bit product, so its upper half is enough; AVX2 multiplies 32 bits.
 */
KERNEL_INLINE __m256i
probe_bits(uint64_t hash, unsigned i, unsigned log2_block_bits)
{
	__m256i		first = load(&bf_probe_powers[i]);
	__m256i		second = load(&bf_probe_powers[i + 4]);
	__m256i		lower_hash = _mm256_set1_epi32((int) (uint32_t) hash);
	__m256i		upper_hash = _mm256_set1_epi32((int) (uint32_t) (hash >> 32));
	__m256i		carried = upper_halves(_mm256_mul_epu32(lower_hash, first),
									   _mm256_mul_epu32(lower_hash, second));
	__m256i		crossed = _mm256_add_epi32(
		_mm256_mullo_epi32(lower_hash, upper_halves(first, second)),
		_mm256_mullo_epi32(upper_hash, lower_halves(first, second)));

	return _mm256_srl_epi32(_mm256_add_epi32(carried, crossed),
							_mm_cvtsi32_si128((int) (32 - log2_block_bits)));
}

/* Words of 32 bits of a block of one cache line, which fits two registers. */
KERNEL_INLINE __m256i
words_of_line(const uint8_t *line, __m256i indexes)
{
	__m256		lower = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(load(line), indexes));
	__m256		upper = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(load(line + 32), indexes));
	__m256		choice = _mm256_castsi256_ps(_mm256_slli_epi32(indexes, 28));

	return _mm256_castps_si256(_mm256_blendv_ps(lower, upper, choice));
}

/* Whether the bits of probes i .. i + 7, as far as there are so many, are set. */
KERNEL_INLINE bool
look_at_eight(const uint8_t *block, unsigned log2_block_bits, unsigned probes,
			  uint64_t hash, unsigned i)
{
	__m256i		bits = probe_bits(hash, i, log2_block_bits);
	__m256i		indexes = _mm256_srli_epi32(bits, 5);
	__m256i		lanes = _mm256_cmpgt_epi32(_mm256_set1_epi32((int) (probes - i)),
										   _mm256_setr_epi32(LANE_ORDER));
	__m256i		ones = _mm256_and_si256(_mm256_set1_epi32(1), lanes);
	__m256i		wanted = _mm256_sllv_epi32(ones, _mm256_and_si256(bits, _mm256_set1_epi32(31)));
	__m256i		words;

	if (log2_block_bits == BF_MIN_LOG2_BLOCK)
		words = words_of_line(block, indexes);
	else
		words = _mm256_i32gather_epi32((const int *) (const void *) block, indexes, 4);
	return _mm256_testc_si256(words, wanted) != 0;
}

/* Up to eight probes take no branch that could be guessed wrong. */
KERNEL_INLINE bool
look(const uint8_t *block, unsigned log2_block_bits, unsigned probes, uint64_t hash)
{
	unsigned	i = 0;

	for (;;)
	{
		bool		all = look_at_eight(block, log2_block_bits, probes, hash, i);

		i += PROBES_AT_ONCE;
		if (i >= probes || !all)
			return all;
	}
}

KERNEL static bool
block_contains(const uint8_t *block, unsigned log2_block_bits, unsigned probes, uint64_t hash)
{
	return look(block, log2_block_bits, probes, hash);
}

KERNEL static void
contains_hashes(const bf_header *header, const uint8_t *blocks,
				const uint64_t *hashes, size_t count, uint8_t *found)
{
	bf_batch_contains(header, blocks, hashes, count, found, look);
}

const bf_kernel_functions bf_avx2_kernel = {
	"avx2", block_contains, contains_hashes
};

#else

/* ISO C wants a declaration in each file. */
typedef int bf_no_avx2;

#endif
