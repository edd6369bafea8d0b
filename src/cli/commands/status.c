/*
 * status.c
 *	  bloomfilter status: whether files that pull keeps are fresh, and exporters alive, for
 *	  people and for programs that watch.
 */
#include "status.h"

#include <stdlib.h>
#include <string.h>

#include "messages.h"
#include "options.h"
#include "output.h"
#include "system.h"

static const char help[] =
"Usage: bloomfilter status [OPTION]... FILE|FOLDER...\n"
"\n"
"Tells what is known about files that \"bloomfilter pull\" keeps: of which list\n"
"they are, what they have, the last look, and what is wrong; and about folders\n"
"that \"bloomfilter export\" keeps, and their exporters.\n"
"\n"
"      --max-age SECONDS       the last look may be so long ago (default: three\n"
"                              times what the file says between two looks)\n"
"      --max-true-age SECONDS  what was committed so long ago must be in it\n"
"      --json                  print a line of JSON for each file\n"
"      --prometheus            print metrics, as for node_exporter's textfiles\n"
"  -q, --quiet                 print nothing, but what is wrong\n"
"      --help                  print this\n"
"\n"
"Exit status: 0, 1 if something is wrong with a file, 2 if one can't be read.\n";

typedef enum status_option
{
	OPTION_MAX_AGE = OPTION_ANY,
	OPTION_MAX_TRUE_AGE,
	OPTION_JSON,
	OPTION_PROMETHEUS
} status_option;

static const struct option names[] = {
	OPTION_HELP_ENTRY,
	{"max-age", required_argument, NULL, OPTION_MAX_AGE},
	{"max-true-age", required_argument, NULL, OPTION_MAX_TRUE_AGE},
	{"json", no_argument, NULL, OPTION_JSON},
	{"prometheus", no_argument, NULL, OPTION_PROMETHEUS},
	{"quiet", no_argument, NULL, 'q'},
	{NULL, 0, NULL, 0}
};

exit_status
command_status(int argc, char **argv)
{
	command_line line = {"status", help, ":q", names, argc, argv};
	status_limits limits = {INT64_MAX, INT64_MAX};
	status_form form = FORM_TEXT;
	exit_status result = STATUS_YES;
	status_table *tables;
	size_t		count = 0;
	int			option;

	while ((option = next_option(&line)) != -1)
		if (option == OPTION_MAX_AGE)
			limits.look = (int64_t) option_count("--max-age", optarg, 0, INT64_MAX);
		else if (option == OPTION_MAX_TRUE_AGE)
			limits.true_at = (int64_t) option_count("--max-true-age", optarg, 0, INT64_MAX);
		else
			form = option == OPTION_JSON ? FORM_JSON : option == OPTION_PROMETHEUS ? FORM_PROMETHEUS : FORM_QUIET;
	if (optind == argc)
		usage_error(&line, "no file is given");
	tables = allocate(NULL, (size_t) (argc - optind), sizeof *tables);
	for (; optind < argc; optind++, count++)
	{
		tables[count] = is_folder(argv[optind]) ? status_of_folder(argv[optind], &limits) :
			status_of_file(argv[optind], &limits);
		if (!tables[count].known)
			result = STATUS_TROUBLE;
		else if (!tables[count].healthy && result == STATUS_YES)
			result = STATUS_NO;
	}
	status_print(tables, count, form);
	output_flush();
	free(tables);
	return result;
}
