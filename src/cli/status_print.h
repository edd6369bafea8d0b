/*
 * status_print.h
 *	  The forms in which bloomfilter status tells what it found.
 */
#ifndef CLI_STATUS_PRINT_H
#define CLI_STATUS_PRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "../lib/libbloomfilter.h"

typedef enum status_form
{
	FORM_TEXT,
	FORM_JSON,
	FORM_PROMETHEUS,
	FORM_QUIET
} status_form;

/*
 * What may be wrong with a file, each in a word: see bloomfilter(1).
 */
#define STATUS_WORDS 14

extern const char *const status_words[STATUS_WORDS];

typedef struct file_status
{
	const char *file;
	bool		known;
	bool		wrong[STATUS_WORDS];
	bool		healthy;		/* known, and nothing is wrong */
	int64_t		looked_age;		/* seconds */
	int64_t		built_age;
	bloomfilter_status status;
} file_status;

/* A label's text as Prometheus takes it. */
extern void status_print_label(const char *text);

extern void status_print(const file_status *found, int count, status_form form);

#endif							/* CLI_STATUS_PRINT_H */
