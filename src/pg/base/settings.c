/*
 * settings.c
 *	  What users can set: bloomfilter.* in postgresql.conf and SET.
 */
#include "postgres.h"

#include "base/epoch.h"
#include "base/pg_compat.h"
#include "base/settings.h"

/*
 * 128 MB, as the server's own shared_buffers: a filter of 100 million keys at 1 %, and
 * what a hundred connections that all scan at once can take.
 */
#define CACHE_SIZE (128 * 1024)

/* 4 GB: lists of three billion keys at 1 %. */
#define PUBLISH_MEMORY (4 * 1024 * 1024)

int			bfpg_publish_memory = PUBLISH_MEMORY;
int			bfpg_overflow = BFPG_OVERFLOW_WARNING;
int			bfpg_cache_size = CACHE_SIZE;

static const struct config_enum_entry overflow_options[] = {
	{"ignore", BFPG_OVERFLOW_IGNORE, false},
	{"warning", BFPG_OVERFLOW_WARNING, false},
	{"error", BFPG_OVERFLOW_ERROR, false},
	{NULL, 0, false}
};

/* Copies that are too many now are freed when a filter is asked next. */
static void
assign_cache_size(int kilobytes, void *extra)
{
	bfpg_epoch++;
}

void
bfpg_set(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

void
bfpg_settings_init(void)
{
	DefineCustomIntVariable("bloomfilter.cache_size",
							"Memory that a process may use for its copies of stored filters.",
							"A larger filter is always asked where it is stored.",
							&bfpg_cache_size,
							CACHE_SIZE, 0, MAX_KILOBYTES,
							PGC_USERSET, GUC_UNIT_KB | GUC_EXPLAIN,
							NULL, assign_cache_size, NULL);
	DefineCustomEnumVariable("bloomfilter.overflow",
							 "What happens when a filter comes to hold more keys than it was sized for.",
							 "It changes no bytes of the filter.",
							 &bfpg_overflow,
							 BFPG_OVERFLOW_WARNING, overflow_options,
							 PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
	DefineCustomIntVariable("bloomfilter.publish_memory",
							"Memory that bloom_publish may use for the filters that it builds.",
							"A list that needs more is an error before its query runs.",
							&bfpg_publish_memory,
							PUBLISH_MEMORY, 1024, MAX_KILOBYTES,
							PGC_USERSET, GUC_UNIT_KB | GUC_EXPLAIN,
							NULL, NULL, NULL);
	MarkGUCPrefixReserved("bloomfilter");
}
