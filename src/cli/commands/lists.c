/*
 * lists.c
 *	  bloomfilter-lists: what "bloomfilter export" and "bloomfilter pull" become.
 */
#include <fcntl.h>
#include <sodium.h>
#include <string.h>

#include "options.h"

int
main(int argc, char **argv)
{
	int			fd;

	/* else a list's file or its lock would be standard error, to which messages are written */
	for (fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void) open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
	if (sodium_init() < 0)
		fail("libsodium can't be used on this system");
	if (argc > 1 && strcmp(argv[1], "export") == 0)
		return (int) command_export(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "pull") == 0)
		return (int) command_pull(argc - 1, argv + 1);
	fail("\"bloomfilter export\" and \"bloomfilter pull\" run this program");
}
