/*
 * url_fetch.c
 *	  The files of a list's folder: fetched, checked by length and digest, and handed over.
 *
 * What came of a file stays when its transfer is broken off: the next look goes on there.
 */
#include "pull.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "feed_values.h"

/* How often a missing patch is waited for: caches keep "not found" for a while. */
#define MOST_MISSES 3

char *
url_address(const url_look *look, const char *name)
{
	const char *url = look->f->plan->url;
	size_t		length = strcspn(url, "?");
	const char *query = url + length;

	while (length > 0 && url[length - 1] == '/')
		length--;
	return text_of("%.*s/%s%s", (int) length, url, name, query);
}

/* One transfer, to the file's end.  ELSEWHERE: the server has no such file, or another one under its name. */
static led
transfer(url_look *look, const feed_file *file, const char *url, http_bytes *bytes)
{
	http_answer answer;

	if (bytes->length >= file->length ||
		http_get(look->client, url, NULL, file->length, 0, bytes, &answer))
		return LED;
	look->f->loop.retry = answer.retry;
	if (answer.disk != 0)
		look->f->reason = "disk";
	/* it can't go on behind the end */
	if (answer.status == 416)
		bytes->length = 0;
	return answer.status == 404 || answer.status == 403 || answer.status == 410 || answer.too_long ? ELSEWHERE : BROKEN;
}

/* Of a whole part by what is in the file, as that is what counts. */
static bool
is_right(const feed_file *file, const http_bytes *bytes)
{
	size_t		length = (size_t) file->length;
	uint8_t		digest[FEED_DIGEST_BYTES];
	void	   *there = bytes->fd < 0 ? bytes->bytes : mmap(NULL, length, PROT_READ, MAP_SHARED, bytes->fd, (off_t) bytes->at);

	if (there == MAP_FAILED)
		return false;
	crypto_hash_sha256(digest, there, length);
	if (bytes->fd >= 0)
		munmap(there, length);
	return memcmp(digest, file->digest, sizeof digest) == 0;
}

/* Once more from the start, if what was continued is not what it should be. */
static led
fetch(url_look *look, const feed_file *file, feed_kind kind, http_bytes *bytes)
{
	char		name[FEED_FILE_NAME_BYTES];
	char	   *url;
	bool		continued;
	bool		wrong;
	led			result;

	feed_file_name(name, file->digest, kind);
	url = url_address(look, name);
	do
	{
		continued = bytes->length > 0;
		result = transfer(look, file, url, bytes);
		wrong = result == LED && (bytes->length != file->length || !is_right(file, bytes));
		if (wrong)
		{
			bytes->length = 0;
			result = ELSEWHERE;
		}
	}
	while (wrong && continued);
	if (result == ELSEWHERE && !stop_requested())
		complain("%.*s: is not there, or not what the manifest says", (int) strcspn(url, "?"), url);
	free(url);
	return result;
}

static led
fetch_patch(url_look *look, const feed_file *file, feed_kind kind)
{
	if (memcmp(look->partial_digest, file->digest, FEED_DIGEST_BYTES) != 0)
		look->partial.length = 0;
	memcpy(look->partial_digest, file->digest, FEED_DIGEST_BYTES);
	return fetch(look, file, kind, &look->partial);
}

/* Whether the set in the manifest itself leads on from here. */
static bool
is_inlined(const feed_manifest *m, const file_content *at, feed_patch *patch)
{
	return m->inlined != NULL && at->who.epoch == m->epoch &&
		feed_patch_read(m->inlined, m->inlined_length, at->parts, at->who.parts, patch) == NULL && patch->kind == FEED_SET &&
		memcmp(patch->identity, m->identity, FEED_IDENTITY_BYTES) == 0 && patch->epoch == at->who.epoch &&
		patch->from <= at->now.content.serial && patch->to == m->content;
}

led
url_patch(follower *f, const file_content *at, feed_patch *patch)
{
	url_look   *look = f->state;
	const feed_manifest *m = &look->manifest;
	size_t		which = feed_manifest_lead(m, at->who.epoch, at->now.content.serial);
	const feed_file *file;
	led			got;

	if (is_inlined(m, at, patch))
		return LED;
	if (which == m->patch_count)
		return ELSEWHERE;
	file = &m->patches[which];
	got = fetch_patch(look, file, FEED_IS_PATCH);
	/* where the whole lacks what the patch has, it is no way round it */
	if (got == ELSEWHERE && file->to <= m->wholes[0].to && (!f->plan->follow || ++f->misses >= MOST_MISSES))
		return ELSEWHERE;
	if (got != LED)
		return BROKEN;
	if (feed_patch_read(look->partial.bytes, (size_t) look->partial.length, at->parts, at->who.parts, patch) == NULL &&
		feed_manifest_names(m, file, patch) && (patch->kind == FEED_FLIP || patch->epoch == at->who.epoch))
		return LED;
	complain("%s: a patch of the server isn't valid here: fetching the full file", f->plan->out);
	return ELSEWHERE;
}

/* Adds those of a file that the manifest names. */
static bool
add_changes(url_look *look, const feed_file *file, const uint8_t *bytes, entry_list *entries)
{
	feed_changes_of of;

	if (feed_changes_read(bytes, (size_t) file->length, &of) != NULL || !feed_manifest_has_changes(&look->manifest, &of))
		return pull_refuse(look->f, "damaged", "a file of changes isn't valid here");
	entries_add_file(entries, bytes, of.count);
	return true;
}

led
url_changes(follower *f, bool all, entry_list *entries)
{
	url_look   *look = f->state;
	const feed_manifest *m = &look->manifest;
	uint64_t	had = !all && f->file.kept.table.id == m->changes_id ? f->file.kept.table.to : 0;
	size_t		i;

	for (i = 0; i < m->change_count; i++)
	{
		const feed_file *file = &m->changes[i];
		/* the last one may be in the manifest itself, which says that it has this length */
		bool		inlined = m->inlined_changes != NULL && i == m->change_count - 1;

		if (file->to <= had)
			continue;
		if (!inlined && fetch_patch(look, file, FEED_IS_CHANGES) != LED)
			return BROKEN;
		if (!add_changes(look, file, inlined ? m->inlined_changes : look->partial.bytes, entries))
			return BROKEN;
	}
	return LED;
}

uint64_t
url_length(const follower *f, uint32_t part)
{
	const url_look *look = f->state;

	return look->manifest.wholes[part].length;
}

led
url_part(follower *f, uint32_t part)
{
	url_look   *look = f->state;
	http_bytes	bytes = {.fd = f->file.made.fd, .at = f->file.made.parts[part].at, .length = f->whole.got};
	led			got = fetch(look, &look->manifest.wholes[part], FEED_IS_WHOLE, &bytes);

	f->whole.got = bytes.length;
	return got;
}
