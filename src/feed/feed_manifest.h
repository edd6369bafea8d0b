/*
 * feed_manifest.h
 *	  The manifest of a list's folder: doc/FEED.md, section 4.
 */
#ifndef FEED_MANIFEST_H
#define FEED_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feed_changes.h"
#include "feed_page.h"
#include "feed_patch.h"

#define FEED_MANIFEST "manifest"	/* its file's name */
#define FEED_MANIFEST_BYTES ((size_t) 1024 * 1024)
#define FEED_INLINE_BYTES 16384
#define FEED_INLINE_CHANGES_BYTES 4096
#define FEED_MOST_CHANGES 64	/* lines */
#define FEED_FIRST_LINE "bloomfilter-list 2"
#define FEED_SIGNATURE "signature "

/* An exporter's manifests may be missing so many times: mirrors lag.  Then it is silent. */
#define FEED_MISSED_HEARTBEATS 3

/* What a manifest may say at most: seconds, and bytes of a file. */
#define FEED_MOST_SECONDS 3600
#define FEED_MOST_BYTES ((uint64_t) 1 << 40)

/* A file that the manifest names: from and to of a whole are its part and its serial. */
typedef struct feed_file
{
	feed_patch_kind kind;		/* of a patch; else 0 */
	uint64_t	from;
	uint64_t	to;
	uint64_t	length;
	uint8_t		digest[FEED_DIGEST_BYTES];
} feed_file;

typedef struct feed_manifest
{
	char		name[FEED_NAME_BYTES + 1];
	uint8_t		identity[FEED_IDENTITY_BYTES];
	uint64_t	exporter;
	uint64_t	serial;
	uint64_t	content;
	uint64_t	epoch;
	uint64_t	sum;			/* of content */
	uint64_t	true_at;		/* 0: not known */
	uint64_t	poll;			/* seconds */
	uint64_t	spread;			/* seconds */
	uint64_t	heartbeat;		/* seconds; 0: none */
	uint64_t	expires;		/* 0: never */
	uint64_t	parts;
	feed_file  *wholes;
	feed_file  *patches;
	size_t		patch_count;
	uint8_t    *inlined;		/* a set to content, or NULL */
	size_t		inlined_length;
	bool		tracked;		/* there may be changes by day: */
	uint64_t	changes_id;		/* of their row */
	uint64_t	entries;		/* in all their files together, once each */
	uint64_t	changes_sum;	/* of these; 0: there is none, or an older exporter doesn't say it */
	feed_file  *changes;
	size_t		change_count;
	uint8_t    *inlined_changes;	/* the last of these files, or NULL */
	size_t		inlined_changes_length;
} feed_manifest;

/* Bytes before the first signature line. */
extern size_t feed_signed_length(const char *text, size_t length);

/*
 * Reads what is before the signature lines.  Returns NULL, or what is wrong; *line is
 * where then.  To be freed with feed_manifest_free, also on failure.
 */
extern const char *feed_manifest_read(const char *text, size_t length, feed_manifest *manifest,
									  unsigned *line);
extern void feed_manifest_free(feed_manifest *manifest);

/*
 * The text without signatures, in new memory, with a line of so many dots at its end;
 * NULL if there is no memory.
 */
extern char *feed_manifest_text(const feed_manifest *manifest, unsigned dots);

/*
 * The number of the patch by which a list of this epoch and serial, which isn't at
 * content, goes on: all from it on lead to content.  patch_count: none does, and the
 * whole has to be taken.  Besides, once it is read: a set must be of the list's own
 * epoch, and of a flip from_sum must be the list's sum.
 */
extern size_t feed_manifest_lead(const feed_manifest *manifest, uint64_t epoch, uint64_t serial);

/* Whether a patch that was read is the one that the manifest names in this line. */
extern bool feed_manifest_names(const feed_manifest *manifest, const feed_file *file, const feed_patch *patch);

/* Whether a file of changes that was read is one that the manifest names. */
extern bool feed_manifest_has_changes(const feed_manifest *manifest, const feed_changes_of *of);

/* What is wrong with a manifest whose lines are right one by one, or NULL. */
extern const char *feed_manifest_check(const feed_manifest *manifest);

#endif							/* FEED_MANIFEST_H */
