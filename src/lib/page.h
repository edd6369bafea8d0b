/*
 * page.h
 *	  Files that begin with a page of facts: those of lists that are followed, and sets
 *	  of parts that were written.
 */
#ifndef LBF_PAGE_H
#define LBF_PAGE_H

#include "feed_page.h"
#include "handle.h"

/* What the page says that may be believed of the file with this stamp. */
extern lbf_told lbf_page_told(const uint8_t *page, const feed_who *who, const lbf_stamp *stamp);

/*
 * Checks the bits of a file's parts, as flags say, and gives copied ones whole headers.  Of exact
 * ones there is more to be checked.
 */
extern int	lbf_page_check(bloomfilter *filter, const feed_who *who, unsigned flags, const char *path,
						   bloomfilter_detail *detail);

/*
 * A part as it is at this moment: bits are counted, its checksum is made.  An exact one never
 * changes.
 */
extern void lbf_part_now(const lbf_part *part, bf_shape *shape);

/* The same where the part's header says nothing of the bits, in a mapped file with a page; else as it is. */
extern void lbf_shape_now(const bloomfilter *filter, const lbf_part *part, bf_shape *shape);

/* What it adds to the sum of a file's content. */
extern uint64_t lbf_part_sum(const lbf_part *part);

/* ------------------------------------------------------------------------
 * Which file a path is
 * ------------------------------------------------------------------------ */

extern lbf_stamp lbf_stamp_of(const struct stat *st);
extern bool lbf_same_stamp(const lbf_stamp *a, const lbf_stamp *b);

/* The stamp of a path at which filter, which may be gone, was opened before. */
extern int	lbf_stamp_path(const char *path, const bloomfilter *filter, lbf_stamp *stamp,
						   bloomfilter_detail *detail);

/* Whether the file with this stamp is the one that filter was opened from. */
static inline bool
lbf_is_of_file(const bloomfilter *filter, const lbf_stamp *stamp)
{
	return filter->stamp.device == stamp->device && filter->stamp.inode == stamp->inode;
}

/*
 * Whether that followed file's bits can't be believed any more: another program wrote to it,
 * or its follower says so.  length is what it has now.
 */
extern bool lbf_is_lost(const bloomfilter *filter, uint64_t length);

/* Whether the file with this stamp is what filter was opened from, and the same state of it. */
extern bool lbf_is_current(const bloomfilter *filter, const lbf_stamp *stamp);

#endif							/* LBF_PAGE_H */
