/*
 * test_key.c
 *	  Canonical bytes of keys: equal in SQL means equal bytes.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "bf_bytes.h"
#include "bf_key.h"
#include "tap.h"
#include "support.h"

static void
test_names(void)
{
	static const char *const wanted[] = {
		"none", "integer", "text", "bytea", "uuid", "numeric", "float", "date",
		"timestamp", "timestamptz", "inet", "macaddr"
	};
	bool		holds = true;
	unsigned	i;

	for (i = 0; i <= BF_KEY_LAST; i++)
	{
		holds &= strcmp(bf_key_type_name(i), wanted[i]) == 0;
		if (i > 0)
			holds &= bf_key_type_of_name(wanted[i]) == (int) i;
	}
	holds &= strcmp(bf_key_type_name(15), "row") == 0 && bf_key_type_of_name("row") == 15;
	ok(holds, "key types have the numbers and names of FORMAT.md");
	ok(bf_key_type_name(BF_KEY_LAST + 1) == NULL && bf_key_type_name(14) == NULL && bf_key_type_name(255) == NULL &&
	   bf_key_type_name(UINT32_MAX) == NULL, "unknown numbers have no name");
	ok(bf_key_type_of_name("none") == -1 && bf_key_type_of_name("") == -1 &&
	   bf_key_type_of_name("Integer") == -1 && bf_key_type_of_name("int") == -1 &&
	   bf_key_type_of_name("integers") == -1,
	   "no other name is taken for a key type, nor is \"none\"");
}

static bool
integer_is(int64_t value, const char *hex)
{
	uint8_t    *bytes = allocate(8);
	size_t		length;
	uint8_t    *wanted = hex_bytes(hex, &length);
	bool		same = bf_key_integer(value, bytes) == 8 && memcmp(bytes, wanted, 8) == 0;

	free(wanted);
	free(bytes);
	return same;
}

static void
test_integer(void)
{
	ok(integer_is(0, "0000000000000000") && integer_is(42, "2a00000000000000") &&
	   integer_is(-1, "ffffffffffffffff") &&
	   integer_is(INT64_MIN, "0000000000000080") &&
	   integer_is(INT64_MAX, "ffffffffffffff7f") &&
	   integer_is(INT32_MIN, "00000080ffffffff"),
	   "integers are 8 bytes of two's complement, least first");
}

static uint64_t
float_key(double value)
{
	uint8_t    *bytes = allocate(8);
	uint64_t	bits;

	if (bf_key_float(value, bytes) != 8)
		exit(2);
	bits = bf_load_le(bytes, 8);
	free(bytes);
	return bits;
}

static double
double_of(uint64_t bits)
{
	double		value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

static void
test_float(void)
{
	static const uint64_t nans[] = {
		UINT64_C(0x7ff8000000000000), UINT64_C(0xfff8000000000000),
		UINT64_C(0x7ff0000000000001), UINT64_C(0xffffffffffffffff),
		UINT64_C(0x7fffffffffffffff), UINT64_C(0x7ff8000000000001)
	};
	bool		holds = true;
	unsigned	i;

	ok(float_key(0.0) == 0 && float_key(-0.0) == 0, "-0 is stored as 0");
	for (i = 0; i < sizeof nans / sizeof *nans; i++)
		holds &= float_key(double_of(nans[i])) == UINT64_C(0x7ff8000000000000);
	ok(holds, "every NaN is stored as the same one");
	ok(float_key(1.0) == UINT64_C(0x3ff0000000000000) &&
	   float_key(-1.5) == UINT64_C(0xbff8000000000000) &&
	   float_key(HUGE_VAL) == UINT64_C(0x7ff0000000000000) &&
	   float_key(-HUGE_VAL) == UINT64_C(0xfff0000000000000) &&
	   float_key(double_of(1)) == 1 && float_key(DBL_MAX) == UINT64_C(0x7fefffffffffffff),
	   "other doubles, subnormals and infinities too, are stored as they are");
}

static void
test_inet(void)
{
	static const uint8_t address[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
	uint8_t    *four = exact_copy(address, 4);
	uint8_t    *bytes = allocate(6);
	uint8_t    *longest = allocate(BF_KEY_MAX_FIXED);

	ok(bf_key_inet(4, 24, four, bytes) == 6 && bytes[0] == 4 && bytes[1] == 24 &&
	   memcmp(bytes + 2, address, 4) == 0, "an IPv4 key is 6 bytes");
	ok(bf_key_inet(6, 128, address, longest) == 18 && longest[0] == 6 &&
	   longest[1] == 128 && memcmp(longest + 2, address, 16) == 0,
	   "an IPv6 key is 18 bytes, the longest of a fixed size");
	free(four);
	free(bytes);
	free(longest);
}

static bool
mac_is(const char *address, const char *key)
{
	size_t		length;
	size_t		wanted_length;
	uint8_t    *from = hex_bytes(address, &length);
	uint8_t    *wanted = hex_bytes(key, &wanted_length);
	uint8_t    *bytes = allocate(wanted_length);
	bool		same = bf_key_macaddr(from, length, bytes) == wanted_length &&
		memcmp(bytes, wanted, wanted_length) == 0;

	free(from);
	free(wanted);
	free(bytes);
	return same;
}

static void
test_macaddr(void)
{
	ok(mac_is("08002b010203", "08002b010203") && mac_is("08002bfffe01", "08002bfffe01"),
	   "six bytes stay as they are, FF FE inside too");
	ok(mac_is("08002bfffe010203", "08002b010203"),
	   "eight bytes with FF FE in the middle are the six that they were made of");
	ok(mac_is("08002b0102030405", "08002b0102030405") &&
	   mac_is("08002bffff010203", "08002bffff010203") &&
	   mac_is("08002bfefe010203", "08002bfefe010203") &&
	   mac_is("08002bfeff010203", "08002bfeff010203") &&
	   mac_is("0800fffe2b010203", "0800fffe2b010203"),
	   "eight bytes without exactly FF FE there stay eight");
}

/* Shortens a decimal in memory that ends with it. */
static bool
numeric_is(const char *decimal, const char *wanted)
{
	size_t		length = strlen(decimal);
	uint8_t    *bytes = exact_copy(decimal, length);
	size_t		left = bf_key_numeric((char *) bytes, length);
	bool		same = left == strlen(wanted) && memcmp(bytes, wanted, left) == 0;

	free(bytes);
	return check(same, "'%s', wanted '%s'", decimal, wanted);
}

static void
test_numeric(void)
{
	static const char *const pairs[][2] = {
		{"0", "0"}, {"00", "0"}, {"-0", "0"}, {"-00", "0"}, {"0.0", "0"},
		{"-0.000", "0"}, {"000.000", "0"}, {"0.", "0"}, {"-0.", "0"},
		{"1", "1"}, {"-1", "-1"}, {"01", "1"}, {"-01", "-1"}, {"1.0", "1"},
		{"1.00", "1"}, {"-1.50", "-1.5"}, {"10", "10"}, {"100", "100"},
		{"-100", "-100"}, {"100.00", "100"}, {"100.010", "100.01"},
		{"0.5", "0.5"}, {"00.5", "0.5"}, {"-00.50", "-0.5"}, {"0.050", "0.05"},
		{"5.", "5"}, {"0010.0100", "10.01"}, {"NaN", "NaN"},
		{"Infinity", "Infinity"}, {"-Infinity", "-Infinity"},
		{"123456789012345678901234567890.1000", "123456789012345678901234567890.1"},
		{"", ""}, {"-", "-"}
	};
	bool		holds = true;
	unsigned	i;

	for (i = 0; i < sizeof pairs / sizeof *pairs; i++)
		holds &= numeric_is(pairs[i][0], pairs[i][1]);
	ok(holds, "numerics are written in their shortest plain form");
}

/* A row's bytes of columns that are given as type, hex, type, hex ..., 0. */
static size_t
row_bytes(uint8_t *bytes, const unsigned *types, const char *const *columns)
{
	size_t		length = 0;

	for (; *types != 0; types++, columns++)
	{
		size_t		own;
		uint8_t    *column = hex_bytes(*columns, &own);

		length += bf_key_row_head(*types, (uint32_t) own, bytes + length);
		memcpy(bytes + length, column, own);
		length += own;
		free(column);
	}
	return length;
}

static void
test_row(void)
{
	static const unsigned types[] = {1, 2, 3, 0};
	static const char *const columns[] = {"0700000000000000", "78", ""};
	static const char wanted[] = "0108000000" "0700000000000000" "0201000000" "78" "0300000000";
	uint8_t    *bytes = allocate(24);
	size_t		length = row_bytes(bytes, types, columns);
	size_t		wanted_length;
	uint8_t    *wanted_bytes = hex_bytes(wanted, &wanted_length);
	const uint8_t *at = bytes;
	bf_row_column column;
	bool		holds = true;
	size_t		cut;
	unsigned	i;

	ok(length == 24 && wanted_length == 24 && memcmp(bytes, wanted_bytes, 24) == 0,
	   "a row's bytes are its columns', each behind its type and its length");
	for (i = 0; i < 3; i++)
		holds &= bf_key_row_next(&at, bytes + length, &column) && column.type == types[i] &&
			column.length == strlen(columns[i]) / 2 &&
			memcmp(column.bytes, at - column.length, column.length) == 0;
	ok(holds && at == bytes + length, "they are read column by column");
	holds = true;
	for (cut = 0; cut < 13; cut++)
	{
		uint8_t    *part = exact_copy(bytes, cut);

		at = part;
		holds &= !bf_key_row_next(&at, part + cut, &column) && at == part;
		free(part);
	}
	for (i = 0; i < 256; i++)
	{
		bytes[0] = (uint8_t) i;
		at = bytes;
		holds &= bf_key_row_next(&at, bytes + length, &column) == (i >= 1 && i <= BF_KEY_LAST);
	}
	ok(holds, "a column that is cut, or of a type that no column has, is none");
	free(bytes);
	free(wanted_bytes);
}

static void
test_row_types(void)
{
	uint32_t	type = BF_KEY_ROW;
	char		text[BF_KEY_TEXT_BYTES];
	uint32_t	six = BF_KEY_ROW;
	bool		holds = true;
	unsigned	i;

	ok(bf_key_row_add(&type, BF_KEY_INTEGER) && bf_key_row_add(&type, BF_KEY_TEXT) &&
	   type == 0x210f && bf_key_kind(type) == BF_KEY_ROW &&
	   bf_key_column(type, 0) == BF_KEY_INTEGER && bf_key_column(type, 1) == BF_KEY_TEXT &&
	   bf_key_column(type, 2) == 0 && bf_key_column(type, 6) == 0,
	   "columns stand above the key type, the first lowest");
	ok(strcmp(bf_key_type_text(type, text), "row(integer, text)") == 0 &&
	   strcmp(bf_key_type_name(type), "row") == 0 &&
	   strcmp(bf_key_type_text(BF_KEY_UUID, text), "uuid") == 0 &&
	   strcmp(bf_key_type_text(0, text), "none") == 0, "a row is named with its columns");
	for (i = 0; i < 256; i++)
	{
		uint32_t	row = BF_KEY_ROW;

		holds &= bf_key_row_add(&row, i) == (i >= 1 && i <= BF_KEY_LAST);
	}
	for (i = 0; i < 6; i++)
		holds &= bf_key_row_add(&six, BF_KEY_TIMESTAMPTZ);
	ok(holds && six == 0x9999990f && !bf_key_row_add(&six, BF_KEY_TEXT) && six == 0x9999990f,
	   "a row has at most six columns, and none of them a row");
	ok(strlen(bf_key_type_text(six, text)) + 1 <= BF_KEY_TEXT_BYTES, "the longest name has room");
	ok(bf_key_columns_valid(type) && bf_key_columns_valid(six) && bf_key_columns_valid(0) &&
	   bf_key_columns_valid(BF_KEY_LAST) && !bf_key_columns_valid(BF_KEY_ROW) &&
	   !bf_key_columns_valid(0x201f) && !bf_key_columns_valid((BF_KEY_LAST + 1) << 8 | BF_KEY_ROW) && !bf_key_columns_valid(0xf0f) &&
	   !bf_key_columns_valid(0x20010f) && !bf_key_columns_valid(0x0101) &&
	   !bf_key_columns_valid(0x80000002) && !bf_key_columns_valid(0x100),
	   "columns belong to rows, without a gap");
}

int
main(void)
{
	test_names();
	test_integer();
	test_float();
	test_inet();
	test_macaddr();
	test_row();
	test_row_types();
	test_numeric();
	return tap_done();
}
