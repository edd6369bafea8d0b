/*
 * pull_files.c
 *	  The files of a list's folder: fetched, and checked by length and digest.
 */
#include "pull_list.h"

#include <stdlib.h>
#include <string.h>

#include "messages.h"

char *
list_address(const url_host *host, const char *name)
{
	const char *url = host->plan->url;
	size_t		length = strcspn(url, "?");
	const char *query = url + length;

	while (length > 0 && url[length - 1] == '/')
		length--;
	return text_of("%.*s/%s%s", (int) length, url, name, query);
}

/* What a look before this one has fetched. */
static const uint8_t *
find_kept(url_host *host, const feed_file *file)
{
	size_t		i;

	for (i = 0; i < host->kept_count; i++)
		if (memcmp(host->kept[i].digest, file->digest, FEED_DIGEST_BYTES) == 0)
		{
			host->kept[i].used = true;
			return host->kept[i].bytes;
		}
	return NULL;
}

/* The partial file is complete. */
static const uint8_t *
keep(url_host *host)
{
	kept_file  *new;

	host->kept = allocate(host->kept, host->kept_count + 1, sizeof *host->kept);
	new = &host->kept[host->kept_count++];
	memcpy(new->digest, host->partial_digest, FEED_DIGEST_BYTES);
	new->bytes = host->partial.bytes;
	new->length = host->partial.length;
	new->used = true;
	memset(&host->partial, 0, sizeof host->partial);
	return new->bytes;
}

/* Whether the partial file is the whole file. */
static bool
is_complete(const url_host *host, const feed_file *file)
{
	uint8_t		digest[FEED_DIGEST_BYTES];
	feed_piece	piece = {host->partial.bytes, host->partial.length};

	if (piece.length != file->length)
		return false;
	feed_digest(digest, &piece, 1);
	return memcmp(digest, file->digest, sizeof digest) == 0;
}

/* In host->partial, which stays when the transfer is broken off. */
static bool
fetch_partial(url_host *host, const feed_file *file, const char *url, bool *missing)
{
	http_answer answer;

	if (host->partial.length >= file->length ||
		http_get(host->client, url, NULL, file->length, &host->partial, &answer))
		return true;
	*missing = answer.status == 404 || answer.status == 403 || answer.status == 410 || answer.too_long;
	host->retry = answer.retry;
	host->broken_off = true;
	if (answer.status == 416)
		host->partial.length = 0;
	return false;
}

const uint8_t *
list_fetch(url_host *host, const feed_file *file, const char *ending, bool *missing)
{
	char		name[FEED_FILE_NAME_BYTES];
	const uint8_t *bytes = find_kept(host, file);
	bool		continued;
	char	   *url;

	*missing = false;
	if (bytes != NULL)
		return bytes;
	if (memcmp(host->partial_digest, file->digest, FEED_DIGEST_BYTES) != 0)
		host->partial.length = 0;
	memcpy(host->partial_digest, file->digest, FEED_DIGEST_BYTES);
	feed_file_name(name, file, ending);
	url = list_address(host, name);
	/* once more from the start, if what was continued is not what it should be */
	do
	{
		continued = host->partial.length > 0;
		if (!fetch_partial(host, file, url, missing))
			break;
		if (is_complete(host, file))
		{
			free(url);
			return keep(host);
		}
		host->partial.length = 0;
		if (!continued)
		{
			*missing = true;
			complain("%.*s: is not what the manifest says", (int) strcspn(url, "?"), url);
		}
	}
	while (continued);
	free(url);
	return NULL;
}

void
list_let_go(url_host *host, bool keep_used)
{
	size_t		count = 0;
	size_t		i;

	for (i = 0; i < host->kept_count; i++)
		if (keep_used && host->kept[i].used)
		{
			host->kept[count] = host->kept[i];
			host->kept[count++].used = false;
		}
		else
			free(host->kept[i].bytes);
	host->kept_count = count;
	if (count > 0)
		return;
	free(host->kept);
	host->kept = NULL;
}
