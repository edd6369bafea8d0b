/*
 * module.c
 *	  Loading of the extension: its magic block, and what is set up once.
 */
#include "postgres.h"

#include "copies.h"
#include "explain.h"
#include "live_am.h"
#include "pg_compat.h"
#include "progress.h"
#include "settings.h"
#include "snapshot.h"

#ifdef PG_MODULE_MAGIC_EXT
PG_MODULE_MAGIC_EXT(.name = "bloomfilter", .version = BLOOMFILTER_VERSION);
#else
PG_MODULE_MAGIC;
#endif

void		_PG_init(void);

void
_PG_init(void)
{
	bfpg_settings_init();
	bfpg_progress_init();
	bfpg_copies_init();
	bfpg_explain_init();
	bfpg_snapshot_init();
	bfpg_live_init();
}
