/*
 * folder_update.c
 *	  Publishing: what is new as files, and then the manifest that names them.
 */
#define _GNU_SOURCE
#include "folder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Manifests' lengths differ by this, as web servers tell them by length and second. */
#define LENGTHS 64

/* What the wall clock may be ahead of the boot clock since both were right, microseconds. */
#define CLOCK_AHEAD UINT64_C(3600000000)

/* Ends the program.  Another exporter goes on, or the service manager starts this one again. */
static void
end_export(list_folder *f, const char *why)
{
	folder_stop_renewing(f);
	fail("%s \"%s\": this one ends", why, f->plan->to);
}

/* Whether the folder still is as this process left it. */
static bool
check_alone(list_folder *f)
{
	size_t		length;
	char	   *text = (char *) read_file(f->folder, FEED_MANIFEST, FEED_MANIFEST_BYTES, &length);
	feed_manifest there;
	unsigned	line;
	bool		alone = true;

	if (text == NULL && errno == ENOENT)
		return true;
	if (text == NULL)
		return complain("cannot read the manifest of \"%s\": %s", f->plan->to, strerror(errno));
	if (feed_manifest_read(text, length, &there, &line) == NULL)
		alone = there.exporter == f->exporter ||
			(there.exporter == f->manifest.exporter && there.serial == f->manifest.serial);
	feed_manifest_free(&there);
	free(text);
	if (!alone)
		end_export(f, "another exporter writes to");
	return true;
}

/* The manifest's text with signatures. */
static char *
signed_text(const list_folder *f, const feed_manifest *next, unsigned dots)
{
	char	   *text = feed_manifest_text(next, dots);

	if (text == NULL)
		fail("not enough memory");
	return feed_signed(text, f->plan->keys, f->plan->key_count);
}

/* With so many dots that its length is not that of manifests shortly before. */
static char *
padded_text(const list_folder *f, const feed_manifest *next)
{
	char	   *text = signed_text(f, next, 0);
	size_t		wanted = (f->manifest_length + 1) % LENGTHS;
	size_t		length = strlen(text);

	free(text);
	return signed_text(f, next, (unsigned) ((wanted + LENGTHS - length % LENGTHS) % LENGTHS));
}

/* Makes next the manifest that is there; its files are.  *next is empty then. */
static bool
write_manifest(list_folder *f, feed_manifest *next)
{
	char	   *text = padded_text(f, next);
	size_t		length = strlen(text);
	bool		written = folder_fits(length) && check_alone(f) && folder_write(f->folder, FEED_MANIFEST, 0644, text, length);

	free(text);
	if (!written)
		return false;
	f->manifest_length = length;
	feed_manifest_free(&f->manifest);
	f->manifest = *next;
	memset(next, 0, sizeof *next);
	f->counts.exported = time_now();
	f->clock = f->counts.exported;
	f->boot_clock = boot_time_now();
	f->exported = monotonic_seconds();
	/* where it could not be passed on, the next try writes another one */
	f->passed_on = folder_run_after(f, FEED_MANIFEST);
	return f->passed_on;
}

/* 0: the clock is wrong, and hosts would refuse all that comes when it is right again. */
static uint64_t
next_serial(const list_folder *f, const list_news *news)
{
	uint64_t	now = time_now();
	uint64_t	expected = f->clock + (boot_time_now() - f->boot_clock);

	if (now < news->serial)
		now = news->serial;
	if (now <= expected + CLOCK_AHEAD)
		return now > f->manifest.serial ? now : f->manifest.serial + 1;
	if (now == news->serial)
		complain("the list has a serial that is %" PRIu64 " s in the future: the server's clock was wrong; as a superuser there,"
				 " set its serial in bloom_generation to 1, and CALL bloom_set_identity with its identity",
				 (now - expected) / 1000000);
	else
		complain("this host's clock is %" PRIu64 " s ahead of what it was and the time that passed: set it right; if it is"
				 " right now, start the export anew (a folder that has serials of the future must be empty)",
				 (now - expected) / 1000000);
	return 0;
}

/* What is to be exported. */
typedef struct folder_news
{
	bool		epoch;			/* begins */
	bool		news;			/* an epoch, or bits, or a list's serial */
	bool		changes;		/* by day, which are new; or there are none any more */
	bool		lost;			/* files are */
	bool		renewed;		/* whole files are, or those of changes have to be */
} folder_news;

/* The files of a new epoch, or of new bits. */
static bool
write_files(list_folder *f, list_news *news, const folder_news *p, feed_manifest *next)
{
	list_image  *image = &news->image;

	if (p->epoch)
	{
		next->epoch = next->content;
		next->sum = image_sum(image);
		return folder_write_flip(f, image, next) && folder_write_wholes(f, image, next, f->manifest.serial == 0 ? WHOLE_FIRST : news->reason) &&
			folder_write_state(f, news, next);
	}
	if (p->news)
	{
		next->sum = image_sum(image);
		if (!folder_write_set(f, image, next))
			return false;
	}
	return !p->lost || folder_write_anew(f, image, next);
}

static bool
export_news(list_folder *f, list_news *news, const folder_news *p, feed_manifest *next)
{
	next->serial = next_serial(f, news);
	if (next->serial == 0)
		return false;
	/* a list has a serial of its own */
	if (p->news)
		next->content = news->serial != 0 ? news->serial : next->serial;
	if (news->serial != 0)
		memcpy(next->identity, news->identity, sizeof next->identity);
	if (!write_files(f, news, p, next) ||
		!folder_write_changes(f, &news->changes, p->epoch || p->lost || !f->manifest.tracked, next))
		return false;
	folder_trim(f, next);
	next->true_at = news->true_at;
	/* keys that go must go soon */
	next->poll = f->plan->poll != 0 ? f->plan->poll : next->tracked ? 1 : 10;
	next->spread = f->plan->spread;
	next->heartbeat = f->plan->heartbeat;
	next->expires = f->plan->expires == 0 ? 0 : time_now() + f->plan->expires * 1000000;
	next->exporter = f->exporter;
	folder_touch_unnamed(f, next);
	return write_manifest(f, next);
}

/* In new memory. */
static feed_file *
same_files(const feed_file *files, size_t count)
{
	feed_file  *image = allocate(NULL, count, sizeof *image);

	if (count > 0)
		memcpy(image, files, count * sizeof *image);
	return image;
}

bool
folder_export(list_folder *f, list_news *news, bool *exported)
{
	feed_manifest next;
	folder_news	p;
	uint64_t	before = f->manifest.serial;
	folder_counts counts;
	bool		well = true;

	*exported = false;
	if (!is_folder_at(f->folder, f->plan->to))
		end_export(f, "another folder, or none, is at");
	folder_sweep(f);
	counts = f->counts;
	next = f->manifest;
	next.wholes = same_files(next.wholes, next.parts);
	next.patches = same_files(next.patches, next.patch_count);
	next.changes = same_files(next.changes, next.change_count);
	next.inlined = next.inlined_changes = NULL;
	next.inlined_length = next.inlined_changes_length = 0;
	p.epoch = news->new_epoch || f->manifest.serial == 0 || (news->changes.tracked && f->manifest.content != f->manifest.epoch);
	p.changes = news->changes.news.count > 0 || news->changes.tracked != f->manifest.tracked;
	p.news = p.epoch || news->image.news_count > 0 || (news->serial != 0 && news->serial != f->manifest.content);
	p.lost = !p.epoch && f->lost;
	p.renewed = !p.epoch && (folder_add_renewed(f, &next) || folder_changes_are_old(f));
	if (p.news || p.changes || p.lost || p.renewed || !f->passed_on ||
		(f->plan->heartbeat != 0 && monotonic_seconds() - f->exported >= (double) f->plan->heartbeat))
	{
		well = export_news(f, news, &p, &next);
		/* written, though the command may have failed for it */
		if (f->manifest.serial != before)
		{
			f->lost = false;
			*exported = p.news || p.changes;
		}
		else
			f->counts = counts;
	}
	feed_manifest_free(&next);
	if (well)
		folder_renew(f, &news->image);
	return well;
}
