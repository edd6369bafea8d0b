/*
 * feed_sum.h
 *	  The sum of a list's content: doc/FEED.md, section 2.
 *
 * It is a sum over pieces, so who changes some of them need not read the others.
 */
#ifndef FEED_SUM_H
#define FEED_SUM_H

#include <stdint.h>

#define FEED_PIECE 4096

/*
 * What the fixed part of a part's header adds: all that says where a key's bits are.  The
 * header of an exact part lies in its body, and adds nothing by itself.
 */
extern uint64_t feed_sum_header(uint32_t part, const uint8_t *header);

/*
 * What these bytes of a part's body add to the sum.  They begin with piece number
 * first, and end with a piece or with the part.
 */
extern uint64_t feed_sum(uint32_t part, uint64_t first, const uint8_t *bytes, uint64_t length);

/* The same of the one piece in which this byte of the part's blocks lies. */
extern uint64_t feed_sum_piece(uint32_t part, uint64_t byte, const uint8_t *blocks, uint64_t length);

#endif							/* FEED_SUM_H */
