/*
 * harness.h
 *	  The least that a test program needs: numbered results and fixed numbers.
 *
 * A program calls ok() once for each property and returns done() from main.  The
 * output is TAP, the Test Anything Protocol.  All randomness comes from seeds
 * that are in the tests' text, so every run and every machine does the same.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned harness_tests = 0;
static unsigned harness_failures = 0;

/* Reports whether a property holds; the format names it. */
__attribute__((format(printf, 2, 3)))
static inline bool
ok(bool holds, const char *format, ...)
{
	va_list		arguments;

	harness_tests++;
	if (!holds)
		harness_failures++;
	printf("%sok %u - ", holds ? "" : "not ", harness_tests);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	fflush(stdout);
	return holds;
}

/*
 * For a check that is repeated many times for one property: says where it does
 * not hold, and returns whether it does.
 */
__attribute__((format(printf, 2, 3)))
static inline bool
check(bool holds, const char *format, ...)
{
	va_list		arguments;

	if (holds)
		return true;
	fputs("# fails at ", stdout);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	return false;
}

/* Prints the plan; the exit status of the program. */
static inline int
done(void)
{
	printf("1..%u\n", harness_tests);
	return harness_failures == 0 ? 0 : 1;
}

/* The next number of a sequence (splitmix64); any state is a seed. */
static inline uint64_t
next_random(uint64_t *state)
{
	uint64_t	z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

#endif							/* HARNESS_H */
