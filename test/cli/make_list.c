/*
 * make_list.c
 *	  Folders of a list, as bloomfilter export keeps them, without a server.
 *
 *	  make_list FOLDER BASE N STATE...
 *
 * A STATE is KIND:FIRST-LAST, of integer keys: "new" and "flip" begin an epoch that has
 * these keys alone, "flip" with a patch that leads to it; "set" adds keys.  For the state
 * number i there is FOLDER/i, whose serial is BASE + 1000000 i and which has all patches up
 * to it; its whole file is of the epoch's begin.
 * "two" is as "new", in two parts.  "tracked" is as "new" of a tracked list, and "out" takes keys
 * of it away by a change by day: the content stays then, and the manifest's serial is another.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "feed_manifest.h"
#include "feed_part.h"
#include "feed_values.h"
#include "../../src/core/bf_hash.h"
#include "../../src/lib/libbloomfilter.h"

typedef struct state
{
	uint8_t    *filter;
	size_t		length;
	uint8_t    *second;			/* part, or NULL */
	size_t		second_length;
	feed_part	part;
	uint64_t	sum;
	uint64_t	serial;
	uint64_t	epoch;
} state;

static feed_file patches[100];
static uint8_t *patch_bytes[100];
static size_t patch_count;

/* Of a tracked list: the files of changes of its content. */
static feed_file changes[FEED_MOST_CHANGES];
static size_t change_count;
static uint64_t entry_count;

static void
die(const char *what)
{
	fprintf(stderr, "make_list: %s\n", what);
	exit(2);
}

static void
write_file(const char *path, const void *bytes, size_t length)
{
	FILE	   *file = fopen(path, "wb");

	if (file == NULL || fwrite(bytes, 1, length, file) != length || fclose(file) != 0)
		die(path);
}

static void
write_named(const char *folder, const uint8_t *digest, feed_kind kind, const void *bytes, size_t length)
{
	char		name[FEED_FILE_NAME_BYTES];
	char		path[4096];

	feed_file_name(name, digest, kind);
	snprintf(path, sizeof path, "%s/%s", folder, name);
	write_file(path, bytes, length);
}

static void
fill(state *s, const state *before, uint64_t n, uint32_t parts, long first, long last)
{
	bloomfilter_builder *builder;
	bloomfilter *filter;
	const void *bytes;
	size_t		i;

	if (bloomfilter_builder_create(n, 0.01, 0, parts, &builder) < 0)
		die("no builder");
	for (; first <= last; first++)
		bloomfilter_builder_add_int64(builder, first);
	if (bloomfilter_builder_finish(builder, &filter, NULL) < 0 || bloomfilter_get_bytes(filter, 0, &bytes, &s->length) < 0)
		die("no filter");
	s->filter = malloc(s->length);
	memcpy(s->filter, bytes, s->length);
	if (parts > 1)
	{
		bloomfilter_get_bytes(filter, 1, &bytes, &s->second_length);
		s->second = malloc(s->second_length);
		memcpy(s->second, bytes, s->second_length);
		s->sum = feed_sum_header(1, bytes) + feed_sum(1, 0, s->second + FEED_HEADER_BYTES, s->second_length - FEED_HEADER_BYTES);
	}
	bloomfilter_close(filter);
	if (feed_part_read(s->filter, s->length, &s->part) != NULL)
		die("no part");
	for (i = FEED_HEADER_BYTES; before != NULL && i < s->length; i++)
		s->filter[i] |= before->filter[i];
	feed_part_seal(&s->part, s->filter + FEED_HEADER_BYTES);
	memcpy(s->filter, s->part.header, FEED_HEADER_BYTES);
	s->sum += feed_sum_header(0, s->filter) + feed_sum(0, 0, s->filter + FEED_HEADER_BYTES, s->part.length);
}

static void
add_patch(const state *from, const state *to, feed_patch_kind kind, const uint8_t *identity)
{
	feed_change change = {NULL, 0, from->filter + FEED_HEADER_BYTES, to->filter + FEED_HEADER_BYTES};
	feed_patch	patch;
	feed_part	part = to->part;
	feed_file  *file = &patches[patch_count];

	memset(&patch, 0, sizeof patch);
	patch.kind = kind;
	patch.epoch = to->epoch;
	memcpy(patch.identity, identity, FEED_IDENTITY_BYTES);
	patch.from = from->serial;
	patch.to = to->serial;
	patch.from_sum = kind == FEED_FLIP ? from->sum : 0;
	patch.to_sum = to->sum;
	feed_part_strip(&part);
	file->length = feed_patch_write(&patch, &part, &change, 1, NULL);
	patch_bytes[patch_count] = malloc(file->length);
	file->kind = kind;
	file->from = patch.from;
	file->to = patch.to;
	feed_patch_write(&patch, &part, &change, 1, patch_bytes[patch_count]);
	crypto_hash_sha256(file->digest, patch_bytes[patch_count], file->length);
	patch_count++;
}

/* A file of changes that takes these keys away, and its line. */
static void
take_away(const char *folder, const state *s, uint64_t serial, long first, long last, const uint8_t *identity)
{
	feed_changes_of of = {s->serial, {0}, (uint64_t) (last - first + 1)};
	feed_entry *entries = calloc(of.count, sizeof *entries);
	uint8_t    *bytes = malloc(feed_changes_bytes(of.count));
	feed_file  *file = &changes[change_count];
	uint64_t	i;

	memcpy(of.identity, identity, FEED_IDENTITY_BYTES);
	for (i = 0; i < of.count; i++)
	{
		int64_t		key = (int64_t) i + first;

		entries[i].hash = bf_hash(&key, sizeof key, 0);
		feed_tag(&key, sizeof key, entries[i].tag);
		entries[i].state = serial << 1;
	}
	feed_entries_unite(entries, of.count);
	feed_changes_write(&of, entries, bytes);
	file->from = change_count == 0 ? 0 : changes[change_count - 1].to;
	file->to = serial;
	file->length = feed_changes_bytes(of.count);
	crypto_hash_sha256(file->digest, bytes, file->length);
	change_count++;
	entry_count += of.count;
	mkdir(folder, 0755);
	write_named(folder, file->digest, FEED_IS_CHANGES, bytes, file->length);
}

static void
publish(const char *folder, const state *s, uint64_t serial, const state *whole, const uint8_t *identity, bool tracked)
{
	const char *heartbeat = getenv("HEARTBEAT");
	const char *spread = getenv("SPREAD");
	feed_manifest m;
	feed_file	file[2];
	char		path[4096];
	char	   *text;
	size_t		i;

	memset(&m, 0, sizeof m);
	memset(file, 0, sizeof file);
	mkdir(folder, 0755);
	snprintf(m.name, sizeof m.name, "%s", getenv("LIST") != NULL ? getenv("LIST") : "users");
	memcpy(m.identity, identity, FEED_IDENTITY_BYTES);
	m.exporter = 0x0123456789abcdef;
	m.content = s->serial;
	m.serial = m.true_at = serial;
	m.epoch = s->epoch;
	m.sum = s->sum;
	m.poll = 1;
	m.heartbeat = heartbeat != NULL ? strtoull(heartbeat, NULL, 10) : 0;
	m.spread = spread != NULL ? strtoull(spread, NULL, 10) : 0;
	m.parts = whole->second != NULL ? 2 : 1;
	m.wholes = file;
	for (i = 0; i < m.parts; i++)
	{
		const uint8_t *bytes = i == 0 ? whole->filter : whole->second;

		file[i].from = i;
		file[i].to = whole->serial;
		file[i].length = i == 0 ? whole->length : whole->second_length;
		crypto_hash_sha256(file[i].digest, bytes, file[i].length);
		write_named(folder, file[i].digest, false, bytes, file[i].length);
	}
	m.patches = patches;
	m.patch_count = patch_count;
	for (i = 0; i < patch_count; i++)
		write_named(folder, patches[i].digest, true, patch_bytes[i], patches[i].length);
	m.tracked = tracked;
	m.changes_id = s->serial;
	m.entries = entry_count;
	m.changes = changes;
	m.change_count = tracked ? change_count : 0;
	text = feed_manifest_text(&m, (unsigned) (serial / 1000000 % 61));
	snprintf(path, sizeof path, "%s/manifest", folder);
	write_file(path, text, strlen(text));
}

int
main(int argc, char **argv)
{
	uint8_t		identity[FEED_IDENTITY_BYTES];
	state	   *states = calloc((size_t) argc, sizeof *states);
	const state *whole = NULL;
	const char *seed = getenv("IDENTITY") != NULL ? getenv("IDENTITY") : "a";
	char		folder[4096];
	int			i;

	if (argc < 5)
		die("usage: make_list FOLDER BASE N STATE...");
	memset(identity, seed[0], sizeof identity);
	mkdir(argv[1], 0755);
	for (i = 0; i + 4 < argc; i++)
	{
		uint64_t	serial = strtoull(argv[2], NULL, 10) + 1000000 * (uint64_t) i;
		bool		tracked;
		char		kind[8];
		long		first;
		long		last;

		if (sscanf(argv[i + 4], "%7[a-z]:%ld-%ld", kind, &first, &last) != 3)
			die(argv[i + 4]);
		tracked = strcmp(kind, "tracked") == 0;
		snprintf(folder, sizeof folder, "%s/%d", argv[1], i);
		if (strcmp(kind, "out") == 0)
		{
			states[i] = states[i - 1];
			take_away(folder, &states[i], serial, first, last, identity);
			publish(folder, &states[i], serial, whole, identity, true);
			continue;
		}
		states[i].serial = serial;
		change_count = entry_count = 0;
		fill(&states[i], strcmp(kind, "set") == 0 ? &states[i - 1] : NULL, strtoull(argv[3], NULL, 10), strcmp(kind, "two") == 0 ? 2 : 1, first, last);
		states[i].epoch = strcmp(kind, "set") == 0 ? states[i - 1].epoch : states[i].serial;
		if (strcmp(kind, "set") != 0)
			whole = &states[i];
		if (strcmp(kind, "new") == 0 || strcmp(kind, "two") == 0 || tracked)
			patch_count = 0;
		else
			add_patch(&states[i - 1], &states[i], strcmp(kind, "set") == 0 ? FEED_SET : FEED_FLIP, identity);
		publish(folder, &states[i], serial, whole, identity, tracked);
	}
	/* nothing is freed, which the system does as well */
	_exit(0);
}
