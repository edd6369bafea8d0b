/*
 * write.h
 *	  Replacing a file in one step.
 */
#ifndef LBF_WRITE_H
#define LBF_WRITE_H

#include <stddef.h>

#include "libbloomfilter.h"

/*
 * Makes bytes the content of a file in a folder that is open at folder, for
 * everybody who opens it from now on, or fails and leaves nothing behind.  The
 * folder is to be synced with lbf_folder_sync afterwards.
 */
extern int	lbf_file_replace(int folder, const char *name, const void *bytes,
							 size_t length, bloomfilter_detail *detail);

/* Makes sure that what was renamed in a folder stays so after a crash. */
extern int	lbf_folder_sync(int folder, const char *subject,
							bloomfilter_detail *detail);

/* Writes all parts of a set to a folder, and its manifest under this name. */
extern int	lbf_set_write(const bloomfilter *filter, int folder,
						  const char *name, bloomfilter_detail *detail);

#endif							/* LBF_WRITE_H */
