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

#include "messages.h"
#include "system.h"

#define SAVE_SECONDS 60.0
#define LATE_SECONDS 600.0
#define LAST_SECONDS 30.0

static void
begin_save(place *p)
{
	pid_t		child = fork();

	if (child == 0)
		_exit(fdatasync(p->fd) == 0 ? 0 : errno & 127 ? errno & 127 : 127);
	p->save_began = monotonic_seconds();
	if (child < 0)
		return;
	p->saver = child;
	p->saving = p->now.content;
	p->saving_inode = p->here.inode;
	p->save_is_late = false;
}

static void
note_saved(place *p, int status)
{
	uint8_t		bytes[FEED_SAVED_BYTES];
	char		text[FEED_TEXT_BYTES + 1];

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
	{
		feed_saved_write(&p->saving, &p->who, bytes);
		if (write_all(p->fd, bytes, sizeof bytes, FEED_SAVED_AT))
			p->saved = p->saving.serial;
		place_wrote(p);
	}
	else if (WIFEXITED(status))
	{
		snprintf(text, sizeof text, "saving failed: %s", strerror(WEXITSTATUS(status)));
		place_lose(p, "disk", text);
	}
	/* who killed it did not harm the file */
}

/* Whether the child has ended, and how. */
static void
look_for_end(place *p)
{
	int			status;
	pid_t		ended = waitpid(p->saver, &status, WNOHANG);

	if (ended == p->saver)
	{
		p->saver = 0;
		/* another file may have the name meanwhile */
		if (!p->lost && p->saving_inode == p->here.inode)
			note_saved(p, status);
	}
	else if (!p->save_is_late && monotonic_seconds() - p->save_began > LATE_SECONDS)
	{
		p->save_is_late = true;
		complain("\"%s\" has been saving for ten minutes: the disk hangs", p->path);
	}
}

static bool
is_needed(const place *p)
{
	return p->state == PLACE_MINE && !p->in_memory && !p->lost && p->changes % 2 == 0 &&
		p->now.content.serial != p->saved;
}

void
place_save(place *p)
{
	if (p->saver != 0)
		look_for_end(p);
	else if (is_needed(p) && monotonic_seconds() - p->save_began >= SAVE_SECONDS)
		begin_save(p);
}

static void
wait_for_end(place *p, double until)
{
	while (p->saver != 0 && monotonic_seconds() < until)
	{
		look_for_end(p);
		(void) poll(NULL, 0, 1);
	}
}

void
place_save_last(place *p)
{
	double		until = monotonic_seconds() + LAST_SECONDS;

	/* one that runs may be of what was before */
	wait_for_end(p, until);
	if (p->saver == 0 && is_needed(p))
	{
		begin_save(p);
		wait_for_end(p, until);
	}
}
