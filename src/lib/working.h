/*
 * working.h
 *	  The working copy that a follower keeps of a file: see doc/FORMAT.md, section 18.
 */
#ifndef LBF_WORKING_H
#define LBF_WORKING_H

#include "handle.h"
#include "source.h"

/*
 * Opens the working copy of what a source names, if there is one that stands for it;
 * else *filter is NULL, and the source's own files are to be opened.  An error if there
 * is one that is damaged.
 */
extern int	lbf_working_open(const lbf_source *source, const char *path, unsigned flags,
							 bloomfilter **filter, bloomfilter_detail *detail);

/* Chains to an identity which working copy there is, and whether it is in use. */
extern uint64_t lbf_working_identity(const lbf_source *source, uint64_t identity);

/* Fills *header with what a part of a working copy is at this moment. */
extern void lbf_working_count(const lbf_part *part, bf_header *header);

#endif							/* LBF_WORKING_H */
