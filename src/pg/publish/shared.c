/*
 * shared.c
 *	  The filters of a list while it is published, in shared memory or in that of one process, and what is
 *	  done with keys and them.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "catalog/pg_type.h"
#include "storage/dsm_impl.h"
#include "utils/array.h"

#include "bf_filter.h"
#include "bf_key.h"
#include "publish/build.h"
#include "base/pg_compat.h"
#include "value/filter.h"

/* The least that is left to other queries. */
#define LEFT_FREE (64 * 1024 * 1024.0)

/* In front of the filters. */
#define HEAD_BYTES TYPEALIGN64(BF_CACHE_LINE, sizeof(BfpgShared))

/* The filters of the pass that this process has begun last: a query may publish, too. */
static BfpgShared *current;

/* From one part to the next; the room in front of each is for the header of a value. */
static uint64
part_bytes(const bf_shape *shape)
{
	return BF_CACHE_LINE + TYPEALIGN64(BF_CACHE_LINE, bf_shape_bytes(shape));
}

static uint64
all_bytes(const bf_shape *shape)
{
	return HEAD_BYTES + part_bytes(shape) * shape->level[0].parts;
}

double
bfpg_shared_bytes(const bf_shape *shape)
{
	return (double) part_bytes(shape) * shape->level[0].parts;
}

uint8 *
bfpg_shared_image(BfpgShared *shared, uint32 part)
{
	return (uint8 *) shared + HEAD_BYTES + part * part_bytes(&shared->shape) + BF_CACHE_LINE;
}

const char *
bfpg_shared_lack(double bytes)
{
	const char *folder = dynamic_shared_memory_type == DSM_IMPL_MMAP ? PG_DYNSHMEM_DIR : "/dev/shm";
	double		free_bytes = bfpg_free_bytes(folder);

	if (dynamic_shared_memory_type == DSM_IMPL_SYSV || free_bytes >= bytes + Max(bytes, LEFT_FREE))
		return NULL;
	return psprintf("Its %.1f MB, and as much for other queries but at least 64 MB, are more than the %.1f MB that are free in %s.",
					bytes / (1024 * 1024), free_bytes / (1024 * 1024), folder);
}

static void
make_secret(BfpgShared *shared)
{
	if (!pg_strong_random(shared->ticket.secret, sizeof(shared->ticket.secret)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not get random bytes")));
}

BfpgShared *
bfpg_shared_create(const bf_shape *shape, Oid type, int processes)
{
	uint64		bytes = all_bytes(shape);
	dsm_segment *segment = processes > 1 ? dsm_create(bytes, 0) : NULL;
	BfpgShared *shared = segment != NULL ? dsm_segment_address(segment)
		: (void *) TYPEALIGN(BF_CACHE_LINE, MemoryContextAllocHuge(CurrentMemoryContext, bytes + BF_CACHE_LINE));
	int			i;

	/* Not all kinds of memory are empty at first. */
	bfpg_clear_bytes(shared, bytes);
	shared->type = type;
	shared->processes = processes;
	shared->ticket.segment = segment != NULL ? dsm_segment_handle(segment) : DSM_HANDLE_INVALID;
	shared->shape = *shape;
	shared->shape.level[0].key_type = BF_KEY_NONE;
	pg_atomic_init_u32(&shared->key_type, BF_KEY_NONE);
	pg_atomic_init_u64(&shared->rows, 0);
	/*
	 * A tranche of our own would be one more for each publication, and there are few.  This one
	 * is shown as a wait for the dynamic shared memory of a parallel query.
	 */
	for (i = 0; i < BFPG_REGION_LOCKS; i++)
		LWLockInitialize(&shared->locks[i].lock, LWTRANCHE_PARALLEL_QUERY_DSA);
	return shared;
}

void
bfpg_shared_free(BfpgShared *shared)
{
	if (shared->ticket.segment != DSM_HANDLE_INVALID)
		dsm_detach(dsm_find_mapping(shared->ticket.segment));
}

/* The ticket is the argument.  The server's log may have it, where it is of no use after the pass. */
const int64 *
bfpg_publish_pass(const BfpgPublication *list, BfpgPassMode mode, Size *hashes)
{
	const BfpgBuild *build = list->made.build;
	BfpgShared *outer = current;
	bytea	   *value = palloc(VARHDRSZ + sizeof(BfpgTicket));
	const ParamExternData ticket = bfpg_parameter(BYTEAOID, PointerGetDatum(value));
	ParamListInfo params = bfpg_parameters(1, &ticket);
	const NullableDatum *row;
	ArrayType  *array;

	params->paramFetch = NULL;	/* it is read for each row, where a function would cost */
	build->shared->mode = mode;
	pg_atomic_write_u64(&build->shared->rows, 0);
	make_secret(build->shared);
	SET_VARSIZE(value, VARHDRSZ + sizeof(BfpgTicket));
	memcpy(VARDATA(value), &build->shared->ticket, sizeof(BfpgTicket));
	current = build->shared;
	PG_TRY();
	{
		row = bfpg_source_only_row(build->source, bfpg_source_run(build->source, build->plan, params), 1);
	}
	PG_FINALLY();
	{
		current = outer;
		make_secret(build->shared);
	}
	PG_END_TRY();
	array = DatumGetArrayTypeP(row[0].value);
	Assert(ARR_DIMS(array)[0] >= BFPG_PASS_COUNTS && !ARR_HASNULL(array));
	*hashes = ARR_DIMS(array)[0] - BFPG_PASS_COUNTS;
	return (const int64 *) ARR_DATA_PTR(array);
}

pg_noreturn static void
refuse_ticket(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("there is no list being built that this call belongs to"),
			 errdetail("This aggregate is a part of bloom_publish and of no use by itself.")));
}

static bool
fits(const BfpgShared *shared, const BfpgTicket *ticket, Oid type)
{
	return memcmp(&shared->ticket, ticket, sizeof(*ticket)) == 0 && shared->type == type;
}

/* Whether a segment is the one that a ticket was made for. */
static bool
is_ours(dsm_segment *segment, const BfpgTicket *ticket, Oid type)
{
	const BfpgShared *shared = dsm_segment_address(segment);

	return dsm_segment_map_length(segment) >= HEAD_BYTES && fits(shared, ticket, type) &&
		dsm_segment_map_length(segment) >= all_bytes(&shared->shape);
}

/* States of a worker hold addresses until it ends, whatever owns resources now. */
static dsm_segment *
find_segment(dsm_handle handle)
{
	dsm_segment *segment = dsm_find_mapping(handle);

	if (segment == NULL && handle != DSM_HANDLE_INVALID)
	{
		segment = dsm_attach(handle);
		if (segment != NULL)
			dsm_pin_mapping(segment);
	}
	return segment;
}

BfpgShared *
bfpg_shared_attach(const bytea *value, Oid type)
{
	BfpgTicket	ticket;
	dsm_segment *segment;

	if (value == NULL || VARSIZE_ANY_EXHDR(value) != sizeof(ticket))
		refuse_ticket();
	memcpy(&ticket, VARDATA_ANY(value), sizeof(ticket));
	if (current != NULL && fits(current, &ticket, type))
		return current;
	segment = IsParallelWorker() ? find_segment(ticket.segment) : NULL;
	if (segment == NULL || !is_ours(segment, &ticket, type))
		refuse_ticket();
	return dsm_segment_address(segment);
}

void
bfpg_shared_add(BfpgShared *shared, uint32 part, uint32 region, const uint64 *hashes, Size count)
{
	bf_header	header = shared->shape.level[0];
	uint8	   *blocks = bfpg_shared_blocks(shared, part);
	LWLock	   *lock = &shared->locks[region % BFPG_REGION_LOCKS].lock;

	if (shared->processes > 1)
		LWLockAcquire(lock, LW_EXCLUSIVE);
	bf_add_hashes(&header, blocks, hashes, count);
	if (shared->processes > 1)
		LWLockRelease(lock);
}
