/*
 * text.c
 *	  Keys from the text that PostgreSQL prints and reads, and from their bytes: src/text
 *	  and src/lib for JavaScript.
 */
#include "bf_text.h"
#include "keys.h"

#include "reader.h"

static bf_text_slice key;

/* The number of a type's name, or -1. */
EXPORT("text_type") int
text_type(const char *name)
{
	return bf_text_type_of_name(name);
}

/* The type of the keys that are read so. */
EXPORT("text_key_type") unsigned
text_key_type(int type)
{
	return bf_text_key_type(type);
}

EXPORT("text_room") size_t
text_room(int type, const char *text, size_t length)
{
	return bf_text_room(type, text, length);
}

/* NULL, or why it is no key; the key is text_length() bytes at text_at(). */
EXPORT("text_key") const char *
text_key(int type, const char *text, size_t length, uint8_t *buffer)
{
	return bf_text_key(type, text, length, buffer, &key);
}

EXPORT("text_at") const void *
text_at(void)
{
	return key.bytes;
}

EXPORT("text_length") size_t
text_length(void)
{
	return key.length;
}

/* The kind of the key of a type that has these bytes; 0: there is none. */
EXPORT("key_kind") uint32_t
key_kind(int type, const uint8_t *bytes, size_t length)
{
	uint32_t	kind;

	return lbf_key_check(type, bytes, &length, &kind) == BLOOMFILTER_OK ? kind : 0;
}
