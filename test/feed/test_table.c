/*
 * test_table.c
 *	  Changes by day: their files, the table of a list's file, and what a host answers while
 *	  exporters, followers, kills, copies and losses of power come between.
 */
#include <stdlib.h>
#include <string.h>

#include "feed_changes.h"
#include "feed_table.h"
#include "tap.h"
#include "tsv.h"

/* ------------------------------------------------------------------------
 * Files of changes
 * ------------------------------------------------------------------------ */

static feed_entry
entry_of(uint64_t key, uint64_t version, bool value)
{
	feed_entry	entry;
	uint64_t	state = key;

	/* of each 16 keys two have one hash */
	entry.hash = next_random(&state) & ~(key % 8 == 7 ? UINT64_MAX : 0);
	feed_tag(&key, sizeof key, entry.tag);
	entry.state = version << 1 | value;
	return entry;
}

static void
check_changes_row(const tsv *table)
{
	const char *name = tsv_text(table, "name");
	size_t		length;
	uint8_t    *bytes = tsv_bytes(table, "changes_hex", &length);
	feed_changes_of of;
	const char *word = feed_changes_read(bytes, length, &of);

	ok(strcmp(word == NULL ? "-" : word, tsv_text(table, "word")) == 0, "changes %s: %s", name, word == NULL ? "-" : word);
	if (word == NULL)
	{
		feed_entry *entries = calloc(of.count + 1, sizeof *entries);
		uint8_t    *again = malloc(length);
		uint64_t	i;

		need(entries != NULL && again != NULL, "memory");
		for (i = 0; i < of.count; i++)
			entries[of.count - 1 - i] = feed_entry_read(bytes + FEED_CHANGES_HEADER + i * FEED_ENTRY_BYTES);
		same((long long) feed_entries_unite(entries, of.count), (long long) of.count, "%s has each key once", name);
		feed_changes_write(&of, entries, again);
		ok(memcmp(again, bytes, length) == 0, "%s is written as it was read", name);
		free(entries);
		free(again);
	}
	free(bytes);
}

/* Of several states of a key the greatest stays, in whatever order they come. */
static void
test_law(void)
{
	feed_entry	entries[300];
	uint64_t	greatest[20] = {0};
	uint64_t	random = 5;
	bool		right = true;
	size_t		left;
	size_t		i;

	for (i = 0; i < 300; i++)
	{
		uint64_t	key = next_random(&random) % 20;

		entries[i] = entry_of(key, 1 + next_random(&random) % 50, next_random(&random) % 2);
		if (entries[i].state > greatest[key])
			greatest[key] = entries[i].state;
	}
	left = feed_entries_unite(entries, 300);
	same((long long) left, 20, "of each key one state is left");
	for (i = 0; i < 20; i++)
	{
		feed_entry	wanted = entry_of(i, 1, false);
		size_t		at;

		for (at = 0; at < left && memcmp(entries[at].tag, wanted.tag, FEED_TAG_BYTES) != 0; at++)
			;
		right &= check(at < left && entries[at].state == greatest[i], "key %d", (int) i);
	}
	ok(right, "and it is the greatest");
	same((long long) feed_entries_unite(entries, 0), 0, "of nothing nothing is left");
}

/* ------------------------------------------------------------------------
 * A host, whose file is memory, and whose follower may be killed at any write
 *
 * The filter of a content is an array here: it says of each key the version that its publish saw.
 * ------------------------------------------------------------------------ */

#define KEYS 60
#define LOG2_SLOTS FEED_LEAST_SLOTS
#define TABLE ((size_t) (FEED_ENTRY_BYTES + 1) << LOG2_SLOTS)
#define FILE_BYTES (FEED_PAGE + TABLE)
#define SECTOR 512

typedef struct content
{
	uint64_t	serial;			/* 0: none */
	uint64_t	seen[KEYS];		/* states of keys, as the publish saw them */
} content;

typedef struct host
{
	_Alignas(8) uint8_t file[FILE_BYTES];
	uint8_t		slots[TABLE];	/* of it, as its follower has them */
	uint8_t		disk[FILE_BYTES];	/* what a loss of power may leave of each sector */
	content		filter;			/* of the file */
	uint64_t	mark;
	uint64_t	true_at;		/* all changes up to this tick are there */
	unsigned	left;			/* writes of 8 bytes until the kill */
	void		(*after_write) (struct host *host);
	uint64_t	told[KEYS];		/* the least state that a key may have from now on */
} host;

static feed_who
who_of(void)
{
	feed_who	who;

	memset(&who, 0, sizeof who);
	who.tracked = true;
	who.log2_slots = LOG2_SLOTS;
	who.length = FILE_BYTES;
	return who;
}

static bool
host_write(void *state, const uint8_t *bytes, size_t length, uint64_t at)
{
	host	   *h = state;
	size_t		i;

	for (i = 0; i < length; i += 8)
	{
		if (h->left == 0)
			return false;
		h->left--;
		memcpy(h->file + at + i, bytes + i, length - i < 8 ? length - i : 8);
		if (h->after_write != NULL)
			h->after_write(h);
	}
	return true;
}

/* What a key's look-up says: the state that it answers by. */
static uint64_t
host_state(const uint8_t *file, const content *filter, uint64_t key)
{
	uint64_t	state = FEED_UNCHANGED;

	if (feed_load(file, FEED_TABLE_COUNT) != 0)
		state = feed_table_ask(file + FEED_PAGE, LOG2_SLOTS, entry_of(key, 1, false).hash, &key, sizeof key);
	return state == FEED_UNCHANGED ? filter->seen[key] : state;
}

/* ------------------------------------------------------------------------
 * Server, standby, exporters
 * ------------------------------------------------------------------------ */

/* What a snapshot shows. */
typedef struct server
{
	content		list;
	uint64_t	changed[KEYS];	/* states in bloom_change; 0: none */
	uint64_t	tick;			/* of the snapshot */
} server;

#define MOST_LINES 64

/* A file of changes, and its line. */
typedef struct line
{
	uint64_t	from;
	uint64_t	to;
	feed_entry	entries[KEYS];
	size_t		count;
} line;

typedef struct exporter
{
	content		list;
	uint64_t	map[KEYS];
	uint64_t	id;
	line		lines[MOST_LINES];
	size_t		count;
	uint64_t	true_at;
	uint64_t	manifest;		/* its serial */
} exporter;

static server	now;
static server	lagging;
static uint64_t random_state;
static uint64_t manifests;
static long		answers;
static long		wrong;

static uint64_t
some(uint64_t below)
{
	return next_random(&random_state) % below;
}

static uint64_t
larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void
change(void)
{
	uint64_t	key = some(KEYS);
	uint64_t	before = larger(now.changed[key], now.list.seen[key]);

	now.tick++;
	now.changed[key] = larger((before >> 1) + 1, now.tick) << 1 | some(2);
}

/* The snapshot of a publish, some changes that it doesn't see, and its commit. */
static void
publish(void)
{
	content		next = now.list;
	uint64_t	key;

	for (key = 0; key < KEYS; key++)
		next.seen[key] = larger(next.seen[key], now.changed[key]);
	for (key = some(4); key > 0; key--)
		change();
	next.serial = ++now.tick;
	now.list = next;
	/* what is absorbed in this version isn't in force any more */
	for (key = 0; key < KEYS; key++)
		if (now.changed[key] == next.seen[key])
			now.changed[key] = 0;
}

/* Files are merged as the exporter of the command line does it: all after one of less than half of what follows. */
static void
merge(exporter *e)
{
	size_t		behind = 0;
	size_t		merged = 0;
	size_t		i;

	for (i = e->count; i-- > 0;)
	{
		if (2 * e->lines[i].count <= behind)
			merged = e->count - i;
		behind += e->lines[i].count;
	}
	if (merged >= 4 || e->count == MOST_LINES)
	{
		feed_entry	all[MOST_LINES * KEYS];
		size_t		count = 0;
		line	   *into;

		if (merged < 4)
			merged = 4;
		into = &e->lines[e->count - merged];
		for (i = e->count - merged; i < e->count; i++)
		{
			memcpy(all + count, e->lines[i].entries, e->lines[i].count * sizeof *all);
			count += e->lines[i].count;
		}
		into->to = e->lines[e->count - 1].to;
		into->count = feed_entries_unite(all, count);
		memcpy(into->entries, all, into->count * sizeof *all);
		e->count -= merged - 1;
	}
}

/* A look: the map by the law, what is new in it as a file, and a manifest. */
static void
look(exporter *e, const server *from)
{
	line		news = {0};
	bool		back = false;
	bool		anew = from->list.serial != e->list.serial || some(40) == 0;
	uint64_t	key;

	/* a list that goes back is refused */
	if (from->list.serial < e->list.serial)
		return;
	if (anew)
	{
		if (from->list.serial != e->list.serial)
			memset(e->map, 0, sizeof e->map);
		e->list = from->list;
		e->id = ++manifests;
		e->count = 0;
	}
	for (key = 0; key < KEYS; key++)
	{
		back = back || e->map[key] > larger(from->changed[key], from->list.seen[key]);
		/* of another list, or into an empty folder: all that is known */
		if (from->changed[key] <= e->map[key] && (!anew || e->map[key] == 0))
			continue;
		e->map[key] = larger(e->map[key], from->changed[key]);
		news.entries[news.count++] = entry_of(key, e->map[key] >> 1, e->map[key] & 1);
	}
	news.count = feed_entries_unite(news.entries, news.count);
	e->manifest = ++manifests;
	e->true_at = back ? 0 : from->tick;
	if (news.count > 0)
	{
		news.from = e->count == 0 ? 0 : e->lines[e->count - 1].to;
		news.to = e->manifest;
		e->lines[e->count++] = news;
		merge(e);
	}
}

/* ------------------------------------------------------------------------
 * The follower
 * ------------------------------------------------------------------------ */

static void
ask_all(host *h)
{
	uint64_t	key;

	for (key = 0; key < KEYS; key++)
	{
		uint64_t	state = host_state(h->file, &h->filter, key);

		answers++;
		/* never back, never a state that the server never had */
		if (state < h->told[key] || state > larger(now.changed[key], now.list.seen[key]))
			wrong++;
		h->told[key] = state;
	}
}

/* What true_at promises: each key's truth then, or a later one. */
static void
ask_promised(const host *h, uint64_t promised[KEYS])
{
	uint64_t	key;

	for (key = 0; key < KEYS; key++)
		if (host_state(h->file, &h->filter, key) < promised[key])
			wrong++;
}

/* A new file, which takes the name when it is whole: slots of the old one, or none, and all lines. */
static void
make_file(host *h, const exporter *e, bool keep)
{
	uint8_t    *file = calloc(1, FILE_BYTES);
	feed_table	table = {0, 0, 0, 0};
	size_t		i;
	size_t		j;

	need(file != NULL, "memory");
	if (keep)
		for (i = 0; i >> LOG2_SLOTS == 0; i++)
		{
			feed_entry	entry = feed_entry_read(h->file + FEED_PAGE + i * FEED_ENTRY_BYTES);

			if (entry.state != 0 && !feed_table_set(file + FEED_PAGE, LOG2_SLOTS, &entry, &table))
				wrong++;
		}
	for (i = 0; i < e->count; i++)
		for (j = 0; j < e->lines[i].count; j++)
			if (!feed_table_set(file + FEED_PAGE, LOG2_SLOTS, &e->lines[i].entries[j], &table))
				wrong++;
	table.id = e->id;
	table.to = e->count == 0 ? 0 : e->lines[e->count - 1].to;
	feed_table_write(&table, file);
	memcpy(h->file, file, FILE_BYTES);
	memcpy(h->slots, file + FEED_PAGE, TABLE);
	memcpy(h->disk, file, FILE_BYTES);
	free(file);
	h->filter = e->list;
	h->mark = e->manifest;
	h->true_at = e->true_at;
}

/* Goes on with the file after a kill. */
static void
restart(host *h)
{
	feed_io		io = {host_write, h};
	feed_who	who = who_of();
	feed_table	table = feed_table_read(h->file);

	h->left = UINT32_MAX;
	memcpy(h->slots, h->file + FEED_PAGE, TABLE);
	if (!feed_table_go_on(&io, &who, h->slots, &table))
		wrong++;
}

static void
follow(host *h, const exporter *e, bool kill)
{
	feed_io		io = {host_write, h};
	feed_who	who = who_of();
	feed_table	table = feed_table_read(h->file);
	feed_table	counted;
	feed_entry	entries[MOST_LINES * KEYS];
	size_t		count = 0;
	size_t		i;

	if (e->list.serial == 0 || e->manifest <= h->mark || e->list.serial < h->filter.serial)
		return;
	if (e->list.serial != h->filter.serial)
	{
		make_file(h, e, false);
		return;
	}
	for (i = 0; i < e->count; i++)
	{
		if (e->id == table.id && e->lines[i].to <= table.to)
			continue;
		memcpy(entries + count, e->lines[i].entries, e->lines[i].count * sizeof *entries);
		count += e->lines[i].count;
	}
	count = feed_entries_unite(entries, count);
	h->left = kill ? (unsigned) some(20) : UINT32_MAX;
	if (!feed_table_store(&io, &who, h->slots, entries, count, e->id, e->count == 0 ? 0 : e->lines[e->count - 1].to, &table))
	{
		restart(h);
		return;
	}
	h->mark = e->manifest;
	h->true_at = e->true_at;
	table = feed_table_read(h->file);
	if (!feed_table_check(h->file + FEED_PAGE, LOG2_SLOTS, &counted) || counted.count != table.count || counted.sum != table.sum)
		wrong++;
}

/* Of each sector the one that was synced, or the one that is. */
static void
lose_power(host *h)
{
	size_t		at;

	for (at = 0; at < FILE_BYTES; at += SECTOR)
		if (some(2) == 0)
			memcpy(h->file + at, h->disk + at, SECTOR);
	memset(h->told, 0, sizeof h->told);
}

/* A copy that is read in pieces while entries come in: it has what its file was born with. */
static _Alignas(8) uint8_t copied[FILE_BYTES];
static size_t	copied_to;

static void
copy_some(host *h)
{
	size_t		length = 8 * (5 + some(25));

	if (length > FILE_BYTES - copied_to)
		length = FILE_BYTES - copied_to;
	memcpy(copied + copied_to, h->file + copied_to, length);
	copied_to += length;
	ask_all(h);
}

static void
check_copy(host *h, const uint64_t born[KEYS])
{
	uint64_t	key;

	while (copied_to < FILE_BYTES)
	{
		h->after_write = NULL;
		memcpy(copied + copied_to, h->file + copied_to, 8);
		copied_to += 8;
	}
	for (key = 0; key < KEYS; key++)
	{
		answers++;
		if (host_state(copied, &h->filter, key) < born[key])
			wrong++;
	}
}

static void
run_day(uint64_t seed)
{
	static exporter exporters[2];
	static host h;
	uint64_t	truths[64][KEYS];	/* of the last ticks' snapshots, by tick % 64 */
	uint64_t	born[KEYS] = {0};
	unsigned	step;
	uint64_t	key;

	memset(&now, 0, sizeof now);
	memset(exporters, 0, sizeof exporters);
	memset(&h, 0, sizeof h);
	random_state = seed;
	manifests = 0;
	for (key = 0; key < KEYS; key++)
		now.list.seen[key] = 2 | some(2);
	now.tick = 1;
	now.list.serial = 1;
	lagging = now;
	for (step = 0; step < 400; step++)
	{
		unsigned	which = (unsigned) some(2);
		uint64_t	serial = h.filter.serial;

		for (key = some(4); key > 0; key--)
			change();
		if (some(30) == 0)
			publish();
		if (some(5) == 0)
			lagging = now;
		look(&exporters[which], which == 0 ? &now : &lagging);
		for (key = 0; key < KEYS; key++)
		{
			const server *seen = which == 0 ? &now : &lagging;

			truths[seen->tick % 64][key] = larger(seen->changed[key], seen->list.seen[key]);
		}
		copied_to = FILE_BYTES;
		h.after_write = NULL;
		if (h.filter.serial != 0 && exporters[which].list.serial == h.filter.serial && some(3) == 0)
		{
			copied_to = 0;
			h.after_write = copy_some;
		}
		follow(&h, &exporters[which], some(3) == 0);
		if (copied_to < FILE_BYTES)
			check_copy(&h, born);
		if (h.filter.serial == 0)
			continue;
		if (h.true_at != 0 && now.tick - h.true_at < 40 && exporters[which].true_at == h.true_at)
			ask_promised(&h, truths[h.true_at % 64]);
		ask_all(&h);
		if (some(20) == 0)
		{
			lose_power(&h);
			h.left = UINT32_MAX;
			/* it is a copied file then, and never believed of more than it was born with */
			for (key = 0; key < KEYS; key++)
				if (host_state(h.file, &h.filter, key) < born[key])
					wrong++;
			if (exporters[which].list.serial == h.filter.serial)
				make_file(&h, &exporters[which], true);
			else
				make_file(&h, &(exporter) {h.filter, {0}, 0, {{0}}, 0, 0, h.mark}, true);
			serial = 0;
		}
		if (serial != h.filter.serial)
			for (key = 0; key < KEYS; key++)
				born[key] = host_state(h.file, &h.filter, key);
	}
}

static void
test_days(void)
{
	/* each fault of test/mutants is found on the first day */
	int			days = getenv("TABLE_DAYS") != NULL ? atoi(getenv("TABLE_DAYS")) : 6;
	int			day;

	for (day = 1; day <= days && wrong == 0; day++)
		run_day((uint64_t) day);
	same(wrong, 0, "%ld answers of hosts in %d random days", answers, days);
}

/* ------------------------------------------------------------------------
 * A table alone
 * ------------------------------------------------------------------------ */

static void
test_full(void)
{
	static _Alignas(8) uint8_t slots[TABLE];
	feed_table	table = {0, 0, 0, 0};
	feed_table	counted;
	uint64_t	key;
	feed_entry	entry;
	bool		right = true;

	for (key = 0; key < 1024; key++)
	{
		entry = entry_of(key, 3, key & 1);
		right &= check(feed_table_set(slots, LOG2_SLOTS, &entry, &table), "entry %d", (int) key);
	}
	for (key = 0; key < 1024; key++)
		right &= check(feed_table_ask(slots, LOG2_SLOTS, entry_of(key, 1, false).hash, &key, sizeof key) == (6 | (key & 1)),
					   "key %d", (int) key);
	ok(right, "a table takes as many keys as it has slots, and finds each");
	entry = entry_of(1024, 3, true);
	ok(!feed_table_set(slots, LOG2_SLOTS, &entry, &table), "but no more");
	ok(feed_table_search(slots, LOG2_SLOTS, entry.hash, &key, sizeof key) == FEED_DAMAGED, "and a look-up of another key ends");
	ok(feed_table_check(slots, LOG2_SLOTS, &counted) && counted.count == 1024 && counted.sum == table.sum,
	   "its count and sum are those of its slots");
	entry = entry_of(500, 3, false);
	ok(feed_table_set(slots, LOG2_SLOTS, &entry, &table) && feed_table_check(slots, LOG2_SLOTS, &counted) &&
	   counted.sum == table.sum, "a state that it has changes nothing");
	slots[feed_bit_at(entry.hash, LOG2_SLOTS)] &= (uint8_t) ~feed_bit(entry.hash, LOG2_SLOTS);
	ok(!feed_table_check(slots, LOG2_SLOTS, &counted), "an entry whose bit is 0 is found");
	slots[feed_bit_at(entry.hash, LOG2_SLOTS)] |= feed_bit(entry.hash, LOG2_SLOTS);
	memcpy(slots, slots + 900 * FEED_ENTRY_BYTES, FEED_ENTRY_BYTES);
	ok(!feed_table_check(slots, LOG2_SLOTS, &counted), "a slot that is there twice is found");
	same(feed_table_log2(0), 10, "slots of an empty table");
	same(feed_table_log2(256), 10, "of the most that fit it");
	same(feed_table_log2(257), 11, "of one more");
	same(feed_table_log2(FEED_MOST_ENTRIES), FEED_MOST_SLOTS, "of the most that a list may have");
	ok(!feed_table_is_full(256, feed_table_log2(256)) && feed_table_is_full(257, 10), "it is full above a fourth");
}

int
main(void)
{
	tsv_each("changes.tsv", check_changes_row);
	test_law();
	test_full();
	test_days();
	return tap_done();
}
