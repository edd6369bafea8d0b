/*
 * keys.c
 *	  What keys are: names of types, their bytes, those of a row, and those of a text.
 */

#include <stdio.h>
#include <string.h>

#include "bf_text.h"
#include "handle.h"

_Static_assert((int) BLOOMFILTER_KEY_ROW == (int) BF_KEY_ROW && (int) BLOOMFILTER_KEY_MACADDR == (int) BF_KEY_LAST,
			   "the public header has the core's kinds of keys");

int
lbf_key_check(int type, const void *bytes, size_t *length, uint32_t *full)
{
	if (type < 0 || !bf_key_is_kind((uint32_t) type) || (bytes == NULL && *length > 0))
		return BLOOMFILTER_ERR_ARGUMENT;
	return bf_key_check((uint32_t) type, bytes == NULL ? "" : bytes, length, full) ? BLOOMFILTER_OK : BLOOMFILTER_ERR_KEY;
}

const char *
bloomfilter_key_type_name(int key_type)
{
	return key_type < 0 ? NULL : bf_key_type_name((unsigned) key_type);
}

int
bloomfilter_row_append(bloomfilter_row *row, int key_type, const void *bytes,
					   size_t length)
{
	uint32_t	columns = BF_KEY_ROW;
	size_t		left = row->room - row->length;
	int			code = BLOOMFILTER_OK;

	if (key_type < 0 || !bf_key_is_column((uint32_t) key_type) || length > UINT32_MAX ||
		left < BF_KEY_COLUMN_HEAD || left - BF_KEY_COLUMN_HEAD < length)
		return BLOOMFILTER_ERR_ARGUMENT;
	if (row->length > 0)
		code = lbf_key_check(BF_KEY_ROW, row->bytes, &row->length, &columns);
	if (code != BLOOMFILTER_OK)
		return code;
	if (!bf_key_row_add(&columns, (unsigned) key_type))
		return BLOOMFILTER_ERR_ARGUMENT;
	code = lbf_key_check(key_type, bytes, &length, &columns);
	if (code != BLOOMFILTER_OK)
		return code;
	row->length += bf_key_row_head((unsigned) key_type, (uint32_t) length,
								   row->bytes + row->length);
	if (length > 0)
		memcpy(row->bytes + row->length, bytes, length);
	row->length += length;
	return BLOOMFILTER_OK;
}

int
bloomfilter_row_append_int64(bloomfilter_row *row, int64_t value)
{
	uint8_t		bytes[8];

	return bloomfilter_row_append(row, BF_KEY_INTEGER, bytes,
								  bf_key_integer(value, bytes));
}

/* ------------------------------------------------------------------------
 * Keys as text
 * ------------------------------------------------------------------------ */

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
