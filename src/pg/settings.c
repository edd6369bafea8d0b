/*
 * settings.c
 *	  What users can set: bloomfilter.* in postgresql.conf and SET.
 */
#include "postgres.h"

#include <limits.h>

#include "bf_limits.h"
#include "pg_compat.h"
#include "settings.h"

int			bfpg_overflow = BFPG_OVERFLOW_WARNING;
int			bfpg_cache_size = BF_MAX_BYTES / 1024;

static const struct config_enum_entry overflow_options[] = {
	{"ignore", BFPG_OVERFLOW_IGNORE, false},
	{"warning", BFPG_OVERFLOW_WARNING, false},
	{"error", BFPG_OVERFLOW_ERROR, false},
	{NULL, 0, false}
};

void
bfpg_settings_init(void)
{
	DefineCustomIntVariable("bloomfilter.cache_size",
							"Memory that a query may use for its copy of a filter.",
							"A larger filter is always asked by slices of its stored value.",
							&bfpg_cache_size,
							BF_MAX_BYTES / 1024, 0, INT_MAX / 1024,
							PGC_USERSET, GUC_UNIT_KB,
							NULL, NULL, NULL);
	DefineCustomEnumVariable("bloomfilter.overflow",
							 "What happens when a filter comes to hold more keys than it was sized for.",
							 "It changes no bytes of the filter.",
							 &bfpg_overflow,
							 BFPG_OVERFLOW_WARNING, overflow_options,
							 PGC_USERSET, 0,
							 NULL, NULL, NULL);
	MarkGUCPrefixReserved("bloomfilter");
}
