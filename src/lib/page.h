/*
 * page.h
 *	  Files that begin with a page of facts: those of lists that are followed, and sets
 *	  of parts that were written.
 */
#ifndef LBF_PAGE_H
#define LBF_PAGE_H

#include "handle.h"

/* Whether the file that is open at fd is one, by its first bytes. */
extern bool lbf_is_paged(int fd);

/* Opens it, mapped or copied as flags say.  fd is the handle's afterwards if *kept. */
extern int	lbf_page_open(int fd, const struct stat *st, unsigned flags, const char *path,
						  bloomfilter **filter, bool *kept, bloomfilter_detail *detail);

/* That the bits of a mapped file which nobody follows are those that it was written with. */
extern int	lbf_page_check(const bloomfilter *filter, bloomfilter_detail *detail);

/*
 * A part as it is at this moment: bits are counted, its checksum is made.  An exact one never
 * changes.
 */
extern void lbf_part_now(const lbf_part *part, bf_exact *shape);

/* What it adds to the sum of a file's content. */
extern uint64_t lbf_part_sum(const lbf_part *part);

/* Whether the follower of a mapped file says that another one took its place. */
extern bool lbf_is_superseded(const bloomfilter *filter);

/* ------------------------------------------------------------------------
 * Which file a path is
 * ------------------------------------------------------------------------ */

extern lbf_stamp lbf_stamp_of(const struct stat *st);
extern bool lbf_same_stamp(const lbf_stamp *a, const lbf_stamp *b);

/* The stamp of a path at which filter, which may be gone, was opened before. */
extern int	lbf_stamp_path(const char *path, const bloomfilter *filter, lbf_stamp *stamp,
						   bloomfilter_detail *detail);

/* Whether the file with this stamp is what filter was opened from, and the same state of it. */
extern bool lbf_is_current(const bloomfilter *filter, const lbf_stamp *stamp);

#endif							/* LBF_PAGE_H */
