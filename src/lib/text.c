/*
 * text.c
 *	  Keys as text: asking for them, adding them, and their bytes.
 */
#include "bf_text.h"

#include <stdio.h>
#include <stdlib.h>

#include "error.h"
#include "keys.h"

int
bloomfilter_text_type_of_name(const char *name)
{
	int			type = name == NULL ? -1 : bf_text_type_of_name(name);

	return type < 0 ? BLOOMFILTER_ERR_ARGUMENT : type;
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

/* For a text that is no key, and why. */
static int
refuse(bloomfilter_detail *detail, int text_type, const char *reason)
{
	char		subject[64];

	snprintf(subject, sizeof subject, "not a key of type %s", bf_text_type_name(text_type));
	return lbf_fail_text(detail, BLOOMFILTER_ERR_KEY, subject, reason);
}

int
bloomfilter_text_key(int text_type, const char *text, size_t length,
					 void *buffer, size_t room, bloomfilter_slice *key,
					 bloomfilter_detail *detail)
{
	bf_text_slice slice;
	const char *reason;

	if (bf_text_key_type(text_type) == BF_KEY_NONE || key == NULL ||
		(text == NULL && length > 0))
		return lbf_fail(detail, BLOOMFILTER_ERR_ARGUMENT, NULL);
	if (text == NULL)
		text = "";
	if (room < bf_text_room(text_type, text, length))
		return lbf_fail_text(detail, BLOOMFILTER_ERR_ARGUMENT, NULL, "no room for the key");
	reason = bf_text_key(text_type, text, length, buffer, &slice);
	if (reason != NULL)
		return refuse(detail, text_type, reason);
	key->bytes = slice.bytes;
	key->length = slice.length;
	return BLOOMFILTER_OK;
}

/* A key for one question, in memory of its own where it is long. */
static int
read_key(lbf_key *key, int text_type, const char *text, size_t length,
		 bloomfilter_detail *detail)
{
	size_t		room = bloomfilter_text_room(text_type, text, length);
	void	   *buffer = key->buffer;
	bloomfilter_slice slice;
	int			code;

	key->allocated = NULL;
	if (room > sizeof key->buffer)
	{
		buffer = key->allocated = malloc(room);
		if (buffer == NULL)
			return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, NULL);
	}
	code = bloomfilter_text_key(text_type, text, length, buffer, room, &slice, detail);
	if (code != BLOOMFILTER_OK)
	{
		lbf_key_free(key);
		return code;
	}
	key->type = bf_text_key_type(text_type);
	key->bytes = slice.bytes;
	key->length = slice.length;
	return BLOOMFILTER_OK;
}

/* The detail of an answer, if it is an error. */
static int
answer(bloomfilter_detail *detail, int code)
{
	return code < 0 ? lbf_fail(detail, code, NULL) : code;
}

int
bloomfilter_contains_from_text(const bloomfilter *filter, int text_type,
							   const char *text, size_t length,
							   bloomfilter_detail *detail)
{
	lbf_key		key;
	int			code = read_key(&key, text_type, text, length, detail);

	if (code != BLOOMFILTER_OK)
		return code;
	code = bloomfilter_contains(filter, (int) key.type, key.bytes, key.length);
	lbf_key_free(&key);
	return answer(detail, code);
}

int
bloomfilter_row_append_from_text(bloomfilter_row *row, int text_type,
								 const char *text, size_t length,
								 bloomfilter_detail *detail)
{
	lbf_key		key;
	int			code = read_key(&key, text_type, text, length, detail);

	if (code != BLOOMFILTER_OK)
		return code;
	code = bloomfilter_row_append(row, (int) key.type, key.bytes, key.length);
	lbf_key_free(&key);
	return answer(detail, code);
}

int
bloomfilter_builder_add_from_text(bloomfilter_builder *builder, int text_type,
								  const char *text, size_t length,
								  bloomfilter_detail *detail)
{
	lbf_key		key;
	int			code = read_key(&key, text_type, text, length, detail);

	if (code != BLOOMFILTER_OK)
		return code;
	code = bloomfilter_builder_add(builder, (int) key.type, key.bytes, key.length);
	lbf_key_free(&key);
	return answer(detail, code);
}
