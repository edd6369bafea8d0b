/*
 * write_set.c
 *	  Writing a set of parts.
 *
 * Each part gets a file whose name has its checksum, so that new parts never
 * replace old ones of other content, and the manifest comes last: until it is
 * renamed, the old set is whole, and from then on the new one is.
 */
#define _POSIX_C_SOURCE 200809L

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "handle.h"
#include "source.h"
#include "write.h"

/* Bytes of the longest name of a file, and of what is appended to the manifest's. */
#define MOST_NAME_BYTES		255
#define APPENDED_BYTES		(sizeof ".65535-of-65535.0123456789abcdef" LBF_FILTER_ENDING)

/* The manifest's text, and which of the files it names were not there before. */
typedef struct set_writing
{
	const bloomfilter *filter;
	int			folder;
	const char *name;
	char	   *text;
	size_t		length;
	bool	   *created;
} set_writing;

static void
part_name(const set_writing *set, uint32_t index, char *name, size_t size)
{
	const bf_header *header = &set->filter->part[index].header;

	snprintf(name, size, "%s.%05u-of-%05u.%016llx" LBF_FILTER_ENDING, set->name,
			 (unsigned) header->part, (unsigned) header->parts,
			 (unsigned long long) header->checksum);
}

/* Whether a file's name is one that part_name makes for this manifest. */
static bool
is_part_name(const set_writing *set, const char *name)
{
	size_t		prefix = strlen(set->name);
	size_t		length = strlen(name);

	if (length != prefix + APPENDED_BYTES - 1 ||
		memcmp(name, set->name, prefix) != 0)
		return false;
	name += prefix;
	return name[0] == '.' && memcmp(name + 6, "-of-", 4) == 0 && name[15] == '.' &&
		strspn(name + 1, "0123456789") == 5 && strspn(name + 10, "0123456789") == 5 &&
		strspn(name + 16, "0123456789abcdef") == 16 &&
		strcmp(name + 32, LBF_FILTER_ENDING) == 0;
}

static void
make_text(set_writing *set)
{
	char	   *at = set->text;
	uint32_t	i;

	at += sprintf(at, "%s\n", LBF_MANIFEST_FIRST_LINE);
	for (i = 0; i < set->filter->open_parts; i++)
	{
		part_name(set, i, at, MOST_NAME_BYTES + 1);
		at += strlen(at);
		*at++ = '\n';
	}
	set->length = (size_t) (at - set->text);
}

static int
write_parts(set_writing *set, bloomfilter_detail *detail)
{
	uint32_t	i;

	for (i = 0; i < set->filter->open_parts; i++)
	{
		const lbf_bytes *bytes = &set->filter->part[i].bytes;
		char		name[MOST_NAME_BYTES + 1];
		struct stat st;
		bool		there;
		int			code;

		part_name(set, i, name, sizeof name);
		there = fstatat(set->folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
		code = lbf_file_replace(set->folder, name, bytes->start, bytes->length, detail);
		if (code != BLOOMFILTER_OK)
			return code;
		set->created[i] = !there;
	}
	return BLOOMFILTER_OK;
}

/* After a failure: takes back the files that were not there before. */
static void
remove_created(const set_writing *set)
{
	char		name[MOST_NAME_BYTES + 1];
	uint32_t	i;

	for (i = 0; i < set->filter->open_parts; i++)
	{
		if (!set->created[i])
			continue;
		part_name(set, i, name, sizeof name);
		unlinkat(set->folder, name, 0);
	}
}

/* Whether the new set has a file of this name. */
static bool
is_named(const set_writing *set, const char *name)
{
	char		own[MOST_NAME_BYTES + 1];
	uint32_t	i;

	for (i = 0; i < set->filter->open_parts; i++)
	{
		part_name(set, i, own, sizeof own);
		if (strcmp(own, name) == 0)
			return true;
	}
	return false;
}

/* After success: deletes the parts of the manifest that was there before. */
static void
remove_old_parts(const set_writing *set, char **old_names, uint32_t count)
{
	uint32_t	i;

	for (i = 0; i < count; i++)
		if (is_part_name(set, old_names[i]) && !is_named(set, old_names[i]))
			unlinkat(set->folder, old_names[i], 0);
}

/* Writes all parts, then the manifest. */
static int
write_files(set_writing *set, bloomfilter_detail *detail)
{
	int			code = write_parts(set, detail);

	if (code == BLOOMFILTER_OK)
		code = lbf_folder_sync(set->folder, set->name, detail);
	if (code == BLOOMFILTER_OK)
		code = lbf_file_replace(set->folder, set->name, set->text, set->length, detail);
	if (code != BLOOMFILTER_OK)
		remove_created(set);
	return code;
}

/*
 * The names in the manifest that is there before; none where it can't be read as
 * one, since it then names no parts to be deleted.
 */
static int
read_old_names(const set_writing *set, char **text, char ***names,
			   uint32_t *count)
{
	size_t		length;
	int			code = lbf_manifest_read(set->folder, set->name, text, &length, NULL);

	if (code == BLOOMFILTER_OK && *text != NULL)
		code = lbf_manifest_parse(*text, length, NULL, names, count, NULL);
	return code == BLOOMFILTER_ERR_NO_MEMORY ? code : BLOOMFILTER_OK;
}

/* Writes the set, and cleans up after the one that was there before. */
static int
write_over_old(set_writing *set, bloomfilter_detail *detail)
{
	char	   *old_text = NULL;
	char	  **old_names = NULL;
	uint32_t	count = 0;
	int			code = read_old_names(set, &old_text, &old_names, &count);

	if (code != BLOOMFILTER_OK)
		lbf_fail(detail, code, set->name);
	else
		code = write_files(set, detail);
	if (code == BLOOMFILTER_OK)
		remove_old_parts(set, old_names, count);
	free(old_names);
	free(old_text);
	return code;
}

int
lbf_set_write(const bloomfilter *filter, int folder, const char *name,
			  bloomfilter_detail *detail)
{
	set_writing set = {filter, folder, name, NULL, 0, NULL};
	size_t		line = strlen(name) + APPENDED_BYTES + 1;
	int			code;

	if (strlen(name) + APPENDED_BYTES - 1 > MOST_NAME_BYTES)
		return lbf_fail_text(detail, BLOOMFILTER_ERR_ARGUMENT, name,
							 "name is too long for the manifest of a set");
	set.text = malloc(sizeof LBF_MANIFEST_FIRST_LINE + filter->open_parts * line +
					  MOST_NAME_BYTES);
	set.created = calloc(filter->open_parts, sizeof set.created[0]);
	if (set.text == NULL || set.created == NULL)
		code = lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, name);
	else
	{
		make_text(&set);
		code = write_over_old(&set, detail);
	}
	free(set.text);
	free(set.created);
	return code;
}
