/*
 * explain.c
 *	  bloomfilter explain: what a look-up of one key computes and sees.
 */
#include <string.h>

#include "filter.h"
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
"      --help        print this\n"
"\n"
"FILE is a filter, the manifest of a set of parts, a folder with one, or - for\n"
"standard input.  Put -- before a key that begins with a minus.\n"
"\n"
"Exit status: 0 if the answer is true, 1 if it is false, 2 if there was an error,\n"
"or the key belongs to a part that is not open.\n";

static const struct option names[] = {
	OPTION_HELP_ENTRY,
	{"type", required_argument, NULL, 't'},
	{NULL, 0, NULL, 0}
};

exit_status
command_explain(int argc, char **argv)
{
	command_line line = {"explain", help, ":t:", names, argc, argv};
	int			wanted_type = BLOOMFILTER_KEY_NONE;
	char		text[BLOOMFILTER_EXPLAIN_TEXT];
	bloomfilter_detail detail;
	bloomfilter *filter;
	const char *key;
	int			answer;

	while (next_option(&line) != -1)
		wanted_type = option_text_type(optarg);
	if (argc - optind != 2)
		usage_error(&line, "a filter and one key are needed");
	filter = open_filter(argv[optind]);
	key = argv[optind + 1];
	answer = bloomfilter_explain_from_text(filter, filter_text_type(filter, wanted_type),
										   key, strlen(key), text, &detail);
	bloomfilter_close(filter);
	if (answer < 0 && answer != BLOOMFILTER_ERR_OTHER_PART)
		fail("\"%s\" is %s", key, detail.text);
	output_text("%s\n", text);
	output_flush();
	if (answer < 0)
		return STATUS_TROUBLE;
	return answer ? STATUS_YES : STATUS_NO;
}
