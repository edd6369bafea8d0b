/*
 * feed_values.c
 *	  Values of a manifest as they are written: digits, base64, UUIDs and names.
 */
#include "feed_values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bf_key.h"

static const char hex_digits[] = "0123456789abcdef";
static const char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool
feed_number(const char *text, uint64_t *number)
{
	size_t		digits = strspn(text, "0123456789");

	if (digits < 1 || digits > 19 || text[digits] != '\0' || (text[0] == '0' && digits > 1))
		return false;
	*number = strtoull(text, NULL, 10);
	return *number <= INT64_MAX;
}

bool
feed_split(char *values, char **value, int count)
{
	int			i;

	for (i = 0; i < count; i++)
	{
		char	   *space = strchr(values, ' ');

		if ((space == NULL) != (i == count - 1) || values[0] == '\0' || values[0] == ' ')
			return false;
		value[i] = values;
		if (space != NULL)
		{
			*space = '\0';
			values = space + 1;
		}
	}
	return true;
}

void
feed_hex(char *text, const uint8_t *bytes, size_t length)
{
	text[0] = '\0';
	for (; length > 0; length--, text += 2)
		snprintf(text, 3, "%02x", *bytes++);
}

bool
feed_from_hex(uint8_t *bytes, size_t length, const char *text)
{
	size_t		i;

	if (strlen(text) != 2 * length || strspn(text, hex_digits) != 2 * length)
		return false;
	for (i = 0; i < length; i++)
		bytes[i] = (uint8_t) ((strchr(hex_digits, text[2 * i]) - hex_digits) << 4 |
							  (strchr(hex_digits, text[2 * i + 1]) - hex_digits));
	return true;
}

void
feed_base64(char *text, const uint8_t *bytes, size_t length)
{
	for (; length > 0; bytes += 3, length -= length < 3 ? length : 3)
	{
		uint32_t	three = (uint32_t) bytes[0] << 16;

		if (length > 1)
			three |= (uint32_t) bytes[1] << 8;
		if (length > 2)
			three |= bytes[2];
		*text++ = base64_digits[three >> 18];
		*text++ = base64_digits[three >> 12 & 63];
		*text++ = length > 1 ? base64_digits[three >> 6 & 63] : '=';
		*text++ = length > 2 ? base64_digits[three & 63] : '=';
	}
	*text = '\0';
}

bool
feed_from_base64(uint8_t *bytes, size_t room, size_t *length, const char *text)
{
	size_t		digits = strspn(text, base64_digits);
	size_t		padding = strspn(text + digits, "=");
	uint32_t	held = 0;
	size_t		i;

	if (text[digits + padding] != '\0' || (digits + padding) % 4 != 0 || padding > 2)
		return false;
	*length = digits * 6 / 8;
	if (*length > room)
		return false;
	for (i = 0; i < digits; i++)
	{
		held = held << 6 | (uint32_t) (strchr(base64_digits, text[i]) - base64_digits);
		if (i % 4 > 0)
			*bytes++ = (uint8_t) (held >> (6 - 2 * (i % 4)));
	}
	/* what is left over of the last digit is 0 */
	return padding == 0 || (held & ((1u << 2 * padding) - 1)) == 0;
}

void
feed_uuid_text(char text[FEED_UUID_TEXT_BYTES], const uint8_t identity[FEED_IDENTITY_BYTES])
{
	char		hex[2 * FEED_IDENTITY_BYTES + 1];

	feed_hex(hex, identity, FEED_IDENTITY_BYTES);
	snprintf(text, FEED_UUID_TEXT_BYTES, "%.8s-%.4s-%.4s-%.4s-%s", hex, hex + 8, hex + 12, hex + 16, hex + 20);
}

bool
feed_uuid_read(uint8_t identity[FEED_IDENTITY_BYTES], const char *text)
{
	char		hex[2 * FEED_IDENTITY_BYTES + 1];

	/* a group that is too short leaves a zero byte in hex */
	return strlen(text) == FEED_UUID_TEXT_BYTES - 1 &&
		sscanf(text, "%8[0-9a-f]-%4[0-9a-f]-%4[0-9a-f]-%4[0-9a-f]-%12[0-9a-f]",
			   hex, hex + 8, hex + 12, hex + 16, hex + 20) == 5 &&
		feed_from_hex(identity, FEED_IDENTITY_BYTES, hex);
}

size_t
feed_character(const char *text, bool *shown)
{
	const uint8_t *bytes = (const uint8_t *) text;
	/* no byte behind the zero byte is looked at, which goes on with no character */
	size_t		length = bf_utf8_character(bytes, 4);
	uint32_t	c = length == 1 ? bytes[0] : bytes[0] & (0xffu >> (length + 1));
	size_t		i;

	for (i = 1; i < length; i++)
		c = c << 6 | (bytes[i] & 0x3f);
	/* control characters of both kinds, and what changes the direction of text or ends a line */
	*shown = length > 0 && c >= ' ' && (c < 0x7f || c > 0x9f) && c != 0x61c && c != 0x200e && c != 0x200f &&
		(c < 0x2028 || c > 0x202e) && (c < 0x2066 || c > 0x2069) && c != 0xfeff;
	return length;
}

bool
feed_is_name(const char *text)
{
	size_t		length = strlen(text);
	bool		shown;

	if (length < 1 || length > FEED_NAME_BYTES || text[0] == ' ' || text[length - 1] == ' ')
		return false;
	while (*text != '\0')
	{
		text += feed_character(text, &shown);
		if (!shown)
			return false;
	}
	return true;
}

const char *const feed_endings[FEED_KINDS] = {".bloom", ".patch", ".changes"};

void
feed_file_name(char name[FEED_FILE_NAME_BYTES], const uint8_t digest[FEED_DIGEST_BYTES], feed_kind kind)
{
	feed_hex(name, digest, FEED_DIGEST_BYTES);
	strcpy(name + 2 * FEED_DIGEST_BYTES, feed_endings[kind]);
}
