/*
 * bf_delta_diff.c
 *	  Writing a delta.
 *
 * All goes through pieces of a fixed size, from the filters to zstd to the sink.
 */
#include <string.h>

#include "bf_bytes.h"
#include "bf_delta_frame.h"
#include "bf_filter.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/*
 * Changed bits lie at random, which leaves little to win beside entropy coding:
 * level 9 would leave about a tenth less, at a multiple of the time.
 */
#define COMPRESSION_LEVEL 1

/* What is being written, and where it has come to. */
typedef struct diff_state
{
	bfd_filter	old_filter;
	bfd_filter	new_filter;
	bf_tick		tick;
	const bfd_sink *sink;
	uint64_t	at;				/* bytes of blocks done */
	XXH64_state_t checksum;
	ZSTD_CCtx  *zstd;
	uint8_t    *raw;			/* BFD_PIECE_BYTES of payload */
	uint8_t    *packed;			/* the same of compressed payload */
} diff_state;

uint64_t
bfd_diff_bound(const bf_header *header)
{
	uint64_t	raw = bf_blocks_bytes(header);

	return BFD_HEADER_BYTES + ZSTD_compressBound((size_t) raw) +
		raw / BFD_PIECE_BYTES * 8 + BFD_CHECKSUM_BYTES + 64;
}

/* The next piece of the payload; 0 at its end. */
static size_t
next_piece(diff_state *state)
{
	const uint8_t *a = state->old_filter.blocks + state->at;
	const uint8_t *b = state->new_filter.blocks + state->at;
	uint64_t	left = bf_blocks_bytes(state->new_filter.header) - state->at;
	size_t		length = left < BFD_PIECE_BYTES ? (size_t) left : BFD_PIECE_BYTES;
	size_t		i;

	if (state->tick != NULL && state->at % BF_TICK_BYTES == 0)
		state->tick();
	for (i = 0; i < length; i++)
		state->raw[i] = a[i] ^ b[i];
	state->at += length;
	return length;
}

static bool
put(diff_state *state, const uint8_t *bytes, size_t length)
{
	XXH64_update(&state->checksum, bytes, length);
	return state->sink->write(state->sink->context, bytes, length);
}

static bool
put_header(diff_state *state)
{
	uint8_t		bytes[BFD_HEADER_BYTES] = {0};
	const bf_header *header = state->new_filter.header;

	memcpy(bytes + BFD_AT_MAGIC, bfd_magic, sizeof bfd_magic);
	bytes[BFD_AT_VERSION] = BFD_VERSION;
	bytes[BFD_AT_METHOD] = BFD_METHOD_XOR;
	bf_store_le(bytes + BFD_AT_OLD_CHECKSUM, 8, state->old_filter.header->checksum);
	bf_store_le(bytes + BFD_AT_NEW_CHECKSUM, 8, header->checksum);
	bf_header_copy(header, bytes + BFD_AT_HEADER);
	bf_store_le(bytes + BFD_AT_RAW_LENGTH, 8, bf_blocks_bytes(header));
	return put(state, bytes, sizeof bytes);
}

static bool
put_checksum(diff_state *state)
{
	uint8_t		bytes[BFD_CHECKSUM_BYTES];

	bf_store_le(bytes, 8, XXH64_digest(&state->checksum));
	return state->sink->write(state->sink->context, bytes, sizeof bytes);
}

/* Compresses a piece (the last one: length 0) and puts out what comes of it. */
static bfd_status
compress_piece(diff_state *state, size_t length)
{
	ZSTD_EndDirective mode = length == 0 ? ZSTD_e_end : ZSTD_e_continue;
	ZSTD_inBuffer in = {state->raw, length, 0};
	size_t		left;

	do
	{
		ZSTD_outBuffer out = {state->packed, BFD_PIECE_BYTES, 0};

		left = ZSTD_compressStream2(state->zstd, &out, &in, mode);
		if (ZSTD_isError(left))
			return BFD_NO_MEMORY;
		if (out.pos > 0 && !put(state, state->packed, out.pos))
			return BFD_SINK_FAILED;
	} while (mode == ZSTD_e_end ? left > 0 : in.pos < in.size);
	return BFD_OK;
}

static bfd_status
write_delta(diff_state *state)
{
	bfd_status	status;
	size_t		length;

	if (!put_header(state))
		return BFD_SINK_FAILED;
	do
	{
		length = next_piece(state);
		status = compress_piece(state, length);
		if (status != BFD_OK)
			return status;
	} while (length > 0);
	return put_checksum(state) ? BFD_OK : BFD_SINK_FAILED;
}

bfd_status
bfd_diff(bfd_filter old_filter, bfd_filter new_filter,
		 const bfd_allocator *allocator, bf_tick tick, const bfd_sink *sink)
{
	diff_state	state = {old_filter, new_filter, tick, sink, 0, {0}, NULL, NULL, NULL};
	bfd_status	status = BFD_NO_MEMORY;

	if (!bf_compatible(old_filter.header, new_filter.header))
		return BFD_INCOMPATIBLE;
	XXH64_reset(&state.checksum, 0);
	state.raw = allocator->allocate(allocator->context, 2 * BFD_PIECE_BYTES);
	state.zstd = ZSTD_createCCtx_advanced(bfd_zstd_memory(allocator));
	if (state.raw != NULL && state.zstd != NULL)
	{
		state.packed = state.raw + BFD_PIECE_BYTES;
		ZSTD_CCtx_setParameter(state.zstd, ZSTD_c_compressionLevel, COMPRESSION_LEVEL);
		status = write_delta(&state);
	}
	ZSTD_freeCCtx(state.zstd);
	allocator->release(allocator->context, state.raw);
	return status;
}
