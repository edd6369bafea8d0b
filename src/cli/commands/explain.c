/*
 * explain.c
 *	  bloomfilter explain: what a look-up of one key computes and sees.
 */
#include <string.h>
#include <unistd.h>

#include "filter.h"
#include "input.h"
#include "options.h"
#include "output.h"

static const char help[] =
"Usage: bloomfilter explain [OPTION]... FILE KEY\n"
"\n"
"Prints what a look-up of the key computes and sees: the filter's checksum, the\n"
"kind of the key and its bytes, the hash, part and block, each probed bit with its\n"
"value, and the answer.  SQL's bloom_explain and all readers print the same lines:\n"
"where two programs disagree, the first line that differs says why.\n"
"\n"
"  -t, --type TYPE   read the key as this type (default: the filter's key type)\n"
"      --copy        it is a row as COPY ... TO STDOUT prints it\n"
"      --help        print this\n"
"\n"
"FILE is a filter, or what pull keeps.  Put -- before a key that begins with a\n"
"minus.\n"
"\n"
"Exit status: 0 if the answer is true, 1 if it is false, 2 if there was an error,\n"
"or the key belongs to a part that is not open.\n";

typedef struct explanation
{
	const bloomfilter *filter;
	int			answer;
	char		text[BLOOMFILTER_EXPLAIN_TEXT];
} explanation;

/* A key_sink. */
static int
explain(void *state, const key_batch *batch, size_t *done)
{
	explanation *to = state;

	(void) done;
	if (batch->count > 0)
		to->answer = bloomfilter_explain(to->filter, batch->key_type, batch->keys[0].bytes, batch->keys[0].length, to->text);
	return to->answer == BLOOMFILTER_ERR_OTHER_PART || to->answer > 0 ? 0 : to->answer;
}

exit_status
command_explain(int argc, char **argv)
{
	command_line line = {"explain", help, argc, argv};
	explanation to;
	key_feed	feed = {{0, {0}}, false, explain, &to};
	const command_option options[] = {
		{"type", 't', option_types, &feed.types, 0, 0},
		{"copy", 0, option_flag, &feed.copy, 0, 0},
		{NULL, 0, NULL, NULL, 0, 0}
	};
	bloomfilter *filter;

	memset(&to, 0, sizeof to);
	read_options(&line, options);
	if (argc - optind != 2)
		usage_error(&line, "a filter and one key are needed");
	to.filter = filter = open_filter(argv[optind], 0);
	feed.types = filter_text_types(filter, &feed.types);
	feed_arguments(&feed, argv + optind + 1, 1);
	bloomfilter_close(filter);
	output_text("%s\n", to.text);
	output_flush();
	return to.answer < 0 ? STATUS_TROUBLE : to.answer > 0 ? STATUS_YES : STATUS_NO;
}
