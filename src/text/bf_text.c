/*
 * bf_text.c
 *	  Keys as text: the table of types.
 */
#include "bf_text.h"

#include <string.h>

#include "bf_text_read.h"

/* By key type; text has none, since it is its own key. */
static bf_text_reader *const readers[] = {
	NULL, bf_text_integer, NULL, bf_text_bytea, bf_text_uuid, bf_text_numeric,
	bf_text_float, bf_text_date, bf_text_timestamp, bf_text_timestamptz,
	bf_text_inet, bf_text_macaddr
};

/* Doesn't compile unless each kind has its place. */
typedef char bf_all_kinds_have_readers[sizeof readers / sizeof readers[0] == BF_KEY_LAST + 1 ? 1 : -1];

bool
bf_text_is_word(const char *text, size_t length, const char *word)
{
	size_t		i;

	for (i = 0; i < length && word[i] != '\0'; i++)
		if (text[i] != word[i] && (text[i] < 'A' || text[i] > 'Z' || text[i] + 'a' - 'A' != word[i]))
			return false;
	return i == length && word[i] == '\0';
}

unsigned
bf_text_key_type(int type)
{
	if (type == BF_TEXT_REAL)
		return BF_KEY_FLOAT;
	return type > BF_KEY_NONE && type < (int) (sizeof readers / sizeof readers[0]) ?
		(unsigned) type : BF_KEY_NONE;
}

size_t
bf_text_room(int type, const char *text, size_t length)
{
	switch (type)
	{
		case BF_KEY_TEXT:
			return 0;
		case BF_KEY_BYTEA:
			return length / 2;
		case BF_KEY_NUMERIC:
			return bf_text_numeric_room(text, length);
		default:
			return BF_TEXT_ROOM;
	}
}

static bool
is_space(char character)
{
	return character == ' ' || (character >= '\t' && character <= '\r');
}

/* A better reason where one can be seen: a carriage return is the commonest, and invisible. */
static const char *
explain(const char *reason, const char *text, size_t length)
{
	if (length == 0)
		return "it is empty";
	if (text[length - 1] == '\r')
		return "it ends with a carriage return; remove them with tr -d '\\r'";
	if (is_space(text[0]) || is_space(text[length - 1]))
		return "there is white space around it";
	return reason;
}

static const char *
read_text(const char *text, size_t length)
{
	if (length > 0 && memchr(text, '\0', length) != NULL)
		return "it has a zero byte, which no text can have in SQL";
	return bf_utf8_valid((const uint8_t *) text, length) ? NULL : "it is not valid UTF-8";
}

const char *
bf_text_key(int type, const char *text, size_t length, uint8_t *buffer,
			bf_text_slice *key)
{
	bf_text_reader *read;
	size_t		key_length = 0;
	const char *reason;

	if (type == BF_KEY_TEXT)
	{
		reason = read_text(text, length);
		if (reason == NULL)
			*key = (bf_text_slice) {text, bf_key_text(text, length)};
		return reason;
	}
	if (bf_text_key_type(type) == BF_KEY_NONE)
		return "keys of this type have no form as text";
	read = type == BF_TEXT_REAL ? bf_text_real : readers[type];
	reason = read(text, length, buffer, &key_length);
	if (reason != NULL)
		return explain(reason, text, length);
	*key = (bf_text_slice) {buffer, key_length};
	return NULL;
}
