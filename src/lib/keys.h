/*
 * keys.h
 *	  Whether bytes are a key of a type, once for asking and for adding.
 *
 * Node compiles keys.c to WebAssembly (clients/node/build-wasm), so this needs nothing of the system.
 */
#ifndef LBF_KEYS_H
#define LBF_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "bf_key.h"
#include "libbloomfilter.h"

/*
 * Whether bytes are canonical bytes of some key of a type; a code if not.  If so,
 * *full is that type, and of a row with its columns.  *length loses the blanks at the
 * end of a text, which are no part of the key; a text in a row must not have them.
 */
extern int	lbf_key_check(int type, const void *bytes, size_t *length,
						  uint32_t *full);

#endif							/* LBF_KEYS_H */
