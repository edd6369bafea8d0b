/*
 * publish_room.c
 *	  Whether a list fits on the disk, before it is written.
 *
 * A write that fills the disk fails late, leaves dead rows behind, and may take the room that
 * the server needs for WAL.  The file system's numbers promise nothing: others write too.  So a
 * publish is refused only where it can't fit, and one that goes on may still fail.
 */
#include "postgres.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include "access/heaptoast.h"
#include "access/table.h"
#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "common/relpath.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/fd.h"
#include "storage/freespace.h"
#include "utils/rel.h"

#include "bf_sizing.h"
#include "list/list.h"
#include "list/publish.h"
#include "base/pg_compat.h"
#include "base/sizes.h"

#define MEGABYTE (1024.0 * 1024.0)

/* Bytes of a page of a TOAST table for each byte of a filter. */
#define PAGE_OVERHEAD ((double) BLCKSZ / (EXTERN_TUPLES_PER_PAGE * TOAST_MAX_CHUNK_SIZE))

/* Bytes of a page that a chunk takes. */
#define CHUNK_ROOM (EXTERN_TUPLE_MAX_SIZE + sizeof(ItemIdData))

/* What others may write to a folder's file system; false where that can't be known. */
static bool
read_free(const char *folder, double *free_bytes)
{
	struct statvfs space;

	if (statvfs(folder, &space) != 0)
		return false;
	*free_bytes = (double) space.f_bavail * (double) space.f_frsize;
	return true;
}

static bool
same_disk(const char *a, const char *b)
{
	struct stat first;
	struct stat second;

	return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev;
}

/* Bytes of chunks that fit between the rows of the table. */
static double
reusable_bytes(Oid toast)
{
	Relation	table = table_open(toast, AccessShareLock);
	BlockNumber blocks = RelationGetNumberOfBlocks(table);
	double		chunks = 0;
	BlockNumber i;

	for (i = 0; i < blocks; i++)
	{
		CHECK_FOR_INTERRUPTS();
		chunks += (double) (GetRecordedFreeSpace(table, i) / CHUNK_ROOM);
	}
	table_close(table, AccessShareLock);
	return chunks * TOAST_MAX_CHUNK_SIZE;
}

/* Bytes of the files of WAL, which are used again. */
static double
wal_bytes(void)
{
	DIR		   *folder = AllocateDir(XLOGDIR);
	struct dirent *entry;
	double		bytes = 0;

	while ((entry = ReadDirExtended(folder, XLOGDIR, LOG)) != NULL)
	{
		char		path[MAXPGPATH];
		struct stat file;

		snprintf(path, sizeof(path), "%s/%s", XLOGDIR, entry->d_name);
		if (stat(path, &file) == 0 && S_ISREG(file.st_mode))
			bytes += (double) file.st_size;
	}
	FreeDir(folder);
	return bytes;
}

static void
refuse(const BfpgPublication *list, const char *where, double needed, double free_bytes)
{
	ereport(ERROR,
			(errcode(ERRCODE_DISK_FULL),
			 errmsg("list \"%s\" is not published: it needs %.1f MB in %s, where %.1f MB are free",
					list->name, needed / MEGABYTE, where, free_bytes / MEGABYTE),
			 errdetail("Nothing was written."),
			 errhint("%s", bfpg_publish_room_hint(&list->place))));
}

const char *
bfpg_publish_room_hint(const BfpgPlace *place)
{
	return psprintf("VACUUM (TRUNCATE) %sbloom_generation_part gives back what earlier generations left. "
					"Free other space first if the disk is full: bloom_drop writes WAL before it frees anything.",
					place->prefix);
}

/* WAL beyond max_wal_size makes a checkpoint, and then its files are used again. */
static double
wal_needed(double bytes)
{
	return Max(0, Min(bytes, max_wal_size_mb * MEGABYTE) - wal_bytes());
}

void
bfpg_publish_check_room(const BfpgPublication *list, double bytes)
{
	Relation	table = table_open(bfpg_list_table(list->place.schema), AccessShareLock);
	Oid			space = table->rd_rel->reltablespace;
	char	   *folder = GetDatabasePath(MyDatabaseId, OidIsValid(space) ? space : MyDatabaseTableSpace);
	double		pages = bytes * PAGE_OVERHEAD;
	double		wal = wal_needed(bytes);
	double		beside = same_disk(folder, XLOGDIR) ? wal : 0;
	double		free_bytes;

	if (read_free(folder, &free_bytes) && free_bytes < pages + beside)
	{
		pages = Max(0, pages - reusable_bytes(table->rd_rel->reltoastrelid));
		if (free_bytes < pages + beside)
			refuse(list, "the tablespace of bloom_generation_part", pages + beside, free_bytes);
	}
	if (read_free(XLOGDIR, &free_bytes) && free_bytes < wal)
		refuse(list, XLOGDIR, wal, free_bytes);
	table_close(table, AccessShareLock);
}

/* By the n that the caller gave or that the list will have by its last time; else nobody knows yet. */
void
bfpg_publish_expect_room(const BfpgPublication *list, const BfpgLastList *last)
{
	int64		n = list->n;
	bf_sizing	sizing;

	if (n == 0 && !last->exists)
		return;
	if (n == 0)
		n = Max(list->min_n, bfpg_plan_capacity(last, 0));
	bfpg_size_for_rate(n, list->p, &sizing);
	bfpg_publish_check_room(list, (double) bf_sizing_bytes(&sizing));
}
