/*
 * copies.c
 *	  The registry of stored filters: which value is which.
 *
 * A stored value is known by its TOAST pointer, all 16 bytes: its relation, its
 * identifier, its sizes.  The address of a Datum says nothing; the same expression
 * is handed another row's filter, or another variable's, at the same place.  What
 * must never happen is that the pointer belongs to another value by now, and that
 * what is known of the first answers for the second.  Two things exclude it, and
 * each is enough.
 *
 * Time.  The identifier is taken from a counter of 32 bits for the whole cluster,
 * which nothing sets back, and is not given to another value before the counter has
 * gone round: four billion new objects.  So a pointer that is met again within a
 * second is of the same value, whatever has been deleted, rolled back, truncated and
 * vacuumed meanwhile; and so on from second to second.
 *
 * Or the transaction, however long it takes.  A value that was visible to us is gone
 * from its table in one of three ways:
 *
 * 1. Its row was deleted, and vacuumed.  The row was visible while this process's
 *	  xmin was X, so whoever deleted it is not older than X, and vacuum removes only
 *	  what was deleted by transactions older than all that run and all xmins.  As
 *	  long as our xmin is X that can't be.  Nor if it was given up on the way (two
 *	  statements of a transaction at READ COMMITTED, with no snapshot between them)
 *	  and is X again: a new snapshot's xmin is the oldest transaction that runs, so
 *	  that one ran all the time and held vacuum off in our place.  Without an xmin
 *	  nothing is held off, and only time counts.
 * 2. Its row was written by our own transaction, in a subtransaction that was rolled
 *	  back; vacuum removes that at once.  Then we have not met it before that
 *	  subtransaction began.  So at its end all that was first met since its start
 *	  loses its word, by the numbers of subtransactions, which only grow.
 * 3. Its relation was emptied, rewritten or dropped.  Others can't, they wait for our
 *	  lock; we can.  All of these send an invalidation of the TOAST relation, which
 *	  is heeded before the next command.
 *
 * The end of the transaction ends its word, also where a call site lives on, as that
 * of a procedure or a DO block does that commits.
 *
 * What is freed, and when.  Call sites hold pointers to what they found here from
 * call to call, and each checks bfpg_copies_generation before it uses them; a cursor
 * that is fetched from after its copy has gone finds or makes another.  Within a call
 * nobody else asks anything: hashing a key runs no SQL.  Callbacks of transactions
 * and relations only take the word away from what is known, or free at the end of a
 * transaction, when nothing is being asked.  All copies end with the transaction; of
 * headers some are kept for the next one, which is mostly within the second: a
 * look-up by primary key is a statement of its own and reads two slices, of the
 * header and of the block, of which remembering the header saves one.
 */
#include "postgres.h"

#include "access/xact.h"
#include "common/hashfn.h"
#include "portability/instr_time.h"
#include "utils/inval.h"
#include "utils/memutils.h"

#include "ask/copies.h"

/* How long a pointer that was met is taken to be of the same value for that alone. */
#define SURE_USECS ((uint64) 1000 * 1000)

/* Values that are known at a time, and of those the ones kept for the next transaction. */
#define MAX_KNOWN 32768
#define MAX_KEPT 1024

uint64		bfpg_copies_generation = 1; /* 0 is nobody's */
dlist_head	bfpg_copied = DLIST_STATIC_INIT(bfpg_copied);
dlist_head	bfpg_sliced = DLIST_STATIC_INIT(bfpg_sliced);
uint32		bfpg_copied_count = 0;
uint64		bfpg_copied_bytes = 0;
MemoryContext bfpg_copies_context = NULL;

/* A place in the table of what is known: the beginning of a BfpgStored. */
typedef struct BfpgKnown
{
	const struct varatt_external *pointer;
	uint32		hash;
	char		status;
} BfpgKnown;

/*
 * A call site that asks many filters in turn looks here for each row, so the table is
 * one of few cache lines, and the hash one of few instructions: an identifier of 32 bits
 * is the same in two relations only by chance.
 */
#define SH_PREFIX known
#define SH_ELEMENT_TYPE BfpgKnown
#define SH_KEY_TYPE const struct varatt_external *
#define SH_KEY pointer
#define SH_HASH_KEY(table, key) murmurhash32((key)->va_valueid)
#define SH_EQUAL(table, a, b) (memcmp((a), (b), sizeof(*(a))) == 0)
#define SH_STORE_HASH
#define SH_GET_HASH(table, place) (place)->hash
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* By pointer, or NULL while nothing is known. */
static known_hash *known = NULL;

/* Counts this process's transactions. */
static uint64 transaction = 1;

/* The youngest subtransaction whose word something has; older ones are not of interest. */
static SubTransactionId youngest = InvalidSubTransactionId;

/* The TOAST relation of all that is known, if it is one: lists are mostly in one table. */
static Oid	relation = InvalidOid;
static bool many_relations = false;

/* What was asked in this transaction of what is forgotten, and copies that are no more. */
static BfpgTally gone;

static uint64
clock_usecs(void)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	return (uint64) INSTR_TIME_GET_MICROSEC(now);
}

static void
begin_registry(void)
{
	/* It is there if known_create failed the last time. */
	if (bfpg_copies_context == NULL)
		bfpg_copies_context = AllocSetContextCreate(TopMemoryContext, "bloomfilter copies",
													ALLOCSET_DEFAULT_SIZES);
	known = known_create(bfpg_copies_context, 64, NULL);
	relation = InvalidOid;
	many_relations = false;
}

/* Forgets all there is. */
static void
end_registry(void)
{
	MemoryContextDelete(bfpg_copies_context);
	bfpg_copies_context = NULL;
	known = NULL;
	dlist_init(&bfpg_copied);
	dlist_init(&bfpg_sliced);
	bfpg_copied_count = 0;
	bfpg_copied_bytes = 0;
	bfpg_copies_generation++;
}

/* Forgets one value. */
static void
forget(BfpgStored *stored)
{
	if (stored->copy != NULL)
		bfpg_copy_drop(stored);
	if (stored->transaction == transaction)
	{
		gone.keys += stored->asked;
		gone.slices += stored->slices;
	}
	bfpg_copies_generation++;
	dlist_delete(&stored->node);
	known_delete(known, &stored->pointer);
	pfree(stored);
}

/* Whether the transaction vouches for what is known of a value. */
static bool
is_vouched(const BfpgStored *stored)
{
	return stored->transaction == transaction &&
		TransactionIdIsValid(stored->xmin) && stored->xmin == bfpg_own_xmin();
}

/* From here on the transaction does. */
static void
vouch(BfpgStored *stored, uint64 now)
{
	if (stored->transaction != transaction)
	{
		stored->transaction = transaction;
		stored->asked = stored->faded = stored->fetched = stored->slices = 0;
		stored->refused = 0;
	}
	stored->xmin = bfpg_own_xmin();
	stored->subtransaction = youngest = GetCurrentSubTransactionId();
	stored->seen = now;
}

/* It doesn't any more. */
static void
unvouch(BfpgStored *stored)
{
	stored->xmin = InvalidTransactionId;
}

/* Gets to know a value, by its header. */
static BfpgStored *
learn(Datum value, const struct varatt_external *pointer)
{
	BfpgStored *stored;
	bf_header	header;
	bool		found;

	bfpg_read_header(value, &header);
	if (known != NULL && known->members >= MAX_KNOWN)
	{
		dlist_mutable_iter each;

		dlist_foreach_modify(each, &bfpg_sliced)
			forget(dlist_container(BfpgStored, node, each.cur));
	}
	if (known == NULL)
		begin_registry();
	stored = MemoryContextAllocZero(bfpg_copies_context, sizeof(BfpgStored));
	stored->pointer = *pointer;
	(void) known_insert(known, &stored->pointer, &found);
	memcpy(stored->value, DatumGetPointer(value), TOAST_POINTER_SIZE);
	stored->header = header;
	dlist_push_tail(&bfpg_sliced, &stored->node);
	many_relations |= OidIsValid(relation) && relation != pointer->va_toastrelid;
	relation = pointer->va_toastrelid;
	return stored;
}

/* What is known of a value, or NULL. */
static inline BfpgStored *
look_up(const struct varatt_external *pointer)
{
	BfpgKnown  *place = NULL;

	if (known != NULL)
		place = known_lookup(known, pointer);
	if (place == NULL)
		return NULL;
	return (BfpgStored *) ((char *) place->pointer - offsetof(BfpgStored, pointer));
}

BfpgStored *
bfpg_stored_find(Datum value, const void *asker)
{
	struct varatt_external pointer;
	BfpgStored *stored;

	bfpg_copies_shrink();
	VARATT_EXTERNAL_GET_POINTER(pointer, (struct varlena *) DatumGetPointer(value));
	stored = look_up(&pointer);
	if (stored == NULL || !is_vouched(stored))
	{
		uint64		now = clock_usecs();

		/* Where a clock can be set, one that was set back is no reason to be sure. */
		if (stored != NULL && (stored->seen > now || now - stored->seen > SURE_USECS))
		{
			forget(stored);
			stored = NULL;
		}
		if (stored == NULL)
			stored = learn(value, &pointer);
		vouch(stored, now);
	}
	stored->asker = asker;
	return stored;
}

void
bfpg_copy_keep(BfpgStored *stored, BfpgFilter *copy)
{
	bfpg_copies_generation++;
	stored->copy = copy;
	stored->blocks = copy->blocks;
	stored->header = copy->header;
	stored->fetched = 0;
	dlist_delete(&stored->node);
	dlist_push_head(&bfpg_copied, &stored->node);
	bfpg_copied_count++;
	bfpg_copied_bytes += bfpg_copy_room(stored);
}

void
bfpg_copy_drop(BfpgStored *stored)
{
	BfpgFilter *copy = stored->copy;

	bfpg_copies_generation++;
	stored->copy = NULL;
	stored->blocks = NULL;
	stored->fetched = 0;
	dlist_delete(&stored->node);
	dlist_push_tail(&bfpg_sliced, &stored->node);
	gone.copies++;
	bfpg_copied_count--;
	bfpg_copied_bytes -= bfpg_copy_room(stored);
	bfpg_filter_free(copy);
}

/* Takes its word from what a list has of a relation (if not 0) or a subtransaction. */
static void
unvouch_list(dlist_head *list, Oid of_relation, SubTransactionId since)
{
	dlist_iter	each;

	dlist_foreach(each, list)
	{
		BfpgStored *stored = dlist_container(BfpgStored, node, each.cur);

		if ((!OidIsValid(of_relation) || stored->pointer.va_toastrelid == of_relation) &&
			stored->subtransaction >= since)
			unvouch(stored);
	}
}

static void
unvouch_all(Oid of_relation, SubTransactionId since)
{
	bfpg_copies_generation++;
	unvouch_list(&bfpg_copied, of_relation, since);
	unvouch_list(&bfpg_sliced, of_relation, since);
}

static void
relation_changed(Datum arg, Oid changed)
{
	if (known != NULL &&
		(!OidIsValid(changed) || many_relations || changed == relation))
		unvouch_all(changed, InvalidSubTransactionId);
}

static void
subtransaction_ends(SubXactEvent event, SubTransactionId mine,
					SubTransactionId parent, void *arg)
{
	if (event != SUBXACT_EVENT_ABORT_SUB || known == NULL || youngest < mine)
		return;
	unvouch_all(InvalidOid, mine);
	youngest = mine - 1;
}

static void
add_tally(BfpgTally *sum, dlist_head *list)
{
	dlist_iter	each;

	dlist_foreach(each, list)
	{
		const BfpgStored *stored = dlist_container(BfpgStored, node, each.cur);

		if (stored->transaction != transaction)
			continue;
		sum->keys += stored->asked;
		sum->slices += stored->slices;
		sum->copies += stored->copy != NULL;
	}
}

BfpgTally
bfpg_tally(void)
{
	BfpgTally	sum = gone;

	add_tally(&sum, &bfpg_copied);
	add_tally(&sum, &bfpg_sliced);
	return sum;
}

/* How what was asked in this transaction was asked. */
static void
report_list(dlist_head *list)
{
	dlist_iter	each;

	dlist_foreach(each, list)
	{
		BfpgStored *stored = dlist_container(BfpgStored, node, each.cur);

		if (stored->transaction == transaction)
			ereport(DEBUG1,
					(errmsg_internal("bloomfilter %u of TOAST relation %u, " UINT64_FORMAT " bytes, was asked for "
									 UINT64_FORMAT " keys: " UINT64_FORMAT " slices%s",
									 stored->pointer.va_valueid, stored->pointer.va_toastrelid,
									 (uint64) bf_total_bytes(&stored->header), stored->asked,
									 stored->slices, stored->copy != NULL ? ", then a copy" : "")));
	}
}

static void
transaction_ends(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PARALLEL_PRE_COMMIT ||
		event == XACT_EVENT_PRE_PREPARE)
	{
		if (message_level_is_interesting(DEBUG1))
		{
			report_list(&bfpg_copied);
			report_list(&bfpg_sliced);
		}
		return;
	}
	transaction++;
	bfpg_copies_generation++;
	youngest = InvalidSubTransactionId;
	if (known == NULL)
		return;
	while (!dlist_is_empty(&bfpg_copied))
		bfpg_copy_drop(dlist_head_element(BfpgStored, node, &bfpg_copied));
	if (known->members > MAX_KEPT)
		end_registry();
	memset(&gone, 0, sizeof(gone));
}

void
bfpg_copies_init(void)
{
	RegisterXactCallback(transaction_ends, NULL);
	RegisterSubXactCallback(subtransaction_ends, NULL);
	CacheRegisterRelcacheCallback(relation_changed, (Datum) 0);
}
