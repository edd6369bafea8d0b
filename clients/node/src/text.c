/*
 * text.c
 *	  Keys from the text that PostgreSQL prints and reads: src/text for JavaScript.
 */
#include "bf_text.h"

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
