/*
 * feed_values.c
 *	  Values of a manifest as they are written: digests, UUIDs and names.
 */
#include "feed_manifest.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

void
feed_hex(char *text, const uint8_t *bytes, size_t length)
{
	sodium_bin2hex(text, 2 * length + 1, bytes, length);
}

bool
feed_from_hex(uint8_t *bytes, size_t length, const char *text)
{
	return strlen(text) == 2 * length && strspn(text, "0123456789abcdef") == 2 * length &&
		sodium_hex2bin(bytes, length, text, 2 * length, NULL, NULL, NULL) == 0;
}

void
feed_uuid_text(char text[FEED_UUID_TEXT_BYTES], const uint8_t identity[FEED_IDENTITY_BYTES])
{
	char		hex[2 * FEED_IDENTITY_BYTES + 1];

	feed_hex(hex, identity, FEED_IDENTITY_BYTES);
	snprintf(text, FEED_UUID_TEXT_BYTES, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12,
			 hex + 16, hex + 20);
}

bool
feed_uuid_read(uint8_t identity[FEED_IDENTITY_BYTES], const char *text)
{
	char		hex[2 * FEED_IDENTITY_BYTES + 1];
	char		again[FEED_UUID_TEXT_BYTES];

	if (strlen(text) != FEED_UUID_TEXT_BYTES - 1)
		return false;
	snprintf(hex, sizeof hex, "%.8s%.4s%.4s%.4s%.12s", text, text + 9, text + 14, text + 19, text + 24);
	if (!feed_from_hex(identity, FEED_IDENTITY_BYTES, hex))
		return false;
	feed_uuid_text(again, identity);
	return strcmp(again, text) == 0;
}

/* Bytes of the UTF-8 character at text, 0 if it is none. */
static size_t
character_bytes(const uint8_t *text)
{
	size_t		length = text[0] < 0x80 ? 1 : text[0] < 0xc2 ? 0 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : text[0] < 0xf5 ? 4 : 0;
	size_t		i;

	for (i = 1; i < length; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
		(text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f))
		return 0;
	return length;
}

bool
feed_is_name(const char *text)
{
	const uint8_t *at = (const uint8_t *) text;
	size_t		length = strlen(text);
	size_t		step;

	if (length < 1 || length > FEED_NAME_BYTES || text[0] == ' ' || text[length - 1] == ' ')
		return false;
	for (; *at != '\0'; at += step)
	{
		step = character_bytes(at);
		if (step == 0 || *at < ' ' || *at == 0x7f)
			return false;
	}
	return true;
}
