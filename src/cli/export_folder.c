/*
 * export_folder.c
 *	  What is new, into the folder: steps, whole files, and the manifest last.
 *
 * Files are written, then the manifest is replaced; what a kill leaves between the two
 * is named by nobody and goes after a day.  Each step is also merged with those
 * before it, MERGED of a kind at a time, so that a host that is far behind takes few.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bf_bits.h"
#include "bf_estimate.h"
#include "bf_limits.h"
#include "export.h"
#include "feed_files.h"

#define MANIFEST "manifest"
#define STATE ".state"
#define STATE_FIRST_LINE "bloomfilter-export 1"
#define WHOLE_ENDING ".bloom"
#define STEP_ENDING ".step"

/* Steps of a level that are merged into one of the next. */
#define MERGED 4

/* A whole file at most so often, seconds, while steps are shorter than it. */
#define WHOLE_SECONDS 3600.0

/* How long a file stays after the last manifest that named it; steps, where bytes press. */
#define KEPT_SECONDS 86400
#define KEPT_STEP_SECONDS 3600
#define SWEEP_SECONDS 60.0

/* Manifests' lengths differ by this, as web servers tell them by length and second. */
#define LENGTHS 64

#define DAY UINT64_C(86400000000)

/* ------------------------------------------------------------------------
 * What is in the folder
 * ------------------------------------------------------------------------ */

/* Files of a process that was killed while it wrote; nobody else writes here. */
static void
remove_unfinished(int folder)
{
	DIR		   *entries = fdopendir(dup(folder));
	struct dirent *entry;

	if (entries == NULL)
		return;
	rewinddir(entries);
	while ((entry = readdir(entries)) != NULL)
		if (strncmp(entry->d_name, FEED_UNFINISHED, strlen(FEED_UNFINISHED)) == 0)
			unlinkat(folder, entry->d_name, 0);
	closedir(entries);
}

/* The state file, which belongs to the manifest of the same epoch. */
static bool
read_state(exporter *e, char source[64], uint64_t *epoch)
{
	size_t		length;
	char	   *text = (char *) feed_read(e->folder, STATE, 4096, &length);
	bool		read = text != NULL &&
		sscanf(text, STATE_FIRST_LINE "\nsource %63s\nepoch %" SCNu64 "\nbuild %" SCNd64 "\n",
			   source, epoch, &e->published_build) == 3;

	free(text);
	return read;
}

static bool
write_state(exporter *e, uint64_t epoch)
{
	char	   *text = text_of(STATE_FIRST_LINE "\nsource %s\nepoch %" PRIu64 "\nbuild %" PRId64 "\n",
							   e->source, epoch, e->build);
	feed_piece	piece = {text, strlen(text)};
	bool		written = feed_write(e->folder, STATE, 0600, &piece, 1);

	free(text);
	return written;
}

/* Sets the bits of the whole files that the manifest names. */
static bool
load_wholes(exporter *e)
{
	const feed_manifest *m = &e->manifest;
	bf_header  *headers = allocate(NULL, m->parts, sizeof *headers);
	uint8_t   **bytes = allocate(NULL, m->parts, sizeof *bytes);
	bool		sound = true;
	uint32_t	i;

	for (i = 0; i < m->parts; i++)
	{
		bytes[i] = sound ? feed_read_file(e->folder, &m->wholes[i], WHOLE_ENDING) : NULL;
		sound = sound && bytes[i] != NULL &&
			bf_parse(bytes[i], m->wholes[i].length, NULL, &headers[i]) == BF_OK &&
			headers[i].part == i && headers[i].parts == m->parts;
	}
	if (sound)
	{
		feed_copy_create(&e->copy, headers, m->parts);
		for (i = 0; i < m->parts; i++)
			feed_copy_or(&e->copy, i, 0, bytes[i] + BF_HEADER_BYTES, bf_blocks_bytes(&headers[i]), false);
	}
	for (i = 0; i < m->parts; i++)
		free(bytes[i]);
	free(bytes);
	free(headers);
	return sound;
}

/* A step of the folder, for the copy; NULL if it isn't whole. */
static uint8_t *
load_step(const exporter *e, const feed_file *file, bf_step *step)
{
	uint8_t    *bytes = feed_read_file(e->folder, file, STEP_ENDING);

	if (bytes != NULL && bf_step_read(bytes, (size_t) file->length, e->copy.headers, e->copy.parts, step) == BF_STEP_OK)
		return bytes;
	free(bytes);
	return NULL;
}

static bool
load_steps(exporter *e)
{
	const feed_manifest *m = &e->manifest;
	size_t		i;

	for (i = 0; i < m->step_count; i++)
	{
		bf_step		step;
		uint8_t    *bytes;

		if (m->steps[i].to <= m->wholes[0].to)
			continue;
		bytes = load_step(e, &m->steps[i], &step);
		if (bytes == NULL)
			return false;
		(void) feed_copy_apply(&e->copy, &step, false);
		free(bytes);
	}
	return true;
}

/* What a process before this one published, to go on with; an epoch begins if it is damaged. */
static void
load_published(exporter *e)
{
	if (load_wholes(e) && load_steps(e))
	{
		e->build = e->published_build;
		return;
	}
	complain("files that the manifest of \"%s\" names are missing or damaged: publishing all anew", e->plan->to);
	feed_copy_free(&e->copy);
	e->published_build = 0;
}

static void
read_folder(exporter *e)
{
	size_t		length;
	char	   *text = (char *) feed_read(e->folder, MANIFEST, FEED_MANIFEST_BYTES, &length);
	const char *problem;
	unsigned	line;

	if (text == NULL && errno == ENOENT)
		return;
	if (text == NULL)
		fail("cannot read \"%s/%s\": %s", e->plan->to, MANIFEST, strerror(errno));
	problem = feed_manifest_read(text, length, &e->manifest, &line);
	free(text);
	if (problem != NULL)
		fail("\"%s/%s\" is not a manifest that can be continued: line %u %s", e->plan->to, MANIFEST, line, problem);
	e->manifest_length = length;
	if (e->manifest.serial > feed_now() + DAY)
		fail("\"%s\" has a serial of the future: set the clock right, or remove the folder's content", e->plan->to);
}

void
export_open_folder(exporter *e)
{
	const export_plan *plan = e->plan;
	uint8_t		identity[FEED_IDENTITY_BYTES];

	if (mkdir(plan->to, 0755) != 0 && errno != EEXIST)
		fail("cannot make the folder \"%s\": %s", plan->to, strerror(errno));
	e->folder = open(plan->to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (e->folder < 0)
		fail("cannot open the folder \"%s\": %s", plan->to, strerror(errno));
	if (flock(e->folder, LOCK_EX | LOCK_NB) != 0)
		fail("another process exports to \"%s\"", plan->to);
	remove_unfinished(e->folder);
	read_folder(e);
	if (plan->identity == NULL)
		return;
	if (!feed_uuid_read(identity, plan->identity))
		fail("--identity must be a UUID in lower case, not \"%s\"", plan->identity);
	if (e->manifest.serial != 0 && memcmp(identity, e->manifest.identity, sizeof identity) != 0)
		fail("\"%s\" has another identity than --identity says", plan->to);
}

/* Once, when the server is known: takes up what is there, or begins. */
static bool
take_up(exporter *e)
{
	char		source[64];
	uint64_t	epoch = 0;
	const char *name = e->plan->name != NULL ? e->plan->name : e->plan->list != NULL ? e->plan->list : e->index_name;
	const char *identity = e->plan->list != NULL ? e->identity : e->plan->identity;
	bool		known = read_state(e, source, &epoch);

	if (!feed_is_name(name))
	{
		complain("\"%s\" can't be a list's name: give another by --name", name);
		return false;
	}
	if (e->manifest.serial != 0 && strcmp(name, e->manifest.name) != 0)
	{
		complain("\"%s\" is the folder of the list \"%s\", not of \"%s\"", e->plan->to, e->manifest.name, name);
		return false;
	}
	if (known && e->manifest.serial != 0 && strcmp(source, e->source) != 0 && !e->plan->new_source)
	{
		complain("\"%s\" was exported from another server; if it took that one's place, say --new-source", e->plan->to);
		return false;
	}
	if (e->manifest.serial == 0)
	{
		if (identity == NULL || !feed_uuid_read(e->manifest.identity, identity))
			randombytes_buf(e->manifest.identity, FEED_IDENTITY_BYTES);
		snprintf(e->manifest.name, sizeof e->manifest.name, "%s", name);
	}
	else if (known && epoch == e->manifest.epoch)
	{
		load_published(e);
		/* of another source this is said once */
		return strcmp(source, e->source) == 0 || write_state(e, epoch);
	}
	return true;
}

bool
export_take_up(exporter *e)
{
	uint8_t		random[FEED_EXPORTER_BYTES / 2];

	if (e->taken_up)
		return true;
	if (!take_up(e))
		return false;
	randombytes_buf(random, sizeof random);
	feed_hex(e->exporter, random, sizeof random);
	e->taken_up = true;
	e->whole_written = monotonic_seconds();
	return true;
}

/* ------------------------------------------------------------------------
 * Content
 * ------------------------------------------------------------------------ */

/* Writes a file under the name of its content, and notes it in *file. */
static bool
write_content(exporter *e, const feed_piece *pieces, int count, const char *ending, feed_file *file)
{
	char		name[FEED_FILE_NAME_BYTES];
	uint8_t    *there;
	int			i;

	feed_digest(file->digest, pieces, count);
	file->length = 0;
	for (i = 0; i < count; i++)
		file->length += pieces[i].length;
	there = feed_read_file(e->folder, file, ending);
	free(there);
	if (there != NULL)
		return true;
	feed_file_name(name, file, ending);
	return feed_write(e->folder, name, 0644, pieces, count);
}

/* Runs the user's command for a file; true if it has none or it ends with 0. */
static bool
run_after(const exporter *e, const char *name)
{
	char	   *path = text_of("%s/%s", e->plan->to, name);
	int			status = 0;
	pid_t		child;

	if (e->plan->after == NULL)
	{
		free(path);
		return true;
	}
	child = fork();
	if (child == 0)
	{
		execl("/bin/sh", "sh", "-c", e->plan->after, "sh", path, (char *) NULL);
		_exit(127);
	}
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (child < 0 || status != 0)
		complain("--after failed for \"%s\"", path);
	free(path);
	return child > 0 && status == 0;
}

static bool
after_content(const exporter *e, const feed_file *file, const char *ending)
{
	char		name[FEED_FILE_NAME_BYTES];

	feed_file_name(name, file, ending);
	return run_after(e, name);
}

/* Whole files of all parts, into next->wholes. */
static bool
write_wholes(exporter *e, feed_manifest *next)
{
	uint32_t	i;

	free(next->wholes);
	next->wholes = allocate(NULL, e->copy.parts, sizeof *next->wholes);
	memset(next->wholes, 0, e->copy.parts * sizeof *next->wholes);
	next->parts = e->copy.parts;
	for (i = 0; i < e->copy.parts; i++)
	{
		uint8_t		header[BF_HEADER_BYTES];
		feed_piece	pieces[2];

		feed_copy_seal(&e->copy, i, header);
		pieces[0].bytes = header;
		pieces[0].length = sizeof header;
		pieces[1].bytes = e->copy.blocks[i];
		pieces[1].length = (size_t) bf_blocks_bytes(&e->copy.headers[i]);
		next->wholes[i].to = next->content;
		if (!write_content(e, pieces, 2, WHOLE_ENDING, &next->wholes[i]) ||
			!after_content(e, &next->wholes[i], WHOLE_ENDING))
			return false;
	}
	e->whole_written = monotonic_seconds();
	return true;
}

/* Replaces the last MERGED steps by one, if all of them are of one level; *merged says so. */
static bool
merge_last(exporter *e, feed_manifest *next, bool *merged)
{
	feed_file  *first;
	bf_step		steps[MERGED];
	uint8_t    *bytes[MERGED] = {NULL};
	feed_piece	piece = {NULL, 0};
	feed_file	file;
	bool		went_well = true;
	int			i;

	*merged = false;
	if (next->step_count < MERGED)
		return true;
	first = &next->steps[next->step_count - MERGED];
	for (i = 1; i < MERGED; i++)
		if (first[i].level != first[0].level)
			return true;
	for (i = 0; i < MERGED && went_well; i++)
	{
		bytes[i] = load_step(e, &first[i], &steps[i]);
		went_well = bytes[i] != NULL;
	}
	if (went_well)
	{
		uint8_t    *sum = feed_merge(&e->copy, steps, MERGED, &piece.length);

		piece.bytes = sum;
		memset(&file, 0, sizeof file);
		file.from = first[0].from;
		file.to = first[MERGED - 1].to;
		file.level = first[0].level + 1;
		went_well = write_content(e, &piece, 1, STEP_ENDING, &file) && after_content(e, &file, STEP_ENDING);
		free(sum);
	}
	else
		complain("a step that was to be merged is missing or damaged");
	for (i = 0; i < MERGED; i++)
		free(bytes[i]);
	if (went_well)
	{
		*first = file;
		next->step_count -= MERGED - 1;
		*merged = true;
	}
	return went_well;
}

static uint64_t
bytes_of_steps(const feed_manifest *m)
{
	uint64_t	bytes = 0;
	size_t		i;

	for (i = 0; i < m->step_count; i++)
		bytes += m->steps[i].length;
	return bytes;
}

/* Steps that together are longer than the whole are of no use: the oldest go. */
static bool
renew_wholes(exporter *e, feed_manifest *next)
{
	uint64_t	most = feed_copy_bytes(&e->copy);
	uint64_t	bytes = bytes_of_steps(next);
	size_t		dropped = 0;

	if (bytes <= most && (bytes <= most / 2 || monotonic_seconds() - e->whole_written < WHOLE_SECONDS))
		return true;
	if (!write_wholes(e, next))
		return false;
	for (; bytes > most && dropped < next->step_count; dropped++)
		bytes -= next->steps[dropped].length;
	next->step_count -= dropped;
	memmove(next->steps, next->steps + dropped, next->step_count * sizeof *next->steps);
	return true;
}

/* The step from the published content to the copy as it is. */
static bool
write_step(exporter *e, feed_manifest *next)
{
	bf_step		step = {next->epoch, {0}, e->manifest.content, next->content, 0, NULL, 0};
	feed_piece	piece;
	uint8_t    *bytes;
	feed_file  *file;
	bool		merged = true;

	memcpy(step.identity, next->identity, sizeof step.identity);
	bytes = feed_copy_step(&e->copy, &step, &piece.length);
	piece.bytes = bytes;
	if (e->whole_needed || piece.length > feed_copy_bytes(&e->copy))
	{
		free(bytes);
		next->step_count = 0;
		return write_wholes(e, next);
	}
	next->steps = allocate(next->steps, next->step_count + 1, sizeof *file);
	file = &next->steps[next->step_count++];
	memset(file, 0, sizeof *file);
	file->from = step.from;
	file->to = step.to;
	if (!write_content(e, &piece, 1, STEP_ENDING, file) || !after_content(e, file, STEP_ENDING))
	{
		free(bytes);
		return false;
	}
	if (piece.length <= FEED_INLINE_BYTES)
	{
		next->inlined = bytes;
		next->inlined_length = piece.length;
	}
	else
		free(bytes);
	while (merged)
		if (!merge_last(e, next, &merged))
			return false;
	return renew_wholes(e, next);
}

/* ------------------------------------------------------------------------
 * The manifest
 * ------------------------------------------------------------------------ */

/* Whether the folder still is as this process left it. */
static bool
check_alone(exporter *e)
{
	size_t		length;
	char	   *text = (char *) feed_read(e->folder, MANIFEST, FEED_MANIFEST_BYTES, &length);
	feed_manifest there;
	unsigned	line;
	bool		alone = true;

	if (text == NULL && errno == ENOENT)
		return true;
	if (text == NULL)
	{
		complain("cannot read the manifest of \"%s\": %s", e->plan->to, strerror(errno));
		return false;
	}
	if (feed_manifest_read(text, length, &there, &line) == NULL)
		alone = strcmp(there.exporter, e->exporter) == 0 ||
			(strcmp(there.exporter, e->manifest.exporter) == 0 && there.serial == e->manifest.serial);
	feed_manifest_free(&there);
	free(text);
	if (!alone)
		fail("another exporter writes to \"%s\": this one ends", e->plan->to);
	return true;
}

/* The text with so many dots that its length is not that of manifests shortly before. */
static char *
padded_text(const exporter *e, const feed_manifest *next)
{
	char	   *text = feed_manifest_text(next, 0);
	size_t		length;
	size_t		wanted = (e->manifest_length + 1) % LENGTHS;
	char	   *signed_text = feed_signed(text_of("%s", text), e->plan->keys, e->plan->key_count);

	length = strlen(signed_text);
	free(text);
	free(signed_text);
	text = feed_manifest_text(next, (unsigned) ((wanted + LENGTHS - length % LENGTHS) % LENGTHS));
	return feed_signed(text, e->plan->keys, e->plan->key_count);
}

static double
rate_of(const feed_copy *copy)
{
	double		sum = 0;
	uint32_t	i;

	for (i = 0; i < copy->parts; i++)
		sum += bf_estimate_rate(&copy->headers[i]);
	return sum / copy->parts;
}

/* Makes next the manifest that is there; its files are. */
static bool
write_manifest(exporter *e, feed_manifest *next)
{
	char	   *text;
	feed_piece	piece;
	bool		written;

	next->true_at = e->true_at;
	next->poll = e->plan->poll;
	next->expires = e->plan->expires == 0 ? 0 : feed_now() + e->plan->expires * 1000000;
	next->rate = rate_of(&e->copy);
	memcpy(next->exporter, e->exporter, sizeof next->exporter);
	text = padded_text(e, next);
	piece.bytes = text;
	piece.length = strlen(text);
	written = check_alone(e) && feed_write(e->folder, MANIFEST, 0644, &piece, 1);
	free(text);
	if (!written)
		return false;
	e->manifest_length = piece.length;
	feed_manifest_free(&e->manifest);
	e->manifest = *next;
	memset(next, 0, sizeof *next);
	e->taken = true;
	/* where it could not be passed on, the next look tries again */
	if (!run_after(e, MANIFEST))
	{
		e->published = -(double) e->plan->heartbeat;
		return false;
	}
	e->published = monotonic_seconds();
	return true;
}

static feed_manifest
copy_manifest(const feed_manifest *m)
{
	feed_manifest next = *m;

	next.wholes = allocate(NULL, m->parts + 1, sizeof *next.wholes);
	if (m->parts > 0)
		memcpy(next.wholes, m->wholes, m->parts * sizeof *next.wholes);
	next.steps = allocate(NULL, m->step_count + 1, sizeof *next.steps);
	if (m->step_count > 0)
		memcpy(next.steps, m->steps, m->step_count * sizeof *next.steps);
	next.inlined = NULL;
	return next;
}

/* Files that the last manifest named and this one doesn't get their day from now on. */
static void
touch_unnamed(const exporter *e, const feed_manifest *old, const feed_manifest *now, const char *ending,
			  bool steps)
{
	const feed_file *was = steps ? old->steps : old->wholes;
	const feed_file *is = steps ? now->steps : now->wholes;
	size_t		was_count = steps ? old->step_count : old->parts;
	size_t		is_count = steps ? now->step_count : now->parts;
	size_t		i;
	size_t		j;

	for (i = 0; i < was_count; i++)
	{
		char		name[FEED_FILE_NAME_BYTES];

		for (j = 0; j < is_count && memcmp(was[i].digest, is[j].digest, FEED_DIGEST_BYTES) != 0; j++)
			;
		if (j < is_count)
			continue;
		feed_file_name(name, &was[i], ending);
		utimensat(e->folder, name, NULL, 0);
	}
}

static bool
is_named(const exporter *e, const char *name)
{
	char		named[FEED_FILE_NAME_BYTES];
	size_t		i;

	for (i = 0; i < e->manifest.parts; i++)
	{
		feed_file_name(named, &e->manifest.wholes[i], WHOLE_ENDING);
		if (strcmp(named, name) == 0)
			return true;
	}
	for (i = 0; i < e->manifest.step_count; i++)
	{
		feed_file_name(named, &e->manifest.steps[i], STEP_ENDING);
		if (strcmp(named, name) == 0)
			return true;
	}
	return false;
}

/* Bytes of the files that stay; those that nobody can need any more are deleted. */
static uint64_t
sweep_once(exporter *e, time_t steps_before, time_t before)
{
	DIR		   *entries = fdopendir(dup(e->folder));
	struct dirent *entry;
	uint64_t	bytes = 0;

	if (entries == NULL)
		return 0;
	rewinddir(entries);
	while ((entry = readdir(entries)) != NULL)
	{
		const char *ending = strchr(entry->d_name, '.');
		bool		step = ending != NULL && strcmp(ending, STEP_ENDING) == 0;
		struct stat st;

		if (ending != entry->d_name + 2 * FEED_DIGEST_BYTES || (!step && strcmp(ending, WHOLE_ENDING) != 0) ||
			fstatat(e->folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (st.st_mtime < (step ? steps_before : before) && !is_named(e, entry->d_name))
			unlinkat(e->folder, entry->d_name, 0);
		else
			bytes += (uint64_t) st.st_size;
	}
	closedir(entries);
	return bytes;
}

static void
sweep(exporter *e)
{
	static bool said;
	time_t		now = time(NULL);
	uint64_t	bytes;

	if (e->swept != 0 && monotonic_seconds() - e->swept < SWEEP_SECONDS)
		return;
	e->swept = monotonic_seconds();
	bytes = sweep_once(e, now - KEPT_SECONDS, now - KEPT_SECONDS);
	if (e->plan->keep == 0 || bytes <= e->plan->keep)
		return;
	bytes = sweep_once(e, now - KEPT_STEP_SECONDS, now - KEPT_SECONDS);
	if (bytes > e->plan->keep && !said)
		complain("\"%s\" has %" PRIu64 " bytes, more than --keep: files stay for a day after they were named, steps for an hour",
				 e->plan->to, bytes);
	said = bytes > e->plan->keep;
}

/* ------------------------------------------------------------------------
 * Publishing
 * ------------------------------------------------------------------------ */

static uint64_t
next_serial(const exporter *e)
{
	uint64_t	now = feed_now();

	if (now < e->list_serial)
		now = e->list_serial;
	return now > e->manifest.serial ? now : e->manifest.serial + 1;
}

bool
export_publish(exporter *e, bool *published)
{
	bool		new_epoch = e->new_epoch || e->manifest.serial == 0;
	bool		news = new_epoch || e->copy.news_count > 0 || e->whole_needed ||
		(e->list_serial != 0 && e->list_serial != e->manifest.content);
	feed_manifest next;
	bool		went_well = true;

	*published = false;
	if (!news && e->taken && monotonic_seconds() - e->published < (double) e->plan->heartbeat)
	{
		sweep(e);
		return true;
	}
	next = copy_manifest(&e->manifest);
	next.serial = next_serial(e);
	/* a list has a serial of its own, and is built at each */
	if (news)
		next.content = e->list_serial != 0 ? e->list_serial : next.serial;
	if (e->list_serial != 0)
		next.built = e->built;
	if (new_epoch)
	{
		next.epoch = next.content;
		if (e->list_serial == 0)
			next.built = next.epoch;
		next.step_count = 0;
		went_well = write_wholes(e, &next) && write_state(e, next.epoch);
	}
	else if (news)
		went_well = write_step(e, &next);
	if (went_well)
	{
		touch_unnamed(e, &e->manifest, &next, WHOLE_ENDING, false);
		touch_unnamed(e, &e->manifest, &next, STEP_ENDING, true);
		went_well = write_manifest(e, &next);
	}
	/* written, though --after may have failed for it */
	if (next.wholes == NULL)
	{
		feed_copy_settle(&e->copy);
		e->new_epoch = false;
		e->whole_needed = false;
		*published = news;
	}
	feed_manifest_free(&next);
	sweep(e);
	return went_well;
}
