/*
 * keys_random.h
 *	  Random keys, for measuring a filter's false-positive rate.
 */
#ifndef CLI_KEYS_RANDOM_H
#define CLI_KEYS_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the longest random key, a row of six columns. */
#define RANDOM_KEY_BYTES 256

/*
 * Writes the bytes of a random key and returns their number.  columns are the key
 * types of a row's columns, as bloomfilter_info has them.  The same state gives the
 * same keys on every machine.
 */
extern size_t random_key(uint64_t *state, int key_type, const uint8_t *columns,
						 uint8_t *bytes);

#endif							/* CLI_KEYS_RANDOM_H */
