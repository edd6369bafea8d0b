/*
 * stats.c
 *	  bloom_index_stats and bloom_live: how full a live index is, from some of its pages.
 *
 * Nothing counts keys: a counter would be a page that all insertions wait for.  But
 * hashes fill all pages alike, so that a sample tells.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/xact.h"
#include "utils/builtins.h"
#include "utils/resowner.h"

#include "bf_estimate.h"
#include "bf_key.h"
#include "base/report.h"
#include "live/target.h"

PG_FUNCTION_INFO_V1(bloomfilter_index_stats);
PG_FUNCTION_INFO_V1(bloomfilter_live_row);

/* The columns of bloom_index_stats, and which of them is the rate. */
#define STATS 16
#define STAT_RATE 11

/* Pages that bloom_live looks at, as bloom_index_stats does by itself. */
#define PAGES 100

/* bloom_live calls an index outgrown at a rate so many times p. */
#define OUTGROWN 2.0

/* The columns of bloom_live's row: the status comes first. */
#define COLUMNS (1 + STATS)

/* What the pages of a sample say. */
typedef struct Sample
{
	const BfpgLive *live;
	uint64		blocks_seen;	/* of level 0 */
	uint64		bits;			/* set in blocks of level 0 */
	double		keys;
	double		rate;			/* sum over pages of level 0 */
	unsigned	depth;
} Sample;

static void
look_at_page(const BfpgLiveNode *node, void *argument)
{
	Sample	   *sample = (Sample *) argument;
	uint64		bits = bfpg_live_page_bits(sample->live, node->page);
	bf_header	header = sample->live->header;

	/* The page as if it were a filter of its own. */
	header.blocks = node->blocks;
	header.bits_set = bits;
	if (node->level == 0)
	{
		sample->bits += bits;
		sample->blocks_seen += node->blocks;
	}
	sample->keys += bf_estimate_keys(&header);
	/* An absent key is asked for on one page of each level. */
	sample->rate += node->share * bf_estimate_rate(&header);
	sample->depth = Max(sample->depth, node->level);
}

/* Looks at about so many pages of level 0, evenly spread; returns how many. */
static uint32
look_at_sample(Relation index, const BfpgLive *live, uint32 wanted, Sample *sample)
{
	uint64		pages = bfpg_live_fixed_pages(live) - BFPG_LIVE_FIRST_PAGE;
	uint64		count = Min(Max(wanted, 1), pages);
	uint64		i;

	memset(sample, 0, sizeof *sample);
	sample->live = live;
	for (i = 0; i < count; i++)
		bfpg_live_walk(index, live, BFPG_LIVE_FIRST_PAGE + (BlockNumber) (i * pages / count), NULL, look_at_page, sample);
	return (uint32) count;
}

/* Fills in the columns of bloom_index_stats, from so many pages. */
static void
read_stats(Relation index, uint32 wanted, Datum *values)
{
	const BfpgLive live = *bfpg_live_meta(index);
	const bf_header *header = &live.header;
	BlockNumber pages = RelationGetNumberOfBlocks(index);
	uint64		blocks = (uint64) header->blocks * header->parts;
	Sample		sample;
	uint32		count = look_at_sample(index, &live, wanted, &sample);
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
	values[i++] = Int64GetDatum((int64) (sample.keys * (double) blocks / (double) sample.blocks_seen));
	values[i++] = Float8GetDatum(Min(sample.rate / count, 1.0));
	values[i++] = Int32GetDatum(header->parts);
	values[i++] = Int64GetDatum((int64) (pages - bfpg_live_fixed_pages(&live)));
	values[i++] = Int32GetDatum((int32) sample.depth);
	values[i++] = Int32GetDatum((int32) count);
	Assert(i == STATS);
}

Datum
bloomfilter_index_stats(PG_FUNCTION_ARGS)
{
	Relation	index = bfpg_live_open_index(PG_GETARG_OID(0), true);
	int32		wanted = PG_GETARG_INT32(1);
	Datum		values[STATS];

	if (wanted < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of pages to look at must be at least 1, not %d", wanted)));
	read_stats(index, (uint32) wanted, values);
	index_close(index, NoLock);
	return bfpg_make_row(fcinfo, values, STATS, STATS);
}

/*
 * The view bloom_live is how an operator watches all filters of a database, so an index that
 * can't be read is a row that says why, and one that somebody has locked isn't waited for.
 *
 * Fills in the statistics and returns the status, or throws.
 */
static const char *
read_index(Oid oid, Datum *stats)
{
	Relation	index = bfpg_live_open_index(oid, true);
	bool		valid = index->rd_index->indisvalid;
	BfpgLiveMakers makers = bfpg_live_makers(index);
	TransactionId unseen = bfpg_live_unseen_maker(&makers);
	double		p = bfpg_live_meta(index)->header.rate;

	bfpg_live_check_column(index);
	read_stats(index, PAGES, stats);
	index_close(index, NoLock);
	if (valid && TransactionIdIsValid(unseen))
		return psprintf("of no use to this snapshot, which is older than transaction %u that built it",
						unseen);
	if (!valid)
		return "not valid";
	return DatumGetFloat8(stats[STAT_RATE]) < OUTGROWN * p ? "ok" :
		"outgrown: rebuild it with REINDEX INDEX CONCURRENTLY";
}

/*
 * The same in a transaction of its own that is rolled back, with the locks; an error is the
 * status.  Returns whether there are statistics.
 */
static bool
try_index(Oid oid, Datum *stats, const char **status)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	volatile bool read = false;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		*status = "locked";
		if (bfpg_live_lock_if_free(oid))
		{
			*status = read_index(oid, stats);
			read = true;
		}
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		if (error->sqlerrcode == ERRCODE_QUERY_CANCELED ||
			error->sqlerrcode == ERRCODE_OUT_OF_MEMORY)
			PG_RE_THROW();
		FlushErrorState();
		*status = error->message;
	}
	PG_END_TRY();
	RollbackAndReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return read;
}

Datum
bloomfilter_live_row(PG_FUNCTION_ARGS)
{
	Datum		values[COLUMNS] = {0};
	const char *status;
	bool		read = try_index(PG_GETARG_OID(0), values + 1, &status);

	values[0] = CStringGetTextDatum(status);
	return bfpg_make_row(fcinfo, values, COLUMNS, read ? COLUMNS : 1);
}
