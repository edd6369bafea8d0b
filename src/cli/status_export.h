/*
 * status_export.h
 *	  bloomfilter status of a folder that export keeps.
 */
#ifndef CLI_STATUS_EXPORT_H
#define CLI_STATUS_EXPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "export_status.h"
#include "messages.h"
#include "status_print.h"

/* What may be wrong with an exporter, each in a word: see bloomfilter(1). */
typedef enum exporter_word
{
	EXPORTER_OLD,
	EXPORTER_RATE,
	EXPORTER_EXPIRES,
	EXPORTER_CLOCK,
	EXPORTER_WORDS
} exporter_word;

typedef struct folder_status
{
	const char *folder;
	bool		known;
	bool		healthy;
	bool		wrong[EXPORTER_WORDS];
	int64_t		now;			/* microseconds since 1970 */
	char	   *values[EXPORT_VALUES];	/* NULL: there is none */
} folder_status;

/* To be freed with status_free_folder. */
extern folder_status status_of_folder(const char *folder, int64_t most_age);
extern void status_free_folder(folder_status *found);

extern void status_print_folders(const folder_status *found, int count, status_form form);

#endif							/* CLI_STATUS_EXPORT_H */
