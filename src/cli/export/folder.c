/*
 * folder.c
 *	  What a folder has when an exporter begins, and what it goes on with.
 */
#define _GNU_SOURCE
#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK ".lock"
#define STATE ".state"
#define STATE_FIRST_LINE "bloomfilter-export 2"

#define DAY UINT64_C(86400000000)

/* ------------------------------------------------------------------------
 * The state file
 * ------------------------------------------------------------------------ */

static void
read_state(list_folder *f)
{
	folder_state *state = &f->state;
	size_t		length;
	char	   *text = (char *) read_file(f->folder, STATE, 4096, &length);
	char		identity[FEED_UUID_TEXT_BYTES];

	f->state_known = text != NULL &&
		sscanf(text, STATE_FIRST_LINE "\nserver %63s\nidentity %36s\nepoch %" SCNu64 "\nbuild %" SCNd64, state->system, identity,
			   &state->epoch, &state->build) == 4 &&
		feed_uuid_read(state->identity, identity);
	free(text);
}

bool
folder_write_state(const list_folder *f, const list_news *news, const feed_manifest *of)
{
	char		uuid[FEED_UUID_TEXT_BYTES];
	char	   *text;
	bool		written;

	feed_uuid_text(uuid, of->identity);
	text = text_of(STATE_FIRST_LINE "\nserver %s\nidentity %s\nepoch %" PRIu64 "\nbuild %" PRId64 "\n", news->system, uuid,
				   of->epoch, news->build);
	written = folder_write(f->folder, STATE, 0600, text, strlen(text));
	free(text);
	return written;
}

/* ------------------------------------------------------------------------
 * Content
 * ------------------------------------------------------------------------ */

/* A filter_getter: one of the whole files that the manifest names. */
static const char *
get_whole(void *state, uint32_t part, uint8_t **filter, uint64_t *length)
{
	const list_folder *f = state;
	const feed_file *file = &f->manifest.wholes[part];

	*filter = folder_read_file(f->folder, file, FEED_IS_WHOLE);
	*length = file->length;
	return *filter != NULL ? NULL : "missing or damaged";
}

uint8_t *
folder_load_patch(const list_folder *f, const list_image *image, const feed_file *file, feed_patch *patch)
{
	uint8_t    *bytes = folder_read_file(f->folder, file, FEED_IS_PATCH);

	if (bytes != NULL &&
		feed_patch_read(bytes, (size_t) file->length, image->parts, image->count, patch) == NULL &&
		patch->from == file->from && patch->to == file->to)
		return bytes;
	free(bytes);
	return NULL;
}

/* A feed_patch_position. */
static void
set_position(void *state, uint32_t part, uint64_t position)
{
	uint8_t		byte = (uint8_t) (1u << position % 8);

	image_or(state, part, position / 8, &byte, 1, false);
}

static bool
load_patches(const list_folder *f, list_image *image)
{
	const feed_manifest *m = &f->manifest;
	size_t		i;

	for (i = 0; i < m->patch_count; i++)
	{
		feed_patch	patch;
		uint8_t    *bytes;
		bool		sound;

		if (m->patches[i].to <= m->wholes[0].to)
			continue;
		bytes = folder_load_patch(f, image, &m->patches[i], &patch);
		sound = bytes != NULL && patch.kind == FEED_SET;
		if (sound)
			feed_patch_each(&patch, NULL, set_position, image);
		free(bytes);
		if (!sound)
			return false;
	}
	return true;
}

bool
folder_load(list_folder *f, list_image *image)
{
	uint32_t	part;

	memset(image, 0, sizeof *image);
	if (image_read(image, (uint32_t) f->manifest.parts, get_whole, f, &part) == NULL && load_patches(f, image) && image_sum(image) == f->manifest.sum)
		return true;
	image_free(image);
	return false;
}

/* ------------------------------------------------------------------------
 * Opening
 * ------------------------------------------------------------------------ */

/* What can't be read is as if it were not there, if it is known whose list it was. */
static void
read_manifest(list_folder *f)
{
	size_t		length;
	char	   *text = (char *) read_file(f->folder, FEED_MANIFEST, FEED_MANIFEST_BYTES, &length);
	const char *problem;
	unsigned	line = 0;

	if (text == NULL && errno == ENOENT)
		return;
	problem = text == NULL ? strerror(errno) : feed_manifest_read(text, length, &f->manifest, &line);
	free(text);
	if (problem == NULL)
	{
		f->manifest_length = length;
		if (f->manifest.serial > time_now() + DAY)
			fail("\"%s\" has a serial of the future: set the clock right; where the clock was wrong before, empty the"
				 " folder, which hosts take with --allow-older", f->plan->to);
		return;
	}
	feed_manifest_free(&f->manifest);
	if (f->plan->identity == NULL && !f->state_known)
		fail("\"%s/%s\" can't be continued (line %u %s), and no " STATE " says whose list it was: give an index's --identity,"
			 " or remove the file", f->plan->to, FEED_MANIFEST, line, problem);
	complain("\"%s/%s\" can't be read (line %u %s): publishing all anew", f->plan->to, FEED_MANIFEST, line, problem);
	f->manifest_length = length;
}

static void
lock(list_folder *f)
{
	f->lock = openat(f->folder, LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (f->lock < 0)
		fail("cannot open \"%s/%s\": %s", f->plan->to, LOCK, strerror(errno));
	if (flock(f->lock, LOCK_EX | LOCK_NB) != 0)
		fail("another process exports to \"%s\"", f->plan->to);
}

void
folder_open(list_folder *f, const folder_plan *plan)
{
	uint8_t		identity[FEED_IDENTITY_BYTES];

	f->plan = plan;
	if (mkdir(plan->to, 0755) != 0 && errno != EEXIST)
		fail("cannot make the folder \"%s\": %s", plan->to, strerror(errno));
	f->folder = open(plan->to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->folder < 0)
		fail("cannot open the folder \"%s\": %s", plan->to, strerror(errno));
	lock(f);
	f->clock = time_now();
	f->boot_clock = boot_time_now();
	read_state(f);
	read_manifest(f);
	/* a list without a manifest begins, under the identity that it is known by */
	if (f->manifest.serial == 0 && f->state_known)
		memcpy(f->manifest.identity, f->state.identity, FEED_IDENTITY_BYTES);
	else if (f->manifest.serial == 0)
		randombytes_buf(f->manifest.identity, FEED_IDENTITY_BYTES);
	if (plan->identity == NULL)
		return;
	if (!feed_uuid_read(identity, plan->identity))
		fail("--identity must be a UUID in lower case, not \"%s\"", plan->identity);
	if (f->manifest.serial != 0 && memcmp(identity, f->manifest.identity, sizeof identity) != 0)
		fail("\"%s\" has another identity than --identity says", plan->to);
	memcpy(f->manifest.identity, identity, FEED_IDENTITY_BYTES);
}

void
folder_close(list_folder *f)
{
	folder_stop_renewing(f);
	feed_manifest_free(&f->manifest);
	close(f->lock);
	close(f->folder);
}

/* ------------------------------------------------------------------------
 * Resuming
 * ------------------------------------------------------------------------ */

/* What a process before this one exported, to go on with; an epoch begins if it is damaged. */
static bool
go_on(list_folder *f, list_news *news)
{
	if (folder_load(f, &news->image))
	{
		news->build = f->state.build;
		/* what of its changes is missing is written as a row that begins */
		changes_begin(&news->changes, f->manifest.content);
		f->lost = f->lost || !folder_load_changes(f, &f->manifest, 0, &news->changes.all);
	}
	else
		complain("files that the manifest of \"%s\" names are missing or damaged: publishing all anew", f->plan->to);
	return folder_write_state(f, news, &f->manifest);
}

bool
folder_resume(list_folder *f, list_news *news)
{
	const char *name = f->plan->name != NULL ? f->plan->name : news->name;

	if (f->resumed)
		return true;
	if (!feed_is_name(name))
		return complain("\"%s\" can't be a list's name: give another by --name", name);
	if (f->manifest.serial != 0 && strcmp(name, f->manifest.name) != 0)
		return complain("\"%s\" is the folder of the list \"%s\", not of \"%s\"", f->plan->to, f->manifest.name, name);
	randombytes_buf(&f->exporter, sizeof f->exporter);
	f->resumed = true;
	if (f->manifest.serial == 0)
		snprintf(f->manifest.name, sizeof f->manifest.name, "%s", name);
	else if (f->state_known && f->state.epoch == f->manifest.epoch)
		return go_on(f, news);
	return true;
}
