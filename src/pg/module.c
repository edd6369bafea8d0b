/*
 * module.c
 *	  Loading of the extension: its magic block, and what is set up once.
 */
#include "postgres.h"

#include "ask/copies.h"
#include "base/epoch.h"
#include "live/am.h"
#include "base/pg_compat.h"
#include "base/settings.h"

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
	bfpg_epoch_init();
	bfpg_copies_init();
	bfpg_live_options_init();
}
