/*
 * tempfile.c
 *	  A new file beside the one that it will replace.
 */
#include "tempfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "messages.h"
#include "paths.h"

/* mkstemp makes files that nobody else may read; a filter is made like any file. */
static void
set_usual_mode(int fd)
{
	mode_t		mask = umask(0);

	umask(mask);
	fchmod(fd, 0666 & ~mask);
}

bool
temp_file_create(temp_file *file, const char *target)
{
	char	   *folder = folder_of(target);

	file->path = text_of("%s/.%s.XXXXXX", folder, name_of(target));
	free(folder);
	file->fd = mkstemp(file->path);
	if (file->fd < 0)
	{
		complain("cannot create a file beside \"%s\": %s", target, strerror(errno));
		free(file->path);
		file->path = NULL;
		return false;
	}
	set_usual_mode(file->fd);
	return true;
}

bool
temp_file_write(const temp_file *file, const void *bytes, size_t length,
				uint64_t offset)
{
	const char *rest = bytes;

	while (length > 0)
	{
		ssize_t		written = pwrite(file->fd, rest, length, (off_t) offset);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
		{
			complain("cannot write to \"%s\": %s", file->path, strerror(errno));
			return false;
		}
		rest += written;
		length -= (size_t) written;
		offset += (uint64_t) written;
	}
	return true;
}

bool
temp_file_sync(temp_file *file)
{
	bool		synced = fsync(file->fd) == 0;

	if (!synced)
		complain("cannot sync \"%s\": %s", file->path, strerror(errno));
	close(file->fd);
	file->fd = -1;
	return synced;
}

/* A rename is durable when its folder is. */
static void
sync_folder(const char *path)
{
	char	   *folder = folder_of(path);
	int			fd = open(folder, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
	{
		fsync(fd);
		close(fd);
	}
	free(folder);
}

bool
temp_file_rename(temp_file *file, const char *target)
{
	if (rename(file->path, target) != 0)
	{
		complain("cannot rename \"%s\" to \"%s\": %s", file->path, target,
				 strerror(errno));
		return false;
	}
	sync_folder(target);
	free(file->path);
	file->path = NULL;
	return true;
}

void
temp_file_remove(temp_file *file)
{
	if (file->path == NULL)
		return;
	if (file->fd >= 0)
		close(file->fd);
	unlink(file->path);
	free(file->path);
	file->path = NULL;
}
