/*
 * feed_manifest.h
 *	  The manifest of a list's folder: doc/FORMAT.md, section 19.
 */
#ifndef CLI_FEED_MANIFEST_H
#define CLI_FEED_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FEED_MANIFEST_BYTES ((size_t) 1024 * 1024)
#define FEED_NAME_BYTES 200
#define FEED_IDENTITY_BYTES 16
#define FEED_DIGEST_BYTES 32
#define FEED_EXPORTER_BYTES 16
#define FEED_INLINE_BYTES 16384
#define FEED_FIRST_LINE "bloomfilter-list 1"
#define FEED_SIGNATURE "signature "

/* A file that the manifest names: of a whole only to, its serial, is used. */
typedef struct feed_file
{
	uint64_t	from;
	uint64_t	to;
	uint64_t	length;
	uint8_t		digest[FEED_DIGEST_BYTES];
	unsigned	level;			/* of a step, the exporter's own: how often it was merged */
	bool		delta;			/* of the chain: a delta, no step; then: */
	uint32_t	part;
	uint8_t		result[FEED_DIGEST_BYTES];	/* the digest of the whole file that it makes */
} feed_file;

typedef struct feed_manifest
{
	char		name[FEED_NAME_BYTES + 1];
	uint8_t		identity[FEED_IDENTITY_BYTES];
	char		exporter[FEED_EXPORTER_BYTES + 1];
	uint64_t	serial;
	uint64_t	content;
	uint64_t	epoch;
	uint64_t	built;
	uint64_t	true_at;		/* 0: not known */
	uint64_t	poll;			/* seconds */
	uint64_t	spread;			/* seconds */
	uint64_t	expires;		/* 0: never */
	double		rate;			/* 0: not known */
	uint32_t	parts;
	feed_file  *wholes;
	feed_file  *steps;
	size_t		step_count;
	feed_file  *chain;			/* from older epochs to this one: their steps, and deltas */
	size_t		chain_count;
	uint8_t    *inlined;		/* a step to content, or NULL */
	size_t		inlined_length;
} feed_manifest;

/* Of some files, as bytes that are fetched. */
extern uint64_t feed_files_bytes(const feed_file *files, size_t count);

/* Bytes before the first signature line. */
extern size_t feed_signed_length(const char *text, size_t length);

/*
 * Reads what is before the signature lines.  Returns NULL, or what is wrong; *line is
 * where then.  To be freed with feed_manifest_free, also on failure.
 */
extern const char *feed_manifest_read(const char *text, size_t length, feed_manifest *manifest,
									  unsigned *line);
extern void feed_manifest_free(feed_manifest *manifest);

/* The text without signatures, in new memory, with a line of so many dots at its end. */
extern char *feed_manifest_text(const feed_manifest *manifest, unsigned dots);

/* ------------------------------------------------------------------------
 * feed_values.c
 * ------------------------------------------------------------------------ */

/* 2 * length digits and a zero byte; and back: false if text isn't exactly that. */
extern void feed_hex(char *text, const uint8_t *bytes, size_t length);
extern bool feed_from_hex(uint8_t *bytes, size_t length, const char *text);

/* A UUID as it is written. */
#define FEED_UUID_TEXT_BYTES 37
extern void feed_uuid_text(char text[FEED_UUID_TEXT_BYTES], const uint8_t identity[FEED_IDENTITY_BYTES]);
extern bool feed_uuid_read(uint8_t identity[FEED_IDENTITY_BYTES], const char *text);

/* Whether a text may be a list's name. */
extern bool feed_is_name(const char *text);

#endif							/* CLI_FEED_MANIFEST_H */
