/*
 * folder_update.c
 *	  Publishing: what is new as files, and then the manifest that names them; and files that nobody
 *	  can need any more.
 */
#define _GNU_SOURCE
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>


/* Manifests' lengths differ by this, as web servers tell them by length and second. */
#define LENGTHS 64

/* What the wall clock may be ahead of the boot clock since both were right, microseconds. */
#define CLOCK_AHEAD UINT64_C(3600000000)

/* How long a file stays after the last manifest that named it. */
#define KEPT_SECONDS 86400
#define SWEEP_SECONDS 60.0

/* ------------------------------------------------------------------------
 * Files that nobody can need any more
 * ------------------------------------------------------------------------ */

/* The files that a manifest names, one after the other; NULL behind the last. */
static const feed_file *
file_of(const feed_manifest *m, size_t i)
{
	if (i < m->parts)
		return &m->wholes[i];
	i -= m->parts;
	if (i < m->patch_count)
		return &m->patches[i];
	i -= m->patch_count;
	return i < m->change_count ? &m->changes[i] : NULL;
}

static void
name_of(char name[FEED_FILE_NAME_BYTES], const feed_manifest *m, size_t i)
{
	feed_file_name(name, file_of(m, i)->digest,
				   i < m->parts ? FEED_IS_WHOLE : i < m->parts + m->patch_count ? FEED_IS_PATCH : FEED_IS_CHANGES);
}

static bool
is_ending(const char *ending)
{
	int			kind;

	for (kind = 0; kind < FEED_KINDS; kind++)
		if (strcmp(ending, feed_endings[kind]) == 0)
			return true;
	return false;
}

bool
folder_is_old(const list_folder *f, const feed_file *file, feed_kind kind)
{
	char		name[FEED_FILE_NAME_BYTES];
	struct stat st;

	feed_file_name(name, file->digest, kind);
	return fstatat(f->folder, name, &st, 0) == 0 && time(NULL) - st.st_mtime > (time_t) f->plan->keep_days * 86400 / 2;
}

/* Whether one that the manifest names is not there, or not of its length. */
static bool
is_lost(const list_folder *f)
{
	const feed_manifest *m = &f->manifest;
	char		name[FEED_FILE_NAME_BYTES];
	struct stat st;
	size_t		i;

	for (i = 0; file_of(m, i) != NULL; i++)
	{
		name_of(name, m, i);
		if (fstatat(f->folder, name, &st, 0) != 0 || (uint64_t) st.st_size != file_of(m, i)->length)
			return true;
	}
	return false;
}

static bool
names_digest(const feed_manifest *m, const uint8_t digest[FEED_DIGEST_BYTES])
{
	const feed_file *file;
	size_t		i;

	for (i = 0; (file = file_of(m, i)) != NULL; i++)
		if (memcmp(file->digest, digest, FEED_DIGEST_BYTES) == 0)
			return true;
	return false;
}

/* Files that the last manifest named and this one doesn't get their day from now on. */
static void
folder_touch_unnamed(const list_folder *f, const feed_manifest *next)
{
	const feed_manifest *m = &f->manifest;
	size_t		i;

	for (i = 0; file_of(m, i) != NULL; i++)
	{
		char		name[FEED_FILE_NAME_BYTES];

		if (names_digest(next, file_of(m, i)->digest))
			continue;
		name_of(name, m, i);
		utimensat(f->folder, name, NULL, 0);
	}
}

static bool
is_named(const list_folder *f, const char *name)
{
	uint8_t		digest[FEED_DIGEST_BYTES];
	char		hex[2 * FEED_DIGEST_BYTES + 1];

	memcpy(hex, name, sizeof hex - 1);
	hex[sizeof hex - 1] = '\0';
	return feed_from_hex(digest, sizeof digest, hex) && names_digest(&f->manifest, digest);
}

/* Now and then: deletes what has had its day, counts what stays, and notes if a file is lost that the manifest names. */
static void
folder_sweep(list_folder *f)
{
	time_t		before = time(NULL) - KEPT_SECONDS;
	DIR		   *folder;
	struct dirent *entry;

	if (f->swept != 0 && monotonic_seconds() - f->swept < SWEEP_SECONDS)
		return;
	f->swept = monotonic_seconds();
	f->lost = f->lost || is_lost(f);
	folder = fdopendir(dup(f->folder));
	f->counts.files = 0;
	f->counts.bytes = 0;
	if (folder == NULL)
		return;
	rewinddir(folder);
	while ((entry = readdir(folder)) != NULL)
	{
		const char *ending = strchr(entry->d_name, '.');
		struct stat st;

		/* of a process before this one: only a child writes beside this */
		if (f->renewal.child == 0 && strncmp(entry->d_name, FOLDER_UNFINISHED, strlen(FOLDER_UNFINISHED)) == 0)
			unlinkat(f->folder, entry->d_name, 0);
		if (ending != entry->d_name + 2 * FEED_DIGEST_BYTES || !is_ending(ending) ||
			fstatat(f->folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (st.st_mtime < before && !is_named(f, entry->d_name))
			unlinkat(f->folder, entry->d_name, 0);
		else
		{
			f->counts.files++;
			f->counts.bytes += (uint64_t) st.st_size;
		}
	}
	closedir(folder);
}

/* ------------------------------------------------------------------------
 * Publishing
 * ------------------------------------------------------------------------ */

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
	{
		complain("cannot read the manifest of \"%s\": %s", f->plan->to, strerror(errno));
		return false;
	}
	if (feed_manifest_read(text, length, &there, &line) == NULL)
		alone = strcmp(there.exporter, f->exporter) == 0 ||
			(strcmp(there.exporter, f->manifest.exporter) == 0 && there.serial == f->manifest.serial);
	feed_manifest_free(&there);
	free(text);
	if (!alone)
	{
		folder_stop_renewing(f);
		fail("another exporter writes to \"%s\": this one ends", f->plan->to);
	}
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
		folder_stop_renewing(f);
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
	next->rate = image_figures(&news->image).rate;
	memcpy(next->exporter, f->exporter, sizeof next->exporter);
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
	folder_sweep(f);
	counts = f->counts;
	next = f->manifest;
	next.wholes = same_files(next.wholes, next.parts);
	next.patches = same_files(next.patches, next.patch_count);
	next.inlined = NULL;
	next.inlined_length = 0;
	next.changes = same_files(next.changes, next.change_count);
	next.inlined_changes = NULL;
	next.inlined_changes_length = 0;
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
