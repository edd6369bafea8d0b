/*
 * bf_text_inet.c
 *	  The text of network addresses, alone or with a prefix length.
 *
 * Addresses are written in full: PostgreSQL's cidr reads 10/8 too, but prints
 * 10.0.0.0/8.  Numbers have no leading zeros, which some take for octal.
 */
#include "bf_text_read.h"

#include <string.h>

#define GROUPS	8

static const char bad_inet[] = "it must be an address such as 192.168.1.5, 10.0.0.0/8 or 2001:db8::1/64";

/* A decimal number up to max, without leading zeros.  NULL, or where it ends. */
static const char *
scan_number(const char *text, const char *end, unsigned max, unsigned *value)
{
	const char *begin = text;

	for (*value = 0; text < end && bf_text_is_digit(*text); text++)
	{
		*value = *value * 10 + (unsigned) (*text - '0');
		if (*value > max)
			return NULL;
	}
	return text == begin || (*begin == '0' && text - begin > 1) ? NULL : text;
}

/* Four numbers, which must be all there is. */
static bool
scan_four(const char *text, const char *end, uint8_t *address)
{
	int			i;

	for (i = 0; i < 4; i++)
	{
		unsigned	value;

		if (i > 0 && (text == end || *text++ != '.'))
			return false;
		text = scan_number(text, end, 255, &value);
		if (text == NULL)
			return false;
		address[i] = (uint8_t) value;
	}
	return text == end;
}

/* One to four hexadecimal digits.  NULL, or where they end. */
static const char *
scan_group(const char *text, const char *end, uint8_t *group)
{
	unsigned	value = 0;
	int			digits;

	for (digits = 0; text < end && bf_text_hex_digit(*text) >= 0; digits++)
		value = value << 4 | (unsigned) bf_text_hex_digit(*text++);
	if (digits == 0 || digits > 4)
		return NULL;
	group[0] = (uint8_t) (value >> 8);
	group[1] = (uint8_t) value;
	return text;
}

/*
 * Groups with a colon between them, the last two perhaps as an IPv4 address, which
 * must be all there is.  Returns how many there are, at most max, or -1.  No text
 * is no group.
 */
static int
scan_groups(const char *text, const char *end, int max, uint8_t *address)
{
	int			count = 0;

	while (text < end)
	{
		const char *next;

		if (count > 0 && *text++ != ':')
			return -1;
		if (count + 2 <= max && scan_four(text, end, address + 2 * count))
			return count + 2;
		next = count < max ? scan_group(text, end, address + 2 * count) : NULL;
		if (next == NULL)
			return -1;
		text = next;
		count++;
	}
	return count;
}

/* Where "::" is, NULL if nowhere. */
static const char *
find_gap(const char *text, const char *end)
{
	for (; end - text >= 2; text++)
		if (text[0] == ':' && text[1] == ':')
			return text;
	return NULL;
}

/* "::" stands for one group of zeros at least. */
static bool
scan_six(const char *text, const char *end, uint8_t *address)
{
	const char *gap = find_gap(text, end);
	uint8_t		tail[2 * GROUPS];
	int			before;
	int			after;

	if (gap == NULL)
		return scan_groups(text, end, GROUPS, address) == GROUPS;
	memset(address, 0, 2 * GROUPS);
	before = scan_groups(text, gap, GROUPS - 1, address);
	after = scan_groups(gap + 2, end, GROUPS - 1, tail);
	if (before < 0 || after < 0 || before + after >= GROUPS ||
		memchr(text, '.', (size_t) (gap - text)) != NULL)
		return false;
	memcpy(address + 2 * (GROUPS - after), tail, 2 * (size_t) after);
	return true;
}

const char *
bf_text_inet(const char *text, size_t length, uint8_t *bytes,
			 size_t *key_length)
{
	const char *end = text + length;
	const char *slash = length == 0 ? NULL : memchr(text, '/', length);
	const char *address_end = slash == NULL ? end : slash;
	bool		six = length > 0 && memchr(text, ':', (size_t) (address_end - text)) != NULL;
	unsigned	prefix = six ? 128 : 32;
	uint8_t		address[2 * GROUPS];

	if (!(six ? scan_six : scan_four) (text, address_end, address))
		return bad_inet;
	if (slash != NULL && scan_number(slash + 1, end, prefix, &prefix) != end)
		return bad_inet;
	*key_length = bf_key_inet(six ? 6 : 4, prefix, address, bytes);
	return NULL;
}
