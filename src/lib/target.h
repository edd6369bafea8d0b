/*
 * target.h
 *	  A path that is replaced in one step, and the new file beside it.
 *
 * A program that opens the path sees all of the old file or all of the new one, after a
 * crash, too: the new file is written under a name of its own in the same folder and
 * synced before it is renamed.  Who has the old one open keeps it.
 */
#ifndef LBF_TARGET_H
#define LBF_TARGET_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "libbloomfilter.h"

typedef struct lbf_target
{
	const char *path;			/* the caller's */
	const char *name;			/* in path */
	int			folder;			/* descriptor that names are relative to */
	bool		there;			/* something is replaced, whose rights these are */
	struct stat old;
	int			fd;				/* of the new file, or -1 */
	char		new_name[NAME_MAX + 1];	/* "": there is none */
} lbf_target;

/* Refuses what is there and no regular file: it can't be replaced by one. */
extern int	lbf_target_open(lbf_target *target, const char *path,
							bloomfilter_detail *detail);

/* Begins the new file, and deletes one that a killed writer of this path has left. */
extern int	lbf_target_create(lbf_target *target, bloomfilter_detail *detail);
extern int	lbf_target_append(const lbf_target *target, const void *bytes,
							  size_t length, bloomfilter_detail *detail);

/* Gives the new file the rights of what it replaces, syncs it and puts it in place. */
extern int	lbf_target_commit(lbf_target *target, bloomfilter_detail *detail);

/* Closes it; a new file that was not put in place is deleted. */
extern void lbf_target_close(lbf_target *target);

#endif							/* LBF_TARGET_H */
