/*
 * test_tick.c
 *	  Long loops call their caller often enough, and may never get back.
 *
 * A tick that does not return leaves by longjmp, as PostgreSQL's errors do.
 */
#include <setjmp.h>
#include <string.h>

#include "bf_bits.h"
#include "bf_hash.h"
#include "bf_hashlist.h"
#include "tap.h"
#include "support.h"

/* Blocks of 7 MiB: they take three ticks and a rest. */
#define BLOCKS			(7 * 1024 * 1024 / 64)
#define LEAST_TICKS		3
#define LIST_HASHES		1000000

static jmp_buf out;
static unsigned ticks;
static unsigned ticks_left;

static void
count_tick(void)
{
	ticks++;
}

static void
jump_tick(void)
{
	if (--ticks_left == 0)
		longjmp(out, 1);
}

/* What the loops work on, made anew for each. */
typedef struct work
{
	filter		f;
	filter		other;
	uint8_t    *bytes;
	uint64_t   *hashes;
} work;

static work
work_new(void)
{
	bf_header	header = shape(BLOCKS, 9, 7);
	work		w = {filter_new(&header), filter_new(&header), NULL, allocate(LIST_HASHES * sizeof *w.hashes)};
	uint64_t	random = 4;
	size_t		i;

	filter_add_integers(&w.f, 0, 1000);
	filter_add_integers(&w.other, 500, 1000);
	w.bytes = filter_bytes(&w.f);
	for (i = 0; i < LIST_HASHES; i++)
		w.hashes[i] = next_random(&random);
	return w;
}

static void
work_free(work *w)
{
	filter_free(&w->f);
	filter_free(&w->other);
	free(w->bytes);
	free(w->hashes);
}

typedef void (*loop) (work *w, bf_tick tick);

static void
count_bits(work *w, bf_tick tick)
{
	bf_count_bits(w->f.blocks, bf_blocks_bytes(&w->f.header), tick);
}

static void
checksum(work *w, bf_tick tick)
{
	bf_checksum(w->bytes, 56, w->f.blocks, bf_blocks_bytes(&w->f.header), tick);
}

static void
parse(work *w, bf_tick tick)
{
	bf_header	header;

	plain_parse(w->bytes, bf_total_bytes(&w->f.header), tick, &header);
}

static void
header_write(work *w, bf_tick tick)
{
	bf_header_write(&w->f.header, w->f.blocks, tick, w->bytes);
}

static void
unite(work *w, bf_tick tick)
{
	bf_union(&w->f.header, w->f.blocks, &w->other.header, w->other.blocks, tick);
}

static void
intersect(work *w, bf_tick tick)
{
	bf_intersect(&w->f.header, w->f.blocks, &w->other.header, w->other.blocks, tick);
}

static void
fold_by_two(work *w, bf_tick tick)
{
	bf_fold(&w->f.header, w->f.blocks, 2, tick);
}

static void
fold_to_one(work *w, bf_tick tick)
{
	bf_fold(&w->f.header, w->f.blocks, BLOCKS, tick);
}

static void
sort_random(work *w, bf_tick tick)
{
	bf_hashlist_unique(w->hashes, LIST_HASHES, tick);
}

static void
sort_alone(work *w, bf_tick tick)
{
	bf_hashlist_sort(w->hashes, LIST_HASHES, tick);
}

static void
sort_equal(work *w, bf_tick tick)
{
	memset(w->hashes, 0x5a, LIST_HASHES * sizeof *w->hashes);
	bf_hashlist_unique(w->hashes, LIST_HASHES, tick);
}

/* Whether the loop leaves at the n-th tick. */
static bool
leaves_at(loop run, unsigned n)
{
	work		w = work_new();
	volatile bool left = true;

	ticks_left = n;
	if (setjmp(out) == 0)
	{
		run(&w, jump_tick);
		left = false;
	}
	work_free(&w);
	return left;
}

static void
test_loop(loop run, const char *name)
{
	work		w = work_new();

	ticks = 0;
	run(&w, count_tick);
	ok(ticks >= LEAST_TICKS, "%s calls tick at least every 2 MiB", name);
	work_free(&w);
	w = work_new();
	run(&w, NULL);
	ok(leaves_at(run, 1) && leaves_at(run, 2),
	   "%s can be left at its first and second tick, and needs no tick", name);
	work_free(&w);
}

/* A list while it is sorted, and whether its first half was so at the last tick. */
static const uint64_t *watched;
static bool half_sorted;

static void
watch_tick(void)
{
	size_t		i = 1;

	while (i < LIST_HASHES && watched[i - 1] <= watched[i])
		i++;
	half_sorted = i >= LIST_HASHES;
}

/* Sorting is done bucket after bucket, so half of the work is left then. */
static void
test_late_ticks(void)
{
	uint64_t   *hashes = allocate(2 * LIST_HASHES * sizeof *hashes);
	uint64_t	random = 4;
	size_t		i;

	for (i = 0; i < 2 * LIST_HASHES; i++)
		hashes[i] = next_random(&random);
	watched = hashes;
	bf_hashlist_unique(hashes, 2 * LIST_HASHES, watch_tick);
	ok(half_sorted, "bf_hashlist_unique calls tick until its last buckets are sorted");
	free(hashes);
}

int
main(void)
{
	test_loop(count_bits, "bf_count_bits");
	test_loop(checksum, "bf_checksum");
	test_loop(parse, "bf_any_parse");
	test_loop(header_write, "bf_header_write");
	test_loop(unite, "bf_union");
	test_loop(intersect, "bf_intersect");
	test_loop(fold_by_two, "bf_fold by 2");
	test_loop(fold_to_one, "bf_fold to one block");
	test_loop(sort_alone, "bf_hashlist_sort");
	test_loop(sort_random, "bf_hashlist_unique of random hashes");
	test_loop(sort_equal, "bf_hashlist_unique of equal hashes");
	test_late_ticks();
	return tap_done();
}
