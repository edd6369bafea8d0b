/*
 * bf_utf8.h
 *	  Whether text is UTF-8.
 */
#ifndef BF_UTF8_H
#define BF_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As the Unicode Standard has it: no overlong forms, no surrogates. */
extern bool bf_utf8_valid(const uint8_t *bytes, size_t length);

#endif							/* BF_UTF8_H */
