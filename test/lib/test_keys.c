/*
 * test_keys.c
 *	  Keys by their bytes: what is no key of its type is refused.
 */
#include <stdio.h>
#include <string.h>

#include "ask.h"
#include "bf_utf8.h"
#include "files.h"
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
check_numerics(void)
{
	static const char *const taken[] = {
		"1", "0", "-0.5", "1000", "0.001", "-10", "NaN", "Infinity", "-Infinity",
		"12345678901234567890.00000000000000000001"
	};
	static const char *const refused[] = {
		"", "-", ".", "1.", ".5", "+1", " 1", "1 ", "1e3", "1E3", "0x10", "1,5", "1.2.3",
		"nan", "inf", "infinity", "-NaN", "+Infinity", "--1", "1-", "\xc2\xb9",
		"1.00", "001000", "-00.5", "-0.50", "-0.00", "-0", "0.0", "00", "-.5", "1.0"
	};
	char		longest[1001];
	size_t		i;

	for (i = 0; i < sizeof taken / sizeof taken[0]; i++)
	{
		bloomfilter *filter = filter_of(BLOOMFILTER_KEY_NUMERIC, taken[i], strlen(taken[i]));

		same(bloomfilter_contains(filter, BLOOMFILTER_KEY_NUMERIC, taken[i], strlen(taken[i])), 1, "numeric %s", taken[i]);
		bloomfilter_close(filter);
	}
	memset(longest, '9', sizeof longest);
	bloomfilter_close(filter_of(BLOOMFILTER_KEY_NUMERIC, longest, sizeof longest));
	for (i = 0; i < sizeof refused / sizeof refused[0]; i++)
	{
		uint32_t	full;
		size_t		length = strlen(refused[i]);

		same(lbf_key_check(BLOOMFILTER_KEY_NUMERIC, refused[i], &length, &full), BLOOMFILTER_ERR_KEY,
			 "numeric \"%s\" is refused", refused[i]);
	}
}

static void
check_text(void)
{
	static const struct
	{
		const char *bytes;
		size_t		length;
		bool		valid;
	}			cases[] = {
		{"", 0, true}, {"abc", 3, true}, {"a\0b", 3, true}, {"12345678", 8, true},
		{"12345678\xc3\xa9", 10, true}, {"\xef\xbb\xbf", 3, true}, {"\xf4\x8f\xbf\xbf", 4, true},
		{"\xe2\x82\xac", 3, true}, {"\xf0\x90\x80\x80", 4, true}, {"\xed\x9f\xbf", 3, true},
		{"\x80", 1, false}, {"\xc3", 1, false}, {"12345678\xc3", 9, false}, {"\xc0\x80", 2, false},
		{"\xc1\xbf", 2, false}, {"\xe0\x9f\xbf", 3, false}, {"\xed\xa0\x80", 3, false},
		{"\xf0\x8f\xbf\xbf", 4, false}, {"\xf4\x90\x80\x80", 4, false}, {"\xf5\x80\x80\x80", 4, false},
		{"\xff", 1, false}, {"\xe2\x82", 2, false}, {"\xe2\x28\xa1", 3, false}, {"\xe2\x82\x28", 3, false},
		{"1234567\xff" "90123456", 16, false}
	};
	uint32_t	full;
	size_t		none = 0;
	size_t		one = 1;
	size_t		i;

	for (i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		bloomfilter *filter;

		ok(bf_utf8_valid((const uint8_t *) cases[i].bytes, cases[i].length) == cases[i].valid,
		   "text %zu is %s", i, cases[i].valid ? "valid" : "refused");
		if (!cases[i].valid)
			continue;
		filter = filter_of(BLOOMFILTER_KEY_TEXT, cases[i].bytes, cases[i].length);
		same(bloomfilter_contains(filter, BLOOMFILTER_KEY_TEXT, cases[i].bytes, cases[i].length), 1, "text %zu is found", i);
		same(bloomfilter_contains(filter, BLOOMFILTER_KEY_TEXT, "\xff", 1), BLOOMFILTER_ERR_KEY, "and bad text an error");
		bloomfilter_close(filter);
	}
	same(lbf_key_check(BLOOMFILTER_KEY_TEXT, NULL, &none, &full), BLOOMFILTER_OK, "no bytes at NULL are a text");
	same(lbf_key_check(BLOOMFILTER_KEY_TEXT, NULL, &one, &full), BLOOMFILTER_ERR_ARGUMENT, "one byte at NULL is not");
}

/* Ways of asking a filter of "x" for a text: 1, 0 or an error, or 2 if they differ. */
static int
every_way(const bloomfilter *filter, const char *text)
{
	size_t		length = strlen(text);
	bloomfilter_slice slice = {text, length};
	bloomfilter_slice key;
	uint8_t		found = 2;
	int			answer = bloomfilter_contains(filter, BLOOMFILTER_KEY_TEXT, text, length);
	bool		same_everywhere;

	same_everywhere = bloomfilter_text_key(BLOOMFILTER_KEY_TEXT, text, length, NULL, 0, &key, NULL) == BLOOMFILTER_OK &&
		bloomfilter_contains(filter, BLOOMFILTER_KEY_TEXT, key.bytes, key.length) == answer &&
		bloomfilter_contains_batch(filter, BLOOMFILTER_KEY_TEXT, &slice, 1, &found, NULL) == BLOOMFILTER_OK &&
		found == answer;
	return same_everywhere ? answer : 2;
}

/* A row of the text and 7. */
static bloomfilter_slice
row_of(const char *text, uint8_t *bytes, size_t room)
{
	bloomfilter_row row = {bytes, room, 0};

	need(bloomfilter_row_append(&row, BLOOMFILTER_KEY_TEXT, text, strlen(text)) == BLOOMFILTER_OK, "text column");
	need(bloomfilter_row_append_int64(&row, 7) == BLOOMFILTER_OK, "integer column");
	return (bloomfilter_slice) {bytes, row.length};
}

static void
check_blanks_of_rows(void)
{
	static const uint8_t not_canonical[] = {2, 2, 0, 0, 0, 'x', ' '};
	uint8_t		plain_bytes[100];
	uint8_t		padded_bytes[100];
	bloomfilter_slice plain = row_of("x", plain_bytes, sizeof plain_bytes);
	bloomfilter_slice padded = row_of("x  ", padded_bytes, sizeof padded_bytes);
	bloomfilter *filter = filter_of(BLOOMFILTER_KEY_ROW, plain.bytes, plain.length);

	ok(plain.length == padded.length && memcmp(plain.bytes, padded.bytes, plain.length) == 0,
	   "a text column of a row has no blanks at its end");
	same(bloomfilter_contains(filter, BLOOMFILTER_KEY_ROW, not_canonical, sizeof not_canonical),
		 BLOOMFILTER_ERR_KEY, "and bytes of a row that have them are refused");
	bloomfilter_close(filter);
}

static void
check_blanks(void)
{
	static const char *const spellings[] = {"x", "x ", "x      "};
	static const char *const others[] = {" x", "x\t", "x\t ", "x\r", "x \n", "x\xc2\xa0", "x\xe3\x80\x80", ""};
	bloomfilter *bytea = filter_of(BLOOMFILTER_KEY_BYTEA, "x", 1);
	size_t		i;
	size_t		j;

	for (i = 0; i < sizeof spellings / sizeof spellings[0]; i++)
	{
		bloomfilter *filter = filter_of(BLOOMFILTER_KEY_TEXT, spellings[i], strlen(spellings[i]));

		for (j = 0; j < sizeof spellings / sizeof spellings[0]; j++)
			same(every_way(filter, spellings[j]), 1, "spelling %zu is key %zu", j, i);
		for (j = 0; j < sizeof others / sizeof others[0]; j++)
			same(every_way(filter, others[j]), 0, "other text %zu is another key than %zu", j, i);
		bloomfilter_close(filter);
	}
	same(bloomfilter_contains(bytea, BLOOMFILTER_KEY_BYTEA, "x ", 2), 0, "bytea keeps its blanks");
	bloomfilter_close(bytea);
	check_blanks_of_rows();
}

/* By their bytes: a key that is added, and what is answered to another one of its type, or to what is none. */
static void
check_bytes_of_types(void)
{
	static const struct
	{
		int			type;
		const char *key;
		const char *other;
		int			wanted;
		const char *what;
	}			rows[] = {
		{BLOOMFILTER_KEY_FLOAT, "0000000000000000", "0000000000000000", 1, "0"},
		{BLOOMFILTER_KEY_FLOAT, "0000000000000000", "0000000000000080", BLOOMFILTER_ERR_KEY, "-0"},
		{BLOOMFILTER_KEY_FLOAT, "000000000000f87f", "000000000000f87f", 1, "NaN"},
		{BLOOMFILTER_KEY_FLOAT, "000000000000f87f", "010000000000f8ff", BLOOMFILTER_ERR_KEY, "another NaN"},
		{BLOOMFILTER_KEY_INTEGER, "feffffffffffffff", "0500000000000000", 0, "another integer"},
		{BLOOMFILTER_KEY_INTEGER, "feffffffffffffff", "feffffffffffff", BLOOMFILTER_ERR_KEY, "7 bytes"},
		{BLOOMFILTER_KEY_DATE, "feffffffffffffff", "feffffffffffff", BLOOMFILTER_ERR_KEY, "7 bytes of a date"},
		{BLOOMFILTER_KEY_TIMESTAMP, "feffffffffffffff", "feffffffffffff", BLOOMFILTER_ERR_KEY, "7 bytes of a timestamp"},
		{BLOOMFILTER_KEY_TIMESTAMPTZ, "feffffffffffffff", "feffffffffffff", BLOOMFILTER_ERR_KEY, "7 bytes of a timestamptz"},
		{BLOOMFILTER_KEY_INET, "04200a000001", "04200a000001", 1, "10.0.0.1"},
		{BLOOMFILTER_KEY_INET, "04200a000001", "04180a000001", 0, "10.0.0.1/24"},
		{BLOOMFILTER_KEY_INET, "04200a000001", "04210a000001", BLOOMFILTER_ERR_KEY, "a prefix of 33"},
		{BLOOMFILTER_KEY_INET, "04200a000001", "05200a000001", BLOOMFILTER_ERR_KEY, "family 5"},
		{BLOOMFILTER_KEY_INET, "04200a000001", "04200a0000", BLOOMFILTER_ERR_KEY, "an address too short"},
		{BLOOMFILTER_KEY_INET, "04200a000001", "068000000000000000000000000000000001", 0, "::1"},
		{BLOOMFILTER_KEY_MACADDR, "08002b010203", "08002b010203", 1, "a macaddr"},
		{BLOOMFILTER_KEY_MACADDR, "08002b010203", "08002bfffe0102", BLOOMFILTER_ERR_KEY, "7 bytes of a macaddr"},
		{BLOOMFILTER_KEY_MACADDR, "08002b010203", "08002bfffe010203", BLOOMFILTER_ERR_KEY, "bytes that should be 6"},
		{BLOOMFILTER_KEY_UUID, "01020300000000000000000000000000", "01020300000000000000000000000000", 1, "a uuid"},
		{BLOOMFILTER_KEY_UUID, "01020300000000000000000000000000", "01020300000000000000000000000001", 0, "another uuid"},
		{BLOOMFILTER_KEY_UUID, "01020300000000000000000000000000", "010203000000000000000000000000", BLOOMFILTER_ERR_KEY, "15 bytes"},
		{BLOOMFILTER_KEY_BYTEA, "ff00", "ff00", 1, "bytea"}
	};
	uint8_t		macaddr[8];
	size_t		i;

	same((long long) bf_key_macaddr((const uint8_t *) "\010\0\x2b\xfe\xfe\1\2\3", 8, macaddr), 8, "eight bytes with FE FE in the middle stay eight");
	for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
	{
		uint8_t		key[18];
		uint8_t		other[18];
		size_t		other_length = from_hex(rows[i].other, strlen(rows[i].other), other);
		bloomfilter *filter = filter_of(rows[i].type, key, from_hex(rows[i].key, strlen(rows[i].key), key));

		same(bloomfilter_contains(filter, rows[i].type, other, other_length), rows[i].wanted, "%s", rows[i].what);
		bloomfilter_close(filter);
	}
}

/* Bytes are keys of one type. */
static void
check_other_types(void)
{
	static const uint8_t bytes[8] = {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	static const int types[] = {BLOOMFILTER_KEY_INTEGER, BLOOMFILTER_KEY_DATE, BLOOMFILTER_KEY_TIMESTAMP, BLOOMFILTER_KEY_TIMESTAMPTZ, BLOOMFILTER_KEY_BYTEA};
	size_t		i;
	size_t		j;

	for (i = 0; i < 5; i++)
	{
		bloomfilter *filter = filter_of(types[i], bytes, 8);

		for (j = 0; j < 5; j++)
			same(bloomfilter_contains(filter, types[j], bytes, 8), i == j ? 1 : BLOOMFILTER_ERR_KEY_TYPE,
				 "filter of %s asked for a %s", bloomfilter_key_type_name(types[i]), bloomfilter_key_type_name(types[j]));
		same(bloomfilter_contains_int64(filter, -2), i == 0 ? 1 : BLOOMFILTER_ERR_KEY_TYPE, "and for an int64");
		bloomfilter_close(filter);
	}
}

static void
check_types(void)
{
	bloomfilter *filter = filter_of(BLOOMFILTER_KEY_TEXT, "x", 1);
	int			type;

	for (type = 1; type <= BF_KEY_LAST; type++)
		same(bloomfilter_text_type_of_name(bloomfilter_key_type_name(type)), type, "name of type %d", type);
	ok(bloomfilter_key_type_name(BF_KEY_LAST + 1) == NULL && bloomfilter_key_type_name(-1) == NULL, "no name of the next type and -1");
	same(bloomfilter_text_type_of_name("int4"), BLOOMFILTER_ERR_ARGUMENT, "no type int4");
	same(bf_key_type_of_name("row"), BLOOMFILTER_KEY_ROW, "name of a row");
	ok(strcmp(bloomfilter_key_type_name(BLOOMFILTER_KEY_NONE), "none") == 0, "name of no type");
	same(bloomfilter_contains(filter, 0, "x", 1), BLOOMFILTER_ERR_ARGUMENT, "type 0 can't be asked");
	same(bloomfilter_contains(filter, BF_KEY_LAST + 1, "x", 1), BLOOMFILTER_ERR_ARGUMENT, "nor the next type");
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

static int
ask_row(const bloomfilter *filter, bloomfilter_row row)
{
	bloomfilter_slice slice = {row.bytes, row.length};
	uint8_t		found = 2;
	int			code = bloomfilter_contains(filter, BLOOMFILTER_KEY_ROW, row.bytes, row.length);

	same(bloomfilter_contains_batch(filter, BLOOMFILTER_KEY_ROW, &slice, 1, &found, NULL),
		 code < 0 ? code : BLOOMFILTER_OK, "the same in a batch");
	same(found, code < 0 ? 2 : code, "and the same answer");
	return code;
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
	uint8_t		bytes[40];
	bloomfilter_row other = {bytes, sizeof bytes, 0};
	size_t		length;

	bloomfilter_get_info(filter, -1, &info, sizeof info);
	ok(info.key_type == BLOOMFILTER_KEY_ROW && info.columns[0] == BLOOMFILTER_KEY_INTEGER &&
	   info.columns[1] == BLOOMFILTER_KEY_TEXT && info.columns[2] == 0 &&
	   strcmp(bloomfilter_describe_keys(&info, text), "row(integer, text)") == 0, "info tells the columns");
	same(ask_row(filter, row), 1, "a row is found");
	same(ask_row(filter, make_row(8, "x")), 0, "another is not");
	same(ask_row(filter, make_row(7, "")), 0, "nor one with an empty text");
	bloomfilter_row_append(&other, BLOOMFILTER_KEY_TEXT, "x", 1);
	same(ask_row(filter, other), BLOOMFILTER_ERR_KEY_TYPE, "a row of one column");
	bloomfilter_row_append_int64(&other, 7);
	same(ask_row(filter, other), BLOOMFILTER_ERR_KEY_TYPE, "the columns the other way round");
	same(bloomfilter_contains_int64(filter, 7), BLOOMFILTER_ERR_KEY_TYPE, "an integer");
	row = make_row(7, "x");
	for (length = 0; length < row.length; length++)
		same(bloomfilter_contains(filter, BLOOMFILTER_KEY_ROW, row.bytes, length),
			 length == 13 ? BLOOMFILTER_ERR_KEY_TYPE : BLOOMFILTER_ERR_KEY, "cut to %d bytes", (int) length);
	row.bytes[row.length - 1] = 0xff;
	same(ask_row(filter, row), BLOOMFILTER_ERR_KEY, "a column that is no text");
	bloomfilter_close(filter);
	filter = filter_of(BLOOMFILTER_KEY_INTEGER, "\7\0\0\0\0\0\0", 8);
	same(ask_row(filter, make_row(7, "x")), BLOOMFILTER_ERR_KEY_TYPE, "a filter of integers");
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
	check_numerics();
	check_text();
	check_blanks();
	check_bytes_of_types();
	check_other_types();
	check_types();
	return tap_done();
}
