/*
 * target.h
 *	  A path that is replaced in one step, and the new files beside it.
 *
 * A program that opens the path sees all of the old file or all of the new one, after a
 * crash, too: a new file is written under a name of its own in the same folder and
 * synced before it is renamed.  Who has the old one open keeps it.
 */
#ifndef LBF_TARGET_H
#define LBF_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "libbloomfilter.h"

/* Bytes of the longest name in a folder. */
#define LBF_MOST_NAME_BYTES 255

typedef struct lbf_target
{
	char	   *path;
	const char *name;			/* in path */
	int			folder;			/* descriptor that names are relative to */
	bool		locked;
	int			token;			/* its first new file, or -1: see target.c */
	uint32_t	number;			/* in the names of all its new files */
	uint32_t	files;			/* that it has made so far */
	bool		there;			/* something is replaced, whose rights these are */
	struct stat old;
} lbf_target;

/* Refuses what is there and no regular file: it can't be replaced by one. */
extern int	lbf_target_open(lbf_target *target, const char *path,
							bloomfilter_detail *detail);
extern void lbf_target_close(lbf_target *target);

/*
 * One writer at a time between these two, for all names in the folder.  Others wait
 * a minute at most.  Where the file system has no locks there are none.
 */
extern int	lbf_target_lock(lbf_target *target, bloomfilter_detail *detail);
extern bool lbf_target_try_lock(lbf_target *target);
extern void lbf_target_unlock(lbf_target *target);

/*
 * Makes sure that what was renamed in the folder stays so after a crash.  replaced:
 * the target itself is among it, which the error then says.
 */
extern int	lbf_target_sync(const lbf_target *target, bool replaced,
							bloomfilter_detail *detail);

/* A file in the making. */
typedef struct lbf_new_file
{
	int			fd;				/* -1: closed, or there is none */
	char		name[LBF_MOST_NAME_BYTES + 1];	/* "": there is none */
} lbf_new_file;

#define LBF_NO_FILE {-1, ""}

extern int	lbf_file_create(lbf_target *target, lbf_new_file *file,
							bloomfilter_detail *detail);
extern int	lbf_file_append(const lbf_target *target, lbf_new_file *file,
							const void *bytes, size_t length,
							bloomfilter_detail *detail);

/* Gives it the rights of what it replaces, syncs and closes it. */
extern int	lbf_file_finish(const lbf_target *target, lbf_new_file *file,
							bloomfilter_detail *detail);

/* Gives it a name in the folder, over what had it; from then on it is none. */
extern int	lbf_file_rename(const lbf_target *target, lbf_new_file *file,
							const char *name, bloomfilter_detail *detail);

/* Deletes it, if there is one. */
extern void lbf_file_remove(const lbf_target *target, lbf_new_file *file);

/*
 * Deletes what writers of this target that were killed have left: their new files,
 * and, once they are a day old, other files of whose names is_left, which may be
 * NULL, says so.  To be called under the lock.
 */
typedef bool (*lbf_is_left) (const void *state, const char *name);

extern void lbf_target_sweep(const lbf_target *target, lbf_is_left is_left,
							 const void *state);

#endif							/* LBF_TARGET_H */
