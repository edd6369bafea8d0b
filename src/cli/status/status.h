/*
 * status.h
 *	  What is known of a followed file, or of a folder and its exporter.
 */
#ifndef CLI_STATUS_H
#define CLI_STATUS_H

#include "table.h"

/* Seconds that may have passed; INT64_MAX: what the file itself allows. */
typedef struct status_limits
{
	int64_t		look;			/* since the last look */
	int64_t		true_at;		/* since all that was committed was in it */
} status_limits;

/* Whose values status_print frees; what is wrong is said. */
extern status_table status_of_file(const char *path, const status_limits *limits);
extern status_table status_of_folder(const char *path, const status_limits *limits);

#endif							/* CLI_STATUS_H */
