/*
 * keys_inet.c
 *	  The text of network addresses, alone or with a prefix length.
 *
 * Addresses are written in full: PostgreSQL's cidr reads 10/8 too, but prints
 * 10.0.0.0/8.
 */
#include "keys.h"

#include <arpa/inet.h>
#include <string.h>

#include "../core/bf_key.h"

static const char bad_inet[] = "it must be an address such as 192.168.1.5, 10.0.0.0/8 or 2001:db8::1/64";

/* The digits after the slash, without leading zeros; -1 if there is anything else. */
static int
scan_prefix(const char *text, const char *end, int max)
{
	int			prefix = 0;

	if (text == end || (*text == '0' && end - text > 1))
		return -1;
	for (; text < end; text++)
	{
		if (*text < '0' || *text > '9')
			return -1;
		prefix = prefix * 10 + (*text - '0');
		if (prefix > max)
			return -1;
	}
	return prefix;
}

const char *
encode_inet(const char *text, size_t length, uint8_t *bytes,
			size_t *key_length)
{
	const char *slash = memchr(text, '/', length);
	size_t		digits = slash == NULL ? length : (size_t) (slash - text);
	bool		six = memchr(text, ':', digits) != NULL;
	int			prefix = six ? 128 : 32;
	char		copy[INET6_ADDRSTRLEN];
	uint8_t		address[16];

	/* inet_pton would stop at a zero byte and see nothing after it */
	if (digits >= sizeof copy || memchr(text, '\0', length) != NULL)
		return bad_inet;
	memcpy(copy, text, digits);
	copy[digits] = '\0';
	if (inet_pton(six ? AF_INET6 : AF_INET, copy, address) != 1)
		return bad_inet;
	if (slash != NULL)
		prefix = scan_prefix(slash + 1, text + length, prefix);
	if (prefix < 0)
		return bad_inet;
	*key_length = bf_key_inet(six ? 6 : 4, (unsigned) prefix, address, bytes);
	return NULL;
}
