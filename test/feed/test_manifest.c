/*
 * test_manifest.c
 *	  Manifests: the golden files, written and read back, and which patch leads on.
 */
#include <stdlib.h>
#include <string.h>

#include "feed_manifest.h"
#include "feed_values.h"
#include "tap.h"
#include "tsv.h"

static void
check_row(const tsv *table)
{
	const char *name = tsv_text(table, "name");
	const char *want = tsv_text(table, "word");
	size_t		length;
	uint8_t    *bytes = tsv_bytes(table, "manifest_hex", &length);
	feed_manifest manifest;
	unsigned	line;
	const char *problem = feed_manifest_read((char *) bytes, length, &manifest, &line);
	const char *word = problem == NULL ? "-" : strncmp(problem, "must", 4) == 0 ? "must" : "line";

	ok(strcmp(word, want) == 0, "manifest %s: %s", name, problem == NULL ? "-" : problem);
	if (problem == NULL)
	{
		char	   *text = feed_manifest_text(&manifest, 3);
		char	   *again;
		feed_manifest read;

		need(feed_manifest_read(text, strlen(text), &read, &line) == NULL, "a manifest that was written");
		again = feed_manifest_text(&read, 3);
		ok(strcmp(text, again) == 0 && read.sum == manifest.sum && read.patch_count == manifest.patch_count &&
		   read.change_count == manifest.change_count && read.entries == manifest.entries,
		   "%s is written as it was read", name);
		free(text);
		free(again);
		feed_manifest_free(&read);
	}
	feed_manifest_free(&manifest);
	free(bytes);
}

/* Epochs 10 and 30, without and with flips. */
static void
test_lead(void)
{
	feed_file	patches[] = {
		{FEED_SET, 12, 15, 0, {0}}, {FEED_SET, 15, 20, 0, {0}}, {FEED_FLIP, 20, 30, 0, {0}},
		{FEED_SET, 30, 35, 0, {0}}, {FEED_SET, 35, 40, 0, {0}}
	};
	feed_manifest m;

	memset(&m, 0, sizeof m);
	m.epoch = 30;
	m.content = 40;
	m.patches = patches;
	m.patch_count = 5;
	same((long long) feed_manifest_lead(&m, 30, 37), 4, "from the last set that begins before");
	same((long long) feed_manifest_lead(&m, 30, 35), 4, "or with it");
	same((long long) feed_manifest_lead(&m, 30, 30), 3, "from the epoch's first content");
	same((long long) feed_manifest_lead(&m, 30, 40), 5, "nothing leads on from content");
	same((long long) feed_manifest_lead(&m, 10, 12), 0, "from an older epoch");
	same((long long) feed_manifest_lead(&m, 10, 17), 1, "from the middle of one");
	same((long long) feed_manifest_lead(&m, 10, 20), 2, "a flip from exactly where it begins");
	same((long long) feed_manifest_lead(&m, 10, 25), 5, "and from nowhere else");
	same((long long) feed_manifest_lead(&m, 10, 11), 5, "nothing leads on from before all");
	same((long long) feed_manifest_lead(&m, 29, 32), 5, "a set of this epoch is for no other one");
	same((long long) feed_manifest_lead(&m, 30, 17), 5, "nor one of an older epoch for this one");
	m.patch_count = 0;
	same((long long) feed_manifest_lead(&m, 30, 30), 0, "no patches");
}

static void
test_values(void)
{
	char		text[16];
	uint8_t		bytes[8];
	size_t		length;
	size_t		i;
	bool		right = true;

	for (i = 0; i <= 8; i++)
	{
		feed_base64(text, (const uint8_t *) "\xff\xfe\x01\x80zzzz", i);
		right &= check(strlen(text) + 1 == FEED_BASE64_BYTES(i) && feed_from_base64(bytes, i, &length, text) &&
					   length == i && memcmp(bytes, "\xff\xfe\x01\x80zzzz", i) == 0, "%zu bytes", i);
		right &= check(i == 0 || !feed_from_base64(bytes, i - 1, &length, text), "room for %zu", i);
	}
	ok(right, "base64 comes back, and nothing beyond its room");
	ok(feed_is_name("a b") && !feed_is_name(" a") && !feed_is_name("a ") && !feed_is_name(""),
	   "names don't begin or end with a space");
	ok(!feed_is_name("a\xa0z") && !feed_is_name("a\xff"), "nor have bytes that begin no character");
}

int
main(void)
{
	tsv_each("manifests.tsv", check_row);
	test_lead();
	test_values();
	return tap_done();
}
