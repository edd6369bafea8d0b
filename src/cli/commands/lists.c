/*
 * lists.c
 *	  bloomfilter-lists: what "bloomfilter export" and "bloomfilter pull" become.
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

int
main(int argc, char **argv)
{
	if (sodium_init() < 0)
		fail("libsodium can't be used on this system");
	srandom(randombytes_random());
	if (argc > 1 && strcmp(argv[1], "export") == 0)
		return (int) command_export(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "pull") == 0)
		return (int) command_pull(argc - 1, argv + 1);
	fail("\"bloomfilter export\" and \"bloomfilter pull\" run this program");
}
