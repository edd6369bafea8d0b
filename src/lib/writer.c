/*
 * writer.c
 *	  Writing a filter or a set piece by piece, and putting it in place at once.
 *
 * Pieces go to new files.  A filter tells its length in its header, so the pieces
 * tell themselves where one part ends and the next begins; a part that is complete
 * is checked, as when it is opened, before anything else is done with it.
 *
 * The commit of a set renames its parts, whose names have their checksums, so that
 * they never replace old ones of other content, and its manifest last: until then
 * the old set is whole, and from then on the new one is.  What only an earlier
 * manifest named is deleted when the new one is sure to stay.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bf_limits.h"
#include "bytes.h"
#include "error.h"
#include "handle.h"
#include "source.h"
#include "target.h"

/* What a part's name has beside the manifest's; at is where its number stands. */
#define PART_FORMAT		".%05u-of-%05u.%016llx" LBF_FILTER_ENDING
#define PART_BYTES		(sizeof ".65535-of-65535.0123456789abcdef" LBF_FILTER_ENDING - 1)

typedef struct new_part
{
	bf_header	header;
	lbf_new_file file;
} new_part;

struct bloomfilter_writer
{
	lbf_target	target;
	uint32_t	parts;
	bool		trusted;		/* comes from an open filter: not checked again */
	char	   *notes;			/* lines of the manifest, or NULL */
	uint32_t	done;			/* parts that are complete */
	uint64_t	received;		/* bytes of the part after them */
	uint64_t	total;			/* that it has, once its header is there */
	uint8_t		header[BF_HEADER_BYTES];
	new_part	part[];
};

/* ------------------------------------------------------------------------
 * Names
 * ------------------------------------------------------------------------ */

static void
part_name(const bloomfilter_writer *writer, uint32_t index, char *name, size_t size)
{
	const bf_header *header = &writer->part[index].header;

	snprintf(name, size, "%s" PART_FORMAT, writer->target.name,
			 (unsigned) header->part, (unsigned) header->parts,
			 (unsigned long long) header->checksum);
}

/* The number of the part that a file of ours holds, by its name; -1 for others. */
static long
part_of_name(const bloomfilter_writer *writer, const char *name)
{
	size_t		prefix = strlen(writer->target.name);

	if (strlen(name) != prefix + PART_BYTES ||
		memcmp(name, writer->target.name, prefix) != 0)
		return -1;
	name += prefix;
	if (name[0] == '.' && memcmp(name + 6, "-of-", 4) == 0 && name[15] == '.' &&
		strspn(name + 1, "0123456789") == 5 && strspn(name + 10, "0123456789") == 5 &&
		strspn(name + 16, "0123456789abcdef") == 16 &&
		strcmp(name + 32, LBF_FILTER_ENDING) == 0)
		return strtol(name + 1, NULL, 10);
	return -1;
}

/* Whether a file is a part, and not one of the set that is written: an lbf_is_left. */
static bool
is_other_part(const void *state, const char *name)
{
	const bloomfilter_writer *writer = state;
	long		part = part_of_name(writer, name);
	char		own[LBF_MOST_NAME_BYTES + 1];

	if (part < 0 || writer->parts == 1 || part >= (long) writer->parts)
		return part >= 0;
	part_name(writer, (uint32_t) part, own, sizeof own);
	return strcmp(own, name) != 0;
}

/* The manifest that is replaced. */
typedef struct old_manifest
{
	bool		known;			/* false: it could not be read */
	char	   *text;
	char	  **names;
	uint32_t	count;			/* 0: there is none */
} old_manifest;

static int
read_old(const bloomfilter_writer *writer, old_manifest *old,
		 bloomfilter_detail *detail)
{
	bloomfilter_detail reason = {0, 0, ""};
	size_t		length;
	int			code;

	memset(old, 0, sizeof *old);
	code = lbf_manifest_read(writer->target.folder, writer->target.name,
							 writer->target.path, &old->text, &length, &reason);
	if (code == BLOOMFILTER_OK && old->text != NULL)
		code = lbf_manifest_parse(old->text, length, NULL, &old->names,
								  &old->count, &reason);
	if (code == BLOOMFILTER_ERR_NO_MEMORY)
		return lbf_fail(detail, code, writer->target.path);
	old->known = code == BLOOMFILTER_OK || reason.system_error == ENOENT;
	return BLOOMFILTER_OK;
}

static bool
is_in_old(const old_manifest *old, uint32_t part, const char *name)
{
	return part < old->count && strcmp(old->names[part], name) == 0;
}

static void
free_old(old_manifest *old)
{
	free(old->names);
	free(old->text);
}

/* ------------------------------------------------------------------------
 * Beginning
 * ------------------------------------------------------------------------ */

static bloomfilter_writer *
create_writer(uint32_t parts)
{
	bloomfilter_writer *writer = calloc(1, sizeof *writer + parts * sizeof writer->part[0]);
	uint32_t	i;

	if (writer == NULL)
		return NULL;
	writer->parts = parts;
	for (i = 0; i < parts; i++)
		writer->part[i].file.fd = -1;
	return writer;
}

int
bloomfilter_writer_begin(const char *path, uint32_t parts,
						 bloomfilter_writer **result, bloomfilter_detail *detail)
{
	bloomfilter_writer *writer;
	int			code;

	if (path == NULL || result == NULL || parts < 1 || parts > BF_MAX_PARTS)
		return lbf_fail(detail, BLOOMFILTER_ERR_ARGUMENT, path);
	writer = create_writer(parts);
	if (writer == NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, path);
	code = lbf_target_open(&writer->target, path, detail);
	if (code == BLOOMFILTER_OK && parts > 1 &&
		strlen(writer->target.name) + PART_BYTES > LBF_MOST_NAME_BYTES)
	{
		code = lbf_fail_text(detail, BLOOMFILTER_ERR_ARGUMENT, path,
							 "name is too long for the manifest of a set");
		lbf_target_close(&writer->target);
	}
	if (code != BLOOMFILTER_OK)
	{
		free(writer);
		return code;
	}
	/* Room is made before it is taken; who holds the lock does the same at its end. */
	if (lbf_target_try_lock(&writer->target))
		lbf_target_sweep(&writer->target, NULL, NULL);
	lbf_target_unlock(&writer->target);
	*result = writer;
	return BLOOMFILTER_OK;
}

void
bloomfilter_writer_free(bloomfilter_writer *writer)
{
	uint32_t	i;

	if (writer == NULL)
		return;
	for (i = 0; i < writer->parts; i++)
		lbf_file_remove(&writer->target, &writer->part[i].file);
	lbf_target_close(&writer->target);
	free(writer->notes);
	free(writer);
}

int
bloomfilter_writer_note(bloomfilter_writer *writer, const char *name,
						const char *value, bloomfilter_detail *detail)
{
	size_t		old;
	size_t		line;
	char	   *larger;

	if (writer == NULL || name == NULL || value == NULL ||
		strpbrk(name, " \n") != NULL || strchr(value, '\n') != NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_ARGUMENT, NULL);
	old = writer->notes == NULL ? 0 : strlen(writer->notes);
	line = strlen("# \n ") + strlen(name) + strlen(value) + 1;
	larger = realloc(writer->notes, old + line);
	if (larger == NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, writer->target.path);
	writer->notes = larger;
	snprintf(larger + old, line, "%c %s %s\n", LBF_MANIFEST_NOTE, name, value);
	return BLOOMFILTER_OK;
}

/* ------------------------------------------------------------------------
 * Appending
 * ------------------------------------------------------------------------ */

/* Looks at the header of the part that comes now, and makes its file. */
static int
begin_part(bloomfilter_writer *writer, bloomfilter_detail *detail)
{
	new_part   *part = &writer->part[writer->done];
	bf_status	status = bf_header_read(writer->header, bf_header_length(writer->header),
										  &part->header);
	char		text[96];

	if (status != BF_OK)
		return lbf_fail_format(detail, status, writer->target.path, writer->header,
							   BF_HEADER_BYTES);
	if (writer->parts > 1 &&
		(part->header.parts != writer->parts || part->header.part != writer->done))
	{
		snprintf(text, sizeof text, "part %u of %u comes where part %lu of %lu should",
				 (unsigned) part->header.part, (unsigned) part->header.parts,
				 (unsigned long) writer->done, (unsigned long) writer->parts);
		return lbf_fail_text(detail, BLOOMFILTER_ERR_SET, writer->target.path, text);
	}
	writer->total = bf_total_bytes(&part->header);
	return lbf_file_create(&writer->target, &part->file, detail);
}

/* All rules of the format, by the file as it will be read. */
static int
check_part(const bloomfilter_writer *writer, const new_part *part,
		   bloomfilter_detail *detail)
{
	lbf_part	opened;
	lbf_bytes	bytes;
	int			code;

	code = lbf_bytes_of_file(part->file.fd, 0, writer->target.path, &bytes, detail);
	if (code != BLOOMFILTER_OK)
		return code;
	code = lbf_part_of_bytes(&bytes, 0, writer->target.path, &opened, detail);
	if (code == BLOOMFILTER_OK)
		lbf_release(&opened.bytes);
	return code;
}

static int
end_part(bloomfilter_writer *writer, bloomfilter_detail *detail)
{
	new_part   *part = &writer->part[writer->done];
	int			code = writer->trusted ? BLOOMFILTER_OK : check_part(writer, part, detail);

	if (code == BLOOMFILTER_OK)
		code = lbf_file_finish(&writer->target, &part->file, detail);
	if (code == BLOOMFILTER_OK)
	{
		writer->done++;
		writer->received = 0;
	}
	return code;
}

/* Takes as many bytes as are missing of a header, or else of its part. */
static int
append_some(bloomfilter_writer *writer, const uint8_t *bytes, size_t length,
			size_t *taken, bloomfilter_detail *detail)
{
	lbf_new_file *file = &writer->part[writer->done].file;
	bool		in_header = writer->received < BF_HEADER_BYTES;
	uint64_t	missing = (in_header ? BF_HEADER_BYTES : writer->total) - writer->received;
	int			code = BLOOMFILTER_OK;

	*taken = length < missing ? length : (size_t) missing;
	if (in_header)
		memcpy(writer->header + writer->received, bytes, *taken);
	else
		code = lbf_file_append(&writer->target, file, bytes, *taken, detail);
	if (code != BLOOMFILTER_OK)
		return code;
	writer->received += *taken;
	if (in_header && writer->received == BF_HEADER_BYTES)
	{
		code = begin_part(writer, detail);
		if (code == BLOOMFILTER_OK)
			code = lbf_file_append(&writer->target, file, writer->header,
								   BF_HEADER_BYTES, detail);
	}
	if (code == BLOOMFILTER_OK && writer->received >= BF_HEADER_BYTES &&
		writer->received == writer->total)
		code = end_part(writer, detail);
	return code;
}

int
bloomfilter_writer_append(bloomfilter_writer *writer, const void *bytes,
						  size_t length, bloomfilter_detail *detail)
{
	const uint8_t *rest = bytes;

	while (length > 0)
	{
		size_t		taken;
		int			code;

		if (writer->done == writer->parts)
			return lbf_fail_text(detail, BLOOMFILTER_ERR_SET, writer->target.path,
								 "more bytes come than its filters have");
		code = append_some(writer, rest, length, &taken, detail);
		if (code != BLOOMFILTER_OK)
			return code;
		rest += taken;
		length -= taken;
	}
	return BLOOMFILTER_OK;
}

/* ------------------------------------------------------------------------
 * Committing
 * ------------------------------------------------------------------------ */

/* That everything came, and that it is one set. */
static int
check_whole(const bloomfilter_writer *writer, bloomfilter_detail *detail)
{
	const char *path = writer->target.path;
	uint32_t	key_type = 0;
	uint32_t	i;

	if (writer->done != writer->parts || writer->received != 0)
		return lbf_fail_text(detail, BLOOMFILTER_ERR_SET, path, "bytes of it are missing");
	for (i = 0; i < writer->parts; i++)
	{
		const bf_header *header = &writer->part[i].header;

		if (header->seed != writer->part[0].header.seed)
			return lbf_fail_text(detail, BLOOMFILTER_ERR_SET, path,
								 "parts have different seeds");
		if (header->key_type == 0)
			continue;
		if (key_type != 0 && header->key_type != key_type)
			return lbf_fail_text(detail, BLOOMFILTER_ERR_SET, path,
								 "parts hold keys of different types");
		key_type = header->key_type;
	}
	return BLOOMFILTER_OK;
}

/* The manifest's text, in new memory; NULL. */
static char *
manifest_text(const bloomfilter_writer *writer, size_t *length)
{
	const char *notes = writer->notes == NULL ? "" : writer->notes;
	size_t		line = strlen(writer->target.name) + PART_BYTES + 1;
	char	   *text = malloc(sizeof LBF_MANIFEST_FIRST_LINE "\n" + strlen(notes) +
							  writer->parts * line + LBF_MOST_NAME_BYTES);
	char	   *at = text;
	uint32_t	i;

	if (text == NULL)
		return NULL;
	at += sprintf(at, "%s\n%s", LBF_MANIFEST_FIRST_LINE, notes);
	for (i = 0; i < writer->parts; i++)
	{
		part_name(writer, i, at, LBF_MOST_NAME_BYTES + 1);
		at += strlen(at);
		*at++ = '\n';
	}
	*length = (size_t) (at - text);
	return text;
}

/* The manifest in a file that is still to be renamed. */
static int
write_manifest(bloomfilter_writer *writer, lbf_new_file *file,
			   bloomfilter_detail *detail)
{
	size_t		length = 0;
	char	   *text = manifest_text(writer, &length);
	int			code;

	if (text == NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, writer->target.path);
	code = lbf_file_create(&writer->target, file, detail);
	if (code == BLOOMFILTER_OK)
		code = lbf_file_append(&writer->target, file, text, length, detail);
	if (code == BLOOMFILTER_OK)
		code = lbf_file_finish(&writer->target, file, detail);
	free(text);
	return code;
}

/* After a failure: deletes renamed parts, but for those that the old set has, too. */
static void
take_back(const bloomfilter_writer *writer, const old_manifest *old, uint32_t renamed)
{
	char		name[LBF_MOST_NAME_BYTES + 1];
	uint32_t	i;

	/* without a lock, another writer's set may have come since */
	if (!old->known || !writer->target.locked)
		return;
	for (i = 0; i < renamed; i++)
	{
		part_name(writer, i, name, sizeof name);
		if (!is_in_old(old, i, name))
			unlinkat(writer->target.folder, name, 0);
	}
}

static int
rename_parts(bloomfilter_writer *writer, uint32_t *renamed,
			 bloomfilter_detail *detail)
{
	char		name[LBF_MOST_NAME_BYTES + 1];
	int			code = BLOOMFILTER_OK;

	for (*renamed = 0; *renamed < writer->parts; (*renamed)++)
	{
		part_name(writer, *renamed, name, sizeof name);
		code = lbf_file_rename(&writer->target, &writer->part[*renamed].file, name, detail);
		if (code != BLOOMFILTER_OK)
			return code;
	}
	return lbf_target_sync(&writer->target, false, detail);
}

/* All that may fail for want of room is done before the first rename. */
static int
publish_set(bloomfilter_writer *writer, const old_manifest *old,
			bloomfilter_detail *detail)
{
	lbf_new_file manifest = LBF_NO_FILE;
	uint32_t	renamed = 0;
	int			code = write_manifest(writer, &manifest, detail);

	if (code == BLOOMFILTER_OK)
		code = rename_parts(writer, &renamed, detail);
	if (code == BLOOMFILTER_OK)
		code = lbf_file_rename(&writer->target, &manifest, writer->target.name, detail);
	if (code != BLOOMFILTER_OK)
		take_back(writer, old, renamed);
	lbf_file_remove(&writer->target, &manifest);
	return code;
}

/* Deletes the parts of the set that was replaced, and what is left of others. */
static void
clean_up(const bloomfilter_writer *writer, const old_manifest *old)
{
	uint32_t	i;

	for (i = 0; i < old->count; i++)
		if (is_other_part(writer, old->names[i]))
			unlinkat(writer->target.folder, old->names[i], 0);
	lbf_target_sweep(&writer->target, is_other_part, writer);
}

/* Under the lock: no other writer's set comes or goes meanwhile. */
static int
publish(bloomfilter_writer *writer, bloomfilter_detail *detail)
{
	old_manifest old;
	int			code = read_old(writer, &old, detail);

	if (code == BLOOMFILTER_OK && writer->parts > 1)
		code = publish_set(writer, &old, detail);
	else if (code == BLOOMFILTER_OK)
		code = lbf_file_rename(&writer->target, &writer->part[0].file,
							   writer->target.name, detail);
	if (code == BLOOMFILTER_OK)
		code = lbf_target_sync(&writer->target, true, detail);
	if (code == BLOOMFILTER_OK)
		clean_up(writer, &old);
	free_old(&old);
	return code;
}

int
bloomfilter_writer_commit(bloomfilter_writer *writer, bloomfilter_detail *detail)
{
	int			code = check_whole(writer, detail);

	if (code != BLOOMFILTER_OK)
		return code;
	code = lbf_target_lock(&writer->target, detail);
	if (code != BLOOMFILTER_OK)
		return code;
	code = publish(writer, detail);
	lbf_target_unlock(&writer->target);
	return code;
}

/* ------------------------------------------------------------------------
 * A filter that is open
 * ------------------------------------------------------------------------ */

int
bloomfilter_write(const bloomfilter *filter, const char *path,
				  bloomfilter_detail *detail)
{
	bloomfilter_writer *writer;
	uint32_t	i;
	int			code;

	if (filter->working.start != NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_WORKING, NULL);
	code = bloomfilter_writer_begin(path, filter->open_parts, &writer, detail);
	if (code != BLOOMFILTER_OK)
		return code;
	writer->trusted = true;
	for (i = 0; code == BLOOMFILTER_OK && i < filter->open_parts; i++)
		code = bloomfilter_writer_append(writer, filter->part[i].bytes.start,
										 filter->part[i].bytes.length, detail);
	if (code == BLOOMFILTER_OK)
		code = bloomfilter_writer_commit(writer, detail);
	bloomfilter_writer_free(writer);
	return code;
}
