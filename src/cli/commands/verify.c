/*
 * verify.c
 *	  bloomfilter verify: whether a filter is sound, and has the keys that it should have.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "input.h"

static const char help[] =
"Usage: bloomfilter verify [OPTION]... FILE\n"
"\n"
"Checks a filter or a set of parts: the headers, the number of bits set, the\n"
"checksum; of a file that \"bloomfilter pull\" keeps, the sum in its first page,\n"
"and of a tracked list its table of changes by day.\n"
"Prints the estimated number of keys.\n"
"\n"
"  -k, --keys KEYFILE   none of its lines may be missing (- is standard input)\n"
"  -t, --type TYPE      read them as this type (default: the filter's key type)\n"
"      --copy           they are rows as COPY ... TO STDOUT prints them\n"
"  -0, --null           they end with a zero byte, not with a newline\n"
"      --allow-empty    no keys at all are no error\n"
"      --help           print this\n"
"\n"
"Exit status: 0 if all is well, 1 if the filter is damaged or a key is missing, 2\n"
"if it could not be told.\n";

/*
 * Damage is an answer here, where for the other subcommands it is trouble.  Of a
 * filter that a later program made this one can't tell.
 */
static bool
is_damage(int code)
{
	return code == BLOOMFILTER_ERR_PAGE || code == BLOOMFILTER_ERR_SET || code == BLOOMFILTER_ERR_LOST ||
		code == BLOOMFILTER_ERR_CHANGES ||
		(code <= BLOOMFILTER_ERR_FORMAT_LENGTH && code != BLOOMFILTER_ERR_FORMAT_VERSION);
}

static void
print_soundness(const bloomfilter *filter)
{
	bloomfilter_info info = filter_info(filter, -1);
	char		keys[BLOOMFILTER_KEYS_TEXT];

	printf("sound: checksum %016" PRIx64 ", %" PRIu64 " of %" PRIu64
		   " bits set", info.checksum, info.bits_set, info.total_bits);
	if (info.open_parts > 1)
		printf(", %" PRIu32 " parts", info.open_parts);
	else if (info.parts > 1)
		printf(", part %" PRIu32 " of %" PRIu32, info.part, info.parts);
	printf("\nholds %s %.0f %s keys of %" PRIu64
		   ", expected false-positive rate %.4g of %.4g%s\n",
		   estimate_word(&info), info.estimated_keys, bloomfilter_describe_keys(&info, keys),
		   info.capacity, info.estimated_rate, info.rate,
		   info.over_capacity ? ": over capacity" : "");
	output_flush();
}

typedef struct missing_keys
{
	const bloomfilter *filter;
	uint64_t	asked;
	uint64_t	missing;
	uint64_t	first;			/* line of the first one */
} missing_keys;

/* A key_sink. */
static int
count_missing(void *state, const key_batch *batch, size_t *done)
{
	missing_keys *keys = state;
	uint8_t		found[KEY_BATCH];
	int			code;
	size_t		i;

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
verify_keys(key_feed *feed, const char *path, bool allow_empty)
{
	missing_keys *keys = feed->state;

	feed->types = filter_text_types(keys->filter, &feed->types);
	feed_lines(feed, path);
	/* more likely a failed program before the pipe than a set without members */
	if (keys->asked == 0 && !allow_empty)
		fail("no keys in %s; if it is as it should be, add --allow-empty",
			 strcmp(path, "-") == 0 ? "standard input" : path);
	if (keys->missing == 0)
		printf("keys: %" PRIu64 ", none missing\n", keys->asked);
	else
		printf("keys: %" PRIu64 ", %" PRIu64 " MISSING, the first in line %"
			   PRIu64 "\n", keys->asked, keys->missing, keys->first);
	return keys->missing == 0 ? STATUS_YES : STATUS_NO;
}

exit_status
command_verify(int argc, char **argv)
{
	command_line line = {"verify", help, argc, argv};
	missing_keys keys = {NULL, 0, 0, 0};
	key_feed	feed = {.sink = count_missing, .state = &keys};
	const char *key_file = NULL;
	bool		allow_empty = false;
	const command_option options[] = {
		{"keys", 'k', option_text, &key_file, 0, 0},
		{"type", 't', option_types, &feed.types, 0, 0},
		{"copy", 0, option_flag, &feed.copy, 0, 0},
		{"null", '0', option_flag, &feed.null, 0, 0},
		{"allow-empty", 0, option_flag, &allow_empty, 0, 0},
		{NULL, 0, NULL, NULL, 0, 0}
	};
	bloomfilter *filter = NULL;
	bloomfilter_detail detail;
	exit_status status = STATUS_YES;
	int			code;

	read_options(&line, options);
	code = bloomfilter_open(only_operand(&line, "filter"), BLOOMFILTER_CHECK_BITS, &filter, &detail);
	if (code < 0)
	{
		complain("%s", detail.text);
		return is_damage(code) ? STATUS_NO : STATUS_TROUBLE;
	}
	print_soundness(filter);
	keys.filter = filter;
	if (key_file != NULL)
		status = verify_keys(&feed, key_file, allow_empty);
	output_flush();
	bloomfilter_close(filter);
	return status;
}
