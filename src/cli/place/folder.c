/*
 * folder.c
 *	  What a folder has when an exporter begins, and what it goes on with.
 */
#define _GNU_SOURCE
#include "folder.h"

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
#include <unistd.h>

#include "feed_values.h"
#include "messages.h"
#include "server.h"
#include "system.h"

#define LOCK ".lock"
#define STATE ".state"
#define STATE_FIRST_LINE "bloomfilter-export 2"

#define DAY UINT64_C(86400000000)

static void
remove_unfinished(int fd)
{
	DIR		   *entries = fdopendir(dup(fd));
	struct dirent *entry;

	if (entries == NULL)
		return;
	rewinddir(entries);
	while ((entry = readdir(entries)) != NULL)
		if (strncmp(entry->d_name, FOLDER_UNFINISHED, strlen(FOLDER_UNFINISHED)) == 0)
			unlinkat(fd, entry->d_name, 0);
	closedir(entries);
}

/* ------------------------------------------------------------------------
 * The state file
 * ------------------------------------------------------------------------ */

/*
 * It belongs to the manifest of the same epoch.  boot is that of the host that wrote it,
 * heartbeat its exporter's: 0 if that didn't stay.
 */
typedef struct folder_state
{
	char		system[64];
	char		identity[FEED_UUID_TEXT_BYTES];
	uint64_t	epoch;
	int64_t		build;
	char		boot[FEED_UUID_TEXT_BYTES];
	uint64_t	heartbeat;
} folder_state;

static bool
read_state(const list_folder *f, folder_state *state)
{
	size_t		length;
	char	   *text = (char *) folder_read(f->folder, STATE, 4096, &length);
	uint8_t		identity[FEED_IDENTITY_BYTES];
	bool		read;

	memset(state, 0, sizeof *state);
	read = text != NULL &&
		sscanf(text, STATE_FIRST_LINE "\nserver %63s\nidentity %36s\nepoch %" SCNu64 "\nbuild %" SCNd64
			   "\nboot %36s\nheartbeat %" SCNu64, state->system, state->identity, &state->epoch, &state->build,
			   state->boot, &state->heartbeat) == 6 &&
		feed_uuid_read(identity, state->identity);
	free(text);
	return read;
}

static void
this_boot(char text[FEED_UUID_TEXT_BYTES])
{
	uint8_t		boot[FEED_BOOT_BYTES];

	read_boot_id(boot);
	feed_uuid_text(text, boot);
}

bool
folder_write_state(const list_folder *f, const folder_news *news, uint64_t epoch,
				   const uint8_t identity[FEED_IDENTITY_BYTES])
{
	char		boot[FEED_UUID_TEXT_BYTES];
	char		uuid[FEED_UUID_TEXT_BYTES];
	char	   *text;
	folder_piece piece;
	bool		written;

	this_boot(boot);
	feed_uuid_text(uuid, identity);
	text = text_of(STATE_FIRST_LINE "\nserver %s\nidentity %s\nepoch %" PRIu64 "\nbuild %" PRId64 "\nboot %s\nheartbeat %"
				   PRIu64 "\n", news->system, uuid, epoch, news->build, boot, f->plan->heartbeat);
	piece.bytes = text;
	piece.length = strlen(text);
	written = folder_write(f->folder, STATE, 0600, &piece, 1);
	free(text);
	return written;
}

char *
folder_system(const list_folder *f)
{
	folder_state state;

	if (f->plan->new_source || f->manifest.serial == 0 || !read_state(f, &state))
		return NULL;
	return text_of("%s", state.system);
}

/* ------------------------------------------------------------------------
 * Content
 * ------------------------------------------------------------------------ */

/* Sets the bits of the whole files that the manifest names. */
static bool
load_wholes(const list_folder *f, list_copy *copy)
{
	const feed_manifest *m = &f->manifest;
	feed_part  *parts = allocate(NULL, m->parts, sizeof *parts);
	uint8_t   **bytes = allocate(NULL, m->parts, sizeof *bytes);
	bool		sound = true;
	uint32_t	i;

	for (i = 0; i < m->parts; i++)
	{
		bytes[i] = sound ? folder_read_file(f->folder, &m->wholes[i], false) : NULL;
		sound = sound && bytes[i] != NULL && feed_part_check(bytes[i], m->wholes[i].length, &parts[i]) == NULL &&
			parts[i].part == i && parts[i].parts == m->parts;
	}
	if (sound)
	{
		copy_create(copy, parts, m->parts);
		for (i = 0; i < m->parts; i++)
			copy_or(copy, i, 0, bytes[i] + FEED_HEADER_BYTES, parts[i].length, false);
	}
	for (i = 0; i < m->parts; i++)
		free(bytes[i]);
	free(bytes);
	free(parts);
	return sound;
}

uint8_t *
folder_load_patch(const list_folder *f, const list_copy *copy, const feed_file *file, feed_patch *patch)
{
	uint8_t    *bytes = folder_read_file(f->folder, file, true);

	if (bytes != NULL &&
		feed_patch_read(bytes, (size_t) file->length, copy->parts, copy->count, patch) == FEED_PATCH_OK &&
		patch->from == file->from && patch->to == file->to)
		return bytes;
	free(bytes);
	return NULL;
}

static bool
load_patches(const list_folder *f, list_copy *copy)
{
	const feed_manifest *m = &f->manifest;
	size_t		i;

	for (i = 0; i < m->patch_count; i++)
	{
		feed_patch	patch;
		uint8_t    *bytes;

		if (m->patches[i].to <= m->wholes[0].to)
			continue;
		bytes = folder_load_patch(f, copy, &m->patches[i], &patch);
		if (bytes == NULL || patch.kind != FEED_SET)
		{
			free(bytes);
			return false;
		}
		copy_apply(copy, &patch);
		free(bytes);
	}
	return true;
}

bool
folder_load(const list_folder *f, list_copy *copy)
{
	memset(copy, 0, sizeof *copy);
	if (load_wholes(f, copy) && load_patches(f, copy) && copy_sum(copy) == f->manifest.sum)
		return true;
	copy_free(copy);
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
	char	   *text = (char *) folder_read(f->folder, FOLDER_MANIFEST, FEED_MANIFEST_BYTES, &length);
	const char *problem;
	unsigned	line = 0;
	folder_state state;

	if (text == NULL && errno == ENOENT)
		return;
	problem = text == NULL ? strerror(errno) : feed_manifest_read(text, length, &f->manifest, &line);
	free(text);
	if (problem == NULL)
	{
		f->manifest_length = length;
		if (f->manifest.serial > time_now() + DAY)
			fail("\"%s\" has a serial of the future: set the clock right; where the clock was wrong before, empty the"
				 " folder and give a new --identity, which hosts take with --allow-older", f->plan->to);
		return;
	}
	feed_manifest_free(&f->manifest);
	if (f->plan->identity == NULL && !read_state(f, &state))
		fail("\"%s/%s\" can't be continued (line %u %s), and no " STATE " says whose list it was: give its --identity, or"
			 " remove the file", f->plan->to, FOLDER_MANIFEST, line, problem);
	complain("\"%s/%s\" can't be read (line %u %s): publishing all anew", f->plan->to, FOLDER_MANIFEST, line, problem);
	f->manifest_length = length;
}

/* The serial that the folder's manifest has now; 0 if it can't be read. */
static uint64_t
serial_there(const list_folder *f)
{
	size_t		length;
	char	   *text = (char *) folder_read(f->folder, FOLDER_MANIFEST, FEED_MANIFEST_BYTES, &length);
	feed_manifest there;
	unsigned	line;
	uint64_t	serial;

	if (text == NULL)
		return 0;
	serial = feed_manifest_read(text, length, &there, &line) == NULL ? there.serial : 0;
	feed_manifest_free(&there);
	free(text);
	return serial;
}

/*
 * The lock says nothing of an exporter on another host that has the same folder, such as
 * one of a clone of this database.  If it lives, its manifest is renewed in time.
 */
static void
watch_other_host(const list_folder *f)
{
	folder_state state;
	char		boot[FEED_UUID_TEXT_BYTES];
	double		until;

	this_boot(boot);
	if (f->manifest.serial == 0 || !read_state(f, &state) || state.heartbeat == 0 || strcmp(state.boot, boot) == 0)
		return;
	/* both clocks are right within a minute, as they are compared with the server's */
	if (time_now() > f->manifest.serial + (3 * state.heartbeat + 120) * 1000000)
		return;
	complain("\"%s\" was last exported by another host, or before this one was started anew: looking for %"
			 PRIu64 " s whether it still is", f->plan->to, 3 * state.heartbeat / 2 + 1);
	until = monotonic_seconds() + 1.5 * (double) state.heartbeat + 1;
	while (!stop_requested() && monotonic_seconds() < until)
	{
		uint64_t	serial = serial_there(f);

		if (serial != 0 && serial != f->manifest.serial)
			fail("an exporter on another host writes to \"%s\"; each needs a folder and an address of its own",
				 f->plan->to);
		stop_wait(-1, 0.25);
	}
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

	memset(f, 0, sizeof *f);
	f->plan = plan;
	if (mkdir(plan->to, 0755) != 0 && errno != EEXIST)
		fail("cannot make the folder \"%s\": %s", plan->to, strerror(errno));
	f->folder = open(plan->to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->folder < 0)
		fail("cannot open the folder \"%s\": %s", plan->to, strerror(errno));
	lock(f);
	remove_unfinished(f->folder);
	f->clock = time_now();
	f->boot_clock = boot_time_now();
	read_manifest(f);
	watch_other_host(f);
	if (plan->identity == NULL)
		return;
	if (!feed_uuid_read(identity, plan->identity))
		fail("--identity must be a UUID in lower case, not \"%s\"", plan->identity);
	if (f->manifest.serial != 0 && memcmp(identity, f->manifest.identity, sizeof identity) != 0)
		fail("\"%s\" has another identity than --identity says", plan->to);
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
 * Taking up
 * ------------------------------------------------------------------------ */

/* A list without a manifest begins, under the identity that it is known by. */
static void
begin_list(list_folder *f, const char *name, const folder_state *state)
{
	if (f->plan->identity != NULL)
		(void) feed_uuid_read(f->manifest.identity, f->plan->identity);
	else if (state != NULL)
		(void) feed_uuid_read(f->manifest.identity, state->identity);
	else
		randombytes_buf(f->manifest.identity, FEED_IDENTITY_BYTES);
	snprintf(f->manifest.name, sizeof f->manifest.name, "%s", name);
}

/* What a process before this one published, to go on with; an epoch begins if it is damaged. */
static bool
go_on(list_folder *f, folder_news *news, const folder_state *state)
{
	if (folder_load(f, news->copy))
		news->build = state->build;
	else
		complain("files that the manifest of \"%s\" names are missing or damaged: publishing all anew", f->plan->to);
	return folder_write_state(f, news, state->epoch, f->manifest.identity);
}

bool
folder_take_up(list_folder *f, folder_news *news)
{
	uint8_t		random[FEED_EXPORTER_BYTES / 2];
	folder_state state;
	const char *name = f->plan->name != NULL ? f->plan->name : news->name;
	bool		known = read_state(f, &state);

	if (f->taken_up)
		return true;
	if (!feed_is_name(name))
	{
		complain("\"%s\" can't be a list's name: give another by --name", name);
		return false;
	}
	if (f->manifest.serial != 0 && strcmp(name, f->manifest.name) != 0)
	{
		complain("\"%s\" is the folder of the list \"%s\", not of \"%s\"", f->plan->to, f->manifest.name, name);
		return false;
	}
	randombytes_buf(random, sizeof random);
	feed_hex(f->exporter, random, sizeof random);
	f->taken_up = true;
	if (f->manifest.serial == 0)
		begin_list(f, name, known ? &state : NULL);
	else if (known && state.epoch == f->manifest.epoch)
		return go_on(f, news, &state);
	return true;
}
