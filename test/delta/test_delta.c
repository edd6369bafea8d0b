/*
 * test_delta.c
 *	  A delta gives back the new filter, byte for byte, or an error.
 */
#include <stdlib.h>
#include <string.h>

#include "bf_bytes.h"
#include "bf_delta.h"
#include "bf_delta_frame.h"
#include "bf_hash.h"
#include "make_filters.h"
#include "files.h"
#include "tap.h"
#include "tsv.h"

#define KEYS 20000

/* A delta in memory. */
typedef struct delta
{
	uint8_t    *bytes;
	size_t		length;
} delta;

static delta
make_delta(const bloomfilter *old_filter, const bloomfilter *new_filter)
{
	delta		result;
	void	   *bytes;

	need(bloomfilter_diff(old_filter, new_filter, &bytes, &result.length, NULL) == BLOOMFILTER_OK, "diff");
	result.bytes = bytes;
	return result;
}

static bool
gives(const bloomfilter *old_filter, const delta *d, const bloomfilter *wanted)
{
	bloomfilter *result = NULL;
	bool		good = bloomfilter_apply(old_filter, d->bytes, d->length, &result, NULL) == BLOOMFILTER_OK &&
		equal_bytes(result, wanted);

	bloomfilter_close(result);
	return good;
}

static uint64_t
bound_of(const bloomfilter *filter)
{
	const void *bytes;
	size_t		length;
	bf_header	header;

	bloomfilter_get_bytes(filter, 0, &bytes, &length);
	need(bf_header_read(bytes, length, &header) == BF_OK, "header");
	return bfd_diff_bound(&header);
}

/* With a share of the keys replaced by others. */
static void
check_round_trip(int64_t replaced)
{
	bloomfilter *a = make_range(KEYS, 1, 1, KEYS);
	bloomfilter *b = make_range(KEYS, 1, 1 + replaced, KEYS + replaced);
	delta		there = make_delta(a, b);
	delta		back = make_delta(b, a);
	bloomfilter_delta_info info;
	bloomfilter_info filter;

	ok(gives(a, &there, b), "%ld keys replaced, there", (long) replaced);
	ok(gives(b, &back, a), "%ld keys replaced, back", (long) replaced);
	ok(there.length <= bound_of(b), "within the bound");
	need(bloomfilter_get_delta_info(there.bytes, there.length, &info, sizeof info) == BLOOMFILTER_OK, "info");
	bloomfilter_get_info(a, &filter, sizeof filter);
	ok(info.old_checksum == filter.checksum, "info: old checksum");
	bloomfilter_get_info(b, &filter, sizeof filter);
	ok(info.new_checksum == filter.checksum && info.new_bytes == filter.total_bytes, "info: new checksum and length");
	bloomfilter_free(there.bytes);
	bloomfilter_free(back.bytes);
	bloomfilter_close(a);
	bloomfilter_close(b);
}

static void
check_to_and_from_nothing(void)
{
	bloomfilter *empty = make_range(KEYS, 1, 1, 0);
	bloomfilter *full = make_range(KEYS, 1, 1, KEYS);
	delta		there = make_delta(empty, full);
	delta		back = make_delta(full, empty);
	delta		none = make_delta(full, full);

	ok(gives(empty, &there, full), "from an empty filter");
	ok(gives(full, &back, empty), "to an empty filter");
	ok(gives(full, &none, full), "to the same filter");
	ok(none.length < 128, "which takes %zu bytes", none.length);
	bloomfilter_free(there.bytes);
	bloomfilter_free(back.bytes);
	bloomfilter_free(none.bytes);
	bloomfilter_close(empty);
	bloomfilter_close(full);
}

static int
apply_code(const bloomfilter *base, const delta *d)
{
	bloomfilter *result = NULL;
	int			code = bloomfilter_apply(base, d->bytes, d->length, &result, NULL);

	bloomfilter_close(result);
	return code;
}

static void
check_misfits(void)
{
	bloomfilter *a = make_range(KEYS, 1, 1, KEYS);
	bloomfilter *b = make_range(KEYS, 1, 2, KEYS);
	bloomfilter *small = make_range(KEYS / 2, 1, 2, KEYS);
	bloomfilter *set = make_range(KEYS, 2, 1, KEYS);
	delta		d = make_delta(a, b);
	void	   *bytes = NULL;
	size_t		length;

	same(apply_code(b, &d), BLOOMFILTER_ERR_DELTA_BASE, "not to its result");
	same(apply_code(small, &d), BLOOMFILTER_ERR_DELTA_BASE, "not to a filter of another size");
	same(apply_code(set, &d), BLOOMFILTER_ERR_ARGUMENT, "not to a set");
	same(bloomfilter_diff(a, small, &bytes, &length, NULL), BLOOMFILTER_ERR_INCOMPATIBLE, "no delta between sizes");
	same(bloomfilter_diff(set, a, &bytes, &length, NULL), BLOOMFILTER_ERR_ARGUMENT, "no delta from a set");
	bloomfilter_free(d.bytes);
	bloomfilter_close(a);
	bloomfilter_close(b);
	bloomfilter_close(small);
	bloomfilter_close(set);
}

/* Gives a changed delta the checksum that belongs to it. */
static void
reseal(const delta *d)
{
	bf_store_le(d->bytes + d->length - 8, 8, bf_hash(d->bytes, d->length - 8, 0));
}

/* Whether an altered delta is refused; nothing else may come of it. */
static bool
refused(const bloomfilter *base, const delta *d)
{
	int			code = apply_code(base, d);

	return code == BLOOMFILTER_ERR_DELTA || code == BLOOMFILTER_ERR_DELTA_BASE ||
		code == BLOOMFILTER_ERR_DELTA_RESULT || code == BLOOMFILTER_ERR_INCOMPATIBLE;
}

static void
check_truncated(const bloomfilter *base, const delta *d)
{
	size_t		length;
	int			accepted = 0;

	for (length = 0; length < d->length; length++)
	{
		delta		cut;

		cut.bytes = malloc(length > 0 ? length : 1);
		cut.length = length;
		need(cut.bytes != NULL, "memory");
		memcpy(cut.bytes, d->bytes, length);
		accepted += !refused(base, &cut);
		if (length >= 8)
		{
			reseal(&cut);
			accepted += !refused(base, &cut);
		}
		free(cut.bytes);
	}
	same(accepted, 0, "cut off anywhere, with a wrong and a right checksum");
}

static void
check_flipped(const bloomfilter *base, const delta *d)
{
	delta		changed = {malloc(d->length), d->length};
	uint64_t	bit;
	int			accepted = 0;

	need(changed.bytes != NULL, "memory");
	for (bit = 0; bit < d->length * 8; bit++)
	{
		memcpy(changed.bytes, d->bytes, d->length);
		changed.bytes[bit / 8] ^= (uint8_t) (1u << bit % 8);
		accepted += !refused(base, &changed);
		if (bit / 8 >= d->length - 8)
			continue;
		/* Of the payload, zstd may leave bits unused; then the result is right. */
		reseal(&changed);
		if (bit / 8 < BFD_HEADER_BYTES)
			accepted += !refused(base, &changed);
		else
			(void) apply_code(base, &changed);
	}
	same(accepted, 0, "each bit flipped, with a wrong and a right checksum");
	free(changed.bytes);
}

/* A delta with another payload, in a frame of zstd, and a raw length that fits. */
static int
code_of_payload(const bloomfilter *base, const delta *d, const uint8_t *payload,
				size_t length, uint64_t raw_length)
{
	size_t		room = ZSTD_compressBound(length);
	delta		forged = {malloc(BFD_HEADER_BYTES + room + 8), 0};
	int			code;
	size_t		packed;

	need(forged.bytes != NULL, "memory");
	memcpy(forged.bytes, d->bytes, BFD_HEADER_BYTES);
	bf_store_le(forged.bytes + BFD_AT_RAW_LENGTH, 8, raw_length);
	packed = ZSTD_compress(forged.bytes + BFD_HEADER_BYTES, room, payload, length, 1);
	need(!ZSTD_isError(packed), "compressed");
	forged.length = BFD_HEADER_BYTES + packed + 8;
	reseal(&forged);
	code = apply_code(base, &forged);
	free(forged.bytes);
	return code;
}

static void
check_payloads(const bloomfilter *base, const delta *d)
{
	uint64_t	stated = bf_load_le(d->bytes + BFD_AT_RAW_LENGTH, 8);
	size_t		length = (size_t) stated;
	size_t		bomb_length = (size_t) 64 * 1024 * 1024;
	uint8_t    *bomb = calloc(1, bomb_length);

	need(bomb != NULL && length < bomb_length, "memory");
	same(code_of_payload(base, d, bomb, length, stated), BLOOMFILTER_ERR_DELTA_RESULT, "no bits at all");
	bomb[length / 2] = 4;
	same(code_of_payload(base, d, bomb, length, stated), BLOOMFILTER_ERR_DELTA_RESULT, "other bits than promised");
	same(code_of_payload(base, d, bomb, 0, stated), BLOOMFILTER_ERR_DELTA, "nothing");
	same(code_of_payload(base, d, bomb, length - 1, stated), BLOOMFILTER_ERR_DELTA, "less than stated");
	same(code_of_payload(base, d, bomb, length + 1, stated), BLOOMFILTER_ERR_DELTA, "more than stated");
	same(code_of_payload(base, d, bomb, bomb_length, stated), BLOOMFILTER_ERR_DELTA, "a bomb, stopped at the stated length");
	same(code_of_payload(base, d, bomb, length - 1, stated - 1), BLOOMFILTER_ERR_DELTA, "a stated length below the filter's");
	same(code_of_payload(base, d, bomb, length + 1, stated + 1), BLOOMFILTER_ERR_DELTA, "a stated length beyond the filter's");
	free(bomb);
}

/* A frame that wants a window of 2^27 bytes is refused, not given memory. */
static void
check_window(const bloomfilter *base, const delta *d)
{
	/* the last block, of one byte repeated as often as the filter has bytes */
	uint64_t	block = bf_load_le(d->bytes + BFD_AT_RAW_LENGTH, 8) << 3 | 3;
	uint8_t		frame[] = {
		0x28, 0xb5, 0x2f, 0xfd, 0x00, (27 - 10) << 3,
		(uint8_t) block, (uint8_t) (block >> 8), (uint8_t) (block >> 16), 0x05
	};
	delta		forged = {malloc(BFD_HEADER_BYTES + sizeof frame + 8), BFD_HEADER_BYTES + sizeof frame + 8};

	need(forged.bytes != NULL, "memory");
	memcpy(forged.bytes, d->bytes, BFD_HEADER_BYTES);
	memcpy(forged.bytes + BFD_HEADER_BYTES, frame, sizeof frame);
	reseal(&forged);
	same(apply_code(base, &forged), BLOOMFILTER_ERR_DELTA, "a window of 128 MB");
	forged.bytes[BFD_HEADER_BYTES + 5] = (20 - 10) << 3;
	reseal(&forged);
	same(apply_code(base, &forged), BLOOMFILTER_ERR_DELTA_RESULT, "the same frame with a window of 1 MB is read");
	free(forged.bytes);
}

/* The reasons in the order of the checks. */
static void
check_reasons(const delta *d)
{
	static const struct
	{
		size_t		at;
		bool		resealed;
		bfd_status	status;
	}			cases[] = {
		{0, true, BFD_BAD_MAGIC}, {4, true, BFD_BAD_VERSION}, {5, true, BFD_BAD_METHOD},
		{6, true, BFD_BAD_RESERVED}, {100, false, BFD_BAD_CHECKSUM}, {16, true, BFD_BAD_HEADER},
		{24, true, BFD_BAD_HEADER}, {30, true, BFD_BAD_HEADER}, {95, true, BFD_BAD_PAYLOAD}
	};
	size_t		i;

	for (i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		delta		changed = {malloc(d->length), d->length};
		bfd_info	info;
		bfd_status	status;

		need(changed.bytes != NULL, "memory");
		memcpy(changed.bytes, d->bytes, d->length);
		changed.bytes[cases[i].at] ^= 0x40;
		if (cases[i].resealed)
			reseal(&changed);
		status = bfd_read(changed.bytes, changed.length, NULL, &info);
		same(status, cases[i].status, "byte %zu changed: %s", cases[i].at, bfd_status_text(status));
		free(changed.bytes);
	}
}

/* What the tick and the sink of a diff are asked. */
static int	ticks;

static void
count_tick(void)
{
	ticks++;
}

static void *
allocate(void *context, size_t size)
{
	*(size_t *) context += size;
	return malloc(size);
}

static void
release(void *context, void *memory)
{
	(void) context;
	free(memory);
}

static bool
refuse(void *context, const void *bytes, size_t length)
{
	int		   *pieces = context;

	(void) bytes;
	(void) length;
	return (*pieces)-- > 0;
}

static bool
swallow(void *context, const void *bytes, size_t length)
{
	(void) bytes;
	*(size_t *) context += length;
	return true;
}

static void
check_limits(void)
{
	uint64_t	n = 10000000;
	bloomfilter *a = make_range(n, 1, 1, 1000);
	bloomfilter *b = make_range(n, 1, 500, 1500);
	size_t		allocated = 0;
	size_t		written = 0;
	int			pieces;
	bf_header	headers[2];
	bfd_filter	filters[2];
	bfd_allocator allocator = {allocate, release, NULL};
	bfd_sink	sink = {swallow, NULL};
	const void *bytes;
	size_t		length;

	allocator.context = &allocated;
	sink.context = &written;
	bloomfilter_get_bytes(a, 0, &bytes, &length);
	need(bf_header_read(bytes, length, &headers[0]) == BF_OK, "header");
	filters[0].header = &headers[0];
	filters[0].blocks = (const uint8_t *) bytes + BF_HEADER_BYTES;
	bloomfilter_get_bytes(b, 0, &bytes, &length);
	need(bf_header_read(bytes, length, &headers[1]) == BF_OK, "header");
	filters[1].header = &headers[1];
	filters[1].blocks = (const uint8_t *) bytes + BF_HEADER_BYTES;
	same(bfd_diff(filters[0], filters[1], &allocator, count_tick, &sink), BFD_OK, "a delta of 12 MB filters");
	ok(ticks >= 6, "calls its tick: %d", ticks);
	ok(allocated < 3000000, "takes %zu bytes of memory", allocated);
	sink.write = refuse;
	sink.context = &pieces;
	for (pieces = 0; pieces < 3; pieces++)
	{
		int			before = pieces;

		same(bfd_diff(filters[0], filters[1], &allocator, NULL, &sink), BFD_SINK_FAILED, "a sink that fails after %d pieces", before);
		pieces = before;
	}
	bloomfilter_close(a);
	bloomfilter_close(b);
}

/* ------------------------------------------------------------------------
 * The golden file
 * ------------------------------------------------------------------------ */

static uint8_t *
bytes_of(const tsv *table, const char *column, size_t *length)
{
	const char *hex = tsv_text(table, column);
	uint8_t    *bytes;

	*length = strcmp(hex, "-") == 0 ? 0 : strlen(hex) / 2;
	bytes = malloc(*length + 1);
	need(bytes != NULL, "memory");
	from_hex(hex, *length * 2, bytes);
	return bytes;
}

static void
check_row(const tsv *table)
{
	/* in the order of bfd_status */
	static const char *const words[] = {
		"-", "memory", "sink", "geometry", "length", "magic", "version", "method", "reserved", "checksum",
		"header", "base", "payload", "result"
	};
	const char *name = tsv_text(table, "name");
	size_t		length[3];
	uint8_t    *old_bytes = bytes_of(table, "old_hex", &length[0]);
	uint8_t    *bytes = bytes_of(table, "delta_hex", &length[1]);
	uint8_t    *new_bytes = bytes_of(table, "new_hex", &length[2]);
	uint8_t    *result = malloc(length[0]);
	bf_header	old_header;
	bf_header	new_header;
	bfd_filter	old_filter = {&old_header, old_bytes + BF_HEADER_BYTES};
	size_t		taken = 0;
	bfd_allocator memory = {allocate, release, &taken};
	bfd_status	status;

	need(result != NULL && bf_parse(old_bytes, length[0], NULL, &old_header) == BF_OK, "an old filter");
	status = bfd_apply(old_filter, bytes, length[1], &memory, NULL, result, &new_header);
	ok(strcmp(words[status], tsv_text(table, "word")) == 0, "delta %s: %s", name, words[status]);
	ok(taken < 4 * 1024 * 1024 + 2 * ((size_t) 1 << 23), "which took %zu bytes", taken);
	if (status == BFD_OK)
		ok(length[2] == length[0] && memcmp(result, new_bytes, length[0]) == 0, "result of %s", name);
	free(old_bytes);
	free(bytes);
	free(new_bytes);
	free(result);
}

static void
check_golden_file(void)
{
	tsv		   *table = tsv_open("deltas.tsv");

	while (tsv_next(table))
		check_row(table);
	tsv_close(table);
}

int
main(void)
{
	bloomfilter *a = make_range(300, 1, 1, 300);
	bloomfilter *b = make_range(300, 1, 6, 303);
	delta		d = make_delta(a, b);

	check_round_trip(0);
	check_round_trip(1);
	check_round_trip(KEYS / 1000);
	check_round_trip(KEYS / 100);
	check_round_trip(KEYS / 10);
	check_round_trip(KEYS / 2);
	check_round_trip(KEYS);
	check_to_and_from_nothing();
	check_misfits();
	check_reasons(&d);
	check_truncated(a, &d);
	check_flipped(a, &d);
	check_payloads(a, &d);
	check_window(a, &d);
	check_limits();
	check_golden_file();
	bloomfilter_free(d.bytes);
	bloomfilter_close(a);
	bloomfilter_close(b);
	return tap_done();
}
