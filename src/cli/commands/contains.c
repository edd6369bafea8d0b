/*
 * contains.c
 *	  bloomfilter contains: which of these keys may be in the filter.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "input.h"

static const char help[] =
"Usage: bloomfilter contains [OPTION]... FILE [KEY]...\n"
"\n"
"Prints those of the keys that may be in the filter, one per line.  Without a\n"
"KEY, keys are the lines of standard input.\n"
"\n"
"  -t, --type TYPE   read keys as this type (default: the filter's key type)\n"
"  -v, --invert      print the keys that are surely not in the filter\n"
"  -c, --count       print only how many there are\n"
"  -q, --quiet       print nothing, and stop at the first\n"
"      --copy        keys are rows as COPY ... TO STDOUT prints them\n"
"  -0, --null        keys end with a zero byte, not with a newline\n"
"      --identity UUID  FILE must be the list of this identity, as status has it\n"
"      --help        print this\n"
"\n"
"FILE is a filter, or what pull keeps.  For KEYs no more of it is read than their\n"
"answers take, and its checksum is not compared: see verify.\n"
"\n"
"A key that may be in the filter is in it, or one of the few false positives.\n"
"For how keys of each type are written see bloomfilter(1); put -- before keys\n"
"that begin with a minus.\n"
"\n"
"Exit status: 0 if a key was printed (or counted, or found by -q), 1 if none,\n"
"2 if there was an error, such as a line that is no key of the type.\n";

/* Another list's file would deny this one's keys. */
static void
check_identity(const bloomfilter *filter, const char *path, const char *identity)
{
	bloomfilter_status status;

	bloomfilter_get_status(filter, &status, sizeof status);
	if (strcasecmp(status.identity, identity) != 0)
		fail("\"%s\" is the list \"%s\" of identity %s, not %s", path, status.list,
			 status.identity[0] != '\0' ? status.identity : "none", identity);
}

typedef struct inquiry
{
	const bloomfilter *filter;
	bool		null;			/* keys are printed with a zero byte behind each */
	bool		invert;			/* keys are wanted whose answer is false */
	bool		count;
	bool		quiet;
	uint64_t	matches;
} inquiry;

/* A key_sink. */
static int
ask(void *state, const key_batch *batch, size_t *done)
{
	inquiry    *question = state;
	uint8_t		found[KEY_BATCH];
	int			code;
	size_t		i;

	code = bloomfilter_contains_batch(question->filter, batch->key_type,
									  batch->keys, batch->count, found, done);
	for (i = 0; i < *done; i++)
	{
		if (found[i] == question->invert)
			continue;
		question->matches++;
		if (question->quiet)
			return 1;
		if (question->count)
			continue;
		fwrite(batch->lines[i].text, 1, batch->lines[i].length, stdout);
		putchar(question->null ? '\0' : '\n');
	}
	return code < 0 ? code : 0;
}

exit_status
command_contains(int argc, char **argv)
{
	command_line line = {"contains", help, argc, argv};
	inquiry		question = {NULL, false, false, false, false, 0};
	key_feed	feed = {.sink = ask, .state = &question};
	const char *identity = NULL;
	const command_option options[] = {
		{"type", 't', option_types, &feed.types, 0, 0},
		{"invert", 'v', option_flag, &question.invert, 0, 0},
		{"count", 'c', option_flag, &question.count, 0, 0},
		{"quiet", 'q', option_flag, &question.quiet, 0, 0},
		{"copy", 0, option_flag, &feed.copy, 0, 0},
		{"null", '0', option_flag, &feed.null, 0, 0},
		{"identity", 0, option_text, &identity, 0, 0},
		{NULL, 0, NULL, NULL, 0, 0}
	};
	bloomfilter *filter;

	read_options(&line, options);
	if (optind == argc)
		usage_error(&line, "no filter given");
	/* of a few keys their blocks are all that is read; "verify" reads the rest */
	filter = open_filter(argv[optind], BLOOMFILTER_SKIP_COUNT | (optind + 1 < argc ? BLOOMFILTER_SKIP_CHECK : 0));
	if (identity != NULL)
		check_identity(filter, argv[optind], identity);
	optind++;
	question.filter = filter;
	question.null = feed.null;
	feed.types = filter_text_types(filter, &feed.types);
	if (optind < argc)
		feed_arguments(&feed, argv + optind, (size_t) (argc - optind));
	else
		feed_lines(&feed, "-");
	if (question.count && !question.quiet)
		printf("%" PRIu64 "\n", question.matches);
	output_flush();
	bloomfilter_close(filter);
	return question.matches > 0 ? STATUS_YES : STATUS_NO;
}
