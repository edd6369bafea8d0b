/*
 * keys.h
 *	  Whether bytes are a key of a type, once for asking and for adding.
 */
#ifndef LBF_KEYS_H
#define LBF_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "bf_key.h"
#include "libbloomfilter.h"

/* bf_key_check; a code if they are none. */
extern int	lbf_key_check(int type, const void *bytes, size_t *length,
						  uint32_t *full);

#endif							/* LBF_KEYS_H */
