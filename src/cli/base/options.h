/*
 * options.h
 *	  The subcommands, their options, and the numbers in them.
 *
 * getopt_long does the work; its messages are replaced by ours, so that every
 * error is one line that says what to do.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include "messages.h"

/* The subcommands.  argv[0] is the subcommand's name. */
extern exit_status command_build(int argc, char **argv);
extern exit_status command_export(int argc, char **argv);
extern exit_status command_contains(int argc, char **argv);
extern exit_status command_copy(int argc, char **argv);
extern exit_status command_explain(int argc, char **argv);
extern exit_status command_info(int argc, char **argv);
extern exit_status command_pull(int argc, char **argv);
extern exit_status command_pull_config(int argc, char **argv);
extern exit_status command_status(int argc, char **argv);
extern exit_status command_verify(int argc, char **argv);

/* Values of long options that have no letter. */
typedef enum long_option
{
	OPTION_HELP = 256,
	OPTION_ANY
} long_option;

/* Every list of long options begins with this. */
#define OPTION_HELP_ENTRY {"help", no_argument, NULL, OPTION_HELP}

typedef struct command_line
{
	const char *command;		/* its name */
	const char *help;			/* what --help prints */
	const char *letters;		/* as getopt's, beginning with ':' */
	const struct option *names;
	int			argc;
	char	  **argv;
} command_line;

/*
 * The next option's value, -1 after the last; optarg is its argument, optind the
 * first operand then.  --help prints and ends the program, an unknown option or
 * a missing argument ends it with STATUS_TROUBLE.
 */
extern int	next_option(const command_line *line);

/* Ends the program with a message that points to --help. */
extern _Noreturn void usage_error(const command_line *line, const char *problem);

/* The one operand of a subcommand that takes exactly one. */
extern const char *only_operand(const command_line *line, const char *what);

/* Whether a text is a whole number from min to max, and which. */
extern bool is_count(const char *text, uint64_t min, uint64_t max, uint64_t *value);

/* Numbers; what is not one, or out of range, ends the program. */
extern uint64_t option_count(const char *name, const char *text,
							 uint64_t min, uint64_t max);
extern double option_seconds(const char *name, const char *text, double min, double max);
extern double option_rate(const char *name, const char *text);

/* A seed as SQL prints it (signed) or as readers do (unsigned): the same 64 bits. */
extern uint64_t option_seed(const char *name, const char *text);

/* How keys are written, by its name: a key type, or "real". */
extern int	option_text_type(const char *text);

#endif							/* CLI_OPTIONS_H */
