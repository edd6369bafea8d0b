/*
 * changes.c
 *	  bloom_index_changes: what was set in a live index since the last call.
 *
 * A page has changed if its LSN is beyond the one that the last call returned.  The rows
 * are the blocks of changed pages, overflow pages as those of the page above them; the
 * reader ORs them into its copy.  Keys of open transactions may be among them: no more
 * than false positives, which SQL's own answers have then, too.
 *
 * Why no key is left out: the call's position L is read before its first page is locked, and a
 * page is looked at under a share lock.  A change whose record ends at or before L was made under
 * the exclusive lock, which had been taken before L was read: so the page that we see has it.  A
 * change that is not seen has an LSN beyond L, and the next call tells of it.  Besides, and
 * t/081_changes.pl fails without each:
 *
 *	1. L is flushed write-ahead log, on a standby replayed one.  The insert position would
 *	   be used again by other keys after a crash that lost what was not flushed.
 *	2. Overflow pages are visited from the page that names them.  One that is named after
 *	   L changes that page beyond L.
 *	3. The token of the next call is right for this file, this layout and this backend
 *	   alone.  Whatever else it meets is told as a whole: another file or another meta
 *	   page (TRUNCATE can lay the same file out anew), another server behind a pooler, a
 *	   restart, which ends the backend.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xlog.h"
#include "access/xlogrecovery.h"
#include "catalog/pg_class.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "bf_bits.h"
#include "bf_format.h"
#include "bf_hash.h"
#include "base/report.h"
#include "live/target.h"

PG_FUNCTION_INFO_V1(bloomfilter_index_changes);

#define TOKEN_VERSION 1
#define COLUMNS 5

/* What a build of an index is told by, on the primary and its standbys alike. */
typedef struct ChangesBuild
{
	uint64		system;
	BfpgFileLocator file;
	Oid			index;
	uint32		meta_crc;
	uint32		fixed_pages;
} ChangesBuild;

/* What is handed out as bytea.  Without holes, as it is compared as bytes. */
typedef struct ChangesToken
{
	uint32		version;
	uint32		backend;
	int64		backend_started;
	ChangesBuild build;
	uint64		position;		/* the last member */
} ChangesToken;

StaticAssertDecl(sizeof(ChangesToken) == 16 + sizeof(ChangesBuild) + 8 && sizeof(ChangesBuild) == 32, "the token has no holes");

typedef struct ChangesState
{
	Oid			oid;
	BfpgLive	live;
	ChangesToken token;
	TimestampTz true_at;		/* 0: not known */
	bool		whole;
	XLogRecPtr	since;			/* 0 if whole: all pages are beyond it */
	BlockNumber home;			/* the page of level 0 that is looked at next */
	BufferAccessStrategy strategy;
	TupleDesc	desc;
	MemoryContext context;		/* of the rows that wait: a page's and those below it, or what comes before all pages */
	List	   *rows;
	int			told;			/* of these */
} ChangesState;

static void
check_logged(Relation index)
{
	if (index->rd_rel->relpersistence != RELPERSISTENCE_PERMANENT)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("changes of index \"%s\" are not known, as its table is %s",
						RelationGetRelationName(index),
						index->rd_rel->relpersistence == RELPERSISTENCE_TEMP ? "temporary" : "unlogged"),
				 errdetail("Its pages have no positions in the write-ahead log."),
				 index->rd_rel->relpersistence == RELPERSISTENCE_TEMP ? errhint("Use bloom_snapshot.")
				 : errhint("Use bloom_snapshot, or ALTER TABLE ... SET LOGGED.")));
	/* At wal_level = minimal a file is not logged in the transaction that made it. */
	if (!RelationNeedsWAL(index))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("changes of index \"%s\" are not known in the transaction that made its file",
						RelationGetRelationName(index)),
				 errhint("Ask again when it has committed.")));
}

/* See the proof above.  The time is read first: what was committed before it is told. */
static void
note_position(ChangesState *state)
{
	if (RecoveryInProgress())
	{
		/* The standby's clock says nothing of what it has replayed. */
		state->true_at = GetLatestXTime();
		state->token.position = GetXLogReplayRecPtr(NULL);
	}
	else
	{
		state->true_at = GetCurrentTimestamp();
		state->token.position = GetFlushRecPtr(NULL);
	}
}

static void
begin(ChangesState *state, Relation index, bytea *since)
{
	ChangesToken *token = &state->token;

	token->version = TOKEN_VERSION;
	token->backend = (uint32) MyProcPid;
	token->backend_started = MyStartTimestamp;
	token->build.system = GetSystemIdentifier();
	token->build.file = BFPG_LOCATOR(index);
	token->build.index = RelationGetRelid(index);
	note_position(state);
	token->build.meta_crc = bfpg_live_read_meta(index, &state->live);
	token->build.fixed_pages = (uint32) bfpg_live_fixed_pages(&state->live);
	state->whole = true;
	if (since != NULL && VARSIZE_ANY_EXHDR(since) == sizeof(ChangesToken))
	{
		ChangesToken old;

		memcpy(&old, VARDATA_ANY(since), sizeof old);
		state->whole = memcmp(&old, token, offsetof(ChangesToken, position)) != 0 ||
			old.position > token->position;
		state->since = state->whole ? 0 : old.position;
	}
}

/* Adds a row, whose part and block are null where they are less than 0: the first one has the token. */
static void
add_row(ChangesState *state, int64 part, int64 block, const void *bytes, size_t length)
{
	MemoryContext old = MemoryContextSwitchTo(state->context);
	bool		first = part < 0;
	bytea	   *copy = palloc(VARHDRSZ + length);
	Datum		values[COLUMNS] = {
		Int32GetDatum((int32) part), Int64GetDatum(block), PointerGetDatum(copy),
		Int64GetDatum((int64) bf_hash(&state->token.build, sizeof(ChangesBuild), 0)), TimestampTzGetDatum(state->true_at)
	};
	bool		nulls[COLUMNS] = {first, block < 0, false, !first, !first || state->true_at == 0};

	SET_VARSIZE(copy, VARHDRSZ + length);
	memcpy(VARDATA(copy), bytes, length);
	state->rows = lappend(state->rows, heap_form_tuple(state->desc, values, nulls));
	pfree(copy);
	MemoryContextSwitchTo(old);
}

static void
take_page(const BfpgLiveNode *node, void *argument)
{
	ChangesState *state = (ChangesState *) argument;
	const BfpgLive *live = &state->live;
	uint32		at = state->home - BFPG_LIVE_FIRST_PAGE;
	uint64		length = (uint64) node->blocks << (live->header.log2_block_bits - 3);
	const uint8 *blocks = bfpg_live_block(node->page, BFPG_LIVE_BLOCKS_AT);

	if (state->whole ? bf_count_bits(blocks, length, NULL) != 0 : PageGetLSN(node->page) > state->since)
		add_row(state, at / live->pages_per_part, (int64) (at % live->pages_per_part) * live->blocks_per_page, blocks, length);
}

/* Takes the next changed page, if any.  The index stays locked between two calls, but not open. */
static void
take_changed(ChangesState *state)
{
	Relation	index = index_open(state->oid, NoLock);

	MemoryContextReset(state->context);
	state->rows = NIL;
	state->told = 0;
	for (; state->rows == NIL && state->home < bfpg_live_fixed_pages(&state->live); state->home++)
		bfpg_live_walk(index, &state->live, state->home, state->strategy, take_page, state);
	index_close(index, NoLock);
}

/* The headers of parts to which no bit was set, with the key type that the index has. */
static void
add_headers(ChangesState *state)
{
	bf_header	header = state->live.header;
	uint8		bytes[BF_HEADER_BYTES];
	uint32		part;

	header.bits_set = 0;
	header.checksum = 0;
	for (part = 0; part < header.parts; part++)
	{
		header.part = (uint16) part;
		bf_header_copy(&header, bytes);
		add_row(state, part, -1, bytes, sizeof bytes);
	}
}

static ChangesState *
first_call(FunctionCallInfo fcinfo)
{
	ChangesState *state = palloc0(sizeof *state);
	Relation	index;

	if (PG_ARGISNULL(0))
		bfpg_refuse_null("index");
	if (get_call_result_type(fcinfo, NULL, &state->desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "bloom_index_changes must return rows");
	BlessTupleDesc(state->desc);
	state->oid = PG_GETARG_OID(0);
	state->home = BFPG_LIVE_FIRST_PAGE;
	state->context = AllocSetContextCreate(CurrentMemoryContext, "bloomfilter changes", ALLOCSET_DEFAULT_SIZES);
	/* Else an index that is looked at each second would drive all others from memory. */
	state->strategy = GetAccessStrategy(BAS_BULKREAD);
	index = bfpg_live_open_whole(state->oid);
	check_logged(index);
	begin(state, index, PG_ARGISNULL(1) ? NULL : PG_GETARG_BYTEA_PP(1));
	index_close(index, NoLock);
	add_row(state, -1, -1, &state->token, sizeof state->token);
	if (state->whole)
		add_headers(state);
	return state;
}

/*
 * A page at each call, as each is sent: all together would be written to a temporary file, which an exporter
 * would do each second, and which temp_file_limit refuses.
 */
Datum
bloomfilter_index_changes(PG_FUNCTION_ARGS)
{
	FuncCallContext *call;
	ChangesState *state;

	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext old;

		call = SRF_FIRSTCALL_INIT();
		old = MemoryContextSwitchTo(call->multi_call_memory_ctx);
		call->user_fctx = first_call(fcinfo);
		MemoryContextSwitchTo(old);
	}
	call = SRF_PERCALL_SETUP();
	state = (ChangesState *) call->user_fctx;
	if (state->told == list_length(state->rows))
		take_changed(state);
	if (state->rows == NIL)
		SRF_RETURN_DONE(call);
	SRF_RETURN_NEXT(call, HeapTupleGetDatum((HeapTuple) list_nth(state->rows, state->told++)));
}
