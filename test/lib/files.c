/*
 * files.c
 *	  A scratch folder and the files in it.
 */
#define _GNU_SOURCE

#include "files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

static char folder[64];
static char *paths[4096];
static int	path_count;

static void
delete_scratch(void)
{
	DIR		   *dir = opendir(folder);
	struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
	{
		char		path[512];

		snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		if (unlink(path) != 0)
			rmdir(path);
	}
	if (dir != NULL)
		closedir(dir);
	rmdir(folder);
	while (path_count > 0)
		free(paths[--path_count]);
}

const char *
scratch(void)
{
	if (folder[0] == '\0')
	{
		strcpy(folder, "/tmp/bloomfilter-test-XXXXXX");
		need(mkdtemp(folder) != NULL, "no scratch folder");
		tap_at_end = delete_scratch;
	}
	return folder;
}

const char *
scratch_path(const char *name)
{
	need(path_count < 4096, "too many scratch paths");
	need(asprintf(&paths[path_count], "%s/%s", scratch(), name) > 0, "memory");
	return paths[path_count++];
}

void
write_file(const char *path, const void *bytes, size_t length)
{
	FILE	   *file = fopen(path, "wb");

	need(file != NULL, "file to write");
	need(length == 0 || fwrite(bytes, length, 1, file) == 1, "file written");
	need(fclose(file) == 0, "file closed");
}

uint8_t *
read_file(const char *path, size_t *length)
{
	FILE	   *file = fopen(path, "rb");
	uint8_t    *bytes;
	long		size;

	need(file != NULL, path);
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);
	bytes = malloc((size_t) size + 1);
	need(bytes != NULL && (size == 0 || fread(bytes, (size_t) size, 1, file) == 1), path);
	fclose(file);
	bytes[size] = 0;
	*length = (size_t) size;
	return bytes;
}

int
count_entries(const char *path)
{
	DIR		   *dir = opendir(path);
	struct dirent *entry;
	int			count = 0;

	need(dir != NULL, "folder to count");
	while ((entry = readdir(dir)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			count++;
	closedir(dir);
	return count;
}

static unsigned
digit(char c)
{
	return c <= '9' ? (unsigned) (c - '0') : (unsigned) (c - 'a' + 10);
}

size_t
from_hex(const char *hex, size_t digits, uint8_t *bytes)
{
	size_t		i;

	for (i = 0; i + 1 < digits; i += 2)
		bytes[i / 2] = (uint8_t) (digit(hex[i]) << 4 | digit(hex[i + 1]));
	return digits / 2;
}
