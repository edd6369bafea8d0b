/*
 * build.c
 *	  bloomfilter build: a filter of the keys on standard input, or an exact one of two files.
 *
 * The file is byte for byte what SQL builds of the same keys and parameters.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "input.h"

static const char help[] =
"Usage: bloomfilter build [OPTION]... FILE\n"
"       bloomfilter build [OPTION]... --members KEYS --others KEYS FILE\n"
"\n"
"Builds a filter of the lines of standard input and replaces FILE by it in one\n"
"step.\n"
"\n"
"  -n, --capacity N   size it for N different keys; without it, their number is\n"
"                     counted, at 8 bytes of memory for each line or more\n"
"  -p, --rate P       false-positive rate at N keys, at most (default: 0.01)\n"
"  -s, --seed S       seed of the hash (default: 0)\n"
"  -t, --type TYPE    type of the keys (default: text): integer, text, bytea,\n"
"                     uuid, numeric, float, date, timestamp, timestamptz, inet,\n"
"                     macaddr; of rows one for each column: integer,text\n"
"      --copy         lines are as COPY TO STDOUT prints them; NULLs are no keys\n"
"      --parts PARTS  build a set of so many filters, in FILE;\n"
"                     0: as few as can hold N keys; needs -n\n"
"      --members KEYS make it exact: true for each line of this file, and\n"
"      --others KEYS  false for each line of this one\n"
"  -0, --null         keys end with a zero byte, not with a newline\n"
"      --allow-empty  no keys at all are no error; needs -n, or --members\n"
"      --help         print this\n"
"\n"
"Repeated keys count once.  Exit status: 0, or 2 if there was an error; FILE is\n"
"then as before.\n";

typedef struct build_plan
{
	uint64_t	capacity;		/* 0: counted */
	double		rate;
	uint64_t	seed;
	uint64_t	parts;			/* WHOLE: one filter */
	key_feed	feed;			/* of keys into the filter */
	bool		allow_empty;
	const char *members;		/* files of an exact filter's keys, or NULL */
	const char *others;
	const char *path;
} build_plan;

#define WHOLE UINT64_MAX

/* Into a double. */
static void
take_rate(const command_option *option, const char *argument)
{
	char	   *end;
	double		value = strtod(argument, &end);

	if (end == argument || *end != '\0' || !(value > 0 && value < 1))
		fail("--%s must be a rate between 0 and 1, such as 0.01, not \"%s\"", option->name, argument);
	*(double *) option->value = value;
}

/* As SQL prints it (signed) or as readers do (unsigned): the same 64 bits, into a uint64_t. */
static void
take_seed(const command_option *option, const char *argument)
{
	bool		minus = argument[0] == '-';
	char	   *end;
	uint64_t	value;

	errno = 0;
	value = strtoull(argument + minus, &end, 10);
	if (!isdigit((unsigned char) argument[minus]) || *end != '\0' || errno != 0 ||
		(minus && value > (uint64_t) 1 << 63))
		fail("--%s must be a whole number from -2^63 to 2^64 - 1, not \"%s\"", option->name, argument);
	*(uint64_t *) option->value = minus ? 0 - value : value;
}

/* A key_sink. */
static int
add(void *state, const key_batch *batch, size_t *done)
{
	return bloomfilter_builder_add_batch(state, batch->key_type, batch->keys, batch->count, done);
}

static build_plan
read_plan(const command_line *line)
{
	build_plan	plan = {.rate = 0.01, .parts = WHOLE, .feed.types = {1, {BLOOMFILTER_KEY_TEXT}}, .feed.sink = add};
	const command_option options[] = {
		{"capacity", 'n', option_count, &plan.capacity, 1, INT64_MAX},
		{"rate", 'p', take_rate, &plan.rate, 0, 0},
		{"seed", 's', take_seed, &plan.seed, 0, 0},
		{"type", 't', option_types, &plan.feed.types, 0, 0},
		{"copy", 0, option_flag, &plan.feed.copy, 0, 0},
		{"parts", 0, option_count, &plan.parts, 0, BLOOMFILTER_MAX_PARTS},
		{"members", 0, option_text, &plan.members, 0, 0},
		{"others", 0, option_text, &plan.others, 0, 0},
		{"null", '0', option_flag, &plan.feed.null, 0, 0},
		{"allow-empty", 0, option_flag, &plan.allow_empty, 0, 0},
		{NULL, 0, NULL, NULL, 0, 0}
	};

	read_options(line, options);
	plan.path = only_operand(line, "file to write");
	if ((plan.members == NULL) != (plan.others == NULL))
		usage_error(line, "--members and --others go together");
	if (plan.members != NULL && (plan.capacity != 0 || plan.parts != WHOLE))
		usage_error(line, "an exact filter's keys are counted, and it has no parts: leave -n and --parts out");
	if (plan.parts != WHOLE && plan.capacity == 0)
		usage_error(line, "--parts needs -n");
	if (plan.allow_empty && plan.capacity == 0 && plan.members == NULL)
		usage_error(line, "an empty filter needs -n");
	return plan;
}

static bloomfilter_builder *
create_builder(const build_plan *plan)
{
	bloomfilter_builder *builder;
	int			code;

	if (plan->members != NULL)
		code = bloomfilter_builder_create_exact(plan->rate, plan->seed, &builder);
	else
		code = bloomfilter_builder_create(plan->capacity, plan->rate, plan->seed,
										  plan->parts != WHOLE ? (uint32_t) plan->parts : 1, &builder);
	if (code == BLOOMFILTER_ERR_TOO_LARGE && plan->parts == 0)
		fail("the keys need more than the largest set can hold, of %d parts", BLOOMFILTER_MAX_PARTS);
	if (code == BLOOMFILTER_ERR_TOO_LARGE)
		fail("the keys need more than one filter can hold; build a set with %s",
			 plan->parts != WHOLE ? "more --parts" : "--parts 0");
	if (code < 0)
		fail("%s", bloomfilter_strerror(code));
	return builder;
}

static bloomfilter *
finish(bloomfilter_builder *builder, bool exact)
{
	bloomfilter *filter;
	bloomfilter_detail detail;
	int			code = bloomfilter_builder_finish(builder, &filter, &detail);

	if (code == BLOOMFILTER_ERR_TOO_LARGE)
		fail("the keys need more than one filter can hold%s",
			 exact ? "" : "; build a set with -n and --parts 0");
	if (code < 0)
		fail("%s", detail.text);
	bloomfilter_builder_free(builder);
	return filter;
}

static void
warn_of_overflow(const build_plan *plan, const bloomfilter *filter)
{
	bloomfilter_info info = filter_info(filter, -1);

	if (info.over_capacity)
		complain("warning: %s %.0f different keys came, more than -n; the false-positive rate is %.2g, not %.2g",
				 estimate_word(&info), info.estimated_keys, info.estimated_rate, plan->rate);
}

/* Keys of other types with such marks are errors. */
static void
warn_of_marks(const build_plan *plan, const fed_lines *fed)
{
	if (plan->feed.copy || plan->feed.types.type[0] != BLOOMFILTER_KEY_TEXT)
		return;
	if (fed->byte_order_mark)
		complain("warning: the first key begins with a byte order mark, which belongs to it: take the mark from the file (tail -c +4)");
	if (fed->keys > 0 && fed->returns == fed->keys)
		complain("warning: all keys end with a carriage return, which belongs to them: take it from the lines (tr -d '\\r')");
	if (fed->like_nulls > 0)
		complain("warning: %" PRIu64 " keys are \\N, as COPY prints NULL: to read what COPY prints give --copy", fed->like_nulls);
}

/* The keys of a file; more likely a failed program before the pipe than a wish if there are none. */
static void
feed_keys(const build_plan *plan, const char *path, const char *none)
{
	fed_lines	fed = feed_lines(&plan->feed, path);

	if (fed.keys == 0 && none != NULL && !plan->allow_empty)
		fail("no keys %s; if it is to be empty, add --allow-empty%s", none, plan->capacity == 0 && plan->members == NULL ? " and -n" : "");
	warn_of_marks(plan, &fed);
}

exit_status
command_build(int argc, char **argv)
{
	command_line line = {"build", help, argc, argv};
	build_plan	plan = read_plan(&line);
	bloomfilter_builder *builder = create_builder(&plan);
	bloomfilter_detail detail;
	bloomfilter *filter;

	plan.feed.state = builder;
	if (bloomfilter_can_write(plan.path, &detail) < 0)
		fail("%s", detail.text);
	if (plan.members != NULL)
		feed_keys(&plan, plan.members, "in --members");
	else
		feed_keys(&plan, "-", "on standard input");
	if (plan.others != NULL)
	{
		bloomfilter_builder_others(builder);
		feed_keys(&plan, plan.others, NULL);
	}
	filter = finish(builder, plan.members != NULL);
	warn_of_overflow(&plan, filter);
	write_filter(filter, plan.path);
	bloomfilter_close(filter);
	return STATUS_YES;
}
