/*
 * settings.h
 *	  What users can set: bloomfilter.* in postgresql.conf and SET.
 */
#ifndef BFPG_SETTINGS_H
#define BFPG_SETTINGS_H

/* What bloomfilter.overflow may be. */
typedef enum BfpgOverflow
{
	BFPG_OVERFLOW_IGNORE,
	BFPG_OVERFLOW_WARNING,
	BFPG_OVERFLOW_ERROR
} BfpgOverflow;

extern int	bfpg_overflow;
extern int	bfpg_cache_size;	/* kB */
extern int	bfpg_publish_memory;	/* kB */

/* Sets a setting of PostgreSQL's or ours, until AtEOXact_GUC ends the nest level. */
extern void bfpg_set(const char *name, const char *value);

/* Defines the settings, when the module is loaded. */
extern void bfpg_settings_init(void);

#endif							/* BFPG_SETTINGS_H */
