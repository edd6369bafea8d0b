/*
 * folder_files.c
 *	  Files that are there as a whole or not at all, also after a loss of power.
 */
#define _GNU_SOURCE
#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "feed_values.h"
#include "messages.h"
#include "system.h"

bool
folder_write(int folder, const char *name, mode_t mode, const void *bytes, size_t length)
{
	char	   *unfinished = text_of("%s%s", FOLDER_UNFINISHED, name);
	int			fd = openat(folder, unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	bool		written = fd >= 0 && write_all(fd, bytes, length, 0) && fchmod(fd, mode) == 0 && fsync(fd) == 0;

	if (fd >= 0 && close(fd) != 0)
		written = false;
	written = written && renameat(folder, unfinished, folder, name) == 0 && fsync(folder) == 0;
	if (!written)
	{
		complain("cannot write \"%s\": %s", name, strerror(errno));
		unlinkat(folder, unfinished, 0);
	}
	free(unfinished);
	return written;
}

uint8_t *
folder_read_file(int folder, const feed_file *file, feed_kind kind)
{
	char		name[FEED_FILE_NAME_BYTES];
	uint8_t		digest[FEED_DIGEST_BYTES];
	uint8_t    *bytes;
	size_t		length;

	feed_file_name(name, file->digest, kind);
	bytes = read_file(folder, name, (size_t) file->length, &length);
	if (bytes == NULL)
		return NULL;
	crypto_hash_sha256(digest, bytes, length);
	if (length == file->length && memcmp(digest, file->digest, sizeof digest) == 0)
		return bytes;
	free(bytes);
	errno = EIO;
	return NULL;
}
