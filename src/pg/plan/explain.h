/*
 * explain.h
 *	  EXPLAIN (ANALYZE, BLOOMFILTER): how filters were asked.
 */
#ifndef BFPG_EXPLAIN_H
#define BFPG_EXPLAIN_H

#pragma GCC visibility push(hidden)

/* Adds the option where PostgreSQL has such, when the module is loaded. */
extern void bfpg_explain_init(void);

#pragma GCC visibility pop

#endif							/* BFPG_EXPLAIN_H */
