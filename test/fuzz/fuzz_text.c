/*
 * fuzz_text.c
 *	  Keys as text, of any bytes at all.
 *
 * The first byte, from '0' on, chooses the type, the rest is the text, in memory that
 * ends where it does.  A key that is accepted stays within its room, is one that the
 * library takes by its bytes, and is what C's own functions read, where C has some.
 */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "bf_text.h"
#include "demand.h"

static const int types[] = {
	BF_KEY_INTEGER, BF_KEY_NUMERIC, BF_KEY_FLOAT, BF_KEY_BYTEA, BF_KEY_UUID,
	BF_KEY_DATE, BF_KEY_TIMESTAMP, BF_KEY_TIMESTAMPTZ, BF_KEY_INET,
	BF_KEY_MACADDR, BF_TEXT_REAL, BF_KEY_TEXT
};

/* Doesn't compile unless each kind is tried, and real. */
typedef char all_kinds_are_tried[sizeof types / sizeof types[0] == BF_KEY_LAST + 1 ? 1 : -1];

static int
same_number(double value, const uint8_t *key)
{
	uint8_t		bytes[8];

	bf_key_float(value, bytes);
	return memcmp(bytes, key, sizeof bytes) == 0;
}

static int
same_address(const char *text, const uint8_t *key)
{
	uint8_t		address[16];
	char		copy[64];

	strncpy(copy, text, sizeof copy - 1);
	copy[sizeof copy - 1] = '\0';
	copy[strcspn(copy, "/")] = '\0';
	return inet_pton(key[0] == 4 ? AF_INET : AF_INET6, copy, address) == 1 &&
		memcmp(address, key + 2, key[0] == 4 ? 4 : 16) == 0;
}

/* Whether C reads the same; text ends with a zero byte here. */
static int
same_in_c(int type, const char *text, const uint8_t *key)
{
	switch (type)
	{
		case BF_KEY_INTEGER:
			return strtoll(text, NULL, 10) == (int64_t) bf_load_le(key, 8);
		case BF_KEY_FLOAT:
			return same_number(strtod(text, NULL), key);
		case BF_TEXT_REAL:
			return same_number(strtof(text, NULL), key);
		case BF_KEY_INET:
			return same_address(text, key);
		default:
			return 1;
	}
}

static void
check(int type, const char *text, size_t length, const bf_text_slice *key)
{
	char	   *copy = malloc(length + 1);
	size_t		key_length = key->length;
	uint32_t	full;

	if (copy == NULL)
		return;
	memcpy(copy, text, length);
	copy[length] = '\0';
	/* Blanks at the end of a text are gone before it is a key. */
	if (lbf_key_check((int) bf_text_key_type(type), key->bytes, &key_length, &full) != BLOOMFILTER_OK ||
		key_length != key->length || !same_in_c(type, copy, key->bytes))
		abort();
	free(copy);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int			type = size == 0 ? 0 : types[(uint8_t) (data[0] - '0') % (sizeof types / sizeof types[0])];
	char	   *text = size == 0 ? NULL : malloc(size - 1);
	uint8_t    *buffer = NULL;
	bf_text_slice key;
	size_t		room;

	if (text == NULL)
		return 0;
	memcpy(text, data + 1, size - 1);
	room = bf_text_room(type, text, size - 1);
	buffer = malloc(room);
	if (buffer != NULL && bf_text_key(type, text, size - 1, buffer, &key) == NULL)
	{
		if (type != BF_KEY_TEXT && key.length > room)
			abort();
		check(type, text, size - 1, &key);
	}
	free(buffer);
	free(text);
	return 0;
}
