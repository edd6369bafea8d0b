/*
 * main.c
 *	  bloomfilter: look into, ask, build, verify and fetch the filters of the
 *	  PostgreSQL extension bloomfilter, without a server or from one.
 *
 * Each subcommand is a file of its own.  All that knows the format is in
 * libbloomfilter.  export and pull are another program, bloomfilter-lists: the libraries of
 * databases and of the web take longer to load than a look-up takes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../lib/libbloomfilter.h"
#include "options.h"
#include "system.h"

static const char help[] =
"Usage: bloomfilter COMMAND [OPTION]... FILE\n"
"\n"
"A look-up in a filter says that a key is surely not there, or that it may be.\n"
"\n"
"  info      print what is in a filter\n"
"  contains  print those of the given keys that may be in a filter\n"
"  explain   print what a look-up of one key computes and sees\n"
"  build     build a filter of the lines of standard input\n"
"  copy      write what a followed file has now to a file of its own\n"
"  verify    check a filter, that keys are in it, and its false-positive rate\n"
"  export    make a folder for web servers of a live index or a list\n"
"  pull      keep a file what a list is, on a web server or on PostgreSQL\n"
"  status    tell how fresh a file is that pull keeps\n"
"\n"
"  --help, --version\n"
"\n"
"\"bloomfilter help COMMAND\" tells about a command; bloomfilter(1) about all.\n"
"\n"
"Example: how many of these names may be known?\n"
"  bloomfilter build -n 1000000 -p 0.01 known.bloom < known.txt\n"
"  bloomfilter contains --count known.bloom < names.txt\n";

/* Becomes that program, which lies beside this one, or where it is installed; fails if it can't. */
static exit_status
run_lists(int argc, char **argv)
{
	static const char *const folders[] = {"", "../libexec/bloomfilter/"};
	char		here[PATH_MAX];
	ssize_t		length = readlink("/proc/self/exe", here, sizeof here - 1);
	char	  **arguments = zeros((size_t) argc + 2, sizeof *arguments);
	size_t		i;

	if (length < 0)
		fail("cannot read /proc/self/exe: %s", strerror(errno));
	here[length] = '\0';
	memcpy(arguments + 1, argv, (size_t) argc * sizeof *argv);
	arguments[0] = program_invocation_name;
	for (i = 0; i < sizeof folders / sizeof folders[0]; i++)
		execv(text_of("%.*s%sbloomfilter-lists", (int) (strrchr(here, '/') + 1 - here), here, folders[i]), arguments);
	fail("cannot run bloomfilter-lists, which belongs beside \"%s\": %s", here, strerror(errno));
}

typedef struct command
{
	const char *name;
	exit_status (*run) (int argc, char **argv);
} command;

static const command commands[] = {
	{"build", command_build},
	{"contains", command_contains},
	{"copy", command_copy},
	{"explain", command_explain},
	{"export", run_lists},
	{"info", command_info},
	{"pull", run_lists},
	{"status", command_status},
	{"verify", command_verify}
};

static exit_status
run(int argc, char **argv)
{
	size_t		i;

	for (i = 0; i < sizeof commands / sizeof commands[0]; i++)
		if (strcmp(argv[0], commands[i].name) == 0)
			return commands[i].run(argc, argv);
	fail("unknown %s \"%s\"; see \"bloomfilter --help\"",
		 argv[0][0] == '-' ? "option" : "command", argv[0]);
}

/* Else a file that is opened, such as a list's, would be standard error, to which messages are written. */
static void
fill_standard_descriptors(void)
{
	int			fd;

	for (fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void) open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

int
main(int argc, char **argv)
{
	fill_standard_descriptors();
	setvbuf(stdout, NULL, _IOFBF, 64 * 1024);
	if (argc < 2)
		fail("no command given; see \"bloomfilter --help\"");
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || (strcmp(argv[1], "help") == 0 && argc == 2))
		fputs(help, stdout);
	else if (strcmp(argv[1], "help") == 0)
	{
		char		option[] = "--help";
		char	   *of_command[] = {argv[2], option, NULL};

		return (int) run(2, of_command);
	}
	else if (strcmp(argv[1], "--version") == 0)
		printf("bloomfilter %s\n", bloomfilter_version());
	else
		return (int) run(argc - 1, argv + 1);
	output_flush();
	return STATUS_YES;
}
