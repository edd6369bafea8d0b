/*
 * sort_cost.c
 *	  Sorts hashes that were chosen to be costly, for an instruction counter.
 *
 *	  sort_cost KIND COUNT      counts only what is below bf_hashlist_unique
 *	  sort_cost                 names the kinds
 */
#include <string.h>

#include "bf_hashlist.h"
#include "tap.h"
#include "support.h"

/* Hash number i; each kind is a way to meet the sort where it hurts. */
typedef uint64_t (*maker) (uint64_t i, uint64_t count, uint64_t *state);

static uint64_t
make_random(uint64_t i, uint64_t count, uint64_t *state)
{
	(void) i;
	(void) count;
	return next_random(state);
}

static uint64_t
make_rising(uint64_t i, uint64_t count, uint64_t *state)
{
	(void) state;
	return i * (UINT64_MAX / count);
}

static uint64_t
make_falling(uint64_t i, uint64_t count, uint64_t *state)
{
	(void) state;
	return (count - i) * (UINT64_MAX / count);
}

static uint64_t
make_equal(uint64_t i, uint64_t count, uint64_t *state)
{
	(void) i;
	(void) count;
	(void) state;
	return 42;
}

/* One bucket in each of the first bytes: every pass but the last is for nothing. */
static uint64_t
make_low_bytes(uint64_t i, uint64_t count, uint64_t *state)
{
	(void) i;
	(void) count;
	return next_random(state) % 65536;
}

/* Two values of each byte. */
static uint64_t
make_two_digits(uint64_t i, uint64_t count, uint64_t *state)
{
	(void) i;
	(void) count;
	return (next_random(state) & UINT64_C(0x0101010101010101)) * 255;
}

/* Groups of so many that differ in the last byte only, in falling order. */
static uint64_t
make_groups(uint64_t i, uint64_t count, uint64_t size)
{
	uint64_t	groups = count / size + 1;
	uint64_t	prefix = (i % groups + 1) * UINT64_C(0x9e3779b97f4a7c15);

	return (prefix & ~UINT64_C(0xff)) | (255 - i / groups % 256);
}

/* Just few enough for the sort by insertion, in the worst order for it. */
static uint64_t
make_insertions(uint64_t i, uint64_t count, uint64_t *state)
{
	(void) state;
	return make_groups(i, count, 47);
}

/* Just too many for it, so that few are distributed byte by byte, in vain. */
static uint64_t
make_deep(uint64_t i, uint64_t count, uint64_t *state)
{
	(void) state;
	return make_groups(i, count, 50);
}

static const struct
{
	const char *name;
	maker		make;
}			kinds[] = {
	{"random", make_random},
	{"rising", make_rising},
	{"falling", make_falling},
	{"equal", make_equal},
	{"low-bytes", make_low_bytes},
	{"two-digits", make_two_digits},
	{"insertions", make_insertions},
	{"deep", make_deep},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

int
main(int argc, char **argv)
{
	uint64_t	state = 5;
	uint64_t	count;
	uint64_t	i;
	uint64_t   *hashes;
	size_t		kind;
	size_t		kept;

	if (argc != 3)
	{
		for (kind = 0; kind < KINDS; kind++)
			puts(kinds[kind].name);
		return 0;
	}
	for (kind = 0; kind < KINDS && strcmp(kinds[kind].name, argv[1]) != 0; kind++)
		;
	if (kind == KINDS)
		return 2;
	count = strtoull(argv[2], NULL, 10);
	hashes = allocate(count * sizeof(uint64_t));
	for (i = 0; i < count; i++)
		hashes[i] = kinds[kind].make(i, count, &state);
	kept = bf_hashlist_unique(hashes, count, NULL);
	for (i = 1; i < kept; i++)
		if (hashes[i - 1] >= hashes[i])
			return 1;
	free(hashes);
	return 0;
}
