/*
 * options.h
 *	  The subcommands and their options: of each a table, which says where values go.
 *
 * getopt_long does the work; its messages are replaced by ours, so that every
 * error is one line that says what to do.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

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
extern exit_status command_status(int argc, char **argv);
extern exit_status command_verify(int argc, char **argv);

typedef struct command_line
{
	const char *command;		/* its name */
	const char *help;			/* what --help prints */
	int			argc;
	char	  **argv;
} command_line;

/*
 * An option, and what takes its argument to where value points; a table of them ends with a
 * name of NULL.
 */
typedef struct command_option command_option;

typedef void (*option_taker) (const command_option *option, const char *argument);

struct command_option
{
	const char *name;			/* without its hyphens */
	char		letter;			/* or 0 */
	option_taker take;
	void	   *value;
	uint64_t	min;			/* of a count */
	uint64_t	max;
};

/* Without an argument: true into a bool. */
extern void option_flag(const command_option *option, const char *argument);

/* A text into a const char *; only that of a connection may be empty. */
extern void option_text(const command_option *option, const char *argument);
extern void option_dsn(const command_option *option, const char *argument);

/* A whole number into a uint64_t; the seconds between two looks into a double. */
extern void option_count(const command_option *option, const char *argument);
extern void option_every(const command_option *option, const char *argument);

/* The columns of a key at most. */
#define MOST_COLUMNS 8

/* How keys are written: a type, or one for each column; count 0: not said. */
typedef struct text_types
{
	size_t		count;
	int			type[MOST_COLUMNS];
} text_types;

/* Fails: no type of keys has this name, nor is it one more that is asked for. */
extern _Noreturn void refuse_key_type(const char *name, const char *one_more);

/* That by names, key types or "real", with commas between. */
extern void option_types(const command_option *option, const char *argument);

/*
 * Takes all options; optind is the first operand then.  --help prints and ends the program;
 * an unknown option, a missing argument or a wrong one ends it with STATUS_TROUBLE.
 */
extern void read_options(const command_line *line, const command_option *options);

/* Ends the program with a message that points to --help. */
extern _Noreturn void usage_error(const command_line *line, const char *problem);

/* The one operand of a subcommand that takes exactly one. */
extern const char *only_operand(const command_line *line, const char *what);

#endif							/* CLI_OPTIONS_H */
