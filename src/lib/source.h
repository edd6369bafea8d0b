/*
 * source.h
 *	  From a path to the files behind it: a filter, or a manifest.
 */
#ifndef LBF_SOURCE_H
#define LBF_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bf_format.h"
#include "libbloomfilter.h"

/* The first line of a manifest, and what it begins with in every version. */
#define LBF_MANIFEST_FIRST_LINE	"bloomfilter-set 1"
#define LBF_MANIFEST_MAGIC		"bloomfilter-set "

/* What a line of it begins with that names no part. */
#define LBF_MANIFEST_NOTE		'#'

/* The manifest's name where a folder is opened, and the ending of filters beside it. */
#define LBF_MANIFEST_NAME		"manifest"
#define LBF_FILTER_ENDING		".bloom"

typedef enum lbf_source_kind
{
	LBF_SOURCE_FILE,
	LBF_SOURCE_MANIFEST
} lbf_source_kind;

/* The files that make up a filter, by names in a folder, in the order of the parts. */
typedef struct lbf_source
{
	lbf_source_kind kind;
	int			folder;			/* descriptor that the names are relative to */
	char	   *prefix;			/* what messages have before a name: the folder's path */
	char	   *storage;		/* the names' memory */
	char	  **names;
	uint32_t	count;
	char	   *working;		/* name that a working copy of it would have; or NULL */
} lbf_source;

/* Finds out what is at path.  To be freed with lbf_source_free on success. */
extern int	lbf_source_find(const char *path, lbf_source *source,
							bloomfilter_detail *detail);
extern void lbf_source_free(lbf_source *source);

/* A file's path, for messages, in memory to be freed; NULL if there is none. */
extern char *lbf_source_path(const lbf_source *source, const char *name);

/*
 * A number that is another one as soon as a file was replaced or changed: a hash
 * of all files' device, inode, size, modification time and header.  A file that
 * is not there counts, too.
 */
extern uint64_t lbf_source_identity(const lbf_source *source);

/*
 * That a part, whose header this is, belongs to a set of so many files.  The first
 * part's is looked at before a manifest is believed that names many.
 */
extern int	lbf_check_parts(const bf_header *header, uint32_t count,
							const char *path, bloomfilter_detail *detail);

/*
 * Reads a manifest, or as much as makes sure that a file is none: then *text is
 * NULL.  *text is terminated, and to be freed.  Messages call it path.
 */
extern int	lbf_manifest_read(int folder, const char *name, const char *path,
							  char **text, size_t *length,
							  bloomfilter_detail *detail);

/*
 * Splits a manifest's text into names, in place.  *names is an array in new
 * memory that points into text.
 */
extern int	lbf_manifest_parse(char *text, size_t length, const char *subject,
							   char ***names, uint32_t *count,
							   bloomfilter_detail *detail);

/*
 * The checksum that a file's name promises, "*.<16 hexadecimal digits>.bloom";
 * false if it promises none.
 */
extern bool lbf_name_checksum(const char *name, uint64_t *checksum);

#endif							/* LBF_SOURCE_H */
