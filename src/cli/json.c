/*
 * json.c
 *	  JSON on standard output.
 */
#include "json.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "../lib/libbloomfilter.h"
#include "output.h"

/* The bytes of a character in UTF-8 at most. */
#define CHARACTER_BYTES 4

/* Bytes of the character at the beginning of text, 0 if there is none. */
static size_t
character_length(const char *text)
{
	bloomfilter_slice key;
	size_t		length;

	for (length = 1; length <= CHARACTER_BYTES && text[length - 1] != '\0'; length++)
		if (bloomfilter_text_key(BLOOMFILTER_KEY_TEXT, text, length, NULL, 0, &key, NULL) == BLOOMFILTER_OK)
			return length;
	return 0;
}

void
json_string(const char *text)
{
	output_byte('"');
	while (*text != '\0')
	{
		size_t		length = character_length(text);

		if (length == 0)
			output_text("\\ufffd");
		else if (*text == '"' || *text == '\\')
			output_text("\\%c", *text);
		else if ((unsigned char) *text < ' ')
			output_text("\\u%04x", (unsigned) *text);
		else
			output_bytes(text, length);
		text += length > 0 ? length : 1;
	}
	output_byte('"');
}

void
shortest_double(char text[NUMBER_TEXT_BYTES], double number)
{
	int			digits;

	for (digits = 1; digits <= 17; digits++)
	{
		snprintf(text, NUMBER_TEXT_BYTES, "%.*g", digits, number);
		if (strtod(text, NULL) == number)
			break;
	}
}
