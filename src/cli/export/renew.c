/*
 * renew.c
 *	  Whole files for hosts that begin, made by a child process.
 *
 * Such hosts take the whole files and the patches behind them.  These are kept
 * shorter than half of the whole, by new whole files that are made once an hour at most;
 * and whole files are made before those who store them delete them for their age.  The
 * child has the image as it is when it begins, so nothing waits for it.
 */
#define _GNU_SOURCE
#include "folder.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Renewed so often, microseconds, unless the patches behind are as long as so many whole
 * files.  All bits of a filter, set one patch after the other, take about eight times its
 * length.
 */
#define WHOLE_AGE UINT64_C(3600000000)
#define MOST_BEHIND 8

/* After a failure, seconds. */
#define RETRY_SECONDS 60.0

static bool
is_time(const list_folder *f, const list_image *image)
{
	const feed_manifest *m = &f->manifest;
	uint64_t	whole = image_bytes(image);
	uint64_t	behind = 0;
	size_t		i;

	for (i = 0; i < m->patch_count; i++)
		if (m->patches[i].to > m->wholes[0].to)
			behind += m->patches[i].length;
	return behind > MOST_BEHIND * whole || (behind > whole / 2 && time_now() >= m->wholes[0].to + WHOLE_AGE) ||
		folder_is_old(f, &m->wholes[0], FEED_IS_WHOLE);
}

/* Forgets the child, which has ended. */
static void
end_renewal(folder_renewal *r)
{
	munmap(r->files, r->count * sizeof *r->files);
	r->child = 0;
}

void
folder_renew(list_folder *f, list_image *image)
{
	folder_renewal *r = &f->renewal;

	if (r->child != 0 || f->manifest.serial == 0 || !is_time(f, image) ||
		(r->failed != 0 && monotonic_seconds() - r->failed < RETRY_SECONDS))
		return;
	r->count = image->count;
	r->files = mmap(NULL, r->count * sizeof *r->files, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (r->files == MAP_FAILED)
		return;
	r->child = fork();
	if (r->child == 0)
	{
		/* what becomes of the exporter, the folder isn't locked by this child */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(f->lock);
		_exit(folder_make_wholes(f, image, f->manifest.content, r->files) ? 0 : 1);
	}
	if (r->child < 0)
	{
		complain("cannot make a process: %s", strerror(errno));
		end_renewal(r);
	}
}

bool
folder_add_renewed(list_folder *f, feed_manifest *next)
{
	folder_renewal *r = &f->renewal;
	int			status = -1;

	if (r->child == 0 || waitpid(r->child, &status, f->plan->follow ? WNOHANG : 0) == 0)
		return false;
	r->failed = status == 0 ? 0 : monotonic_seconds();
	/* of this epoch: no file of another one is written while there is a child */
	if (status == 0)
	{
		memcpy(next->wholes, r->files, r->count * sizeof *r->files);
		f->counts.wholes[WHOLE_RENEWED]++;
	}
	end_renewal(r);
	return status == 0;
}

void
folder_stop_renewing(list_folder *f)
{
	int			status;

	if (f->renewal.child == 0)
		return;
	kill(f->renewal.child, SIGTERM);
	while (waitpid(f->renewal.child, &status, 0) < 0 && errno == EINTR)
		;
	end_renewal(&f->renewal);
}
