/*
 * bench.h
 *	  What the measuring programs share: a clock, memory, random numbers.
 *
 * Large arrays come from bench_memory, aligned and on huge pages where the system
 * grants them, for every contender alike: otherwise page tables would be compared.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define BENCH_HUGE_PAGE ((size_t) 2 * 1024 * 1024)

static inline double
bench_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double) now.tv_sec * 1e9 + (double) now.tv_nsec;
}

/* Zeroed memory; ends the program if there is none. */
static inline void *
bench_memory(size_t size)
{
	size_t		whole = (size + BENCH_HUGE_PAGE - 1) / BENCH_HUGE_PAGE * BENCH_HUGE_PAGE;
	void	   *memory = aligned_alloc(BENCH_HUGE_PAGE, whole);

	if (memory == NULL)
	{
		fprintf(stderr, "no memory for %zu bytes\n", size);
		exit(1);
	}
	madvise(memory, whole, MADV_HUGEPAGE);
	memset(memory, 0, whole);
	return memory;
}

/* splitmix64: a bijection, so that different x give different results. */
static inline uint64_t
bench_mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

/* Keeps a result alive without storing it. */
static inline void
bench_use(uint64_t value)
{
	__asm__ volatile ("" : : "r" (value) : "memory");
}

#endif							/* BENCH_H */
