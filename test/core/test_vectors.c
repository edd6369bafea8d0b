/*
 * test_vectors.c
 *	  Every row of the golden files in test/vectors.
 *
 * The folder is the program's argument.  The rows are used as the folder's
 * README.md asks.
 */
#include <string.h>

#include "bf_bytes.h"
#include "bf_exact.h"
#include "bf_hash.h"
#include "bf_key.h"
#include "tap.h"
#include "support.h"

static table
read_vectors(const char *folder, const char *name)
{
	char		path[4096];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return table_read(path);
}

static uint64_t
table_hex_number(const table *t, size_t row, const char *column)
{
	return strtoull(table_text(t, row, column), NULL, 16);
}

static uint64_t
hash_of_hex(const char *hex, uint64_t seed)
{
	size_t		length;
	uint8_t    *bytes = from_hex(hex, &length);
	uint64_t	hash = bf_hash(bytes, length, seed);

	if (length == 8 && bf_hash_word(bf_load_le(bytes, 8), seed) != hash)
		hash = 0;
	free(bytes);
	return hash;
}

/* Whether the k positions are those of a list with commas. */
static bool
probes_are(uint64_t hash, unsigned log2_block_bits, unsigned k, const char *list)
{
	char	   *end = NULL;
	unsigned	i;

	for (i = 0; i < k; i++)
	{
		if (strtoull(list, &end, 10) != bf_probe_bit(bf_probe(hash, i), log2_block_bits))
			return false;
		list = end + 1;
	}
	return end != NULL && *end == '\0';
}

static void
test_keys(const table *t)
{
	bool		hashes = true;
	bool		blocks = true;
	bool		bits = true;
	bool		parts = true;
	size_t		row;

	for (row = 0; row < t->rows; row++)
	{
		uint64_t	hash = hash_of_hex(table_text(t, row, "key_hex"),
									   table_number(t, row, "seed"));

		hashes &= check(hash == table_hex_number(t, row, "hash_hex"), "row %zu", row);
		blocks &= check(bf_block_of(hash, (uint32_t) table_number(t, row, "blocks")) ==
						table_number(t, row, "block"), "row %zu", row);
		bits &= check(probes_are(hash, (unsigned) table_number(t, row, "log2_block_bits"),
								 (unsigned) table_number(t, row, "k"),
								 table_text(t, row, "bits")), "row %zu", row);
		parts &= check(bf_part_of(hash, (uint32_t) table_number(t, row, "parts")) ==
					   table_number(t, row, "part"), "row %zu", row);
	}
	ok(t->rows > 0 && hashes, "keys.tsv: %zu keys have their hash", t->rows);
	ok(blocks, "keys.tsv: all are in their block");
	ok(bits, "keys.tsv: all have their bits");
	ok(parts, "keys.tsv: all are in their part");
}

/* The key type of a row, with the columns of a row key. */
static uint32_t
row_key_type(const table *t, size_t row)
{
	uint32_t	type = (uint32_t) table_number(t, row, "key_type");
	const char *list = table_text(t, row, "columns");
	char	   *end = NULL;

	for (; strcmp(list, "-") != 0 && (end == NULL || *end == ','); list = end + 1)
		if (!bf_key_row_add(&type, (unsigned) strtoul(list, &end, 10)))
			exit(1);
	return type;
}

/* The header of a row but for bits set and checksum. */
static bf_header
row_header(const table *t, size_t row)
{
	bf_header	header = {0};
	uint64_t	rate = table_hex_number(t, row, "p_hex");

	header.probes = (uint8_t) table_number(t, row, "k");
	header.log2_block_bits = (uint8_t) table_number(t, row, "log2_block_bits");
	header.blocks = (uint32_t) table_number(t, row, "blocks");
	header.part = (uint16_t) table_number(t, row, "part");
	header.parts = (uint16_t) table_number(t, row, "parts");
	header.seed = table_number(t, row, "seed");
	header.capacity = table_number(t, row, "n");
	memcpy(&header.rate, &rate, sizeof rate);
	return header;
}

static bool
row_is(const table *t, size_t row, const bf_header *h)
{
	bf_header	wanted = row_header(t, row);

	return h->probes == wanted.probes && h->blocks == wanted.blocks &&
		h->log2_block_bits == wanted.log2_block_bits && h->part == wanted.part &&
		h->parts == wanted.parts && h->seed == wanted.seed &&
		h->capacity == wanted.capacity && h->rate == wanted.rate &&
		h->rate == strtod(table_text(t, row, "p"), NULL) &&
		h->key_type == row_key_type(t, row) &&
		h->bits_set == table_number(t, row, "bits_set") &&
		h->checksum == table_hex_number(t, row, "checksum_hex");
}

/* Reads a row's bytes into a filter; ends the program if they are refused. */
static filter
row_filter(const table *t, size_t row)
{
	size_t		length;
	uint8_t    *bytes = from_hex(table_text(t, row, "filter_hex"), &length);
	filter		f;

	if (plain_parse(bytes, length, NULL, &f.header) != BF_OK)
	{
		printf("not ok - row %s is refused\n", table_text(t, row, "name"));
		exit(1);
	}
	f.blocks = exact_copy(bytes + BF_HEADER_BYTES, length - BF_HEADER_BYTES);
	free(bytes);
	return f;
}

/* The hashes of a list of keys; *count is set. */
static uint64_t *
list_hashes(const char *list, uint64_t seed, size_t *count)
{
	char	   *copy = (char *) exact_copy(list, strlen(list) + 1);
	uint64_t   *hashes = allocate((strlen(list) + 1) * sizeof *hashes);
	char	   *at = copy;
	char	   *comma;

	*count = 0;
	if (strcmp(list, "-") != 0)
	{
		for (; (comma = strchr(at, ',')) != NULL; at = comma + 1)
		{
			*comma = '\0';
			hashes[(*count)++] = hash_of_hex(at, seed);
		}
		hashes[(*count)++] = hash_of_hex(at, seed);
	}
	free(copy);
	return hashes;
}

/* Whether all keys of a list belong to the filter's part and get this answer. */
static bool
answers(const filter *f, const char *list, uint8_t wanted)
{
	size_t		count;
	uint64_t   *hashes = list_hashes(list, f->header.seed, &count);
	uint8_t    *found = allocate(count);
	bool		right = true;
	size_t		i;

	bf_contains_hashes(&f->header, f->blocks, hashes, count, found);
	for (i = 0; i < count; i++)
		right &= found[i] == wanted && bf_in_part(&f->header, hashes[i]) &&
			bf_contains(&f->header, f->blocks, hashes[i]) == wanted;
	free(hashes);
	free(found);
	return right;
}

static bool
written_as(filter *f, const char *hex)
{
	size_t		length;
	uint8_t    *wanted = from_hex(hex, &length);
	uint8_t    *bytes = filter_bytes(f);
	bool		same = length == bf_total_bytes(&f->header) &&
		memcmp(bytes, wanted, length) == 0;

	free(wanted);
	free(bytes);
	return same;
}

/* Builds a row from its keys, twice each, backwards the second time. */
static bool
built_as(const table *t, size_t row)
{
	bf_header	header = row_header(t, row);
	filter		f = filter_new(&header);
	size_t		count;
	uint64_t   *hashes = list_hashes(table_text(t, row, "keys"), header.seed, &count);
	bool		same;
	size_t		i;

	f.header.key_type = row_key_type(t, row);
	bf_add_hashes(&f.header, f.blocks, hashes, count);
	for (i = count; i > 0; i--)
		bf_add(&f.header, f.blocks, hashes[i - 1]);
	same = written_as(&f, table_text(t, row, "filter_hex"));
	free(hashes);
	filter_free(&f);
	return same;
}

static size_t
row_named(const table *t, const char *name)
{
	size_t		row;

	for (row = 0; row < t->rows; row++)
		if (strcmp(table_text(t, row, "name"), name) == 0)
			return row;
	printf("not ok - no row %s\n", name);
	exit(1);
}

/* Makes a row from other rows as its made_of says. */
static bool
made_as(const table *t, size_t row)
{
	char		operation[8];
	char		first[64];
	char		second[64];
	filter		f;
	bool		same;

	if (sscanf(table_text(t, row, "made_of"), "%7s %63s %63s", operation, first,
			   second) != 3)
		return false;
	f = row_filter(t, row_named(t, first));
	if (strcmp(operation, "fold") == 0)
	{
		bf_fold(&f.header, f.blocks, (uint32_t) strtoul(second, NULL, 10), NULL);
		f.header.capacity = table_number(t, row, "n");
	}
	else
	{
		filter		other = row_filter(t, row_named(t, second));

		if (bf_compatible(&f.header, &other.header))
			(strcmp(operation, "or") == 0 ? bf_union : bf_intersect)
				(&f.header, f.blocks, &other.header, other.blocks, NULL);
		filter_free(&other);
	}
	same = written_as(&f, table_text(t, row, "filter_hex"));
	filter_free(&f);
	return same;
}

static void
test_filter_row(const table *t, size_t row)
{
	const char *name = table_text(t, row, "name");
	const char *made_of = table_text(t, row, "made_of");
	filter		f = row_filter(t, row);

	ok(row_is(t, row, &f.header), "filters.tsv: %s is accepted with its fields", name);
	ok(answers(&f, table_text(t, row, "keys"), 1) &&
	   answers(&f, table_text(t, row, "absent"), 0) &&
	   answers(&f, table_text(t, row, "false_positives"), 1),
	   "filters.tsv: %s gives its answers", name);
	if (strncmp(made_of, "and ", 4) != 0)
		ok(built_as(t, row), "filters.tsv: %s is built of its keys", name);
	if (strcmp(made_of, "-") != 0)
		ok(made_as(t, row), "filters.tsv: %s is made by %s", name, made_of);
	filter_free(&f);
}

/* The status of the core for a rule of FORMAT.md. */
static bf_status
status_of_rule(const char *rule)
{
	static const struct
	{
		const char *rule;
		bf_status	status;
	}			rules[] = {
		{"short", BF_BAD_LENGTH}, {"magic", BF_BAD_MAGIC},
		{"version", BF_BAD_VERSION},
		{"header_checksum", BF_BAD_HEADER_CHECKSUM}, {"hash", BF_BAD_HASH},
		{"probes", BF_BAD_PROBES}, {"block_bits", BF_BAD_BLOCK_BITS},
		{"key_type", BF_BAD_KEY_TYPE}, {"columns", BF_BAD_COLUMNS},
		{"blocks", BF_BAD_BLOCKS}, {"size", BF_BAD_SIZE}, {"part", BF_BAD_PARTS},
		{"capacity", BF_BAD_CAPACITY}, {"rate", BF_BAD_RATE},
		{"bits_set", BF_BAD_BITS_SET}, {"empty_key_type", BF_BAD_EMPTY},
		{"checksum", BF_BAD_CHECKSUM}, {"directory", BF_BAD_DIRECTORY}, {"levels", BF_BAD_LEVELS}
	};
	size_t		i;

	for (i = 0; i < sizeof rules / sizeof *rules; i++)
		if (strcmp(rules[i].rule, rule) == 0)
			return rules[i].status;
	return BF_OK;
}

static void
test_invalid_row(const table *t, size_t row)
{
	const char *rule = table_text(t, row, "rule");
	size_t		length;
	uint8_t    *bytes = from_hex(table_text(t, row, "filter_hex"), &length);
	uint8_t    *header_alone = exact_copy(bytes, length < 64 ? length : 64);
	bf_status	wanted = status_of_rule(rule);
	bf_header	header;
	bf_status	got = plain_parse(bytes, length, NULL, &header);

	ok(wanted != BF_OK && got == wanted, "invalid.tsv: %s is refused for its %s (%s)",
	   table_text(t, row, "name"), rule, bf_status_text(got));
	if (wanted < BF_BAD_BITS_SET)
		ok(plain_read(header_alone, length, &header) == wanted,
		   "invalid.tsv: %s is refused by its header alone", table_text(t, row, "name"));
	free(bytes);
	free(header_alone);
}

/* Whether all keys of a list get this answer, one by one and in a batch. */
static bool
exact_answers(const bf_exact *exact, const uint8_t *blocks, const char *list, uint8_t wanted)
{
	size_t		count;
	uint64_t   *hashes = list_hashes(list, exact->level[0].seed, &count);
	uint8_t    *found = allocate(count);
	bool		right = true;
	size_t		i;

	bf_exact_contains_hashes(exact, blocks, hashes, count, found);
	for (i = 0; i < count; i++)
		right &= found[i] == wanted && bf_in_part(&exact->level[0], hashes[i]) &&
			bf_exact_contains(exact, blocks, hashes[i]) == wanted;
	free(hashes);
	free(found);
	return right;
}

/* The bytes that the shape and the row's keys make. */
static bool
exact_built_as(const table *t, size_t row, const bf_exact *read, const uint8_t *bytes, size_t length)
{
	bf_exact	exact = *read;
	uint8_t    *built = allocate(length);
	uint8_t    *blocks = built + BF_EXACT_HEADER_BYTES;
	uint64_t   *hashes[2];
	size_t		count[2];
	size_t		left[2] = {0, 0};
	bool		same;
	size_t		i;

	hashes[0] = list_hashes(table_text(t, row, "members_hex"), exact.level[0].seed, &count[0]);
	hashes[1] = list_hashes(table_text(t, row, "others_hex"), exact.level[0].seed, &count[1]);
	memset(built, 0, length);
	for (i = 0; i < BF_EXACT_LEVELS; i++)
		exact.level[i].bits_set = 0;
	bf_exact_add(&exact, blocks, 0, hashes[0], count[0], NULL);
	for (i = 0; i < count[1]; i++)
		if (bf_exact_level_contains(&exact, blocks, 0, hashes[1][i]))
			hashes[1][left[1]++] = hashes[1][i];
	bf_exact_add(&exact, blocks, 1, hashes[1], left[1], NULL);
	for (i = 0; i < count[0]; i++)
		if (bf_exact_level_contains(&exact, blocks, 1, hashes[0][i]))
			hashes[0][left[0]++] = hashes[0][i];
	same = bf_exact_close(&exact, blocks, hashes[0], left[0], hashes[1], left[1], NULL);
	bf_exact_write(&exact, built, NULL);
	same &= memcmp(built, bytes, length) == 0;
	free(hashes[0]);
	free(hashes[1]);
	free(built);
	return same;
}

static void
test_exact_row(const table *t, size_t row)
{
	const char *name = table_text(t, row, "name");
	const char *word = table_text(t, row, "word");
	size_t		length;
	uint8_t    *bytes = from_hex(table_text(t, row, "filter_hex"), &length);
	uint8_t    *front = exact_copy(bytes, length < BF_EXACT_HEADER_BYTES ? length : BF_EXACT_HEADER_BYTES);
	bool		valid = strcmp(word, "-") == 0;
	bf_status	wanted = valid ? BF_OK : status_of_rule(word);
	bf_exact	exact;
	bf_status	got = bf_any_parse(bytes, length, NULL, &exact);

	ok(got == wanted && (valid || wanted != BF_OK), "exact.tsv: %s is %s (%s)", name, valid ? "valid" : word, bf_status_text(got));
	if (valid)
	{
		ok(exact_answers(&exact, bytes + BF_EXACT_HEADER_BYTES, table_text(t, row, "members_hex"), 1) &&
		   exact_answers(&exact, bytes + BF_EXACT_HEADER_BYTES, table_text(t, row, "others_hex"), 0) &&
		   exact_answers(&exact, bytes + BF_EXACT_HEADER_BYTES, table_text(t, row, "strangers_hex"), 0), "exact.tsv: %s gives its answers", name);
		ok(exact_built_as(t, row, &exact, bytes, length), "exact.tsv: %s is built of its keys", name);
	}
	if (valid || wanted < BF_BAD_BITS_SET || wanted > BF_BAD_CHECKSUM)
		ok(bf_any_read(front, length, &exact) == wanted, "exact.tsv: %s by header and directory alone", name);
	free(bytes);
	free(front);
}

static void
test_exact(const char *folder)
{
	table		t = read_vectors(folder, "exact.tsv");
	size_t		row;

	for (row = 0; row < t.rows; row++)
		test_exact_row(&t, row);
	table_free(&t);
}

static void
test_filters(const char *folder)
{
	table		t = read_vectors(folder, "filters.tsv");
	size_t		row;

	for (row = 0; row < t.rows; row++)
		test_filter_row(&t, row);
	table_free(&t);
}

int
main(int count, char **arguments)
{
	table		t;
	size_t		row;
	unsigned	i;

	if (count != 2)
		return 2;
	t = read_vectors(arguments[1], "keys.tsv");
	test_keys(&t);
	table_free(&t);
	for (i = 0; bf_usable_kernel(i) != NULL; i++)
	{
		bf_kernel = bf_usable_kernel(i);
		printf("# kernel %s\n", bf_kernel->name);
		test_filters(arguments[1]);
		test_exact(arguments[1]);
	}
	t = read_vectors(arguments[1], "invalid.tsv");
	for (row = 0; row < t.rows; row++)
		test_invalid_row(&t, row);
	table_free(&t);
	return tap_done();
}
