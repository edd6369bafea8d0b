/*
 * progress.h
 *	  How far this process's builds are, for other sessions to see.
 */
#ifndef BFPG_PROGRESS_H
#define BFPG_PROGRESS_H

#pragma GCC visibility push(hidden)

/* To be called once, from _PG_init. */
extern void bfpg_progress_init(void);

/*
 * A build begins; it ends when the memory context of its state does, however
 * that comes about.
 */
extern void bfpg_progress_start(MemoryContext context);

/* So many rows more.  Called once for many rows. */
extern void bfpg_progress_add(uint64 rows);

#pragma GCC visibility pop

#endif							/* BFPG_PROGRESS_H */
