/*
 * bf_text_bytes.c
 *	  The text of keys that are written as bytes: bytea, uuid, macaddr.
 */
#include "bf_text_read.h"

/* The byte that two hexadecimal digits make, or -1. */
static int
hex_byte(const char *text)
{
	int			high = bf_text_hex_digit(text[0]);
	int			low = high < 0 ? -1 : bf_text_hex_digit(text[1]);

	return low < 0 ? -1 : high << 4 | low;
}

const char *
bf_text_bytea(const char *text, size_t length, uint8_t *bytes,
			  size_t *key_length)
{
	size_t		i;

	if (length < 2 || text[0] != '\\' || text[1] != 'x' || length % 2 != 0)
		return "it must be \\x and two hexadecimal digits for each byte";
	for (i = 2; i < length; i += 2)
	{
		int			byte = hex_byte(text + i);

		if (byte < 0)
			return "it must be \\x and two hexadecimal digits for each byte";
		bytes[i / 2 - 1] = (uint8_t) byte;
	}
	*key_length = length / 2 - 1;
	return NULL;
}

/*
 * Digits in pairs, and a separator where one is allowed: after every so many
 * bytes.  Returns the number of bytes, 0 where there is anything else or more
 * than max.
 */
static size_t
scan_pairs(const char *text, const char *end, char separator, size_t every,
		   uint8_t *bytes, size_t max)
{
	size_t		count = 0;

	while (text < end)
	{
		int			byte = end - text < 2 ? -1 : hex_byte(text);

		if (byte < 0 || count == max)
			return 0;
		bytes[count++] = (uint8_t) byte;
		text += 2;
		if (end - text > 1 && *text == separator && count % every == 0)
			text++;
	}
	return count;
}

/* PostgreSQL takes braces, and a hyphen after each four digits. */
const char *
bf_text_uuid(const char *text, size_t length, uint8_t *bytes,
			 size_t *key_length)
{
	const char *end = text + length;

	if (length > 2 && text[0] == '{' && end[-1] == '}')
	{
		text++;
		end--;
	}
	*key_length = scan_pairs(text, end, '-', 2, bytes, 16);
	if (*key_length != 16)
		return "it must be 32 hexadecimal digits, such as a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11";
	return NULL;
}

/* PostgreSQL takes one kind of separator, between any two bytes. */
const char *
bf_text_macaddr(const char *text, size_t length, uint8_t *bytes,
				size_t *key_length)
{
	static const char separators[] = ":-.";
	const char *separator;
	uint8_t		address[8];

	for (separator = separators; *separator != '\0'; separator++)
	{
		size_t		count = scan_pairs(text, text + length, *separator, 1,
									   address, sizeof address);

		if (count == 6 || count == 8)
		{
			*key_length = bf_key_macaddr(address, count, bytes);
			return NULL;
		}
	}
	return "it must be 6 or 8 bytes, such as 08:00:2b:01:02:03";
}
