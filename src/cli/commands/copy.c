/*
 * copy.c
 *	  bloomfilter copy: what a followed file has now, as a file that stays so.
 */
#include <unistd.h>

#include "filter.h"
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

exit_status
command_copy(int argc, char **argv)
{
	command_line line = {"copy", help, argc, argv};
	const command_option options[] = {{NULL, 0, NULL, NULL, 0, 0}};
	bloomfilter *filter;

	read_options(&line, options);
	if (argc - optind != 2)
		usage_error(&line, "two files are needed: FILE and OUT.bloom");
	filter = open_filter(argv[optind], BLOOMFILTER_COPY);
	write_filter(filter, argv[optind + 1]);
	bloomfilter_close(filter);
	return STATUS_YES;
}
