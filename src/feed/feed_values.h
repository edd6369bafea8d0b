/*
 * feed_values.h
 *	  Values of a manifest as they are written: digits, base64, UUIDs and names.
 */
#ifndef FEED_VALUES_H
#define FEED_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feed_page.h"

/* A decimal number below 2^63, without sign and leading zeros. */
extern bool feed_number(const char *text, uint64_t *number);

/* Splits values at single spaces; false if there are not exactly so many. */
extern bool feed_split(char *values, char **value, int count);

/* 2 * length digits and a zero byte; and back: false if text isn't exactly that. */
extern void feed_hex(char *text, const uint8_t *bytes, size_t length);
extern bool feed_from_hex(uint8_t *bytes, size_t length, const char *text);

/* Base64 with padding: 4 characters for 3 bytes begun, and a zero byte. */
#define FEED_BASE64_BYTES(length) (((length) + 2) / 3 * 4 + 1)
extern void feed_base64(char *text, const uint8_t *bytes, size_t length);

/* Back: at most room bytes; false if text isn't base64, or is of more. */
extern bool feed_from_base64(uint8_t *bytes, size_t room, size_t *length, const char *text);

/* A UUID as it is written. */
#define FEED_UUID_TEXT_BYTES 37
extern void feed_uuid_text(char text[FEED_UUID_TEXT_BYTES], const uint8_t identity[FEED_IDENTITY_BYTES]);
extern bool feed_uuid_read(uint8_t identity[FEED_IDENTITY_BYTES], const char *text);

/*
 * Bytes of the UTF-8 character at the beginning of text, 0 if there is none.  *shown: it is one,
 * no control character, and none that changes the direction of what is shown around it.
 */
extern size_t feed_character(const char *text, bool *shown);

/* Whether a text may be a list's name: of such characters alone. */
extern bool feed_is_name(const char *text);

/* Files of a folder: "<digest>.bloom", "<digest>.patch", "<digest>.changes". */
typedef enum feed_kind
{
	FEED_IS_WHOLE,
	FEED_IS_PATCH,
	FEED_IS_CHANGES,
	FEED_KINDS
} feed_kind;

#define FEED_FILE_NAME_BYTES (2 * FEED_DIGEST_BYTES + 9)
extern const char *const feed_endings[FEED_KINDS];
extern void feed_file_name(char name[FEED_FILE_NAME_BYTES], const uint8_t digest[FEED_DIGEST_BYTES], feed_kind kind);

#endif							/* FEED_VALUES_H */
