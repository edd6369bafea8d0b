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

bool
list_fetch(url_host *host, const feed_file *file, const char *ending, bool *missing)
{
	char		name[FEED_FILE_NAME_BYTES];
	uint8_t		digest[FEED_DIGEST_BYTES];
	http_answer answer;
	feed_piece	piece;
	char	   *url;
	int			attempt;

	*missing = false;
	if (memcmp(host->partial_digest, file->digest, FEED_DIGEST_BYTES) != 0)
		host->partial.length = 0;
	memcpy(host->partial_digest, file->digest, FEED_DIGEST_BYTES);
	feed_file_name(name, file, ending);
	url = list_address(host, name);
	/* once more from the start, if what was continued is not what it should be */
	for (attempt = 0; attempt < 2; attempt++)
	{
		bool		continued = host->partial.length > 0;

		if (host->partial.length < file->length &&
			!http_get(host->client, url, NULL, file->length, &host->partial, &answer))
		{
			*missing = answer.status == 404 || answer.status == 403 || answer.status == 410;
			host->retry = answer.retry;
			if (answer.status == 416)
				host->partial.length = 0;
			free(url);
			return false;
		}
		piece.bytes = host->partial.bytes;
		piece.length = host->partial.length;
		feed_digest(digest, &piece, 1);
		if (piece.length == file->length && memcmp(digest, file->digest, sizeof digest) == 0)
		{
			free(url);
			return true;
		}
		host->partial.length = 0;
		if (!continued)
			break;
	}
	complain("%.*s: is not what the manifest says", (int) strcspn(url, "?"), url);
	free(url);
	return false;
}
