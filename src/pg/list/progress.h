/*
 * progress.h
 *	  How far this process's builds are, for other sessions to see.
 */
#ifndef BFPG_PROGRESS_H
#define BFPG_PROGRESS_H

#pragma GCC visibility push(hidden)

/* What a process is doing. */
typedef enum BfpgPhase
{
	BFPG_PHASE_BUILD,			/* reads keys into filters */
	BFPG_PHASE_WRITE,			/* writes the parts of a list; rows are parts */
	BFPG_PHASE_CHECK			/* asks filters for all keys */
} BfpgPhase;

/* To be called once, from _PG_init. */
extern void bfpg_progress_init(void);

/*
 * A build begins; it ends when the memory context of its state does, however
 * that comes about.
 */
extern void bfpg_progress_start(MemoryContext context, BfpgPhase phase);

/* The same for a list that is published, with all its phases. */
extern void bfpg_progress_publish(MemoryContext context, const char *list);

/* The next phase of what is published, with the rows that it will have, or -1. */
extern void bfpg_progress_phase(BfpgPhase phase, int64 total);

/* So many rows more.  Called once for many rows. */
extern void bfpg_progress_add(uint64 rows);

#pragma GCC visibility pop

#endif							/* BFPG_PROGRESS_H */
