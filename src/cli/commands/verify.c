/*
 * verify.c
 *	  bloomfilter verify: whether a filter is sound, whole, and as good as it says.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "input.h"
#include "options.h"
#include "output.h"
#include "filter.h"

static const char help[] =
"Usage: bloomfilter verify [OPTION]... FILE\n"
"\n"
"Checks a filter or a set of parts: the headers, the number of bits set, the\n"
"checksum; of a file that \"bloomfilter pull\" keeps, the sum in its first page.\n"
"Prints the estimated number of keys.\n"
"\n"
"  -k, --keys KEYFILE   none of its lines may be missing (- is standard input)\n"
"  -t, --type TYPE      read them as this type (default: the filter's key type)\n"
"  -0, --null           they end with a zero byte, not with a newline\n"
"      --allow-empty    no keys at all are no error\n"
"      --sample N       measure the false-positive rate on N random keys of the\n"
"                       filter's key type, and compare it with the expected one\n"
"      --sample-seed S  draw other random keys (default: 1)\n"
"      --no-progress    draw no progress bar on a terminal\n"
"      --help           print this\n"
"\n"
"Random keys may happen to be in the filter, so a measured rate is an upper\n"
"bound.  It fails if it exceeds the expected rate by 10 % and 5 standard errors.\n"
"\n"
"Exit status: 0 if all is well, 1 if the filter is damaged, a key is missing or\n"
"the rate is too high, 2 if it could not be told.  FILE - is standard input.\n";

#define OPTION_NO_PROGRESS	OPTION_ANY
#define OPTION_SAMPLE		(OPTION_ANY + 1)
#define OPTION_SAMPLE_SEED	(OPTION_ANY + 2)
#define OPTION_ALLOW_EMPTY	(OPTION_ANY + 3)

/* A measured rate this far above the expected one is not chance any more. */
#define STANDARD_ERRORS		5.0

/*
 * ... and this factor above it: the expected rate is itself estimated from the
 * bits set, which in a filter of few blocks is some percent off.
 */
#define RATE_TOLERANCE		1.1

static const struct option names[] = {
	OPTION_HELP_ENTRY,
	{"keys", required_argument, NULL, 'k'},
	{"type", required_argument, NULL, 't'},
	{"null", no_argument, NULL, '0'},
	{"sample", required_argument, NULL, OPTION_SAMPLE},
	{"sample-seed", required_argument, NULL, OPTION_SAMPLE_SEED},
	{"allow-empty", no_argument, NULL, OPTION_ALLOW_EMPTY},
	{"no-progress", no_argument, NULL, OPTION_NO_PROGRESS},
	{NULL, 0, NULL, 0}
};

typedef struct verify_plan
{
	const char *path;
	const char *keys;			/* file, or NULL */
	int			text_type;		/* 0: the filter's */
	char		delimiter;
	uint64_t	sample;			/* random keys */
	uint64_t	sample_seed;
	bool		allow_empty;
	bool		progress;
} verify_plan;

static verify_plan
read_plan(const command_line *line)
{
	verify_plan plan = {NULL, NULL, BLOOMFILTER_KEY_NONE, '\n', 0, 1, false, true};
	int			option;

	while ((option = next_option(line)) != -1)
		switch (option)
		{
			case 'k':
				plan.keys = optarg;
				break;
			case 't':
				plan.text_type = option_text_type(optarg);
				break;
			case '0':
				plan.delimiter = '\0';
				break;
			case OPTION_SAMPLE:
				plan.sample = option_count("--sample", optarg, 1, INT64_MAX);
				break;
			case OPTION_SAMPLE_SEED:
				plan.sample_seed = option_seed("--sample-seed", optarg);
				break;
			case OPTION_ALLOW_EMPTY:
				plan.allow_empty = true;
				break;
			case OPTION_NO_PROGRESS:
				plan.progress = false;
				break;
		}
	plan.path = only_operand(line, "filter");
	if (is_standard(plan.path) && plan.keys != NULL && is_standard(plan.keys))
		usage_error(line, "the filter and its keys can't both come from standard input");
	return plan;
}

/*
 * Damage is an answer here, where for the other subcommands it is trouble.  Of a
 * filter that a later program made this one can't tell.
 */
static bool
is_damage(int code)
{
	return code == BLOOMFILTER_ERR_PAGE || code == BLOOMFILTER_ERR_SET ||
		(code <= BLOOMFILTER_ERR_FORMAT_LENGTH && code != BLOOMFILTER_ERR_FORMAT_VERSION);
}

static bloomfilter *
sound_filter(int code, bloomfilter *filter, const bloomfilter_detail *detail)
{
	if (code >= 0)
		return filter;
	if (!is_damage(code))
		fail("%s", detail->text);
	complain("%s", detail->text);
	return NULL;
}

static void
print_soundness(const bloomfilter *filter)
{
	bloomfilter_info info = filter_info(filter, -1);
	char		keys[BLOOMFILTER_KEYS_TEXT];

	output_text("sound: checksum %016" PRIx64 ", %" PRIu64 " of %" PRIu64
				" bits set", info.checksum, info.bits_set, info.total_bits);
	if (info.open_parts > 1)
		output_text(", %" PRIu32 " parts", info.open_parts);
	else if (info.parts > 1)
		output_text(", part %" PRIu32 " of %" PRIu32, info.part, info.parts);
	output_text("\nholds about %.0f %s keys of %" PRIu64
				", expected false-positive rate %.4g of %.4g%s\n",
				info.estimated_keys, bloomfilter_describe_keys(&info, keys),
				info.capacity, info.estimated_rate, info.rate,
				info.over_capacity ? ": over capacity" : "");
	output_flush();
}

/* ------------------------------------------------------------------------
 * Keys that must be there
 * ------------------------------------------------------------------------ */

typedef struct missing_keys
{
	const bloomfilter *filter;
	uint64_t	asked;
	uint64_t	missing;
	uint64_t	first;			/* line of the first one */
} missing_keys;

/* A key_sink. */
static int
count_missing(void *state, const key_batch *batch, const text_line *lines,
			  size_t *done)
{
	missing_keys *keys = state;
	uint8_t		found[KEY_BATCH];
	int			code;
	size_t		i;

	(void) lines;
	code = bloomfilter_contains_batch(keys->filter, batch->key_type,
									  batch->keys, batch->count, found, done);
	for (i = 0; i < *done; i++)
	{
		keys->asked++;
		if (found[i])
			continue;
		if (keys->missing++ == 0)
			keys->first = keys->asked;
	}
	return code < 0 ? code : 0;
}

static exit_status
verify_keys(const verify_plan *plan, const bloomfilter *filter)
{
	missing_keys keys = {filter, 0, 0, 0};
	progress_bar progress;
	key_feed	feed = {0, count_missing, &keys, &progress, 0, NULL};
	line_reader reader;

	feed.text_type = filter_text_type(filter, plan->text_type);
	if (is_standard(plan->keys))
		line_reader_stdin(&reader, plan->delimiter);
	else
		line_reader_open(&reader, plan->keys, plan->delimiter);
	progress_start(&progress, "verify", "keys", plan->progress);
	feed_lines(&feed, &reader);
	progress_end(&progress);
	line_reader_close(&reader);
	/* more likely a failed program before the pipe than a set without members */
	if (keys.asked == 0 && !plan->allow_empty)
		fail("no keys in %s; if it is as it should be, add --allow-empty",
			 is_standard(plan->keys) ? "standard input" : plan->keys);
	if (keys.missing == 0)
		output_text("keys: %" PRIu64 ", none missing\n", keys.asked);
	else
		output_text("keys: %" PRIu64 ", %" PRIu64 " MISSING, the first in line %"
					PRIu64 "\n", keys.asked, keys.missing, keys.first);
	return keys.missing == 0 ? STATUS_YES : STATUS_NO;
}

/* ------------------------------------------------------------------------
 * Random keys
 *
 * They are spread over so many values of their type that a filter's own keys are
 * hardly ever among them: 2^30 for dates, 2^48 and more for all others.
 * ------------------------------------------------------------------------ */

/* Bytes of the longest random key, a row of six columns. */
#define RANDOM_KEY_BYTES 256

/* Bytes of the longest column. */
#define RANDOM_COLUMN_BYTES 32

/* SplitMix64: a full period of 2^64, so no key comes twice. */
static uint64_t
next_random(uint64_t *state)
{
	uint64_t	value = (*state += UINT64_C(0x9e3779b97f4a7c15));

	value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
	return value ^ value >> 31;
}

/* 8 bytes, the lowest first: an integer, or the bits of a double. */
static size_t
put_word(uint64_t word, uint8_t *bytes)
{
	size_t		i;

	for (i = 0; i < 8; i++)
		bytes[i] = (uint8_t) (word >> 8 * i);
	return 8;
}

/* Random bytes: the same on machines of either byte order. */
static size_t
random_bytes(uint64_t *state, size_t count, uint8_t *bytes)
{
	size_t		i;

	for (i = 0; i < count; i++)
		bytes[i] = (uint8_t) (next_random(state) >> 56);
	return count;
}

/* Digits that are a numeric, and as good a text. */
static size_t
random_digits(uint64_t *state, uint8_t *bytes)
{
	char		digits[RANDOM_COLUMN_BYTES];
	int			length = snprintf(digits, sizeof digits, "%" PRIu64,
								  next_random(state));

	memcpy(bytes, digits, (size_t) length);
	return (size_t) length;
}

/* A number below 1, in all 53 bits. */
static size_t
random_double(uint64_t *state, uint8_t *bytes)
{
	double		value = (double) (next_random(state) >> 11) * 0x1p-53;
	uint64_t	word;

	memcpy(&word, &value, sizeof word);
	return put_word(word, bytes);
}

/* An IPv6 address without a network: family, prefix length, and its bytes. */
static size_t
random_address(uint64_t *state, uint8_t *bytes)
{
	bytes[0] = 6;
	bytes[1] = 128;
	return 2 + random_bytes(state, 16, bytes + 2);
}

static size_t
random_column(uint64_t *state, int key_type, uint8_t *bytes)
{
	switch (key_type)
	{
		case BLOOMFILTER_KEY_TEXT:
		case BLOOMFILTER_KEY_NUMERIC:
			return random_digits(state, bytes);
		case BLOOMFILTER_KEY_BYTEA:
		case BLOOMFILTER_KEY_UUID:
			return random_bytes(state, 16, bytes);
		case BLOOMFILTER_KEY_FLOAT:
			return random_double(state, bytes);
		case BLOOMFILTER_KEY_DATE:
			return put_word(next_random(state) >> 34, bytes);
		case BLOOMFILTER_KEY_INET:
			return random_address(state, bytes);
		case BLOOMFILTER_KEY_MACADDR:
			return random_bytes(state, 6, bytes);
		default:
			return put_word(next_random(state), bytes);
	}
}

static size_t
random_row(uint64_t *state, const uint8_t *columns, uint8_t *bytes)
{
	bloomfilter_row row = {bytes, RANDOM_KEY_BYTES, 0};
	uint8_t		column[RANDOM_COLUMN_BYTES];

	for (; *columns != 0; columns++)
		bloomfilter_row_append(&row, *columns, column,
							   random_column(state, *columns, column));
	return row.length;
}

/*
 * Writes the bytes of a random key and returns their number.  columns are the key
 * types of a row's columns, as bloomfilter_info has them.  The same state gives the
 * same keys on every machine.
 */
static size_t
random_key(uint64_t *state, int key_type, const uint8_t *columns, uint8_t *bytes)
{
	if (key_type == BLOOMFILTER_KEY_ROW)
		return random_row(state, columns, bytes);
	return random_column(state, key_type, bytes);
}

/* ------------------------------------------------------------------------
 * The rate
 * ------------------------------------------------------------------------ */

/*
 * Asks for up to KEY_BATCH random keys.  Of a part opened alone those that belong
 * to it are asked for; *asked says how many they were.
 */
static uint64_t
ask_random(const bloomfilter *filter, int key_type, const uint8_t *columns,
		   uint64_t *state, uint64_t *asked)
{
	uint8_t		bytes[RANDOM_KEY_BYTES];
	uint64_t	found = 0;
	int			i;

	for (*asked = 0, i = 0; i < KEY_BATCH; i++)
	{
		size_t		length = random_key(state, key_type, columns, bytes);
		int			code = bloomfilter_contains(filter, key_type, bytes, length);

		if (code == BLOOMFILTER_ERR_OTHER_PART)
			continue;
		if (code < 0)
			fail("%s", bloomfilter_strerror(code));
		*asked += 1;
		found += (uint64_t) code;
	}
	return found;
}

/* The type of random keys: rows have no text but their columns have. */
static int
sample_type(const bloomfilter *filter, int wanted)
{
	int			type = filter_text_type(filter, wanted);

	return type == BLOOMFILTER_KEY_ROW ? type : bloomfilter_text_key_type(type);
}

/* At least plan->sample keys; returns how many of them were found. */
static uint64_t
draw_sample(const verify_plan *plan, const bloomfilter *filter, uint64_t *asked)
{
	int			key_type = sample_type(filter, plan->text_type);
	bloomfilter_info info = filter_info(filter, -1);
	uint64_t	state = plan->sample_seed;
	uint64_t	found = 0;
	progress_bar progress;

	progress_start(&progress, "sample", "keys", plan->progress);
	for (*asked = 0; *asked < plan->sample;)
	{
		uint64_t	batch;

		found += ask_random(filter, key_type, info.columns, &state, &batch);
		*asked += batch;
		progress_update(&progress, *asked, *asked, plan->sample);
	}
	progress_end(&progress);
	return found;
}

static exit_status
verify_rate(const verify_plan *plan, const bloomfilter *filter)
{
	double		expected = filter_info(filter, -1).estimated_rate;
	uint64_t	asked;
	uint64_t	found = draw_sample(plan, filter, &asked);
	double		rate = (double) found / (double) asked;
	double		error = sqrt(expected * (1 - expected) / (double) asked);
	bool		high = rate > expected + STANDARD_ERRORS * error &&
		rate > RATE_TOLERANCE * expected;

	output_text("sample: %" PRIu64 " of %" PRIu64 " random keys found: rate %.4g, expected %.4g",
				found, asked, rate, expected);
	output_text(" with a standard error of %.2g: ", error);
	if (rate > expected && error > 0)
		output_text("%.1f standard errors above", (rate - expected) / error);
	else if (error > 0)
		output_text("%.1f standard errors below", (expected - rate) / error);
	output_text("%s\n", high ? ", TOO HIGH, unless random keys are in the filter" : "");
	return high ? STATUS_NO : STATUS_YES;
}

exit_status
command_verify(int argc, char **argv)
{
	command_line line = {"verify", help, ":k:t:0", names, argc, argv};
	verify_plan plan = read_plan(&line);
	bloomfilter *filter = NULL;
	bloomfilter_detail detail;
	exit_status status = STATUS_YES;
	int			code = try_open_filter(plan.path, &filter, &detail);

	filter = sound_filter(code, filter, &detail);
	if (filter == NULL)
		return STATUS_NO;
	print_soundness(filter);
	if (plan.keys != NULL && verify_keys(&plan, filter) == STATUS_NO)
		status = STATUS_NO;
	if (plan.sample > 0 && verify_rate(&plan, filter) == STATUS_NO)
		status = STATUS_NO;
	output_flush();
	bloomfilter_close(filter);
	return status;
}
