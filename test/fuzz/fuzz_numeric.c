/*
 * fuzz_numeric.c
 *	  The shortening of decimals, of any bytes at all.
 *
 * Whatever it is given, it stays within the bytes, ends, and finds nothing more
 * to shorten in what it made of a plain decimal.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bf_key.h"
#include "demand.h"

/* Whether bytes are a plain decimal: -? digits (. digits?)? */
static bool
is_plain(const char *text, size_t length)
{
	size_t		at = length > 0 && text[0] == '-';
	size_t		digits = 0;
	unsigned	points = 0;

	for (; at < length; at++)
	{
		if (text[at] == '.' && digits > 0)
			points++;
		else if (text[at] >= '0' && text[at] <= '9')
			digits++;
		else
			return false;
	}
	return digits > 0 && points <= 1;
}

/* Whether it is the shortest form: see doc/FORMAT.md, section 3. */
static bool
is_shortest(const char *text, size_t length)
{
	size_t		sign = text[0] == '-';

	if (length - sign > 1 && text[sign] == '0' && text[sign + 1] != '.')
		return false;
	if (sign && length == 2 && text[1] == '0')
		return false;
	return memchr(text, '.', length) == NULL ||
		(text[length - 1] != '0' && text[length - 1] != '.');
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char	   *text = malloc(size > 0 ? size : 1);
	bool		plain;
	size_t		length;

	if (text == NULL)
		return 0;
	if (size > 0)
		memcpy(text, data, size);
	plain = is_plain(text, size);
	length = bf_key_numeric(text, size);
	if (length > size || (plain && (!is_plain(text, length) || !is_shortest(text, length) ||
									bf_key_numeric(text, length) != length)))
		abort();
	free(text);
	return 0;
}
