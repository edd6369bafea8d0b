/*
 * shared.c
 *	  The filters of a list that is published, in dynamic shared memory.
 */
#include "postgres.h"

#include <sys/statvfs.h>

#include "access/parallel.h"
#include "access/xact.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/dsm_impl.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "bf_filter.h"
#include "bf_key.h"
#include "publish/shared.h"
#include "base/pg_compat.h"
#include "value/filter.h"

#define MAGIC 0x62664c53

/* Bytes of one segment, where a part isn't larger. */
#define SEGMENT_BYTES ((uint64) 1 << 30)

/* The least that is left to other queries. */
#define LEFT_FREE (64 * 1024 * 1024.0)

/* Filters in memory of this process, of publications that it is at: a query may publish, too. */
static BfpgShared *own_filters;

/* From one part to the next; the room in front of each is for the header of a value. */
static uint64
part_bytes(const bf_exact *shape)
{
	return BF_CACHE_LINE + TYPEALIGN64(BF_CACHE_LINE, bf_exact_bytes(shape));
}

static uint32
parts_each(const bf_exact *shape)
{
	return (uint32) Min(Max(SEGMENT_BYTES / part_bytes(shape), 1), shape->level[0].parts);
}

static uint32
segments_for(const bf_exact *shape)
{
	return (shape->level[0].parts - 1) / parts_each(shape) + 1;
}

static Size
control_bytes(uint32 segments)
{
	return offsetof(BfpgSharedHead, handles) + segments * sizeof(dsm_handle);
}

double
bfpg_shared_bytes(const bf_exact *shape)
{
	return (double) part_bytes(shape) * shape->level[0].parts;
}

/*
 * Whether as much again stays free, and at least 64 MB: the parallel queries of all sessions, this
 * one's as well, take their memory from the same file system, and fail where it is full.
 */
static bool
leaves_room(double bytes, char **reason)
{
	const char *folder = dynamic_shared_memory_type == DSM_IMPL_MMAP ? PG_DYNSHMEM_DIR : "/dev/shm";
	struct statvfs space;
	double		needed = bytes + Max(bytes, LEFT_FREE);
	double		free_bytes;

	if (dynamic_shared_memory_type == DSM_IMPL_SYSV || statvfs(folder, &space) != 0)
		return true;
	free_bytes = (double) space.f_bavail * (double) space.f_frsize;
	if (free_bytes >= needed)
		return true;
	*reason = psprintf("Its %.1f MB, and as much for other queries but at least 64 MB, are more than the %.1f MB that are free in %s.",
					   bytes / (1024 * 1024), free_bytes / (1024 * 1024), folder);
	return false;
}

/* Files that memory lies in may be written in part, for which there is no reason but that. */
static bool
is_lack_of_memory(const ErrorData *error)
{
	int			category = ERRCODE_TO_CATEGORY(error->sqlerrcode);

	return category == ERRCODE_INSUFFICIENT_RESOURCES || category == ERRCODE_SYSTEM_ERROR;
}

/*
 * A new segment, or NULL and the reason.  Only the lack of memory is a reason: all else is
 * an error.  A segment that can't be made is the subtransaction's, whose rollback forgets it;
 * one that was made passes to the caller's resource owner.
 */
static dsm_segment *
create_segment(Size bytes, char **reason)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	dsm_segment *volatile segment = NULL;

	BeginInternalSubTransaction(NULL);
	PG_TRY();
	{
		segment = dsm_create(bytes, DSM_CREATE_NULL_IF_MAXSEGMENTS);
		if (segment != NULL)
			dsm_pin_mapping(segment);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
		if (!is_lack_of_memory(error))
			ReThrowError(error);
		*reason = error->message;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	if (segment != NULL)
		dsm_unpin_mapping(segment);
	else if (*reason == NULL)
		*reason = "There are too many segments of dynamic shared memory.";
	return segment;
}

/* Not all kinds of such memory are empty at first. */
static void
clear(dsm_segment *segment, uint64 bytes)
{
	uint8	   *address = dsm_segment_address(segment);
	uint64		at;
	uint64		step;

	for (at = 0; at < bytes; at += step)
	{
		step = bf_tick_step(bytes - at, bfpg_tick);
		memset(address + at, 0, step);
	}
}

/* A view of filters of which only what describes them is known. */
static BfpgShared *
new_view(dsm_segment *control, BfpgSharedHead *head)
{
	BfpgShared *shared = palloc0(sizeof(BfpgShared));

	shared->control = control;
	shared->head = head;
	shared->parts = shared->head->shape.level[0].parts;
	shared->images = palloc(shared->parts * sizeof(uint8 *));
	shared->segments = palloc0(shared->head->segments * sizeof(dsm_segment *));
	return shared;
}

/* Says where the parts in one segment are. */
static void
find_images(BfpgShared *shared, uint32 segment)
{
	uint64		stride = part_bytes(&shared->head->shape);
	uint8	   *address = dsm_segment_address(shared->segments[segment]);
	uint32		first = segment * shared->head->parts_each;
	uint32		end = Min(first + shared->head->parts_each, shared->parts);
	uint32		part;

	for (part = first; part < end; part++)
		shared->images[part] = address + (part - first) * stride + BF_CACHE_LINE;
}

static void
make_secret(BfpgSharedHead *head)
{
	if (!pg_strong_random(head->secret, BFPG_SECRET_BYTES))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not get random bytes")));
}

/* Describes filters in memory that is empty. */
static void
init_head(BfpgSharedHead *head, const bf_exact *shape, Oid type, int processes)
{
	int			i;

	head->type = type;
	head->processes = processes;
	head->shape = *shape;
	head->shape.level[0].key_type = BF_KEY_NONE;
	head->list = DSM_HANDLE_INVALID;
	head->parts_each = parts_each(shape);
	head->segments = segments_for(shape);
	pg_atomic_init_u32(&head->key_type, BF_KEY_NONE);
	pg_atomic_init_u64(&head->keys, 0);
	make_secret(head);
	/*
	 * A tranche of our own would be one more for each publication, and there are few.  This one
	 * is shown as a wait for the dynamic shared memory of a parallel query.
	 */
	for (i = 0; i < BFPG_REGION_LOCKS; i++)
		LWLockInitialize(&head->locks[i].lock, LWTRANCHE_PARALLEL_QUERY_DSA);
	head->magic = MAGIC;
}

BfpgShared *
bfpg_shared_create(const bf_exact *shape, Oid type, int processes, char **reason)
{
	uint64		bytes = part_bytes(shape) * parts_each(shape);
	dsm_segment *control;
	BfpgShared *shared;
	uint32		i;

	if (!leaves_room(bfpg_shared_bytes(shape), reason))
		return NULL;
	control = create_segment(control_bytes(segments_for(shape)), reason);
	if (control == NULL)
		return NULL;
	clear(control, control_bytes(segments_for(shape)));
	init_head(dsm_segment_address(control), shape, type, processes);
	shared = new_view(control, dsm_segment_address(control));
	for (i = 0; i < shared->head->segments; i++)
	{
		CHECK_FOR_INTERRUPTS();
		shared->segments[i] = create_segment(bytes, reason);
		if (shared->segments[i] == NULL)
		{
			bfpg_shared_free(shared);
			return NULL;
		}
		clear(shared->segments[i], bytes);
		shared->head->handles[i] = dsm_segment_handle(shared->segments[i]);
		find_images(shared, i);
	}
	return shared;
}

static void
forget_own(void *shared)
{
	BfpgShared **place = &own_filters;

	while (*place != shared)
		place = &(*place)->next;
	*place = (*place)->next;
}

/* A view of filters in the current memory context, that attach finds; where they are is still to be said. */
static BfpgShared *
new_own(const bf_exact *shape, Oid type)
{
	BfpgSharedHead *head = palloc0(control_bytes(segments_for(shape)));
	MemoryContextCallback *callback = palloc0(sizeof(MemoryContextCallback));
	BfpgShared *shared;

	init_head(head, shape, type, 1);
	shared = new_view(NULL, head);
	shared->next = own_filters;
	own_filters = shared;
	callback->func = forget_own;
	callback->arg = shared;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, callback);
	return shared;
}

BfpgShared *
bfpg_shared_own(const bf_exact *shape, Oid type)
{
	BfpgShared *shared = new_own(shape, type);
	uint32		part;

	for (part = 0; part < shared->parts; part++)
	{
		char	   *memory = MemoryContextAllocExtended(CurrentMemoryContext, part_bytes(shape) + BF_CACHE_LINE,
														MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

		CHECK_FOR_INTERRUPTS();
		shared->images[part] = (uint8 *) TYPEALIGN(BF_CACHE_LINE, memory) + BF_CACHE_LINE;
	}
	return shared;
}

BfpgShared *
bfpg_shared_adopt(const bf_exact *shapes, const Datum *filters, Oid type)
{
	BfpgShared *shared = new_own(shapes, type);
	uint32		part;

	shared->head->mode = BFPG_CHECK;
	for (part = 0; part < shared->parts; part++)
	{
		const bf_header *header = &shapes[part].level[0];

		if (header->key_type != BF_KEY_NONE)
			pg_atomic_write_u32(&shared->head->key_type, header->key_type);
		shared->images[part] = (uint8 *) VARDATA(bfpg_flat_value(filters[part]));
	}
	return shared;
}

void
bfpg_shared_free(BfpgShared *shared)
{
	uint32		count = shared->head->segments;
	uint32		i;

	if (bfpg_shared_is_own(shared))
		return;
	for (i = 0; i < count; i++)
		if (shared->segments[i] != NULL)
			dsm_detach(shared->segments[i]);
	if (shared->list_segment != NULL)
		dsm_detach(shared->list_segment);
	dsm_detach(shared->control);
	pfree(shared->segments);
	pfree(shared->images);
	pfree(shared);
}

void
bfpg_shared_begin(BfpgShared *shared, BfpgPassMode mode)
{
	shared->head->mode = mode;
	pg_atomic_write_u64(&shared->head->keys, 0);
	make_secret(shared->head);
}

void
bfpg_shared_gather(BfpgShared *shared, uint64 room)
{
	Size		bytes = offsetof(BfpgHashList, hashes) + room * sizeof(uint64);
	char	   *reason = NULL;

	if (bfpg_shared_is_own(shared))
		shared->list = MemoryContextAllocHuge(CurrentMemoryContext, bytes);
	else
	{
		if (shared->list_segment != NULL)
			dsm_detach(shared->list_segment);
		shared->list_segment = create_segment(bytes, &reason);
		if (shared->list_segment == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_OUT_OF_MEMORY),
					 errmsg("there is too little shared memory to build an exact list"),
					 errdetail_internal("%s", reason),
					 errhint("Enlarge /dev/shm, which containers limit to 64 MB unless they are told otherwise.")));
		shared->list = dsm_segment_address(shared->list_segment);
		shared->head->list = dsm_segment_handle(shared->list_segment);
	}
	pg_atomic_init_u64(&shared->list->count, 0);
	shared->list->room = room;
}

void
bfpg_shared_append(const BfpgShared *shared, const uint64 *hashes, Size count)
{
	BfpgHashList *list = shared->list;
	uint64		at = pg_atomic_fetch_add_u64(&list->count, (int64) count);

	if (at < list->room)
		memcpy(list->hashes + at, hashes, Min(count, list->room - at) * sizeof(uint64));
}

void
bfpg_shared_note(const BfpgShared *shared, const char *key)
{
	BfpgSharedHead *head = shared->head;
	char		text[BFPG_FOUND_BYTES];
	int			length = pg_mbcliplen(key, (int) strlen(key), BFPG_FOUND_BYTES - 1);
	int			i = 0;

	memcpy(text, key, length);
	text[length] = '\0';
	LWLockAcquire(&head->locks[0].lock, LW_EXCLUSIVE);
	while (i < head->found_count && strcmp(head->found[i], text) != 0)
		i++;
	if (i == head->found_count && i < BFPG_MOST_FOUND)
		strlcpy(head->found[head->found_count++], text, BFPG_FOUND_BYTES);
	LWLockRelease(&head->locks[0].lock);
}

bytea *
bfpg_shared_ticket(const BfpgShared *shared)
{
	dsm_handle	handle = bfpg_shared_is_own(shared) ? DSM_HANDLE_INVALID : dsm_segment_handle(shared->control);
	bytea	   *ticket = palloc(VARHDRSZ + sizeof(handle) + BFPG_SECRET_BYTES);

	SET_VARSIZE(ticket, VARHDRSZ + sizeof(handle) + BFPG_SECRET_BYTES);
	memcpy(VARDATA(ticket), &handle, sizeof(handle));
	memcpy(VARDATA(ticket) + sizeof(handle), shared->head->secret, BFPG_SECRET_BYTES);
	return ticket;
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
fits(const BfpgSharedHead *head, const uint8 *secret, Oid type)
{
	return head->magic == MAGIC &&
		memcmp(head->secret, secret, BFPG_SECRET_BYTES) == 0 &&
		head->type == type;
}

/* Whether a segment is the control segment that a ticket was made for. */
static bool
is_control(dsm_segment *segment, const uint8 *secret, Oid type)
{
	const BfpgSharedHead *head = dsm_segment_address(segment);

	return dsm_segment_map_length(segment) >= control_bytes(1) && fits(head, secret, type) &&
		dsm_segment_map_length(segment) >= control_bytes(head->segments);
}

static BfpgShared *
find_own(const uint8 *secret, Oid type)
{
	BfpgShared *shared = own_filters;

	while (shared != NULL && !fits(shared->head, secret, type))
		shared = shared->next;
	if (shared == NULL)
		refuse_ticket();
	return shared;
}

BfpgShared *
bfpg_shared_attach(const bytea *ticket, Oid type, MemoryContext context)
{
	const uint8 *bytes = (const uint8 *) VARDATA_ANY(ticket);
	MemoryContext old;
	dsm_handle	handle;
	dsm_segment *control;
	BfpgShared *shared;
	bool		attached;
	uint32		i;

	if (VARSIZE_ANY_EXHDR(ticket) != sizeof(handle) + BFPG_SECRET_BYTES)
		refuse_ticket();
	memcpy(&handle, bytes, sizeof(handle));
	if (handle == DSM_HANDLE_INVALID)
		return find_own(bytes + sizeof(handle), type);
	control = dsm_find_mapping(handle);
	attached = control == NULL;
	if (attached)
		control = dsm_attach(handle);
	if (control == NULL)
		refuse_ticket();
	if (!is_control(control, bytes + sizeof(handle), type))
	{
		if (attached)
			dsm_detach(control);
		refuse_ticket();
	}

	old = MemoryContextSwitchTo(context);
	shared = new_view(control, dsm_segment_address(control));
	for (i = 0; i < shared->head->segments; i++)
	{
		shared->segments[i] = dsm_find_mapping(shared->head->handles[i]);
		if (shared->segments[i] == NULL)
			shared->segments[i] = dsm_attach(shared->head->handles[i]);
		if (shared->segments[i] == NULL ||
			dsm_segment_map_length(shared->segments[i]) <
			part_bytes(&shared->head->shape) * shared->head->parts_each)
			refuse_ticket();
		find_images(shared, i);
	}
	if (shared->head->list != DSM_HANDLE_INVALID)
	{
		shared->list_segment = dsm_find_mapping(shared->head->list);
		if (shared->list_segment == NULL)
			shared->list_segment = dsm_attach(shared->head->list);
		if (shared->list_segment == NULL)
			refuse_ticket();
		shared->list = dsm_segment_address(shared->list_segment);
	}
	MemoryContextSwitchTo(old);
	/* States of a worker hold addresses until it ends, whatever owns resources now. */
	if (IsParallelWorker() && attached)
	{
		dsm_pin_mapping(control);
		for (i = 0; i < shared->head->segments; i++)
			dsm_pin_mapping(shared->segments[i]);
		if (shared->list_segment != NULL)
			dsm_pin_mapping(shared->list_segment);
	}
	return shared;
}

void
bfpg_shared_add(const BfpgShared *shared, uint32 part, uint32 region, const uint64 *hashes, Size count)
{
	bf_header	header = shared->head->shape.level[0];
	uint8	   *blocks = bfpg_shared_blocks(shared, part);
	LWLock	   *lock = &shared->head->locks[region % BFPG_REGION_LOCKS].lock;

	if (shared->head->processes > 1)
		LWLockAcquire(lock, LW_EXCLUSIVE);
	bf_add_hashes(&header, blocks, hashes, count);
	if (shared->head->processes > 1)
		LWLockRelease(lock);
}
