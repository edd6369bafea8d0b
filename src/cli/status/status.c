/*
 * status.c
 *	  bloomfilter status: whether files that pull keeps are fresh, and exporters alive, for
 *	  people and for programs that watch.
 */
#include "status.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options.h"

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

exit_status
command_status(int argc, char **argv)
{
	command_line line = {"status", help, argc, argv};
	status_limits limits = {STATUS_NO_LIMIT, STATUS_NO_LIMIT};
	bool		json = false;
	bool		prometheus = false;
	bool		quiet = false;
	const command_option options[] = {
		{"max-age", 0, option_count, &limits.look, 0, INT64_MAX - 1},
		{"max-true-age", 0, option_count, &limits.true_at, 0, INT64_MAX - 1},
		{"json", 0, option_flag, &json, 0, 0},
		{"prometheus", 0, option_flag, &prometheus, 0, 0},
		{"quiet", 'q', option_flag, &quiet, 0, 0},
		{NULL, 0, NULL, NULL, 0, 0}
	};
	exit_status result = STATUS_YES;
	status_table *tables;
	size_t		count = 0;
	struct stat st;

	read_options(&line, options);
	if (optind == argc)
		usage_error(&line, "no file is given");
	tables = allocate(NULL, (size_t) (argc - optind), sizeof *tables);
	for (; optind < argc; optind++, count++)
	{
		bool		folder = stat(argv[optind], &st) == 0 && S_ISDIR(st.st_mode);

		tables[count] = folder ? status_of_folder(argv[optind], &limits) : status_of_file(argv[optind], &limits);
		if (!tables[count].known)
			result = STATUS_TROUBLE;
		else if (!tables[count].healthy && result == STATUS_YES)
			result = STATUS_NO;
	}
	status_print(tables, count, json ? FORM_JSON : prometheus ? FORM_PROMETHEUS : quiet ? FORM_QUIET : FORM_TEXT);
	output_flush();
	free(tables);
	return result;
}
