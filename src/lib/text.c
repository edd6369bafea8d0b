/*
 * text.c
 *	  Keys as text: their bytes.
 */
#include "bf_text.h"

#include <stdio.h>
#include <string.h>

#include "bf_key.h"
#include "error.h"

int
bloomfilter_text_type_of_name(const char *name)
{
	int			type = name == NULL ? -1 : bf_key_type_of_name(name);

	if (name != NULL && strcmp(name, "real") == 0)
		return BLOOMFILTER_TEXT_REAL;
	return type < 0 || type == BF_KEY_ROW ? BLOOMFILTER_ERR_ARGUMENT : type;
}

int
bloomfilter_text_key_type(int text_type)
{
	unsigned	type = bf_text_key_type(text_type);

	return type == BF_KEY_NONE ? BLOOMFILTER_ERR_ARGUMENT : (int) type;
}

size_t
bloomfilter_text_room(int text_type, const char *text, size_t length)
{
	return text == NULL ? 0 : bf_text_room(text_type, text, length);
}

int
bloomfilter_text_key(int text_type, const char *text, size_t length,
					 void *buffer, size_t room, bloomfilter_slice *key,
					 bloomfilter_detail *detail)
{
	bf_text_slice slice;
	const char *reason;
	char		subject[64];

	if (bf_text_key_type(text_type) == BF_KEY_NONE || key == NULL ||
		(text == NULL && length > 0))
		return lbf_fail(detail, BLOOMFILTER_ERR_ARGUMENT, NULL);
	if (text == NULL)
		text = "";
	if (room < bf_text_room(text_type, text, length))
		return lbf_fail_text(detail, BLOOMFILTER_ERR_ARGUMENT, NULL, "no room for the key");
	reason = bf_text_key(text_type, text, length, buffer, &slice);
	if (reason != NULL)
	{
		snprintf(subject, sizeof subject, "not a key of type %s",
				 text_type == BLOOMFILTER_TEXT_REAL ? "real" : bf_key_type_name((unsigned) text_type));
		return lbf_fail_text(detail, BLOOMFILTER_ERR_KEY, subject, reason);
	}
	key->bytes = slice.bytes;
	key->length = slice.length;
	return BLOOMFILTER_OK;
}
