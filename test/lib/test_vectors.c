/*
 * test_vectors.c
 *	  The library reads every filter of the golden files, by every door: with sanitizers, and on
 *	  machines of another order of bytes.  test/readers asks the same files more.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "make_filters.h"
#include "tap.h"
#include "tsv.h"

/* All ways by which the bytes of a filter come into the library. */
#define DOORS 4

static const char *const door_names[DOORS] = {
	"mapped file", "copied file", "borrowed memory", "copied memory"
};

static int
open_by_door(int door, const void *bytes, size_t length, bloomfilter **filter, bloomfilter_detail *detail)
{
	static const char *path;
	unsigned	flags = door % 2 == 0 ? 0 : BLOOMFILTER_COPY;

	if (door >= 2)
		return bloomfilter_open_memory(bytes, length, flags, filter, detail);
	if (path == NULL)
		path = scratch_path("door.bloom");
	unlink(path);
	write_file(path, bytes, length);
	return bloomfilter_open(path, flags, filter, detail);
}

static bool
fields_agree(const bloomfilter *filter, const tsv *table)
{
	bloomfilter_info info;
	uint64_t	p_bits;

	bloomfilter_get_info(filter, -1, &info, sizeof info);
	memcpy(&p_bits, &info.rate, sizeof p_bits);
	return info.capacity == tsv_number(table, "n") &&
		p_bits == tsv_hex_number(table, "p_hex") &&
		info.seed == tsv_number(table, "seed") &&
		info.probes == tsv_number(table, "k") &&
		info.block_bits == (uint64_t) 1 << tsv_number(table, "log2_block_bits") &&
		info.blocks == tsv_number(table, "blocks") &&
		info.part == tsv_number(table, "part") &&
		info.parts == tsv_number(table, "parts") &&
		(unsigned) info.key_type == tsv_number(table, "key_type") &&
		info.bits_set == tsv_number(table, "bits_set") &&
		info.checksum == tsv_hex_number(table, "checksum_hex");
}

static bool
has_bytes(const bloomfilter *filter, const uint8_t *wanted, size_t wanted_length)
{
	const void *bytes;
	size_t		length;

	bloomfilter_get_bytes(filter, 0, &bytes, &length);
	return length == wanted_length && memcmp(bytes, wanted, length) == 0;
}

static void
check_filter_row(const tsv *table)
{
	const char *name = tsv_text(table, "name");
	int			type = (int) tsv_number(table, "key_type");
	size_t		length;
	uint8_t    *bytes = tsv_bytes(table, "filter_hex", &length);
	int			door;

	for (door = 0; door < DOORS; door++)
	{
		bloomfilter *filter;
		bloomfilter_detail detail;

		if (!same(open_by_door(door, bytes, length, &filter, &detail), BLOOMFILTER_OK,
				  "filters.tsv: %s opens, %s", name, door_names[door]))
			continue;
		ok(fields_agree(filter, table), "filters.tsv: %s fields, %s", name, door_names[door]);
		same(wrong_keys(filter, type, table, "keys", 1) + wrong_keys(filter, type, table, "false_positives", 1) +
			 wrong_keys(filter, type, table, "absent", 0), 0, "filters.tsv: %s answers, %s", name, door_names[door]);
		bloomfilter_close(filter);
	}
	free(bytes);
}

static int
code_of_rule(const char *rule)
{
	static const struct
	{
		const char *rule;
		int			code;
	}			rules[] = {
		{"short", BLOOMFILTER_ERR_FORMAT_LENGTH}, {"magic", BLOOMFILTER_ERR_FORMAT_MAGIC},
		{"version", BLOOMFILTER_ERR_FORMAT_VERSION}, {"hash", BLOOMFILTER_ERR_FORMAT_HASH},
		{"header_checksum", BLOOMFILTER_ERR_FORMAT_HEADER_CHECKSUM},
		{"columns", BLOOMFILTER_ERR_FORMAT_COLUMNS}, {"probes", BLOOMFILTER_ERR_FORMAT_PROBES},
		{"block_bits", BLOOMFILTER_ERR_FORMAT_BLOCK_BITS}, {"key_type", BLOOMFILTER_ERR_FORMAT_KEY_TYPE},
		{"blocks", BLOOMFILTER_ERR_FORMAT_BLOCKS}, {"size", BLOOMFILTER_ERR_FORMAT_SIZE},
		{"part", BLOOMFILTER_ERR_FORMAT_PARTS}, {"capacity", BLOOMFILTER_ERR_FORMAT_CAPACITY},
		{"rate", BLOOMFILTER_ERR_FORMAT_RATE}, {"bits_set", BLOOMFILTER_ERR_FORMAT_BITS_SET},
		{"empty_key_type", BLOOMFILTER_ERR_FORMAT_EMPTY}, {"checksum", BLOOMFILTER_ERR_FORMAT_CHECKSUM},
		{"directory", BLOOMFILTER_ERR_FORMAT_DIRECTORY}, {"levels", BLOOMFILTER_ERR_FORMAT_LEVELS}
	};
	size_t		i;

	for (i = 0; i < sizeof rules / sizeof rules[0]; i++)
		if (strcmp(rules[i].rule, rule) == 0)
			return rules[i].code;
	need(false, rule);
	return 0;
}

/* Each way into the library refuses the row's bytes for the same rule. */
static void
check_refused(const tsv *table, const char *rule)
{
	const char *name = tsv_text(table, "name");
	size_t		length;
	uint8_t    *bytes = tsv_bytes(table, "filter_hex", &length);
	int			door;

	for (door = 0; door < DOORS; door++)
	{
		bloomfilter *filter = NULL;
		bloomfilter_detail detail = {0};
		int			code = open_by_door(door, bytes, length, &filter, &detail);

		same(code, code_of_rule(rule), "invalid: %s, %s", name, door_names[door]);
		ok(filter == NULL && detail.code == code && detail.text[0] != '\0',
		   "invalid: %s gives a reason: %s", name, detail.text);
	}
	free(bytes);
}

static void
check_invalid_row(const tsv *table)
{
	check_refused(table, tsv_text(table, "rule"));
}

static void
check_exact_row(const tsv *table)
{
	const char *name = tsv_text(table, "name");
	int			type = (int) tsv_number(table, "key_type");
	size_t		length;
	uint8_t    *bytes;
	int			door;

	if (strcmp(tsv_text(table, "word"), "-") != 0)
	{
		check_refused(table, tsv_text(table, "word"));
		return;
	}
	bytes = tsv_bytes(table, "filter_hex", &length);
	for (door = 0; door < DOORS; door++)
	{
		bloomfilter *filter;
		bloomfilter_info info;

		if (!same(open_by_door(door, bytes, length, &filter, NULL), BLOOMFILTER_OK, "exact.tsv: %s opens, %s", name, door_names[door]))
			continue;
		same(wrong_keys(filter, type, table, "members_hex", 1) + wrong_keys(filter, type, table, "others_hex", 0) +
			 wrong_keys(filter, type, table, "strangers_hex", 0), 0, "exact.tsv: %s answers, %s", name, door_names[door]);
		bloomfilter_get_info(filter, -1, &info, sizeof info);
		ok(info.exact == 1 && info.version == 2 && info.total_bytes == length && info.seed == tsv_number(table, "seed") &&
		   (int) info.key_type == type && has_bytes(filter, bytes, length),
		   "exact.tsv: %s has its fields and bytes, %s", name, door_names[door]);
		same(check_bytes(filter), BLOOMFILTER_OK, "exact.tsv: %s is sound, %s", name, door_names[door]);
		bloomfilter_close(filter);
	}
	free(bytes);
}

int
main(void)
{
	tsv_each("filters.tsv", check_filter_row);
	tsv_each("invalid.tsv", check_invalid_row);
	tsv_each("exact.tsv", check_exact_row);
	return tap_done();
}
