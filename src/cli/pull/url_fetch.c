/*
 * url_fetch.c
 *	  The files of a list's folder: fetched, and checked by length and digest.
 *
 * What came of a file stays when its transfer is broken off: the next look goes on there.
 */
#include "url.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "feed_values.h"
#include "messages.h"
#include "stop.h"
#include "system.h"

char *
url_address(const url_look *look, const char *name)
{
	const char *url = look->plan->url;
	size_t		length = strcspn(url, "?");
	const char *query = url + length;

	while (length > 0 && url[length - 1] == '/')
		length--;
	return text_of("%.*s/%s%s", (int) length, url, name, query);
}

/* One transfer, to the file's end. */
static fetched
transfer(url_look *look, const feed_file *file, const char *url, http_bytes *bytes)
{
	http_answer answer;

	if (bytes->length >= file->length ||
		http_get(look->client, url, NULL, file->length, 0, bytes, &answer))
		return FETCHED;
	look->retry = answer.retry;
	if (answer.disk)
		look->word = "disk";
	/* it can't go on behind the end */
	if (answer.status == 416)
		bytes->length = 0;
	return answer.status == 404 || answer.status == 403 || answer.status == 410 || answer.too_long ? MISSING : FAILED;
}

/* Once more from the start, if what was continued is not what it should be. */
static fetched
fetch(url_look *look, const feed_file *file, bool patch, http_bytes *bytes,
	  bool (*is_right) (url_look *look, const feed_file *file))
{
	char		name[FEED_FILE_NAME_BYTES];
	char	   *url;
	bool		continued;
	bool		wrong;
	fetched		result;

	feed_file_name(name, file->digest, patch);
	url = url_address(look, name);
	do
	{
		continued = bytes->length > 0;
		result = transfer(look, file, url, bytes);
		wrong = result == FETCHED && (bytes->length != file->length || !is_right(look, file));
		if (wrong)
		{
			bytes->length = 0;
			result = MISSING;
		}
	}
	while (wrong && continued);
	if (result == MISSING && !stop_requested())
		complain("%.*s: is not there, or not what the manifest says", (int) strcspn(url, "?"), url);
	free(url);
	return result;
}

static bool
is_patch(url_look *look, const feed_file *file)
{
	uint8_t		digest[FEED_DIGEST_BYTES];

	crypto_hash_sha256(digest, look->partial.bytes, (size_t) look->partial.length);
	return memcmp(digest, file->digest, sizeof digest) == 0;
}

fetched
url_fetch_patch(url_look *look, const feed_file *file)
{
	if (memcmp(look->partial_digest, file->digest, FEED_DIGEST_BYTES) != 0)
		look->partial.length = 0;
	memcpy(look->partial_digest, file->digest, FEED_DIGEST_BYTES);
	return fetch(look, file, true, &look->partial, is_patch);
}

/* An into of http_bytes. */
static bool
write_whole(void *state, uint64_t at, const void *bytes, size_t length)
{
	const url_look *look = state;

	return write_all(look->place->new_fd, bytes, length, look->place->new_parts[look->building.part].at + at);
}

/* By what is in the file, as that is what counts. */
static bool
is_whole(url_look *look, const feed_file *file)
{
	const place *p = look->place;
	uint8_t		digest[FEED_DIGEST_BYTES];
	void	   *bytes = mmap(NULL, (size_t) file->length, PROT_READ, MAP_SHARED, p->new_fd, (off_t) p->new_parts[look->building.part].at);

	if (bytes == MAP_FAILED)
		return false;
	crypto_hash_sha256(digest, bytes, (size_t) file->length);
	munmap(bytes, (size_t) file->length);
	return memcmp(digest, file->digest, sizeof digest) == 0;
}

fetched
url_fetch_whole(url_look *look, const feed_file *file)
{
	look->building.got.into = write_whole;
	look->building.got.state = look;
	return fetch(look, file, false, &look->building.got, is_whole);
}
