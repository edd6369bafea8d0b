/*
 * test_texts.c
 *	  Keys as text: every row of texts.tsv, and what the functions refuse.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bf_hash.h"
#include "libbloomfilter.h"
#include "files.h"
#include "make_filters.h"
#include "tap.h"
#include "tsv.h"

/* A text in memory of just its length, so that reading beyond it is noticed. */
typedef struct text
{
	int			type;
	char	   *bytes;
	size_t		length;
} text;

static text
text_of_row(const tsv *table)
{
	const char *field = tsv_text(table, "text");
	size_t		length = strlen(field);
	text		row = {bloomfilter_text_type_of_name(tsv_text(table, "type")), malloc(length + 1), length};
	char	   *whole;

	need(row.type > 0 && row.bytes != NULL, "type of a row");
	if (strncmp(field, "hex:", 4) == 0)
		row.length = from_hex(field + 4, length - 4, (uint8_t *) row.bytes);
	else
		memcpy(row.bytes, field, length);
	whole = malloc(row.length > 0 ? row.length : 1);
	need(whole != NULL, "memory");
	memcpy(whole, row.bytes, row.length);
	free(row.bytes);
	row.bytes = whole;
	return row;
}

/* Whether these are the bytes of the row's key. */
static bool
is_key(const tsv *table, const bloomfilter_slice *key)
{
	const char *field = tsv_text(table, "key_hex");
	uint8_t    *bytes;
	size_t		length;
	bool		equal;

	if (strncmp(field, "xxh64:", 6) == 0)
		return bf_hash(key->bytes, key->length, 0) == strtoull(field + 6, NULL, 16);
	bytes = tsv_bytes(table, "key_hex", &length);
	equal = length == key->length && memcmp(bytes, key->bytes, length) == 0;
	free(bytes);
	return equal;
}

static bloomfilter *empty;

static void
check_row(const tsv *table)
{
	bool		wanted = strcmp(tsv_text(table, "sql"), "key") == 0;
	text		row = text_of_row(table);
	size_t		room = bloomfilter_text_room(row.type, row.bytes, row.length);
	uint8_t    *buffer = malloc(room > 0 ? room : 1);
	bloomfilter_slice key;
	bloomfilter_detail detail;
	int			code;
	bool		good;

	need(buffer != NULL, "memory");
	code = bloomfilter_text_key(row.type, row.bytes, row.length, buffer, room, &key, &detail);
	if (wanted)
		good = code == BLOOMFILTER_OK && is_key(table, &key) &&
			bloomfilter_contains(empty, bloomfilter_text_key_type(row.type), key.bytes, key.length) == 0;
	else
		good = code == BLOOMFILTER_ERR_KEY && detail.code == code &&
			strncmp(detail.text, "not a key of type ", 18) == 0 && strstr(detail.text, ": ") != NULL;
	ok(good, "texts.tsv: %s %.60s %s", tsv_text(table, "type"), tsv_text(table, "text"),
	   wanted ? "is its key" : "is refused");
	if (wanted && room > 0)
		same(bloomfilter_text_key(row.type, row.bytes, row.length, buffer, 0, &key, NULL),
			 BLOOMFILTER_ERR_ARGUMENT, "no room");
	free(buffer);
	free(row.bytes);
}

/* The longest numerics, written out: read in one pass, and too long ones refused. */
static void
check_long(void)
{
	enum
	{
		DIGITS = 131072
	};
	char	   *digits = malloc(DIGITS + 1);
	uint8_t    *buffer;
	size_t		room;
	bloomfilter_slice key;
	bloomfilter_detail detail;

	need(digits != NULL, "memory");
	memset(digits, '9', DIGITS + 1);
	room = bloomfilter_text_room(BLOOMFILTER_KEY_NUMERIC, digits, DIGITS + 1);
	buffer = malloc(room);
	need(buffer != NULL, "memory");
	same(bloomfilter_text_key(BLOOMFILTER_KEY_NUMERIC, digits, DIGITS, buffer, room, &key, &detail),
		 BLOOMFILTER_OK, "131072 digits");
	ok(key.length == DIGITS && memcmp(key.bytes, digits, DIGITS) == 0, "are the key");
	same(bloomfilter_text_key(BLOOMFILTER_KEY_NUMERIC, digits, DIGITS + 1, buffer, room, &key, &detail),
		 BLOOMFILTER_ERR_KEY, "131073 digits");
	same(bloomfilter_text_key(BLOOMFILTER_KEY_FLOAT, digits, DIGITS, buffer, room, &key, &detail),
		 BLOOMFILTER_ERR_KEY, "a float of 131072 digits");
	free(buffer);
	free(digits);
}

/* What detail says, word for word. */
static void
check_detail(int type, const char *string, const char *wanted)
{
	uint8_t		buffer[64];
	bloomfilter_slice key;
	bloomfilter_detail detail;

	bloomfilter_text_key(type, string, strlen(string), buffer, sizeof buffer, &key, &detail);
	ok(strcmp(detail.text, wanted) == 0, "\"%s\": %s", string, detail.text);
}

static void
check_details(void)
{
	check_detail(BLOOMFILTER_KEY_INTEGER, "1.5", "not a key of type integer: it must be a whole number");
	check_detail(BLOOMFILTER_KEY_INTEGER, "99999999999999999999", "not a key of type integer: it is out of bigint's range");
	check_detail(BLOOMFILTER_KEY_BYTEA, "ab",
				 "not a key of type bytea: it must be \\x and two hexadecimal digits for each byte");
	check_detail(BLOOMFILTER_TEXT_REAL, "1e39", "not a key of type real: it is out of the type's range");
	check_detail(BLOOMFILTER_KEY_DATE, "", "not a key of type date: it is empty");
	check_detail(BLOOMFILTER_KEY_DATE, "2024-02-29 ", "not a key of type date: there is white space around it");
	check_detail(BLOOMFILTER_KEY_TEXT, "\xff", "not a key of type text: it is not valid UTF-8");
}

static void
check_arguments(void)
{
	static const int none[] = {BLOOMFILTER_KEY_NONE, -1, BLOOMFILTER_KEY_ROW - 1, 99, 101, BLOOMFILTER_KEY_UUID + 256};
	uint8_t		buffer[64];
	bloomfilter_slice key;
	bloomfilter_detail detail;
	size_t		i;

	for (i = 0; i < sizeof none / sizeof none[0]; i++)
	{
		same(bloomfilter_text_key(none[i], "1", 1, buffer, sizeof buffer, &key, &detail),
			 BLOOMFILTER_ERR_ARGUMENT, "type %d", none[i]);
		same(bloomfilter_text_key_type(none[i]), BLOOMFILTER_ERR_ARGUMENT, "type %d", none[i]);
	}
	same(bloomfilter_text_key(1, NULL, 1, buffer, sizeof buffer, &key, NULL), BLOOMFILTER_ERR_ARGUMENT, "no text");
	same(bloomfilter_text_key(1, "1", 1, buffer, sizeof buffer, NULL, NULL), BLOOMFILTER_ERR_ARGUMENT, "no key");
	same(bloomfilter_text_key(2, NULL, 0, NULL, 0, &key, NULL), BLOOMFILTER_OK, "the empty text");
	same((long long) key.length, 0, "has no bytes");
	same(bloomfilter_text_type_of_name("real"), BLOOMFILTER_TEXT_REAL, "real");
	same(bloomfilter_text_type_of_name("float"), BLOOMFILTER_KEY_FLOAT, "float");
	same(bloomfilter_text_type_of_name("none"), BLOOMFILTER_ERR_ARGUMENT, "none");
	same(bloomfilter_text_type_of_name("Real"), BLOOMFILTER_ERR_ARGUMENT, "Real");
	same(bloomfilter_text_type_of_name(NULL), BLOOMFILTER_ERR_ARGUMENT, "no name");
	same(bloomfilter_text_key_type(BLOOMFILTER_TEXT_REAL), BLOOMFILTER_KEY_FLOAT, "keys of real are floats");
}

int
main(void)
{
	empty = make_range(10, 1, 1, 0);
	tsv_each("texts.tsv", check_row);
	check_long();
	check_details();
	check_arguments();
	bloomfilter_close(empty);
	return tap_done();
}
