/*
 * feed_delta.h
 *	  Deltas between the parts of a list in two epochs: doc/FORMAT.md, section 21.
 */
#ifndef CLI_FEED_DELTA_H
#define CLI_FEED_DELTA_H

#include "feed_copy.h"
#include "feed_manifest.h"

/*
 * The delta from a part of one copy to that of another of the same geometry, in new
 * memory; NULL if it would be longer than most.
 */
extern uint8_t *feed_delta_write(feed_copy *old, feed_copy *now, uint32_t part, size_t most, size_t *length);

/*
 * Makes a part of the copy what a delta leads to, which must be what *file says of the
 * result.  Returns NULL, or why the part is as it was.
 */
extern const char *feed_delta_apply(feed_copy *copy, uint32_t part, const uint8_t *delta, const feed_file *file);

#endif							/* CLI_FEED_DELTA_H */
