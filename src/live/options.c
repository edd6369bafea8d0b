/*
 * options.c
 *	  WITH (n = ..., p = ..., seed = ...) of CREATE INDEX.
 *
 * PostgreSQL has no options of 64 bits, and shows limits of numbers with six digits
 * after the point: all are read from text.
 */
#include "postgres.h"

#include "access/reloptions.h"

#include "live/am.h"
#include "base/report.h"

#define DEFAULT_RATE 0.01

/* The parsed options as PostgreSQL lays them out. */
typedef struct StoredOptions
{
	int32		vl_len_;
	int			n;				/* offsets of texts */
	int			p;
	int			seed;
} StoredOptions;

static relopt_kind options_kind;

static void
check_read(const char *name, const char *text, const char *end, const char *hint)
{
	if (end == text || *end != '\0' || errno != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for option \"%s\" of a bloomfilter index: %s", name, text),
				 errhint("%s", hint)));
}

/* An option without text is as if it weren't given: 0. */
static int64
read_number(const char *name, const char *text)
{
	char	   *end;
	int64		value;

	if (*text == '\0')
		return 0;
	errno = 0;
	value = strtoll(text, &end, 10);
	check_read(name, text, end, "It is a whole number of 64 bits.");
	return value;
}

static double
read_rate(const char *text)
{
	char	   *end;
	double		rate;

	if (*text == '\0')
		return DEFAULT_RATE;
	errno = 0;
	rate = strtod(text, &end);
	check_read("p", text, end, "It is a false-positive rate between 0 and 1, for example 0.01.");
	bfpg_check_rate(rate);
	return rate;
}

static void
check_p(const char *text)
{
	(void) read_rate(text);
}

static void
check_n(const char *text)
{
	if (*text != '\0')
		bfpg_check_capacity(read_number("n", text));
}

static void
check_seed(const char *text)
{
	(void) read_number("seed", text);
}

void
bfpg_live_options_init(void)
{
	options_kind = add_reloption_kind();
	add_string_reloption(options_kind, "n", "Number of keys to size the filter for", "", check_n, AccessExclusiveLock);
	add_string_reloption(options_kind, "p", "False-positive rate at n keys", "", check_p, AccessExclusiveLock);
	add_string_reloption(options_kind, "seed", "Seed of the keys' hashes", "", check_seed, AccessExclusiveLock);
}

bytea *
bfpg_live_parse_options(Datum options, bool validate)
{
	static const relopt_parse_elt table[] = {
		{"n", RELOPT_TYPE_STRING, offsetof(StoredOptions, n)},
		{"p", RELOPT_TYPE_STRING, offsetof(StoredOptions, p)},
		{"seed", RELOPT_TYPE_STRING, offsetof(StoredOptions, seed)},
	};

	return (bytea *) build_reloptions(options, validate, options_kind,
									  sizeof(StoredOptions), table, lengthof(table));
}

/* The text of an option, empty where it is not given. */
static const char *
stored_text(StoredOptions *stored, int offset)
{
	return offset == 0 ? "" : (const char *) stored + offset;
}

BfpgLiveOptions
bfpg_live_options(Relation index)
{
	StoredOptions *stored = (StoredOptions *) index->rd_options;

	if (stored == NULL)
		return (BfpgLiveOptions) {0, DEFAULT_RATE, 0};
	return (BfpgLiveOptions) {
		.n = (uint64) read_number("n", stored_text(stored, stored->n)),
		.p = read_rate(stored_text(stored, stored->p)),
		.seed = (uint64) read_number("seed", stored_text(stored, stored->seed))
	};
}
