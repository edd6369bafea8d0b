/*
 * keys_random.h
 *	  Random keys, for measuring a filter's false-positive rate.
 */
#ifndef CLI_KEYS_RANDOM_H
#define CLI_KEYS_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the longest random key. */
#define RANDOM_KEY_BYTES 32

/*
 * Writes the bytes of a random key and returns their number.  The same state
 * gives the same keys on every machine.
 */
extern size_t random_key(uint64_t *state, int key_type, uint8_t *bytes);

#endif							/* CLI_KEYS_RANDOM_H */
