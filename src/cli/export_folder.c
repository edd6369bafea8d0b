/*
 * export_folder.c
 *	  What a folder has when an exporter begins, and what it goes on with.
 */
#define _GNU_SOURCE
#include "export_folder.h"

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

#include "bf_bits.h"

#define STATE ".state"
#define STATE_FIRST_LINE "bloomfilter-export 1"

#define DAY UINT64_C(86400000000)

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

/*
 * The state file, which belongs to the manifest of the same epoch.  boot is that of the
 * host that wrote it, heartbeat its exporter's: 0 if that didn't stay.
 */
typedef struct folder_state
{
	char		source[64];
	uint64_t	epoch;
	int64_t		build;
	char		boot[FEED_UUID_TEXT_BYTES];
	uint64_t	heartbeat;
} folder_state;

static bool
read_state(const exporter *e, folder_state *state)
{
	size_t		length;
	char	   *text = (char *) feed_read(e->folder, STATE, 4096, &length);
	bool		read;

	memset(state, 0, sizeof *state);
	read = text != NULL &&
		sscanf(text, STATE_FIRST_LINE "\nsource %63s\nepoch %" SCNu64 "\nbuild %" SCNd64 "\nboot %36s\nheartbeat %" SCNu64,
			   state->source, &state->epoch, &state->build, state->boot, &state->heartbeat) >= 3;
	free(text);
	return read;
}

static void
this_boot(char text[FEED_UUID_TEXT_BYTES])
{
	uint8_t		boot[FEED_BOOT_BYTES];

	feed_boot(boot);
	feed_uuid_text(text, boot);
}

bool
export_write_state(const exporter *e, uint64_t epoch)
{
	char		boot[FEED_UUID_TEXT_BYTES];
	char	   *text;
	feed_piece	piece;
	bool		written;

	this_boot(boot);
	text = text_of(STATE_FIRST_LINE "\nsource %s\nepoch %" PRIu64 "\nbuild %" PRId64 "\nboot %s\nheartbeat %" PRIu64 "\n",
				   e->source, epoch, e->build, boot, e->plan->follow ? e->plan->heartbeat : 0);
	piece.bytes = text;
	piece.length = strlen(text);
	written = feed_write(e->folder, STATE, 0600, &piece, 1);
	free(text);
	return written;
}

/* Sets the bits of the whole files that the manifest names. */
static bool
load_wholes(const exporter *e, feed_copy *copy)
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
		feed_copy_create(copy, headers, m->parts);
		for (i = 0; i < m->parts; i++)
			feed_copy_or(copy, i, 0, bytes[i] + BF_HEADER_BYTES, bf_blocks_bytes(&headers[i]), false);
	}
	for (i = 0; i < m->parts; i++)
		free(bytes[i]);
	free(bytes);
	free(headers);
	return sound;
}

uint8_t *
export_load_step(const exporter *e, const feed_copy *copy, const feed_file *file, bf_step *step)
{
	uint8_t    *bytes = feed_read_file(e->folder, file, STEP_ENDING);

	if (bytes != NULL && bf_step_read(bytes, (size_t) file->length, copy->headers, copy->parts, step) == BF_STEP_OK)
		return bytes;
	free(bytes);
	return NULL;
}

static bool
load_steps(const exporter *e, feed_copy *copy)
{
	const feed_manifest *m = &e->manifest;
	size_t		i;

	for (i = 0; i < m->step_count; i++)
	{
		bf_step		step;
		uint8_t    *bytes;

		if (m->steps[i].to <= m->wholes[0].to)
			continue;
		bytes = export_load_step(e, copy, &m->steps[i], &step);
		if (bytes == NULL)
			return false;
		(void) feed_copy_apply(copy, &step, false);
		free(bytes);
	}
	return true;
}

bool
export_load_published(const exporter *e, feed_copy *copy)
{
	memset(copy, 0, sizeof *copy);
	if (load_wholes(e, copy) && load_steps(e, copy))
		return true;
	feed_copy_free(copy);
	return false;
}

/* What a process before this one published, to go on with; an epoch begins if it is damaged. */
static void
load_published(exporter *e)
{
	if (export_load_published(e, &e->copy))
	{
		e->build = e->published_build;
		return;
	}
	complain("files that the manifest of \"%s\" names are missing or damaged: publishing all anew", e->plan->to);
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

/* The serial that the folder's manifest has now; 0 if it can't be read. */
static uint64_t
serial_there(const exporter *e)
{
	size_t		length;
	char	   *text = (char *) feed_read(e->folder, MANIFEST, FEED_MANIFEST_BYTES, &length);
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
watch_other_host(const exporter *e)
{
	folder_state state;
	char		boot[FEED_UUID_TEXT_BYTES];
	double		until;

	this_boot(boot);
	if (e->manifest.serial == 0 || !read_state(e, &state) || state.heartbeat == 0 || strcmp(state.boot, boot) == 0)
		return;
	/* both clocks are right within a minute, as they are compared with the server's */
	if (feed_now() > e->manifest.serial + (3 * state.heartbeat + 120) * 1000000)
		return;
	complain("\"%s\" was last exported by another host, or before this one was started anew: looking for %"
			 PRIu64 " s whether it still is", e->plan->to, 3 * state.heartbeat / 2 + 1);
	until = monotonic_seconds() + 1.5 * (double) state.heartbeat + 1;
	while (!stop_requested() && monotonic_seconds() < until)
	{
		uint64_t	serial = serial_there(e);

		if (serial != 0 && serial != e->manifest.serial)
			fail("an exporter on another host writes to \"%s\"; each needs a folder and an address of its own",
				 e->plan->to);
		stop_wait(-1, 0.25);
	}
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
	watch_other_host(e);
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
	folder_state state;
	const char *name = e->plan->name != NULL ? e->plan->name : e->plan->list != NULL ? e->plan->list : e->index_name;
	const char *identity = e->plan->list != NULL ? e->identity : e->plan->identity;
	bool		known = read_state(e, &state);

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
	if (known && e->manifest.serial != 0 && strcmp(state.source, e->source) != 0 && !e->plan->new_source)
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
	else if (known && state.epoch == e->manifest.epoch)
	{
		e->published_build = state.build;
		load_published(e);
		return export_write_state(e, state.epoch);
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
	return true;
}
