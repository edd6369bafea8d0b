/*
 * json.c
 *	  JSON on standard output.
 */
#include "json.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"

/* The range of the byte after the first of a character. */
typedef struct utf8_lead
{
	unsigned char first;
	unsigned char last;
	size_t		length;
	unsigned char low;
	unsigned char high;
} utf8_lead;

/* Table 3-7 of the Unicode standard: well-formed UTF-8. */
static const utf8_lead leads[] = {
	{0x00, 0x7f, 1, 0, 0},
	{0xc2, 0xdf, 2, 0x80, 0xbf},
	{0xe0, 0xe0, 3, 0xa0, 0xbf},
	{0xe1, 0xec, 3, 0x80, 0xbf},
	{0xed, 0xed, 3, 0x80, 0x9f},
	{0xee, 0xef, 3, 0x80, 0xbf},
	{0xf0, 0xf0, 4, 0x90, 0xbf},
	{0xf1, 0xf3, 4, 0x80, 0xbf},
	{0xf4, 0xf4, 4, 0x80, 0x8f}
};

/* Bytes of the character at the beginning of text, 0 if there is none. */
static size_t
character_length(const unsigned char *text)
{
	size_t		i;
	size_t		byte;

	for (i = 0; i < sizeof leads / sizeof leads[0]; i++)
	{
		const utf8_lead *lead = &leads[i];

		if (text[0] < lead->first || text[0] > lead->last)
			continue;
		if (lead->length > 1 && (text[1] < lead->low || text[1] > lead->high))
			return 0;
		for (byte = 2; byte < lead->length; byte++)
			if ((text[byte] & 0xc0) != 0x80)
				return 0;
		return lead->length;
	}
	return 0;
}

void
json_string(const char *text)
{
	output_byte('"');
	while (*text != '\0')
	{
		size_t		length = character_length((const unsigned char *) text);

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
