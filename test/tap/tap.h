/*
 * tap.h
 *	  The least that a test program in C needs: numbered results and fixed numbers.
 *
 * A program calls ok() once for each property and returns tap_done() from main.  The
 * output is TAP, the Test Anything Protocol; run and tally beside this file keep and count
 * it.  All randomness comes from seeds in the tests' text, so that every run and every
 * machine does the same.
 */
#ifndef TAP_H
#define TAP_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Reports whether a property holds, whose name the format gives; returns it. */
extern bool ok(bool holds, const char *format,...)
			__attribute__((format(printf, 2, 3)));

/* The same for two numbers, which are printed where they differ. */
extern bool same(long long got, long long wanted, const char *format,...)
			__attribute__((format(printf, 3, 4)));

/*
 * For a check that is repeated many times for one property: says where it does not hold,
 * and returns whether it does.
 */
extern bool check(bool holds, const char *format,...)
			__attribute__((format(printf, 2, 3)));

/* For what a test can't do without: ends the program if it failed. */
extern void need(bool holds, const char *what);

/* Prints the plan and calls tap_at_end; the exit status of the program. */
extern int	tap_done(void);

/* What tidies up, if anything has to. */
extern void (*tap_at_end) (void);

/* The next number of a sequence (splitmix64); any state is a seed. */
extern uint64_t next_random(uint64_t *state);

#endif							/* TAP_H */
