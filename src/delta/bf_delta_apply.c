/*
 * bf_delta_apply.c
 *	  Applying a delta.
 *
 * The result has the old filter's size, which is known before the delta is read:
 * nothing in the delta decides how much memory is taken.  Decompression goes
 * through pieces of a fixed size and stops where more comes than was stated.
 * The result is checked like any filter that comes from outside.
 */
#include <string.h>

#include "bf_delta_frame.h"
#include "bf_filter.h"

/* What is being applied, and where it has come to. */
typedef struct apply_state
{
	bfd_info	info;
	uint8_t    *blocks;			/* of the result, the old ones at first */
	uint64_t	done;			/* bytes of payload applied */
	ZSTD_DCtx  *zstd;
	uint8_t    *raw;			/* BFD_PIECE_BYTES */
} apply_state;

/* Applies the next bytes of the payload. */
static bool
apply_piece(apply_state *state, size_t length)
{
	uint8_t    *target = state->blocks + state->done;
	size_t		i;

	if (length > state->info.raw_length - state->done)
		return false;
	state->done += length;
	for (i = 0; i < length; i++)
		target[i] ^= state->raw[i];
	return true;
}

/* Decompresses and applies the payload, which must be one frame and no more. */
static bfd_status
apply_payload(apply_state *state, const uint8_t *payload, size_t length,
			  bf_tick tick)
{
	ZSTD_inBuffer in = {payload, length, 0};
	size_t		left;

	do
	{
		ZSTD_outBuffer out = {state->raw, BFD_PIECE_BYTES, 0};
		size_t		before = in.pos;

		if (tick != NULL)
			tick();
		left = ZSTD_decompressStream(state->zstd, &out, &in);
		if (ZSTD_isError(left))
			return ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation ?
				BFD_NO_MEMORY : BFD_BAD_PAYLOAD;
		if (!apply_piece(state, out.pos))
			return BFD_BAD_PAYLOAD;
		if (left > 0 && out.pos == 0 && in.pos == before)
			return BFD_BAD_PAYLOAD; /* the frame is cut off */
	} while (left > 0);
	if (in.pos != length || state->done != state->info.raw_length)
		return BFD_BAD_PAYLOAD;
	return BFD_OK;
}

static bfd_status
apply_with_memory(apply_state *state, const uint8_t *delta, uint64_t length,
				  const bfd_allocator *allocator, bf_tick tick)
{
	bfd_status	status = BFD_NO_MEMORY;

	state->raw = allocator->allocate(allocator->context, BFD_PIECE_BYTES);
	state->zstd = ZSTD_createDCtx_advanced(bfd_zstd_memory(allocator));
	if (state->raw != NULL && state->zstd != NULL)
	{
		ZSTD_DCtx_setParameter(state->zstd, ZSTD_d_windowLogMax, BFD_MAX_WINDOW_LOG);
		status = apply_payload(state, delta + BFD_HEADER_BYTES,
							   (size_t) (length - BFD_HEADER_BYTES - BFD_CHECKSUM_BYTES),
							   tick);
	}
	ZSTD_freeDCtx(state->zstd);
	allocator->release(allocator->context, state->raw);
	return status;
}

/* Copies the old blocks and gives the caller's tick its turns. */
static void
copy_blocks(uint8_t *target, const uint8_t *source, uint64_t length, bf_tick tick)
{
	uint64_t	at = 0;

	while (at < length)
	{
		uint64_t	step = bf_tick_step(length - at, tick);

		memcpy(target + at, source + at, (size_t) step);
		at += step;
	}
}

bfd_status
bfd_apply(bfd_filter old_filter, const void *delta, uint64_t length,
		  const bfd_allocator *allocator, bf_tick tick, uint8_t *result,
		  bf_header *header)
{
	uint64_t	blocks_bytes = bf_blocks_bytes(old_filter.header);
	apply_state state;
	bfd_status	status;

	memset(&state, 0, sizeof state);
	status = bfd_read(delta, length, tick, &state.info);
	if (status != BFD_OK)
		return status;
	if (state.info.old_checksum != old_filter.header->checksum)
		return BFD_OTHER_BASE;
	if (!bf_compatible(old_filter.header, &state.info.header))
		return BFD_INCOMPATIBLE;
	state.blocks = result + BF_HEADER_BYTES;
	bf_header_copy(&state.info.header, result);
	copy_blocks(state.blocks, old_filter.blocks, blocks_bytes, tick);
	status = apply_with_memory(&state, delta, length, allocator, tick);
	if (status != BFD_OK)
		return status;
	if (bf_parse(result, bf_total_bytes(old_filter.header), tick, header) != BF_OK)
		return BFD_BAD_RESULT;
	return BFD_OK;
}
