/*
 * bf_utf8.c
 *	  Whether text is UTF-8.
 *
 * Text that is not has no key bytes: no filter can hold it, and asking for it is
 * the caller's mistake (another encoding, cut off in a character), which must
 * not be answered with "no".
 */
#include "bf_key.h"

#include <string.h>

/* Length of the run of ASCII at the start, in whole words of 8. */
static size_t
ascii_run(const uint8_t *bytes, size_t length)
{
	size_t		at = 0;
	uint64_t	word;

	while (length - at >= sizeof word)
	{
		memcpy(&word, bytes + at, sizeof word);
		if ((word & UINT64_C(0x8080808080808080)) != 0)
			break;
		at += sizeof word;
	}
	return at;
}

/*
 * The bytes that follow a first byte, 0 if it is none.  *low and *high are the
 * bounds of the second byte, which exclude overlong forms, surrogates, and what
 * is beyond U+10FFFF.
 */
static size_t
sequence(uint8_t first, uint8_t *low, uint8_t *high)
{
	*low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
	*high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
	if (first >= 0xc2 && first <= 0xdf)
		return 1;
	if (first >= 0xe0 && first <= 0xef)
		return 2;
	if (first >= 0xf0 && first <= 0xf4)
		return 3;
	return 0;
}

size_t
bf_utf8_character(const uint8_t *bytes, size_t length)
{
	uint8_t		low;
	uint8_t		high;
	size_t		following;
	size_t		i;

	if (bytes[0] < 0x80)
		return 1;
	following = sequence(bytes[0], &low, &high);
	if (following == 0 || following >= length || bytes[1] < low || bytes[1] > high)
		return 0;
	for (i = 2; i <= following; i++)
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
	return following + 1;
}

bool
bf_utf8_valid(const uint8_t *bytes, size_t length)
{
	size_t		at = 0;

	while (at < length)
	{
		size_t		step = ascii_run(bytes + at, length - at);

		if (step == 0)
			step = bf_utf8_character(bytes + at, length - at);
		if (step == 0)
			return false;
		at += step;
	}
	return true;
}
