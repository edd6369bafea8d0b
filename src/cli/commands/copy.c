/*
 * copy.c
 *	  bloomfilter copy: what a followed file has now, as a file that stays so.
 */
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input.h"

static const char help[] =
"Usage: bloomfilter copy FILE OUT.bloom\n"
"\n"
"Writes what FILE has now, which \"bloomfilter pull\" may keep, to a file of its own that\n"
"nobody follows: for psql, for pages, for other programs.  OUT.bloom is replaced in one\n"
"step.  Of a tracked list it is the filter that was published, without the changes by\n"
"day: that is said.\n"
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
	bloomfilter_info info;
	struct stat from;
	struct stat to;

	read_options(&line, options);
	if (argc - optind != 2)
		usage_error(&line, "two files are needed: FILE and OUT.bloom");
	/* the copy would have neither the list's identity nor its changes, at the name that its readers know */
	if (stat(argv[optind], &from) == 0 && stat(argv[optind + 1], &to) == 0 && from.st_dev == to.st_dev && from.st_ino == to.st_ino)
		fail("\"%s\" and \"%s\" are the same file", argv[optind], argv[optind + 1]);
	filter = open_filter(argv[optind], BLOOMFILTER_COPY);
	write_filter(filter, argv[optind + 1]);
	info = filter_info(filter, -1);
	if (info.changes > 0)
		complain("\"%s\" is without the %" PRIu64 " changes by day that \"%s\" has", argv[optind + 1], info.changes, argv[optind]);
	bloomfilter_close(filter);
	return STATUS_YES;
}
