/*
 * stats.c
 *	  bloom_index_stats: how full a live filter is, from some of its pages.
 *
 * Nothing counts keys: a counter would be a page that all insertions wait for.  But
 * hashes fill all pages alike, so that a sample tells.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "utils/builtins.h"

#include "bf_bits.h"
#include "bf_estimate.h"
#include "bf_key.h"
#include "live/stats.h"
#include "live/target.h"
#include "live/tree.h"
#include "base/report.h"

PG_FUNCTION_INFO_V1(bloomfilter_index_stats);

/* Pages that VACUUM looks at, with those below them. */
#define VACUUM_SAMPLE 32

/* Pages that the planner looks at, for each query. */
#define PLANNER_SAMPLE 4

/* VACUUM warns of a rate so many times p. */
#define OUTGROWN 2.0

/* What the pages of a sample say. */
typedef struct Sample
{
	const BfpgLive *live;
	BlockNumber home;			/* the page of level 0 that is looked at */
	uint32		blocks;			/* its, which those below it have, too */
	uint64		blocks_seen;	/* of level 0 */
	uint64		bits;			/* set in blocks of level 0 */
	double		keys;
	double		rate;			/* sum over pages of level 0 */
	unsigned	depth;
} Sample;

/* A page as if it were a filter of its own. */
static bf_header
page_header(const Sample *sample, uint64 bits)
{
	bf_header	header = sample->live->header;

	header.blocks = sample->blocks;
	header.bits_set = bits;
	return header;
}

static void
look_at_page(const BfpgLiveNode *node, void *argument)
{
	Sample	   *sample = (Sample *) argument;
	uint64		bits = bfpg_live_page_bits(sample->live, node->page);
	bf_header	header = page_header(sample, bits);

	if (node->level == 0)
	{
		sample->bits += bits;
		sample->blocks_seen += sample->blocks;
	}
	sample->keys += bf_estimate_keys(&header);
	/* An absent key is asked for on one page of each level. */
	sample->rate += node->share * bf_estimate_rate(&header);
	sample->depth = Max(sample->depth, node->level);
}

/* Looks at about so many pages of level 0, evenly spread; returns how many. */
static uint32
take_sample(Relation index, const BfpgLive *live, uint32 wanted, Sample *sample)
{
	uint64		pages = bfpg_live_fixed_pages(live) - BFPG_LIVE_FIRST_PAGE;
	uint64		count = Min(Max(wanted, 1), pages);
	uint64		i;

	memset(sample, 0, sizeof *sample);
	sample->live = live;
	for (i = 0; i < count; i++)
	{
		sample->home = BFPG_LIVE_FIRST_PAGE + (BlockNumber) (i * pages / count);
		sample->blocks = bfpg_live_page_blocks(live, sample->home);
		bfpg_live_walk(index, sample->home, NULL, look_at_page, sample);
	}
	return (uint32) count;
}

static double
estimated_keys(const Sample *sample)
{
	double		blocks = (double) sample->live->header.blocks * sample->live->header.parts;

	return sample->keys * blocks / (double) sample->blocks_seen;
}

void
bfpg_live_estimate(Relation index, double *keys, double *rate)
{
	const BfpgLive live = *bfpg_live_meta(index);
	Sample		sample;
	uint32		count = take_sample(index, &live, PLANNER_SAMPLE, &sample);

	*keys = estimated_keys(&sample);
	*rate = Min(sample.rate / count, 1.0);
}

void
bfpg_live_warn_if_outgrown(Relation index)
{
	const BfpgLive live = *bfpg_live_meta(index);
	Sample		sample;
	uint32		count = take_sample(index, &live, VACUUM_SAMPLE, &sample);
	double		rate = sample.rate / count;

	if (rate < OUTGROWN * live.header.rate)
		return;
	ereport(WARNING,
			(errmsg("bloomfilter index \"%s\" has outgrown its size", RelationGetRelationName(index)),
			 errdetail("It was sized for " UINT64_FORMAT " keys at a false-positive rate of %.7g; "
					   "it holds about %.0f and has a rate of about %.3g.",
					   live.keys, live.header.rate, estimated_keys(&sample), rate),
			 errhint("Rebuild it with REINDEX INDEX CONCURRENTLY; an option n that is too small goes away with ALTER INDEX ... RESET (n).")));
}

void
bfpg_live_stats(Relation index, uint32 wanted, Datum *values)
{
	const BfpgLive live = *bfpg_live_meta(index);
	const bf_header *header = &live.header;
	BlockNumber pages = RelationGetNumberOfBlocks(index);
	uint64		blocks = (uint64) header->blocks * header->parts;
	Sample		sample;
	uint32		count = take_sample(index, &live, wanted, &sample);
	int			i = 0;

	values[i++] = Int64GetDatum((int64) live.keys);
	values[i++] = Float8GetDatum(header->rate);
	values[i++] = Int64GetDatum((int64) (blocks << header->log2_block_bits));
	values[i++] = Int64GetDatum((int64) pages * BLCKSZ);
	values[i++] = Int32GetDatum(header->probes);
	values[i++] = Int32GetDatum(1 << header->log2_block_bits);
	values[i++] = Int64GetDatum((int64) blocks);
	values[i++] = Int64GetDatum((int64) header->seed);
	values[i++] = CStringGetTextDatum(bf_key_type_name(header->key_type));
	values[i++] = Float8GetDatum((double) sample.bits /
								 (double) (sample.blocks_seen << header->log2_block_bits));
	values[i++] = Int64GetDatum((int64) estimated_keys(&sample));
	values[i++] = Float8GetDatum(Min(sample.rate / count, 1.0));
	values[i++] = Int32GetDatum(header->parts);
	values[i++] = Int64GetDatum((int64) (pages - bfpg_live_fixed_pages(&live)));
	values[i++] = Int32GetDatum((int32) sample.depth);
	values[i++] = Int32GetDatum((int32) count);
	Assert(i == BFPG_LIVE_STATS);
}

Datum
bloomfilter_index_stats(PG_FUNCTION_ARGS)
{
	Relation	index = bfpg_live_open_index(PG_GETARG_OID(0), true);
	int32		wanted = PG_GETARG_INT32(1);
	TupleDesc	desc;
	Datum		values[BFPG_LIVE_STATS];
	bool		nulls[BFPG_LIVE_STATS] = {false};

	if (wanted < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of pages to look at must be at least 1, not %d", wanted)));
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	bfpg_live_stats(index, (uint32) wanted, values);
	index_close(index, NoLock);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}
