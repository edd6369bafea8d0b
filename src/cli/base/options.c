/*
 * options.c
 *	  The options of a subcommand, and the numbers in them.
 */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/libbloomfilter.h"
#include "system.h"

#define MOST_OPTIONS 20

/* What getopt_long returns for --help, and from what on for options without a letter. */
#define HELP 256

#define LEAST_EVERY 0.05
#define LONGEST_EVERY 86400.0

void
option_flag(const command_option *option, UNUSED const char *argument)
{
	*(bool *) option->value = true;
}

void
option_dsn(const command_option *option, const char *argument)
{
	*(const char **) option->value = argument;
}

void
option_text(const command_option *option, const char *argument)
{
	if (argument[0] == '\0')
		fail("an option has no value: --%s", option->name);
	option_dsn(option, argument);
}

void
option_count(const command_option *option, const char *argument)
{
	char	   *end;
	uint64_t	value;

	errno = 0;
	value = strtoull(argument, &end, 10);
	if (!isdigit((unsigned char) argument[0]) || *end != '\0' || errno != 0 || value < option->min || value > option->max)
		fail("--%s must be a whole number from %llu to %llu, not \"%s\"", option->name,
			 (unsigned long long) option->min, (unsigned long long) option->max, argument);
	*(uint64_t *) option->value = value;
}

void
option_every(const command_option *option, const char *argument)
{
	char	   *end;
	double		value = strtod(argument, &end);

	if (end == argument || *end != '\0' || !(value >= LEAST_EVERY && value <= LONGEST_EVERY))
		fail("--%s must be a number of seconds from %g to %g, not \"%s\"", option->name, LEAST_EVERY, LONGEST_EVERY, argument);
	*(double *) option->value = value;
}

_Noreturn void
refuse_key_type(const char *name, const char *one_more)
{
	const char *names = "";
	int			type;

	for (type = 1; bloomfilter_key_type_name(type) != NULL; type++)
		names = text_of("%s%s, ", names, bloomfilter_key_type_name(type));
	fail("unknown key type \"%s\"; one of %s%s", name, names, one_more);
}

void
option_types(const command_option *option, const char *argument)
{
	text_types *types = option->value;
	char	   *names = text_of("%s", argument);
	char	   *rest;
	char	   *name;

	types->count = 0;
	for (name = strtok_r(names, ",", &rest); name != NULL && types->count < MOST_COLUMNS; name = strtok_r(NULL, ",", &rest))
	{
		types->type[types->count] = bloomfilter_text_type_of_name(name);
		if (types->type[types->count++] < 0)
			break;
	}
	if (name != NULL || types->count == 0)
		refuse_key_type(argument, "real");
	free(names);
}

static _Noreturn void
refuse_option(const command_line *line, const char *before, const char *after)
{
	const char	letter[] = {'-', (char) optopt, '\0'};
	/* what getopt_long calls it */
	const char *option = optopt > 0 && optopt < HELP ? letter : line->argv[optind - 1];

	if (isdigit((unsigned char) option[1]))
		fail("unknown option %s; put -- before keys that begin with a minus", option);
	fail("%s %s%s; see \"bloomfilter %s --help\"", before, option, after, line->command);
}

/* What getopt_long returns for it. */
static int
value_of(const command_option *options, size_t which)
{
	return options[which].letter != 0 ? options[which].letter : HELP + 1 + (int) which;
}

void
read_options(const command_line *line, const command_option *options)
{
	struct option names[MOST_OPTIONS + 2] = {{"help", no_argument, NULL, HELP}};
	char		letters[2 * MOST_OPTIONS + 2] = ":";
	size_t		i;
	int			found;

	for (i = 0; options[i].name != NULL; i++)
	{
		struct option *name = &names[i + 1];

		name->name = options[i].name;
		name->has_arg = options[i].take != option_flag ? required_argument : no_argument;
		name->val = value_of(options, i);
		if (options[i].letter != 0)
			sprintf(letters + strlen(letters), "%c%s", options[i].letter, options[i].take != option_flag ? ":" : "");
	}
	opterr = 0;
	while ((found = getopt_long(line->argc, line->argv, letters, names, NULL)) != -1)
	{
		if (found == HELP || (found == '?' && optopt == 'h'))
		{
			fputs(line->help, stdout);
			output_flush();
			exit(STATUS_YES);
		}
		if (found == '?')
			refuse_option(line, "unknown option", "");
		if (found == ':')
			refuse_option(line, "option", " needs an argument");
		for (i = 0; value_of(options, i) != found; i++)
			;
		options[i].take(&options[i], optarg);
	}
}

void
usage_error(const command_line *line, const char *problem)
{
	fail("%s; see \"bloomfilter %s --help\"", problem, line->command);
}

const char *
only_operand(const command_line *line, const char *what)
{
	if (optind >= line->argc)
		fail("no %s given; see \"bloomfilter %s --help\"", what, line->command);
	if (optind + 1 < line->argc)
		fail("unexpected argument \"%s\"; see \"bloomfilter %s --help\"",
			 line->argv[optind + 1], line->command);
	return line->argv[optind];
}
