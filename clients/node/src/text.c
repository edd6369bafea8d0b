/*
 * text.c
 *	  Keys from the text that PostgreSQL prints and reads, and from their bytes, for JavaScript.
 */
#include "bf_key.h"
#include "bf_text.h"

#include "reader.h"

/* The key that was read last: key_length() bytes at key_at(). */
static bf_text_slice key;

EXPORT("text_room") size_t
text_room(int type, const char *text, size_t length)
{
	return bf_text_room(type, text, length);
}

/* NULL, or why it is no key. */
EXPORT("text_key") const char *
text_key(int type, const char *text, size_t length, uint8_t *buffer)
{
	return bf_text_key(type, text, length, buffer, &key);
}

TELLS(const void *, key_at, key.bytes)
TELLS(size_t, key_length, key.length)

/* The kind of the key of a type that has these bytes; 0: there is none. */
EXPORT("key_kind") uint32_t
key_kind(int type, const uint8_t *bytes, size_t length)
{
	uint32_t	kind;

	key.bytes = bytes;
	key.length = length;
	return bf_key_check((uint32_t) type, bytes, &key.length, &kind) ? kind : 0;
}
