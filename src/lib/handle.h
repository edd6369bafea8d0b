/*
 * handle.h
 *	  What an open filter is inside: one or more parts, each with its bytes; and what the
 *	  library's files share.
 *
 * A handle is filled by its maker and then never changed, but for its holders,
 * which makes it safe to look up keys in it from all threads.  Internal names begin with
 * lbf_, so that they meet neither the core's nor a program's.
 */
#ifndef LBF_HANDLE_H
#define LBF_HANDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "bf_exact.h"
#include "bf_format.h"
#include "bf_key.h"
#include "feed_page.h"
#include "libbloomfilter.h"

/* Bytes of a filter: the caller's, or those of a mapped file, or: */
typedef struct lbf_bytes
{
	uint8_t    *start;			/* not written to unless */
	size_t		length;
	bool		allocated;		/* by lbf_allocate */
} lbf_bytes;

typedef struct lbf_part
{
	bf_shape	shape;			/* of one level, but for exact filters */
	lbf_bytes	bytes;
} lbf_part;

/* How much of a followed file may be believed. */
typedef struct lbf_told
{
	bloomfilter_place place;
	bloomfilter_serial_kind kind;
	uint64_t	serial;			/* of a mapped file of kind NOW, the one at opening */
	uint64_t	true_at;
	uint64_t	changes_to;		/* and changes up to here */
} lbf_told;

/* Changes by day that a followed list has: feed_table.h. */
typedef struct lbf_changes
{
	const uint8_t *page;		/* which counts them; NULL: there are none in this file */
	const uint8_t *slots;		/* NULL: there is no table */
	lbf_bytes	copy;			/* of both, if the file isn't mapped */
} lbf_changes;

/* The key type of a handle that stands for a file whose bits can't be believed: no key has it. */
#define LBF_LOST 0xff

struct bloomfilter
{
	uint32_t	open_parts;		/* 1, or all parts of a set */
	uint32_t	key_type;		/* of the parts that have one, else none; or LBF_LOST */
	uint64_t	seed;
	struct stat stamp;			/* of the file that it was opened from; all 0 if none */
	int			fd;				/* of that file, if it was copied; else -1 */
	feed_who	who;			/* what its page of facts says, if it has one */
	uint64_t	who_checksum;	/* there */
	lbf_told	told;
	lbf_bytes	mapped;			/* all of the file, in which the parts lie then */
	const uint8_t *page;		/* of facts, in mapped: headers say nothing of the bits then; or NULL */
	bool		uncounted;		/* and nobody wants them counted */
	lbf_changes changes;
	size_t		holders;		/* see watched.c, whose lock protects it */
	lbf_part	part[];
};

/* Whether bits may come in while it is read. */
static inline bool
lbf_is_live(const bloomfilter *filter)
{
	return filter->page != NULL && filter->told.place != BLOOMFILTER_PLACE_NONE;
}

/* Whether it is exact, as all its parts are then: nothing is added to it. */
static inline bool
lbf_is_exact(const bloomfilter *filter)
{
	return filter->part[0].shape.levels > 1;
}

static inline const uint8_t *
lbf_blocks(const lbf_part *part)
{
	return part->bytes.start + bf_shape_front(&part->shape);
}

/*
 * Takes memory for a whole filter, on a cache line as the blocks want it, if it is large on huge
 * pages; false where there is none.
 */
extern bool lbf_allocate(lbf_bytes *bytes, size_t length);

/* A handle with room for so many parts, which have no bytes yet; NULL. */
extern bloomfilter *lbf_handle_create(uint32_t parts);

/* A handle of so many parts of a shape, each with its number, in new memory that is all zero; NULL. */
extern bloomfilter *lbf_handle_allocate(const bf_shape *shape, uint32_t parts);

/* Sets what a handle keeps of all its parts, once these are complete. */
extern void lbf_handle_complete(bloomfilter *filter);

/* Writes the headers of parts whose blocks were filled, checksums included. */
extern void lbf_handle_seal(bloomfilter *filter);

/* ------------------------------------------------------------------------
 * error.c
 * ------------------------------------------------------------------------ */

/*
 * Each fills detail, if there is one, and returns the code, so that callers can
 * return what they return.
 */

/* subject is a file's name or another noun; NULL for none. */
extern int	lbf_fail(bloomfilter_detail *detail, int code, const char *subject);

/* The same with a text of its own instead of the code's. */
extern int	lbf_fail_text(bloomfilter_detail *detail, int code,
						  const char *subject, const char *text);

/* BLOOMFILTER_ERR_SYSTEM with errno, or BLOOMFILTER_ERR_NO_MEMORY for ENOMEM. */
extern int	lbf_fail_system(bloomfilter_detail *detail, const char *subject,
							const char *action);

/* For what bf_any_parse or bf_any_read said of bytes. */
extern int	lbf_fail_format(bloomfilter_detail *detail, bf_status status,
							const char *subject, const uint8_t *bytes);

/* ------------------------------------------------------------------------
 * keys.c
 * ------------------------------------------------------------------------ */

/* bf_key_check; a code if they are none. */
extern int	lbf_key_check(int type, const void *bytes, size_t *length,
						  uint32_t *full);

/* ------------------------------------------------------------------------
 * page.c: files that begin with a page of facts, those of lists that are followed and sets of
 * parts that were written
 * ------------------------------------------------------------------------ */

/* Sets what the page of a file says that may be believed, by who and stamp of its handle. */
extern void lbf_page_tell(bloomfilter *filter, const uint8_t *page);

/*
 * Checks the bits of a file's parts, as flags say, and gives copied ones whole headers.  Of exact
 * ones there is more to be checked.
 */
extern int	lbf_page_check(bloomfilter *filter, unsigned flags, const char *path, bloomfilter_detail *detail);

/*
 * A part as it is at this moment: bits are counted, its checksum is made.  An exact one never
 * changes.
 */
extern void lbf_part_now(const lbf_part *part, bf_shape *shape);

/* The same where the part's header says nothing of the bits, in a mapped file with a page; else as it is. */
extern void lbf_shape_now(const bloomfilter *filter, const lbf_part *part, bf_shape *shape);

/* What it adds to the sum of a file's content. */
extern uint64_t lbf_part_sum(const lbf_part *part);

/* ------------------------------------------------------------------------
 * status.c: which file a path is
 * ------------------------------------------------------------------------ */

/* Microseconds by a clock of clock_gettime. */
extern int64_t lbf_clock(int clock);

/* The stamp of a path at which filter, which may be gone, was opened before. */
extern int	lbf_stamp_path(const char *path, const bloomfilter *filter, struct stat *stamp,
						   bloomfilter_detail *detail);

/* Whether the file with this stamp is the one that filter was opened from. */
static inline bool
lbf_is_of_file(const bloomfilter *filter, const struct stat *stamp)
{
	return filter->stamp.st_dev == stamp->st_dev && filter->stamp.st_ino == stamp->st_ino;
}

/* Whether two stamps are of one state of one file. */
extern bool lbf_is_same(const struct stat *a, const struct stat *b);

/*
 * Whether that followed file's bits can't be believed any more: another program wrote to it,
 * or its follower says so.  length is what it has now.
 */
extern bool lbf_is_lost(const bloomfilter *filter, int64_t length);

/* Whether the file with this stamp is what filter was opened from, and the same state of it. */
extern bool lbf_is_current(const bloomfilter *filter, const struct stat *stamp);

#endif							/* LBF_HANDLE_H */
