/*
 * bf_sha256.h
 *	  SHA-256 (FIPS 180-4), of bytes that are there as a whole.
 *
 * A change by day is known by its key's hash and by the beginning of this digest: two keys of
 * one hash can be made, of one digest they can't.  Neither the library nor WebAssembly has a
 * library for it.
 */
#ifndef BF_SHA256_H
#define BF_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define BF_SHA256_BYTES 32

extern void bf_sha256(const void *bytes, size_t length, uint8_t digest[BF_SHA256_BYTES]);

#endif							/* BF_SHA256_H */
