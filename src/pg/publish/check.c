/*
 * check.c
 *	  Whether a list that was built has all keys of its query.
 *
 * The query is run again, under the same snapshot.  Its keys are looked up in the filters before
 * a byte is written.  Where another engine built them, neither keys nor filters travel for that:
 * it builds them again, and they must be the same to the byte.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "publish/build.h"

#define HINT "The query must return the same keys each time that it runs under one snapshot. Another engine or server may not: publish again."

static void
check_here(const BfpgPublication *list)
{
	Size		hashes;
	const int64 *counts = bfpg_publish_pass(list, BFPG_CHECK, &hashes);

	if (counts[BFPG_PASS_MISSING] > 0 || counts[BFPG_PASS_KEYS] != list->made.keys)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("list \"%s\" was not published: its filter lacks keys of its query", list->name),
				 errdetail("The build read " INT64_FORMAT " keys, the check " INT64_FORMAT ", of which " INT64_FORMAT " are missing.",
						   list->made.keys, counts[BFPG_PASS_KEYS], counts[BFPG_PASS_MISSING]),
				 errhint(HINT)));
}

/* Of filters with equal headers the blocks are equal: a header has their checksum. */
static bool
same_filters(const bf_header *first, const BfpgPublication *list)
{
	int32		part;

	for (part = 0; part < list->made.count; part++)
	{
		const bf_header *second = &list->made.shapes[part].level[0];

		if (!bf_compatible(&first[part], second) || first[part].key_type != second->key_type ||
			first[part].bits_set != second->bits_set || first[part].checksum != second->checksum)
			return false;
	}
	return true;
}

static void
check_apart(BfpgPublication *list)
{
	bf_header  *first = palloc(list->made.count * sizeof(bf_header));
	int64		keys = list->made.keys;
	int32		part;

	for (part = 0; part < list->made.count; part++)
		first[part] = list->made.shapes[part].level[0];
	bfpg_publish_build_once(list);
	if (keys != list->made.keys || !same_filters(first, list))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("list \"%s\" was not published: its query gave two builds different keys", list->name),
				 errdetail("The first read " INT64_FORMAT " keys, the second " INT64_FORMAT ".", keys, list->made.keys),
				 errhint(HINT)));
	pfree(first);
}

void
bfpg_publish_check(BfpgPublication *list)
{
	TimestampTz start = GetCurrentTimestamp();

	bfpg_progress_begin(list, "checking");
	if (list->made.build->here)
		check_here(list);
	else
		check_apart(list);
	list->made.check_seconds = bfpg_seconds_since(start);
}
