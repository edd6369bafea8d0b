/*
 * builder.h
 *	  Adding a key whose bytes are checked.
 */
#ifndef LBF_BUILDER_H
#define LBF_BUILDER_H

#include "libbloomfilter.h"

/* Adds a key by its canonical bytes, which are not checked again. */
extern int	lbf_builder_add_hash(bloomfilter_builder *builder, uint32_t type,
								 const void *bytes, size_t length);

#endif							/* LBF_BUILDER_H */
