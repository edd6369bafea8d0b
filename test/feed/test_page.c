/*
 * test_page.c
 *	  Page 0 of a followed list: written and read back, each damage found, and what a
 *	  reader may tell of it in each place.
 */
#include <stdlib.h>
#include <string.h>

#include "bf_bytes.h"
#include "bf_format.h"
#include "feed_page.h"
#include "parts.h"
#include "feed_part.h"
#include "tap.h"
#include "tsv.h"

#define PARTS 2
#define BLOCKS 70				/* of 64 bytes: more than a piece, not a whole number of them */
#define ROOM (FEED_PAGE + PARTS * 3 * FEED_PAGE)

static _Alignas(8) uint8_t file[ROOM];
static feed_part parts[PARTS];

static void
make_header(uint32_t part, uint8_t *bytes)
{
	bf_header	header;

	memset(&header, 0, sizeof header);
	header.probes = 6;
	header.log2_block_bits = 9;
	header.blocks = BLOCKS;
	header.part = (uint16_t) part;
	header.parts = PARTS;
	header.capacity = 1000;
	header.rate = 0.01;
	bf_header_copy(&header, bytes);
}

static feed_who
make_file(void)
{
	feed_who	who;
	uint32_t	i;

	memset(&who, 0, sizeof who);
	memset(file, 0, sizeof file);
	for (i = 0; i < PARTS; i++)
	{
		uint8_t		header[FEED_HEADER_BYTES];

		make_header(i, header);
		need(feed_part_read(header, sizeof header, &parts[i]) == NULL, "a valid header");
	}
	who.length = feed_lay_out(parts, PARTS);
	who.parts = PARTS;
	who.epoch = 5;
	memset(who.identity, 0x11, sizeof who.identity);
	memset(who.place.boot, 0x22, sizeof who.place.boot);
	who.place.device = 7;
	who.place.inode = 8;
	who.born.serial = 6;
	who.born.sum = 60;
	who.born.mark = 66;
	memset(who.born.digest, 0x33, sizeof who.born.digest);
	memset(who.name, 'n', FEED_NAME_BYTES);
	feed_who_write(&who, file);
	for (i = 0; i < PARTS; i++)
		memcpy(file + parts[i].at, parts[i].header, FEED_HEADER_BYTES);
	return who;
}

static bool
same_content(const feed_content *a, const feed_content *b)
{
	return a->serial == b->serial && a->sum == b->sum && a->mark == b->mark &&
		memcmp(a->digest, b->digest, FEED_DIGEST_BYTES) == 0;
}

static bool
same_part(const feed_part *a, const feed_part *b)
{
	return a->at == b->at && a->length == b->length && feed_part_fits(a, b) && memcmp(a->header, b->header, FEED_HEADER_BYTES) == 0;
}

static void
test_who(void)
{
	feed_who	who = make_file();
	feed_who	read;
	feed_part	seen[PARTS];
	unsigned	bit;
	bool		right = true;

	ok(feed_who_read(file, who.length, &read) == NULL && memcmp(&read, &who, sizeof who) == 0,
	   "who is read as it was written");
	ok(read_parts(&read, file, seen) && same_part(&seen[0], &parts[0]) && same_part(&seen[1], &parts[1]),
	   "parts lie where feed_lay_out put them");
	same((long long) who.length, 4096 + 2 * 4096 + 64 + 70 * 64, "the length of two parts");
	for (bit = 0; bit < FEED_WHO_BYTES * 8; bit++)
	{
		file[bit / 8] ^= (uint8_t) (1 << bit % 8);
		right &= check(feed_who_read(file, who.length, &read) != NULL, "bit %u", bit);
		file[bit / 8] ^= (uint8_t) (1 << bit % 8);
	}
	ok(right, "each changed bit of who is found");
}

static void
test_groups(void)
{
	feed_who	who = make_file();
	feed_now	now = {{9, 90, 99, {0x44}}, 1234};
	feed_now	now_read;
	feed_how	how = {1, 2, 3, 4, 5, 6, 7, "no-look", "could not\nresolve \x9b host"};
	feed_how	how_read;

	feed_now_write(&now, file + FEED_NOW_AT);
	feed_now_read(file, &now_read);
	ok(same_content(&now.content, &now_read.content) && now_read.true_at == 1234 &&
	   feed_load(file, FEED_SERIAL) == 9, "what it has is read as it was written");
	feed_how_write(&how, file + FEED_HOW_AT);
	feed_how_read(file, &how_read);
	ok(how_read.looked == 1 && how_read.looked_boot == 2 && how_read.failures == 3 && how_read.every == 4 &&
	   how_read.heartbeat == 5 && how_read.expires == 6 && how_read.since == 7 &&
	   strcmp(how_read.reason, "no-look") == 0 && strcmp(how_read.message, "could not?resolve ? host") == 0,
	   "how it goes, too, and what isn't printable is a question mark");
	memset(file + FEED_HOW_AT + 72, 0x1b, FEED_MESSAGE_BYTES);
	feed_how_read(file, &how_read);
	ok(strlen(how_read.message) == FEED_MESSAGE_BYTES && how_read.message[0] == '?', "also of what another program wrote");
	(void) who;
}

static void
test_told(void)
{
	feed_who	who = make_file();
	feed_now	now = {{9, 90, 99, {0x44}}, 0};
	feed_content saved = {8, 80, 88, {0x55}};
	feed_content told;
	feed_place	seen = who.place;
	feed_who	other = who;
	unsigned	i;
	bool		right = true;

	feed_now_write(&now, file + FEED_NOW_AT);
	ok(feed_where_is(&who, &seen) == FEED_HERE &&
	   feed_told(file, &who, FEED_HERE, &told) == FEED_SERIAL_NOW && same_content(&told, &now.content),
	   "here: what it has now");
	seen.boot[3] ^= 1;
	ok(feed_where_is(&who, &seen) == FEED_OTHER_BOOT &&
	   feed_told(file, &who, FEED_OTHER_BOOT, &told) == FEED_SERIAL_BORN && same_content(&told, &who.born),
	   "after another boot, never saved: what it was born with");
	feed_saved_write(&saved, &who, file + FEED_SAVED_AT);
	ok(feed_told(file, &who, FEED_OTHER_BOOT, &told) == FEED_SERIAL_SAVED && same_content(&told, &saved),
	   "saved: what was saved");
	for (i = 0; i < FEED_SAVED_BYTES * 8; i++)
	{
		file[FEED_SAVED_AT + i / 8] ^= (uint8_t) (1 << i % 8);
		right &= check(feed_told(file, &who, FEED_OTHER_BOOT, &told) == FEED_SERIAL_BORN, "bit %u", i);
		file[FEED_SAVED_AT + i / 8] ^= (uint8_t) (1 << i % 8);
	}
	ok(right, "saved and torn: what it was born with");
	other.place.inode++;
	ok(!feed_saved_read(file, &other, &told), "saved of another file with the same bytes is not taken");
	other = who;
	other.epoch++;
	ok(!feed_saved_read(file, &other, &told), "nor that of another epoch");
	seen = who.place;
	memset(seen.boot, 0, sizeof seen.boot);
	ok(feed_where_is(&who, &seen) == FEED_COPY, "a system that can't tell its boot: born");
	memset(&who.place, 0, sizeof who.place);
	ok(feed_where_is(&who, &seen) == FEED_NOBODYS, "a file without a place is nobody's");
}

static void
test_age(void)
{
	int64_t		age;
	const uint64_t minute = 60000000;

	ok(feed_age(1000, 500, 1010, 515, true, &age) && age == 15, "age is the larger one of two clocks");
	ok(feed_age(1000, 500, 1010, 515, false, &age) && age == 10, "the boot clock of another boot says nothing");
	ok(feed_age(10 * minute, 500, 5 * minute, 530, true, &age) && age == 30,
	   "a wall clock that was set back doesn't hide an age");
	ok(feed_age(1000, 10 * minute, 1040, 5 * minute, true, &age) && age == 40,
	   "nor does a boot clock of another namespace");
	ok(!feed_age(10 * minute, 10 * minute, 8 * minute, 8 * minute, true, &age), "both in the future: no age");
	ok(feed_age(10 * minute, 0, 10 * minute - 1000, 0, false, &age), "less than a minute in the future is now");
	ok(feed_age(0, 0, 1000, 1000, true, &age) && age == INT64_MAX, "never looked");
	ok(feed_age(1000, 0, 1010, 515, true, &age) && age == 10, "a boot clock that wasn't noted says nothing");
}

static void
test_sum(void)
{
	static uint8_t blocks[BLOCKS * 64];
	uint64_t	state = 1;
	uint64_t	sum;
	uint64_t	i;
	bool		right = true;

	for (i = 0; i < sizeof blocks; i++)
		blocks[i] = (uint8_t) next_random(&state);
	sum = feed_sum(1, 0, blocks, sizeof blocks);
	ok(sum == feed_sum(1, 0, blocks, FEED_PIECE) + feed_sum(1, 1, blocks + FEED_PIECE, sizeof blocks - FEED_PIECE),
	   "a sum is that of its pieces");
	ok(sum != feed_sum(0, 0, blocks, sizeof blocks), "another part has another sum");
	for (i = 0; i < 200; i++)
	{
		uint64_t	byte = next_random(&state) % sizeof blocks;

		sum -= feed_sum_piece(1, byte, blocks, sizeof blocks);
		blocks[byte] ^= 1;
		sum += feed_sum_piece(1, byte, blocks, sizeof blocks);
		right &= check(sum == feed_sum(1, 0, blocks, sizeof blocks), "change %d", (int) i);
	}
	ok(right, "a sum that follows the changes is that of the whole");
}

static void
test_part(void)
{
	static uint8_t filter[FEED_HEADER_BYTES + BLOCKS * 64];
	feed_part	part;
	feed_part	again;

	make_file();
	part = parts[1];
	filter[FEED_HEADER_BYTES + 9] = 3;
	feed_part_seal(&part, filter + FEED_HEADER_BYTES);
	memcpy(filter, part.header, FEED_HEADER_BYTES);
	ok(feed_part_check(filter, sizeof filter, &again) != NULL, "bits without a type of keys are no filter");
	memset(filter, 0, sizeof filter);
	part = parts[1];
	feed_part_seal(&part, filter + FEED_HEADER_BYTES);
	memcpy(filter, part.header, FEED_HEADER_BYTES);
	ok(feed_part_check(filter, sizeof filter, &again) == NULL && feed_part_fits(&again, &parts[1]) &&
	   !feed_part_fits(&again, &parts[0]), "a sealed part is a filter, of the same geometry");
	feed_part_strip(&again);
	ok(memcmp(again.header, parts[1].header, FEED_HEADER_BYTES) == 0, "stripped it is as before");
}

/* ------------------------------------------------------------------------
 * The golden files
 * ------------------------------------------------------------------------ */

/* What is wrong with a file's page; test/readers has what is told of the others, and parts. */
static void
check_row(const tsv *table)
{
	const char *word = tsv_text(table, "word");
	size_t		length;
	uint8_t    *bytes = tsv_bytes(table, "file_hex", &length);
	feed_who	who;
	const feed_rule *broken = feed_who_read(bytes, length, &who);
	bool		of_parts = strcmp(word, "part") == 0 || strcmp(word, "sum") == 0;

	ok(strcmp(broken != NULL ? broken->word : "-", of_parts ? "-" : word) == 0, "page %s: %s",
	   tsv_text(table, "name"), broken != NULL ? broken->word : "-");
	free(bytes);
}

int
main(void)
{
	tsv_each("pages.tsv", check_row);
	test_who();
	test_groups();
	test_told();
	test_age();
	test_sum();
	test_part();
	return tap_done();
}
