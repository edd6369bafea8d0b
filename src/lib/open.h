/*
 * open.h
 *	  Opening, for the rest of the library.
 */
#ifndef LBF_OPEN_H
#define LBF_OPEN_H

#include "handle.h"

/*
 * A handle of one filter whose bytes are at hand.  It owns them then; on an error
 * they are released.
 */
extern int	lbf_open_bytes(lbf_bytes *bytes, unsigned flags,
						   const char *subject, bloomfilter **filter,
						   bloomfilter_detail *detail);

#endif							/* LBF_OPEN_H */
