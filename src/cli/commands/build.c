/*
 * build.c
 *	  bloomfilter build: a filter of the keys on standard input, or an exact one of two files.
 *
 * The file is byte for byte what SQL builds of the same keys and parameters.
 */
#include "filter.h"
#include "input.h"
#include "options.h"

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
"                     macaddr\n"
"      --parts PARTS  build a set of so many filters, with FILE as its manifest;\n"
"                     0: as few as can hold N keys; needs -n\n"
"      --members KEYS make it exact: true for each line of this file, and\n"
"      --others KEYS  false for each line of this one\n"
"  -0, --null         keys end with a zero byte, not with a newline\n"
"      --allow-empty  no keys at all are no error; needs -n, or --members\n"
"      --no-progress  draw no progress bar on a terminal\n"
"      --help         print this\n"
"\n"
"Repeated keys count once.  FILE - is standard output.  Exit status: 0, or 2\n"
"if there was an error; FILE is then as before.\n";

#define OPTION_PARTS		OPTION_ANY
#define OPTION_NO_PROGRESS	(OPTION_ANY + 1)
#define OPTION_ALLOW_EMPTY	(OPTION_ANY + 2)
#define OPTION_MEMBERS		(OPTION_ANY + 3)
#define OPTION_OTHERS		(OPTION_ANY + 4)

static const struct option names[] = {
	OPTION_HELP_ENTRY,
	{"capacity", required_argument, NULL, 'n'},
	{"rate", required_argument, NULL, 'p'},
	{"seed", required_argument, NULL, 's'},
	{"type", required_argument, NULL, 't'},
	{"parts", required_argument, NULL, OPTION_PARTS},
	{"members", required_argument, NULL, OPTION_MEMBERS},
	{"others", required_argument, NULL, OPTION_OTHERS},
	{"null", no_argument, NULL, '0'},
	{"allow-empty", no_argument, NULL, OPTION_ALLOW_EMPTY},
	{"no-progress", no_argument, NULL, OPTION_NO_PROGRESS},
	{NULL, 0, NULL, 0}
};

typedef struct build_plan
{
	uint64_t	capacity;		/* 0: counted */
	double		rate;
	uint64_t	seed;
	int64_t		parts;			/* -1: one whole filter */
	int			text_type;
	char		delimiter;
	bool		allow_empty;
	bool		progress;
	const char *members;		/* files of an exact filter's keys, or NULL */
	const char *others;
	const char *path;
} build_plan;

static build_plan
read_plan(const command_line *line)
{
	build_plan	plan = {0, 0.01, 0, -1, BLOOMFILTER_KEY_TEXT, '\n', false, true, NULL, NULL, NULL};
	int			option;

	while ((option = next_option(line)) != -1)
		switch (option)
		{
			case 'n':
				plan.capacity = option_count("-n", optarg, 1, INT64_MAX);
				break;
			case 'p':
				plan.rate = option_rate("-p", optarg);
				break;
			case 's':
				plan.seed = option_seed("--seed", optarg);
				break;
			case 't':
				plan.text_type = option_text_type(optarg);
				break;
			case OPTION_PARTS:
				plan.parts = (int64_t) option_count("--parts", optarg, 0, BLOOMFILTER_MAX_PARTS);
				break;
			case OPTION_MEMBERS:
				plan.members = optarg;
				break;
			case OPTION_OTHERS:
				plan.others = optarg;
				break;
			case '0':
				plan.delimiter = '\0';
				break;
			case OPTION_ALLOW_EMPTY:
				plan.allow_empty = true;
				break;
			case OPTION_NO_PROGRESS:
				plan.progress = false;
				break;
		}
	plan.path = only_operand(line, "file to write");
	if ((plan.members == NULL) != (plan.others == NULL))
		usage_error(line, "--members and --others go together");
	if (plan.members != NULL && (plan.capacity != 0 || plan.parts >= 0))
		usage_error(line, "an exact filter's keys are counted, and it has no parts: leave -n and --parts out");
	if (plan.parts >= 0 && plan.capacity == 0)
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
	else if (plan->capacity == 0)
		code = bloomfilter_builder_create_unsized(plan->rate, plan->seed,
												  &builder);
	else if (plan->parts >= 0)
		code = bloomfilter_builder_create_set(plan->capacity, plan->rate,
											  plan->seed,
											  (uint32_t) plan->parts, &builder);
	else
		code = bloomfilter_builder_create(plan->capacity, plan->rate,
										  plan->seed, &builder);
	if (code == BLOOMFILTER_ERR_TOO_LARGE && plan->parts == 0)
		fail("the keys need more than the largest set can hold, of %d parts", BLOOMFILTER_MAX_PARTS);
	if (code == BLOOMFILTER_ERR_TOO_LARGE)
		fail("the keys need more than one filter can hold; build a set with %s",
			 plan->parts > 0 ? "more --parts" : "--parts 0");
	if (code < 0)
		fail("%s", bloomfilter_strerror(code));
	return builder;
}

/* A key_sink. */
static int
add(void *state, const key_batch *batch, const text_line *lines, size_t *done)
{
	bloomfilter_builder *builder = state;

	(void) lines;
	return bloomfilter_builder_add_batch(builder, batch->key_type, batch->keys,
										 batch->count, done);
}

/* path: NULL for standard input. */
static uint64_t
add_all(const build_plan *plan, bloomfilter_builder *builder, const char *path)
{
	progress_bar progress;
	key_feed	feed = {plan->text_type, add, builder, &progress, plan->capacity, NULL};
	line_reader reader;
	uint64_t	lines;

	progress_start(&progress, "build", "keys", plan->progress);
	if (path != NULL)
		line_reader_open(&reader, path, plan->delimiter);
	else
		line_reader_stdin(&reader, plan->delimiter);
	lines = feed_lines(&feed, &reader);
	line_reader_close(&reader);
	progress_end(&progress);
	return lines;
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
		complain("warning: about %.0f different keys came, more than -n; the false-positive rate is %.2g, not %.2g",
				 info.estimated_keys, info.estimated_rate, plan->rate);
}

exit_status
command_build(int argc, char **argv)
{
	command_line line = {"build", help, ":n:p:s:t:0", names, argc, argv};
	build_plan	plan = read_plan(&line);
	bloomfilter_builder *builder = create_builder(&plan);
	bloomfilter *filter;

	check_target(plan.path);
	/* more likely a failed program before the pipe than a wish */
	if (add_all(&plan, builder, plan.members) == 0 && !plan.allow_empty)
		fail("no keys %s; if it is to be empty, add --allow-empty", plan.members != NULL ? "in --members" : "on standard input");
	if (plan.others != NULL)
	{
		bloomfilter_builder_others(builder);
		add_all(&plan, builder, plan.others);
	}
	filter = finish(builder, plan.members != NULL);
	warn_of_overflow(&plan, filter);
	write_filter(filter, plan.path);
	bloomfilter_close(filter);
	return STATUS_YES;
}
