/*
 * test_keys.c
 *	  Types of keys by their numbers, and rows, which C alone puts together by itself.
 *
 * test/readers has what is a key of its type, what is none, and which are one.
 */
#include <stdio.h>
#include <string.h>

#include "ask.h"
#include "tap.h"

/* A filter that holds one key, added by its bytes. */
static bloomfilter *
filter_of(int type, const void *bytes, size_t length)
{
	bloomfilter_builder *builder;
	bloomfilter *filter;

	need(bloomfilter_builder_create(10, 1e-9, 0, 1, &builder) == BLOOMFILTER_OK, "builder");
	need(bloomfilter_builder_add(builder, type, bytes, length) == BLOOMFILTER_OK, "add");
	need(bloomfilter_builder_finish(builder, &filter, NULL) == BLOOMFILTER_OK, "finish");
	bloomfilter_builder_free(builder);
	return filter;
}

static void
check_types(void)
{
	bloomfilter *filter = filter_of(BLOOMFILTER_KEY_TEXT, "x", 1);
	uint8_t		macaddr[8];
	int			type;

	same((long long) bf_key_macaddr((const uint8_t *) "\010\0\x2b\xfe\xfe\1\2\3", 8, macaddr), 8, "eight bytes with FE FE in the middle stay eight");
	for (type = 1; type <= BF_KEY_LAST; type++)
		same(bloomfilter_text_type_of_name(bloomfilter_key_type_name(type)), type, "name of type %d", type);
	ok(bloomfilter_key_type_name(BF_KEY_LAST + 1) == NULL && bloomfilter_key_type_name(-1) == NULL, "no name of the next type and -1");
	same(bloomfilter_text_type_of_name("int4"), BLOOMFILTER_ERR_ARGUMENT, "no type int4");
	same(bf_key_type_of_name("row"), BLOOMFILTER_KEY_ROW, "name of a row");
	ok(strcmp(bloomfilter_key_type_name(BLOOMFILTER_KEY_NONE), "none") == 0, "name of no type");
	same(bloomfilter_contains(filter, 0, "x", 1), BLOOMFILTER_ERR_ARGUMENT, "type 0 can't be asked");
	same(bloomfilter_contains(filter, BF_KEY_LAST + 1, "x", 1), BLOOMFILTER_ERR_ARGUMENT, "nor the next type");
	same(bloomfilter_contains(filter, BLOOMFILTER_KEY_TEXT, NULL, 0), 0, "no bytes at NULL are a text");
	same(bloomfilter_contains(filter, BLOOMFILTER_KEY_TEXT, NULL, 1), BLOOMFILTER_ERR_ARGUMENT, "one byte at NULL is not");
	bloomfilter_close(filter);
}

/* A row of an integer and a text, in memory that the next call overwrites. */
static bloomfilter_row
make_row(int64_t number, const char *text)
{
	static uint8_t bytes[100];
	bloomfilter_row row = {bytes, sizeof bytes, 0};

	need(bloomfilter_row_append_int64(&row, number) == BLOOMFILTER_OK &&
		 bloomfilter_row_append(&row, BLOOMFILTER_KEY_TEXT, text, strlen(text)) == BLOOMFILTER_OK, "row");
	return row;
}

static void
check_row_bytes(void)
{
	static const uint8_t wanted[] = {1, 8, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 'x'};
	uint8_t		bytes[60];
	bloomfilter_row row = make_row(7, "x");
	bloomfilter_row small = {bytes, 12, 0};
	bloomfilter_row full = {bytes, sizeof bytes, 0};
	int			i;

	ok(row.length == sizeof wanted && memcmp(row.bytes, wanted, sizeof wanted) == 0,
	   "the bytes of a row");
	row = make_row(7, "x  ");
	ok(row.length == sizeof wanted && memcmp(row.bytes, wanted, sizeof wanted) == 0, "a text column has no blanks at its end");
	same(bloomfilter_row_append_int64(&small, 1), BLOOMFILTER_ERR_ARGUMENT, "no room");
	same(bloomfilter_row_append(&small, BLOOMFILTER_KEY_UUID, "x", 1), BLOOMFILTER_ERR_KEY, "no uuid");
	same(bloomfilter_row_append(&small, BLOOMFILTER_KEY_ROW, wanted, 7), BLOOMFILTER_ERR_ARGUMENT, "no row in a row");
	same(bloomfilter_row_append(&small, BLOOMFILTER_KEY_NONE, "x", 1), BLOOMFILTER_ERR_ARGUMENT, "no type 0");
	same((int) small.length, 0, "a column that was refused leaves nothing");
	for (i = 0; i < 6; i++)
		same(bloomfilter_row_append(&full, BLOOMFILTER_KEY_BYTEA, NULL, 0), BLOOMFILTER_OK, "column %d", i);
	same(bloomfilter_row_append(&full, BLOOMFILTER_KEY_BYTEA, NULL, 0), BLOOMFILTER_ERR_ARGUMENT, "a seventh column");
	same((int) full.length, 30, "six empty columns");
}

static void
check_rows(void)
{
	bloomfilter_row row = make_row(7, "x");
	bloomfilter *filter = filter_of(BLOOMFILTER_KEY_ROW, row.bytes, row.length);
	bloomfilter_info info;
	char		text[BLOOMFILTER_KEYS_TEXT];
	size_t		length;

	bloomfilter_get_info(filter, -1, &info, sizeof info);
	ok(info.key_type == BLOOMFILTER_KEY_ROW && info.columns[0] == BLOOMFILTER_KEY_INTEGER &&
	   info.columns[1] == BLOOMFILTER_KEY_TEXT && info.columns[2] == 0 &&
	   strcmp(bloomfilter_describe_keys(&info, text), "row(integer, text)") == 0, "info tells the columns");
	same(bloomfilter_contains(filter, BLOOMFILTER_KEY_ROW, row.bytes, row.length), 1, "a row is found");
	same(bloomfilter_contains_int64(filter, 7), BLOOMFILTER_ERR_KEY_TYPE, "an integer");
	for (length = 0; length < row.length; length++)
		same(bloomfilter_contains(filter, BLOOMFILTER_KEY_ROW, row.bytes, length),
			 length == 13 ? BLOOMFILTER_ERR_KEY_TYPE : BLOOMFILTER_ERR_KEY, "cut to %d bytes", (int) length);
	bloomfilter_close(filter);
}

/* Rows of one builder all have the columns of the first. */
static void
check_built_rows(void)
{
	bloomfilter_builder *builder;
	uint8_t		bytes[40];
	bloomfilter_row number = {bytes, sizeof bytes, 0};
	bloomfilter_row row = make_row(7, "x");
	bloomfilter_slice keys[3] = {{row.bytes, row.length}, {bytes, 0}, {row.bytes, row.length}};
	size_t		added;

	bloomfilter_row_append_int64(&number, 7);
	keys[1].length = number.length;
	need(bloomfilter_builder_create(10, 0.01, 0, 1, &builder) == BLOOMFILTER_OK, "builder");
	same(bloomfilter_builder_add_batch(builder, BLOOMFILTER_KEY_ROW, keys, 3, &added),
		 BLOOMFILTER_ERR_KEY_TYPE, "other columns in a batch");
	same((int) added, 1, "after the first row");
	same(bloomfilter_builder_add(builder, BLOOMFILTER_KEY_ROW, bytes, number.length),
		 BLOOMFILTER_ERR_KEY_TYPE, "other columns alone");
	same(bloomfilter_builder_add(builder, BLOOMFILTER_KEY_ROW, row.bytes, row.length), BLOOMFILTER_OK, "the same columns");
	same(bloomfilter_builder_add_int64(builder, 7), BLOOMFILTER_ERR_KEY_TYPE, "an integer");
	same(bloomfilter_builder_add(builder, BLOOMFILTER_KEY_ROW, row.bytes, 3), BLOOMFILTER_ERR_KEY, "a cut row");
	same(bloomfilter_builder_add(builder, BLOOMFILTER_KEY_ROW, NULL, 0), BLOOMFILTER_ERR_KEY, "a row of no column");
	bloomfilter_builder_free(builder);
}

int
main(void)
{
	check_row_bytes();
	check_rows();
	check_built_rows();
	check_types();
	return tap_done();
}
