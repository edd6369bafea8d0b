/*
 * options.c
 *	  WITH (n = ..., p = ..., seed = ...) of CREATE INDEX.
 *
 * PostgreSQL has no options of 64 bits: n and seed are read from text.
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
	int			n;				/* offset of a text, as seed is */
	int			seed;
	double		p;
} StoredOptions;

static relopt_kind options_kind;

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
	if (end == text || *end != '\0' || errno != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for option \"%s\" of a bloomfilter index: %s", name, text),
				 errhint("It is a whole number of 64 bits.")));
	return value;
}

static uint64
read_capacity(const char *text)
{
	if (*text != '\0')
		bfpg_check_capacity(read_number("n", text));
	return (uint64) read_number("n", text);
}

/* The text of an option, empty where it is not given. */
static const char *
stored_text(const StoredOptions *stored, int offset)
{
	return offset == 0 ? "" : (const char *) stored + offset;
}

static BfpgLiveOptions
read_options(const StoredOptions *stored)
{
	bfpg_check_rate(stored->p);
	return (BfpgLiveOptions) {
		.n = read_capacity(stored_text(stored, stored->n)),
		.p = stored->p,
		.seed = (uint64) read_number("seed", stored_text(stored, stored->seed))
	};
}

void
bfpg_live_options_init(void)
{
	options_kind = add_reloption_kind();
	add_string_reloption(options_kind, "n", "Number of keys to size the filter for", "", NULL, AccessExclusiveLock);
	add_real_reloption(options_kind, "p", "False-positive rate at n keys", DEFAULT_RATE, 0, 1, AccessExclusiveLock);
	add_string_reloption(options_kind, "seed", "Seed of the keys' hashes", "", NULL, AccessExclusiveLock);
}

bytea *
bfpg_live_parse_options(Datum options, bool validate)
{
	static const relopt_parse_elt table[] = {
		{"n", RELOPT_TYPE_STRING, offsetof(StoredOptions, n)},
		{"p", RELOPT_TYPE_REAL, offsetof(StoredOptions, p)},
		{"seed", RELOPT_TYPE_STRING, offsetof(StoredOptions, seed)},
	};
	StoredOptions *stored = build_reloptions(options, validate, options_kind, sizeof(StoredOptions), table, lengthof(table));

	if (validate && stored != NULL)
		(void) read_options(stored);
	return (bytea *) stored;
}

BfpgLiveOptions
bfpg_live_options(Relation index)
{
	const StoredOptions *stored = (const StoredOptions *) index->rd_options;

	return stored == NULL ? (BfpgLiveOptions) {0, DEFAULT_RATE, 0} : read_options(stored);
}
