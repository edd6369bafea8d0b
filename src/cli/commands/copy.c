/*
 * copy.c
 *	  bloomfilter copy: what a followed file has now, as a file that stays so.
 */
#include <string.h>

#include "filter.h"
#include "messages.h"
#include "options.h"

static const char help[] =
"Usage: bloomfilter copy FILE OUT.bloom\n"
"\n"
"Writes what FILE has now, which \"bloomfilter pull\" may keep, to a file of its own that\n"
"nobody follows: for psql, for pages, for other programs.  OUT.bloom is replaced in one\n"
"step.\n"
"\n"
"      --help  print this\n"
"\n"
"Exit status: 0, or 2 if there was an error.\n";

static const struct option names[] = {
	OPTION_HELP_ENTRY,
	{NULL, 0, NULL, 0}
};

exit_status
command_copy(int argc, char **argv)
{
	command_line line = {"copy", help, ":", names, argc, argv};
	bloomfilter *filter;
	bloomfilter_detail detail;

	while (next_option(&line) != -1)
		;
	if (argc - optind != 2)
		usage_error(&line, "two files are needed: FILE and OUT.bloom");
	if (bloomfilter_open(argv[optind], BLOOMFILTER_COPY, &filter, &detail) < 0)
		fail("%s", detail.text);
	write_filter(filter, argv[optind + 1]);
	bloomfilter_close(filter);
	return STATUS_YES;
}
