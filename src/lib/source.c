/*
 * source.c
 *	  From a path to the files behind it.
 *
 * The folder is kept open while its files are: they are all of one folder even
 * if somebody renames it meanwhile.
 */
#define _GNU_SOURCE				/* O_PATH */

#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bf_hash.h"
#include "bf_working.h"
#include "error.h"
#include "working.h"

/* Only names in it are looked up, so a folder that can't be listed will do. */
#ifdef O_PATH
#define FOLDER_FLAGS (O_PATH | O_DIRECTORY | O_CLOEXEC)
#else
#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)
#endif

void
lbf_source_free(lbf_source *source)
{
	if (source->folder >= 0)
		close(source->folder);
	free(source->prefix);
	free(source->working);
	free(source->storage);
	free(source->names);
}

char *
lbf_source_path(const lbf_source *source, const char *name)
{
	size_t		length = strlen(source->prefix) + strlen(name) + 1;
	char	   *path = malloc(length);

	if (path != NULL)
		snprintf(path, length, "%s%s", source->prefix, name);
	return path;
}

/* A file's header; zeros where it has none. */
static void
read_header(int folder, const char *name, uint8_t *header)
{
	int			fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || pread(fd, header, BF_HEADER_BYTES, 0) != BF_HEADER_BYTES)
		memset(header, 0, BF_HEADER_BYTES);
	if (fd >= 0)
		close(fd);
}

int
lbf_check_parts(const bf_header *header, uint32_t count, const char *path,
				bloomfilter_detail *detail)
{
	char		text[96];

	if (header->parts == count)
		return BLOOMFILTER_OK;
	snprintf(text, sizeof text, "is part of a set of %u, which has %lu files here",
			 (unsigned) header->parts, (unsigned long) count);
	return lbf_fail_text(detail, BLOOMFILTER_ERR_SET, path, text);
}

/*
 * A manifest of 65535 lines is soon written, and looking at as many files takes
 * long: so the first part must say that the set has so many.  What is the matter
 * with that file otherwise is found when it is opened.
 */
static int
check_count(const lbf_source *source, bloomfilter_detail *detail)
{
	uint8_t		bytes[BF_HEADER_BYTES];
	bf_header	header;
	char	   *path;
	int			code;

	read_header(source->folder, source->names[0], bytes);
	if (bf_header_read(bytes, bf_header_length(bytes), &header) != BF_OK ||
		header.parts == source->count)
		return BLOOMFILTER_OK;
	path = lbf_source_path(source, source->names[0]);
	code = path == NULL ? lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, NULL) :
		lbf_check_parts(&header, source->count, path, detail);
	free(path);
	return code;
}

/* A source of one file. */
static int
be_file(lbf_source *source, const char *name, const char *path,
		bloomfilter_detail *detail)
{
	source->kind = LBF_SOURCE_FILE;
	source->count = 1;
	source->storage = strdup(name);
	source->names = malloc(sizeof source->names[0]);
	if (source->storage == NULL || source->names == NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, path);
	source->names[0] = source->storage;
	return BLOOMFILTER_OK;
}

/* A source of the files that a manifest names, or of one that is no manifest. */
static int
be_manifest_or_file(lbf_source *source, const char *name, const char *path,
					bloomfilter_detail *detail)
{
	size_t		length;
	int			code = lbf_manifest_read(source->folder, name, path,
										 &source->storage, &length, detail);

	if (code != BLOOMFILTER_OK)
		return code;
	if (source->storage == NULL)
		return be_file(source, name, path, detail);
	source->kind = LBF_SOURCE_MANIFEST;
	code = lbf_manifest_parse(source->storage, length, path, &source->names,
							  &source->count, detail);
	return code == BLOOMFILTER_OK ? check_count(source, detail) : code;
}

/* Opens the folder at path, of which so many bytes are its name: 0 is here. */
static int
open_folder(lbf_source *source, const char *path, size_t length,
			const char *action, bloomfilter_detail *detail)
{
	/* "d/" for "d", "/" for "/": what comes before names in it. */
	bool		slash = length > 0 && path[length - 1] != '/';

	source->prefix = malloc(length + 2);
	if (source->prefix == NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, path);
	memcpy(source->prefix, path, length);
	strcpy(source->prefix + length, slash ? "/" : "");
	source->folder = open(length == 0 ? "." : source->prefix, FOLDER_FLAGS);
	return source->folder < 0 ? lbf_fail_system(detail, path, action) : BLOOMFILTER_OK;
}

/* Where a follower puts a working copy of what is opened by this name. */
static int
name_working_copy(lbf_source *source, const char *name, bloomfilter_detail *detail)
{
	size_t		length = strlen(name) + sizeof BF_WORKING_ENDING;

	source->working = malloc(length);
	if (source->working == NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, name);
	snprintf(source->working, length, "%s%s", name, BF_WORKING_ENDING);
	return BLOOMFILTER_OK;
}

/* A folder stands for the set whose manifest it has. */
static int
be_folder(lbf_source *source, const char *path, bloomfilter_detail *detail)
{
	char	   *manifest;
	struct stat st;
	int			code = open_folder(source, path, strlen(path), "open folder", detail);

	if (code != BLOOMFILTER_OK)
		return code;
	if (fstatat(source->folder, LBF_MANIFEST_NAME, &st, 0) != 0 && errno == ENOENT)
		return lbf_fail_text(detail, BLOOMFILTER_ERR_SET, path,
							 "folder has no file \"" LBF_MANIFEST_NAME "\"");
	manifest = lbf_source_path(source, LBF_MANIFEST_NAME);
	if (manifest == NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, path);
	code = be_manifest_or_file(source, LBF_MANIFEST_NAME, manifest, detail);
	if (code == BLOOMFILTER_OK && source->kind != LBF_SOURCE_MANIFEST)
		code = lbf_fail(detail, BLOOMFILTER_ERR_MANIFEST, manifest);
	if (code == BLOOMFILTER_OK)
		code = name_working_copy(source, LBF_MANIFEST_NAME, detail);
	free(manifest);
	return code;
}

/* A file, with the folder that it is in. */
static int
be_path(lbf_source *source, const char *path, bloomfilter_detail *detail)
{
	const char *slash = strrchr(path, '/');
	size_t		folder = slash == NULL ? 0 : (size_t) (slash - path) + 1;
	int			code = open_folder(source, path, folder, "open its folder", detail);

	if (code != BLOOMFILTER_OK)
		return code;
	code = name_working_copy(source, path + folder, detail);
	if (code != BLOOMFILTER_OK)
		return code;
	return be_manifest_or_file(source, path + folder, path, detail);
}

int
lbf_source_find(const char *path, lbf_source *source, bloomfilter_detail *detail)
{
	struct stat st;
	int			code;

	memset(source, 0, sizeof *source);
	source->folder = -1;
	if (stat(path, &st) != 0)
		return lbf_fail_system(detail, path, "open file");
	if (S_ISDIR(st.st_mode))
		code = be_folder(source, path, detail);
	else
		code = be_path(source, path, detail);
	if (code != BLOOMFILTER_OK)
		lbf_source_free(source);
	return code;
}

/*
 * Chains what tells a file from another one to an identity.  Its header is among
 * it, which has the checksum of all: times have a coarse grain and numbers of
 * inodes are used again, so a file that was replaced twice in a moment can look
 * like the first one otherwise.
 */
static uint64_t
add_identity(uint64_t identity, int folder, const char *name)
{
	struct stat st;
	uint64_t	values[6] = {0};
	uint8_t		header[BF_HEADER_BYTES] = {0};

	if (fstatat(folder, name, &st, 0) == 0 && S_ISREG(st.st_mode))
	{
		values[0] = 1;
		values[1] = (uint64_t) st.st_dev;
		values[2] = (uint64_t) st.st_ino;
		values[3] = (uint64_t) st.st_size;
		values[4] = (uint64_t) st.st_mtim.tv_sec;
		values[5] = (uint64_t) st.st_mtim.tv_nsec;
		read_header(folder, name, header);
	}
	return bf_hash(header, sizeof header, bf_hash(values, sizeof values, identity));
}

uint64_t
lbf_source_identity(const lbf_source *source)
{
	uint64_t	identity = bf_hash(&source->kind, sizeof source->kind, 0);
	uint32_t	i;

	for (i = 0; i < source->count; i++)
		identity = add_identity(identity, source->folder, source->names[i]);
	return lbf_working_identity(source, identity);
}
