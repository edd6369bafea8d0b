/*
 * source.c
 *	  From a path to the files behind it.
 *
 * The folder is kept open while its files are: they are all of one folder even
 * if somebody renames it meanwhile.
 */
#define _DEFAULT_SOURCE

#include "source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bf_hash.h"
#include "bf_limits.h"
#include "error.h"

int
lbf_folder_open(const char *path, const char **name, bloomfilter_detail *detail)
{
	const char *slash = strrchr(path, '/');
	char	   *folder;
	int			fd;

	*name = slash == NULL ? path : slash + 1;
	if (slash == NULL)
		folder = strdup(".");
	else if (slash == path)
		folder = strdup("/");
	else
		folder = strndup(path, (size_t) (slash - path));
	if (folder == NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, path);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(folder);
	if (fd < 0)
		return lbf_fail_system(detail, path, "open its folder");
	return fd;
}

void
lbf_source_free(lbf_source *source)
{
	close(source->folder);
	free(source->storage);
	free(source->names);
}

/* A source of one file. */
static int
be_file(lbf_source *source, const char *name, bloomfilter_detail *detail)
{
	source->kind = LBF_SOURCE_FILE;
	source->count = 1;
	source->storage = strdup(name);
	source->names = malloc(sizeof source->names[0]);
	if (source->storage == NULL || source->names == NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, name);
	source->names[0] = source->storage;
	return BLOOMFILTER_OK;
}

/* A source of the files that a manifest names, or of one that is no manifest. */
static int
be_manifest_or_file(lbf_source *source, const char *name,
					bloomfilter_detail *detail)
{
	size_t		length;
	int			code = lbf_manifest_read(source->folder, name, &source->storage,
										 &length, detail);

	if (code != BLOOMFILTER_OK)
		return code;
	if (source->storage == NULL)
		return be_file(source, name, detail);
	source->kind = LBF_SOURCE_MANIFEST;
	return lbf_manifest_parse(source->storage, length, name, &source->names,
							  &source->count, detail);
}

static bool
is_filter_name(const char *name)
{
	size_t		length = strlen(name);
	size_t		ending = sizeof LBF_FILTER_ENDING - 1;

	return name[0] != '.' && length > ending &&
		strcmp(name + length - ending, LBF_FILTER_ENDING) == 0;
}

/* Appends a name to storage, which has *used bytes; pointers are made later. */
static bool
append_name(lbf_source *source, size_t *used, const char *name)
{
	size_t		length = strlen(name) + 1;
	char	   *larger = realloc(source->storage, *used + length);

	if (larger == NULL)
		return false;
	memcpy(larger + *used, name, length);
	source->storage = larger;
	*used += length;
	source->count++;
	return true;
}

static int
read_folder(lbf_source *source, DIR *folder, bloomfilter_detail *detail)
{
	const struct dirent *entry;
	size_t		used = 0;

	while (errno = 0, (entry = readdir(folder)) != NULL)
	{
		if (!is_filter_name(entry->d_name))
			continue;
		if (source->count == BF_MAX_PARTS)
			return lbf_fail_text(detail, BLOOMFILTER_ERR_SET, NULL,
								 "folder has more filters than a set has parts");
		if (!append_name(source, &used, entry->d_name))
			return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, NULL);
	}
	if (errno != 0)
		return lbf_fail_system(detail, NULL, "read folder");
	if (source->count == 0)
		return lbf_fail_text(detail, BLOOMFILTER_ERR_SET, NULL,
							 "folder has neither a file \"" LBF_MANIFEST_NAME
							 "\" nor files \"*" LBF_FILTER_ENDING "\"");
	return BLOOMFILTER_OK;
}

/* Makes the pointers to the names that stand one after the other in storage. */
static int
point_to_names(lbf_source *source, bloomfilter_detail *detail)
{
	char	   *name = source->storage;
	uint32_t	i;

	source->names = malloc(source->count * sizeof source->names[0]);
	if (source->names == NULL)
		return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, NULL);
	for (i = 0; i < source->count; i++)
	{
		source->names[i] = name;
		name += strlen(name) + 1;
	}
	return BLOOMFILTER_OK;
}

/* A source of all filters in a folder that has no manifest. */
static int
be_folder(lbf_source *source, bloomfilter_detail *detail)
{
	int			fd = openat(source->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR		   *folder = fd < 0 ? NULL : fdopendir(fd);
	int			code;

	if (folder == NULL)
	{
		code = lbf_fail_system(detail, NULL, "read folder");
		if (fd >= 0)
			close(fd);
		return code;
	}
	source->kind = LBF_SOURCE_FOLDER;
	code = read_folder(source, folder, detail);
	closedir(folder);
	return code == BLOOMFILTER_OK ? point_to_names(source, detail) : code;
}

static int
find_in_folder(lbf_source *source, const char *path, bloomfilter_detail *detail)
{
	struct stat st;
	int			code;

	source->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (source->folder < 0)
		return lbf_fail_system(detail, path, "open folder");
	if (fstatat(source->folder, LBF_MANIFEST_NAME, &st, 0) != 0)
		return be_folder(source, detail);
	code = be_manifest_or_file(source, LBF_MANIFEST_NAME, detail);
	if (code == BLOOMFILTER_OK && source->kind != LBF_SOURCE_MANIFEST)
		code = lbf_fail(detail, BLOOMFILTER_ERR_MANIFEST, LBF_MANIFEST_NAME);
	return code;
}

int
lbf_source_find(const char *path, lbf_source *source, bloomfilter_detail *detail)
{
	struct stat st;
	const char *name;
	int			code;

	memset(source, 0, sizeof *source);
	if (stat(path, &st) != 0)
		return lbf_fail_system(detail, path, "open file");
	if (S_ISDIR(st.st_mode))
	{
		source->folder = -1;
		code = find_in_folder(source, path, detail);
	}
	else
	{
		source->folder = lbf_folder_open(path, &name, detail);
		if (source->folder < 0)
			return source->folder;
		/* A pipe is a filter; looking into it would take bytes from its reader. */
		code = S_ISREG(st.st_mode) ? be_manifest_or_file(source, name, detail) :
			be_file(source, name, detail);
	}
	if (code != BLOOMFILTER_OK && source->folder >= 0)
		lbf_source_free(source);
	return code;
}

/*
 * A file's header, which has the checksum of all of it.  Times have a coarse
 * grain and numbers of inodes are used again: a file that was replaced twice in a
 * moment can look like the first one.
 */
static void
read_header(int folder, const char *name, uint8_t *header)
{
	int			fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return;
	if (pread(fd, header, BF_HEADER_BYTES, 0) != BF_HEADER_BYTES)
		memset(header, 0, BF_HEADER_BYTES);
	close(fd);
}

/* Chains what tells a file from another one to an identity. */
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
	return identity;
}
