/*
 * contains.c
 *	  bloomfilter contains: which of these keys may be in the filter.
 */
#include <inttypes.h>
#include <string.h>

#include "filter.h"
#include "input.h"
#include "options.h"
#include "output.h"

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
"  -0, --null        keys end with a zero byte, not with a newline\n"
"      --skip-bad    say which lines are no keys of the type, and go on\n"
"      --help        print this\n"
"\n"
"FILE is a filter, the manifest of a set of parts, or a folder with one; - (with\n"
"KEYs only) is a filter on standard input.\n"
"\n"
"A key that may be in the filter is in it, or one of the few false positives.\n"
"For how keys of each type are written see bloomfilter(1); put -- before keys\n"
"that begin with a minus.\n"
"\n"
"Exit status: 0 if a key was printed (or counted, or found by -q), 1 if none,\n"
"2 if there was an error, such as a line that is no key of the type.\n";

#define OPTION_SKIP_BAD OPTION_ANY

static const struct option names[] = {
	OPTION_HELP_ENTRY,
	{"type", required_argument, NULL, 't'},
	{"invert", no_argument, NULL, 'v'},
	{"count", no_argument, NULL, 'c'},
	{"quiet", no_argument, NULL, 'q'},
	{"null", no_argument, NULL, '0'},
	{"skip-bad", no_argument, NULL, OPTION_SKIP_BAD},
	{NULL, 0, NULL, 0}
};

typedef struct inquiry
{
	const bloomfilter *filter;
	char		delimiter;
	uint8_t		selected;		/* the answer whose keys are wanted */
	bool		count;
	bool		quiet;
	bool		skip;			/* lines that are no keys */
	uint64_t	matches;
	uint64_t	skipped;
} inquiry;

static void
print_key(const inquiry *question, const text_line *key)
{
	output_bytes(key->text, key->length);
	output_byte(question->delimiter);
}

/* A key_sink. */
static int
ask(void *state, const key_batch *batch, const text_line *lines, size_t *done)
{
	inquiry *question = state;
	uint8_t		found[KEY_BATCH];
	int			code;
	size_t		i;

	code = bloomfilter_contains_batch(question->filter, batch->key_type,
									  batch->keys, batch->count, found, done);
	for (i = 0; i < *done; i++)
	{
		if (found[i] != question->selected)
			continue;
		question->matches++;
		if (question->quiet)
			return 1;
		if (!question->count)
			print_key(question, &lines[i]);
	}
	return code < 0 ? code : 0;
}

static void
ask_all(inquiry *question, int text_type, char **keys, size_t count)
{
	key_feed	feed = {text_type, ask, question, NULL, 0,
							question->skip ? &question->skipped : NULL};
	line_reader reader;

	if (count > 0)
		feed_arguments(&feed, keys, count);
	else
	{
		line_reader_stdin(&reader, question->delimiter);
		feed_lines(&feed, &reader);
		line_reader_close(&reader);
	}
}

exit_status
command_contains(int argc, char **argv)
{
	command_line line = {"contains", help, ":t:vcq0", names, argc, argv};
	inquiry		question = {NULL, '\n', 1, false, false, false, 0, 0};
	int			wanted_type = BLOOMFILTER_KEY_NONE;
	bloomfilter *filter;
	int			option;

	while ((option = next_option(&line)) != -1)
		switch (option)
		{
			case 't':
				wanted_type = option_text_type(optarg);
				break;
			case 'v':
				question.selected = 0;
				break;
			case 'c':
				question.count = true;
				break;
			case 'q':
				question.quiet = true;
				break;
			case '0':
				question.delimiter = '\0';
				break;
			case OPTION_SKIP_BAD:
				question.skip = true;
				break;
		}
	if (optind == argc)
		usage_error(&line, "no filter given");
	if (is_standard(argv[optind]) && optind + 1 == argc)
		usage_error(&line, "the filter and its keys can't both come from standard input");
	filter = open_filter(argv[optind]);
	question.filter = filter;
	ask_all(&question, filter_text_type(filter, wanted_type),
			argv + optind + 1, (size_t) (argc - optind - 1));
	if (question.count && !question.quiet)
		output_text("%" PRIu64 "\n", question.matches);
	output_flush();
	bloomfilter_close(filter);
	if (question.skipped > 0)
		return STATUS_TROUBLE;
	return question.matches > 0 ? STATUS_YES : STATUS_NO;
}
