/*
 * activity.h
 *	  How far a publication is, for other sessions to see in pg_stat_activity.
 */
#ifndef BFPG_ACTIVITY_H
#define BFPG_ACTIVITY_H

#pragma GCC visibility push(hidden)

/* A list is published by this process, until bfpg_activity_end or the next one begins. */
extern void bfpg_activity_begin(const char *list);
extern void bfpg_activity_end(void);

/* What it does now, and the rows that this will be, or -1. */
extern void bfpg_activity_phase(const char *phase, int64 rows);

/* So many rows are done.  Nothing in a process that publishes nothing. */
extern void bfpg_activity_rows(uint64 rows);

#pragma GCC visibility pop

#endif							/* BFPG_ACTIVITY_H */
