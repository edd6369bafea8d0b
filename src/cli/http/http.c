/*
 * http.c
 *	  Fetching by HTTP, by libcurl.
 *
 * Nothing is decoded on the way: lengths mean what they say, and there are no bombs.
 * There is no limit of time for a transfer that goes on, only for one that has stopped.
 */
#include "http.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "looks.h"
#include "system.h"

#define HEADER_FILE_BYTES ((size_t) 64 * 1024)
#define CONNECT_SECONDS 10L
#define SLOW_BYTES 1000L		/* a second, for SLOW_SECONDS, is no transfer */
#define SLOW_SECONDS 30L
#define MOST_REDIRECTS 3L

/* A date that is further from this host's clock is none, and so is a longer age: years, seconds. */
#define MOST_DATE (INT64_C(10) * 366 * 86400)
#define MOST_AGE INT64_C(100000000)

struct http_client
{
	CURL	   *curl;
	struct curl_slist *headers;
	char		problem[CURL_ERROR_SIZE];
};

/* One answer as it comes. */
typedef struct incoming
{
	http_client *client;
	http_answer *answer;
	http_bytes *bytes;
	uint64_t	most;
	uint64_t	begun;			/* bytes that were there before */
	bool		wrong_range;
	bool		checked;
} incoming;

/* To the end of what has come: into the file, or into memory. */
static bool
keep(incoming *in, const char *bytes, size_t length)
{
	http_bytes *to = in->bytes;

	if (to->fd >= 0 && !write_all(to->fd, bytes, length, to->at + to->length))
	{
		in->answer->disk = errno;
		return false;
	}
	if (to->fd < 0)
	{
		if (to->length + length + 1 > to->room)
		{
			to->room = 2 * to->room + length + 4096;
			to->bytes = allocate(to->bytes, to->room, 1);
		}
		memcpy(to->bytes + to->length, bytes, length);
	}
	to->length += length;
	return true;
}

/* What the last answer says, "" for nothing. */
static const char *
header(const http_client *client, const char *name)
{
	struct curl_header *found;

	return curl_easy_header(client->curl, name, 0, CURLH_HEADER, -1, &found) == CURLHE_OK ? found->value : "";
}

static size_t
take_bytes(char *bytes, size_t size, size_t count, void *state)
{
	incoming   *in = state;
	size_t		length = size * count;
	long		status = 0;
	uint64_t	start;

	if (!in->checked)
	{
		curl_easy_getinfo(in->client->curl, CURLINFO_RESPONSE_CODE, &status);
		/* a server without ranges sends all of it */
		if (status == 200)
			in->bytes->length = 0;
		in->wrong_range = status == 206 &&
			(sscanf(header(in->client, "Content-Range"), "bytes %" SCNu64 "-", &start) != 1 || start != in->begun);
		in->checked = true;
		/* what an error says is of no interest */
		if (status != 200 && status != 206)
			in->most = 0;
	}
	if (in->wrong_range)
		return 0;
	if (in->most == 0)
		return length;
	if (length > in->most - in->bytes->length)
	{
		in->answer->too_long = true;
		return 0;
	}
	return keep(in, bytes, length) ? length : 0;
}

/* Ends a transfer when a signal came, or its time is over. */
static int
look_for_end(UNUSED void *state, UNUSED curl_off_t total, UNUSED curl_off_t now, UNUSED curl_off_t up_total, UNUSED curl_off_t up_now)
{
	return stop_requested();
}

/* Headers of a file: secrets, which don't belong into arguments that all users see. */
static bool
read_headers(http_client *client, const char *path)
{
	char	   *text;
	char	   *line;
	size_t		length;

	curl_slist_free_all(client->headers);
	client->headers = curl_slist_append(NULL, "Cache-Control: max-age=0");
	client->headers = curl_slist_append(client->headers, "Accept-Encoding: identity");
	if (path == NULL)
		return true;
	text = (char *) read_file(AT_FDCWD, path, HEADER_FILE_BYTES, &length);
	if (text == NULL)
		return complain("cannot read \"%s\": %s", path, strerror(errno));
	for (line = strtok(text, "\r\n"); line != NULL; line = strtok(NULL, "\r\n"))
		client->headers = curl_slist_append(client->headers, line);
	free(text);
	return true;
}

/* Whom to trust: as the program curl does, from the environment; else as the system does. */
static void
trust(CURL *curl)
{
	const char *file = getenv("SSL_CERT_FILE");
	const char *folder = getenv("SSL_CERT_DIR");

	if (file != NULL && file[0] != '\0')
		curl_easy_setopt(curl, CURLOPT_CAINFO, file);
	if (folder != NULL && folder[0] != '\0')
		curl_easy_setopt(curl, CURLOPT_CAPATH, folder);
}

http_client *
http_begin(void)
{
	http_client *client = zeros(1, sizeof *client);

	if (curl_global_init(CURL_GLOBAL_DEFAULT) != 0)
		fail("libcurl can't be used on this system");
	client->curl = curl_easy_init();
	if (client->curl == NULL)
		fail("out of memory");
	curl_easy_setopt(client->curl, CURLOPT_ERRORBUFFER, client->problem);
	curl_easy_setopt(client->curl, CURLOPT_MAXREDIRS, MOST_REDIRECTS);
	curl_easy_setopt(client->curl, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
	curl_easy_setopt(client->curl, CURLOPT_LOW_SPEED_LIMIT, SLOW_BYTES);
	curl_easy_setopt(client->curl, CURLOPT_LOW_SPEED_TIME, SLOW_SECONDS);
	curl_easy_setopt(client->curl, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(client->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(client->curl, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(client->curl, CURLOPT_XFERINFOFUNCTION, look_for_end);
	trust(client->curl);
	curl_easy_setopt(client->curl, CURLOPT_WRITEFUNCTION, take_bytes);
	return client;
}

bool
http_use(http_client *client, const http_plan *plan, const char *agent)
{
	const char *protocols = plan->plain ? "http,https" : "https";

	curl_easy_setopt(client->curl, CURLOPT_USERAGENT, agent);
	curl_easy_setopt(client->curl, CURLOPT_PROTOCOLS_STR, protocols);
	curl_easy_setopt(client->curl, CURLOPT_REDIR_PROTOCOLS_STR, protocols);
	/* headers that are secrets would go to wherever a redirection leads */
	curl_easy_setopt(client->curl, CURLOPT_FOLLOWLOCATION, plan->header_file == NULL ? 1L : 0L);
	return read_headers(client, plan->header_file);
}

void
http_end(http_client *client)
{
	curl_slist_free_all(client->headers);
	curl_easy_cleanup(client->curl);
	curl_global_cleanup();
	free(client);
}

/* Why a transfer didn't go well; the query of an address may be a secret. */
static void
explain(const char *url, CURLcode code, const incoming *in)
{
	int			length = (int) strcspn(url, "?");

	if (stop_requested())
		return;
	if (in->answer->disk != 0)
		complain("%.*s: cannot write what comes: %s", length, url, strerror(in->answer->disk));
	else if (in->answer->too_long)
		complain("%.*s: is longer than it may be", length, url);
	/* a server that speaks no HTTP has this code, too */
	else if (code == CURLE_UNSUPPORTED_PROTOCOL && in->answer->status / 100 == 3)
		complain("%.*s: the server leads to an address that isn't https:, which is not followed", length, url);
	else if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE)
		complain("%.*s: its certificate is not trusted: %s; SSL_CERT_FILE names another file of certificates", length, url,
				 in->client->problem);
	else if (in->wrong_range)
		complain("%.*s: the server sent another range than was asked for", length, url);
	else if (code != CURLE_OK)
		complain("%.*s: %s", length, url,
				 in->client->problem[0] != '\0' ? in->client->problem : curl_easy_strerror(code));
	else
		complain("%.*s: the server answered %ld", length, url, in->answer->status);
}

/* What the server told besides; what nobody signed can't be believed where it is absurd. */
static void
note_answer(const http_client *client, http_answer *answer)
{
	const char *tag = header(client, "ETag");
	int64_t		off;

	curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &answer->status);
	snprintf(answer->tag, sizeof answer->tag, "%s", strlen(tag) < sizeof answer->tag ? tag : "");
	snprintf(answer->type, sizeof answer->type, "%.63s", header(client, "Content-Type"));
	answer->age = strtoll(header(client, "Age"), NULL, 10);
	answer->date = (int64_t) curl_getdate(header(client, "Date"), NULL);
	off = answer->date - (int64_t) time(NULL);
	if (answer->date <= 0 || off > MOST_DATE || off < -MOST_DATE)
		answer->date = 0;
	if (answer->age < 0 || answer->age > MOST_AGE)
		answer->age = 0;
}

bool
http_get(http_client *client, const char *url, const char *tag, uint64_t most, long seconds,
		 http_bytes *bytes, http_answer *answer)
{
	incoming	in = {client, answer, bytes, most, bytes->length, false, false};
	struct curl_slist *headers = client->headers;
	struct curl_slist *last = headers;
	struct curl_slist *condition = NULL;
	char		range[32];
	curl_off_t	retry = 0;
	CURLcode	code;

	memset(answer, 0, sizeof *answer);
	while (last->next != NULL)
		last = last->next;
	if (tag != NULL)
	{
		char	   *line = text_of("If-None-Match: %s", tag);

		condition = curl_slist_append(NULL, line);
		free(line);
		last->next = condition;
	}
	snprintf(range, sizeof range, "%" PRIu64 "-", bytes->length);
	client->problem[0] = '\0';
	curl_easy_setopt(client->curl, CURLOPT_TIMEOUT, seconds);
	curl_easy_setopt(client->curl, CURLOPT_URL, url);
	curl_easy_setopt(client->curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(client->curl, CURLOPT_RANGE, bytes->length > 0 ? range : NULL);
	curl_easy_setopt(client->curl, CURLOPT_WRITEDATA, &in);
	code = curl_easy_perform(client->curl);
	last->next = NULL;
	curl_slist_free_all(condition);
	note_answer(client, answer);
	curl_easy_getinfo(client->curl, CURLINFO_RETRY_AFTER, &retry);
	answer->retry = (int64_t) retry;
	/* "unchanged" where nothing was named that it could be is no answer */
	if (code == CURLE_OK && (answer->status == 200 || answer->status == 206 || (answer->status == 304 && tag != NULL)))
		return true;
	/* going on from these bytes would fail each time */
	if (in.wrong_range || answer->too_long)
		bytes->length = 0;
	explain(url, code, &in);
	return false;
}
