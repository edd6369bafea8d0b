/*
 * rights.h
 *	  Who may look keys up in a live filter.
 */
#ifndef BFPG_LIVE_RIGHTS_H
#define BFPG_LIVE_RIGHTS_H

#include "utils/rel.h"

#pragma GCC visibility push(hidden)

/*
 * Throws unless the user may read what the index is about.  Returns whether nothing but
 * a change of the table or of roles can alter that.
 */
extern bool bfpg_live_check_rights(Relation index);

/* Whether it would not throw. */
extern bool bfpg_live_may_ask(Relation index);

/* As bfpg_live_check_rights, but a member of pg_stat_scan_tables may look, too. */
extern void bfpg_live_check_statistics_rights(Relation index);

#pragma GCC visibility pop

#endif							/* BFPG_LIVE_RIGHTS_H */
