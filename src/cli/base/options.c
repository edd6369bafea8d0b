/*
 * options.c
 *	  The options of a subcommand, and the numbers in them.
 */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/libbloomfilter.h"
#include "messages.h"
#include "output.h"

/* What getopt_long calls an option that it refuses. */
static const char *
refused_option(const command_line *line, char text[3])
{
	if (optopt > 0 && optopt < OPTION_HELP)
	{
		text[0] = '-';
		text[1] = (char) optopt;
		text[2] = '\0';
		return text;
	}
	return line->argv[optind - 1];
}

static _Noreturn void
refuse_option(const command_line *line)
{
	char		text[3];
	const char *option = refused_option(line, text);

	if (isdigit((unsigned char) option[1]))
		fail("unknown option %s; put -- before keys that begin with a minus",
			 option);
	fail("unknown option %s; see \"bloomfilter %s --help\"", option,
		 line->command);
}

int
next_option(const command_line *line)
{
	char		text[3];
	int			option;

	opterr = 0;
	option = getopt_long(line->argc, line->argv, line->letters, line->names,
						 NULL);
	if (option == '?' && optopt == 'h')
		option = OPTION_HELP;
	if (option == '?')
		refuse_option(line);
	if (option == ':')
		fail("option %s needs an argument; see \"bloomfilter %s --help\"",
			 refused_option(line, text), line->command);
	if (option == OPTION_HELP)
	{
		output_bytes(line->help, strlen(line->help));
		output_flush();
		exit(STATUS_YES);
	}
	return option;
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

bool
is_count(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	char	   *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	return isdigit((unsigned char) text[0]) && *end == '\0' && errno == 0 && *value >= min && *value <= max;
}

uint64_t
option_count(const char *name, const char *text, uint64_t min, uint64_t max)
{
	uint64_t	value;

	if (!is_count(text, min, max, &value))
		fail("%s must be a whole number from %llu to %llu, not \"%s\"", name,
			 (unsigned long long) min, (unsigned long long) max, text);
	return value;
}

double
option_seconds(const char *name, const char *text, double min, double max)
{
	char	   *end;
	double		value = strtod(text, &end);

	if (end == text || *end != '\0' || !(value >= min && value <= max))
		fail("%s must be a number of seconds from %g to %g, not \"%s\"", name, min, max, text);
	return value;
}

double
option_rate(const char *name, const char *text)
{
	char	   *end;
	double		value = strtod(text, &end);

	if (end == text || *end != '\0' || !(value > 0 && value < 1))
		fail("%s must be a rate between 0 and 1, such as 0.01, not \"%s\"", name,
			 text);
	return value;
}

uint64_t
option_seed(const char *name, const char *text)
{
	bool		minus = text[0] == '-';
	char	   *end;
	uint64_t	value;

	errno = 0;
	value = strtoull(text + minus, &end, 10);
	if (!isdigit((unsigned char) text[minus]) || *end != '\0' || errno != 0 ||
		(minus && value > (uint64_t) 1 << 63))
		fail("%s must be a whole number from -2^63 to 2^64 - 1, not \"%s\"",
			 name, text);
	return minus ? 0 - value : value;
}

int
option_text_type(const char *text)
{
	int			type = bloomfilter_text_type_of_name(text);

	if (type < 0)
		fail("unknown key type \"%s\"; one of integer, text, bytea, uuid, numeric, float, real, date, timestamp, timestamptz, inet, macaddr",
			 text);
	return type;
}
