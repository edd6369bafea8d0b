/*
 * save.c
 *	  Saving FILE, so that what a boot leaves of it can be believed.
 *
 * A child syncs, as a disk that hangs must not stop the looks.  A file system may drop what
 * it could not write, and say so once: after that nothing is believed of the file, and it
 * is never synced again.
 */
#include "file.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAVE_SECONDS 60.0
#define LAST_SECONDS 30.0

static void
begin_save(list_file *file)
{
	pid_t		child = fork();

	if (child == 0)
		_exit(fdatasync(file->kept.fd) == 0 ? 0 : errno & 127 ? errno & 127 : 127);
	file->save_began = monotonic_seconds();
	if (child < 0)
		return;
	file->saver = child;
	file->saving = file->kept.now.content;
	file->saving_inode = file->kept.who.place.inode;
}

static void
note_saved(list_file *file, int status)
{
	uint8_t		bytes[FEED_SAVED_BYTES];
	char		text[FEED_MESSAGE_BYTES + 1];

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
	{
		feed_saved_write(&file->saving, &file->kept.who, bytes);
		if (write_all(file->kept.fd, bytes, sizeof bytes, FEED_SAVED_AT))
			file->saved = file->saving.serial;
		file_wrote(file);
	}
	else if (WIFEXITED(status))
	{
		snprintf(text, sizeof text, "saving failed: %s", strerror(WEXITSTATUS(status)));
		file_lose(file, "disk", text);
	}
	/* who killed it did not harm the file */
}

/* Whether the child has ended, and how. */
static void
check_saver(list_file *file)
{
	int			status;

	if (waitpid(file->saver, &status, WNOHANG) != file->saver)
		return;
	file->saver = 0;
	/* another file may have the name meanwhile */
	if (!file->lost && file->saving_inode == file->kept.who.place.inode)
		note_saved(file, status);
}

static bool
is_needed(const list_file *file)
{
	return file->state == FILE_MINE && !file->in_memory && !file->lost && file->writes % 2 == 0 &&
		file->kept.now.content.serial != file->saved;
}

void
file_save(list_file *file)
{
	if (file->saver != 0)
		check_saver(file);
	else if (is_needed(file) && monotonic_seconds() - file->save_began >= SAVE_SECONDS)
		begin_save(file);
}

static void
wait_for_end(list_file *file, double until)
{
	while (file->saver != 0 && monotonic_seconds() < until)
	{
		check_saver(file);
		(void) poll(NULL, 0, 1);
	}
}

void
file_save_last(list_file *file)
{
	double		until = monotonic_seconds() + LAST_SECONDS;

	/* one that runs may be of what was before */
	wait_for_end(file, until);
	if (file->saver == 0 && is_needed(file))
	{
		begin_save(file);
		wait_for_end(file, until);
	}
}
