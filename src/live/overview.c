/*
 * overview.c
 *	  What the view bloom_live tells of one index, whatever state it is in.
 *
 * The view is how an operator watches all filters of a database, so an index that can't be
 * read is a row that says why, and one that somebody has locked isn't waited for.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/xact.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "live/stats.h"
#include "live/target.h"

PG_FUNCTION_INFO_V1(bloomfilter_live_row);

/* Pages that are looked at, as bloom_index_stats does by itself. */
#define PAGES 100

/* The status comes first. */
#define COLUMNS (1 + BFPG_LIVE_STATS)

/* Fills in the statistics and returns the status, or throws. */
static const char *
read_index(Oid oid, Datum *stats)
{
	Relation	index = bfpg_live_open_index(oid, true);
	bool		valid = index->rd_index->indisvalid;
	BfpgLiveMakers makers = bfpg_live_makers(index);
	TransactionId unseen = bfpg_live_unseen_maker(&makers);

	bfpg_live_stats(index, PAGES, stats);
	index_close(index, NoLock);
	if (valid && TransactionIdIsValid(unseen))
		return psprintf("of no use to this snapshot, which is older than transaction %u that built it",
						unseen);
	return valid ? "ok" : "not valid";
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
	TupleDesc	desc;
	Datum		values[COLUMNS] = {0};
	bool		nulls[COLUMNS];
	const char *status;
	bool		read;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	read = try_index(PG_GETARG_OID(0), values + 1, &status);
	memset(nulls, !read, sizeof nulls);
	nulls[0] = false;
	values[0] = CStringGetTextDatum(status);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}
