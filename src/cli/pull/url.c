/*
 * url.c
 *	  A look at a list's folder on a web server.
 */
#include "url.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/libbloomfilter.h"
#include "messages.h"
#include "system.h"

/* An unconditional look so often: an ETag may stand for two manifests. */
#define FULL_LOOK_SECONDS 60.0

/* For a manifest, from the first byte asked to the last one read. */
#define MANIFEST_SECONDS 30L

/* All of FILE is read again so often. */
#define CHECK_SECONDS 86400.0

/* An answer's date is of the time at which a cache took it, which says how old that is. */
static void
compare_clocks(url_look *look, const http_answer *answer)
{
	int64_t		server = answer->date + answer->age;
	int64_t		ahead = answer->date == 0 ? 0 : (int64_t) (time_now() / 1000000) - server;

	look->clock = ahead > CLOCKS_DIFFER || ahead < -CLOCKS_DIFFER ? ahead : 0;
	look->true_by = answer->date == 0 ? 0 : (uint64_t) server * 1000000;
}

/* When the newest serial came, by a clock that nobody sets. */
static void
note_serial(url_look *look, const feed_manifest *m)
{
	double		age = (double) time_now() / 1e6 - (double) m->serial / 1e6;

	look->heartbeat = m->heartbeat * 1000000;
	if (m->serial <= look->serial)
		return;
	/* of the first one its own time is all that is known */
	look->grown = monotonic_seconds() - (look->serial == 0 ? fmax(0, age - CLOCKS_DIFFER) : 0);
	look->serial = m->serial;
}

/* What the server gave is checked and taken. */
static bool
take_manifest(url_look *look, const http_bytes *bytes, const http_answer *answer)
{
	uint8_t		digest[FEED_DIGEST_BYTES];
	feed_manifest m;
	bool		taken = url_read_manifest(look, bytes, answer, &m, digest);

	if (taken)
		note_serial(look, &m);
	if (taken && !look->no_news)
	{
		taken = url_take(look, &m, digest);
		look->poll = m.poll;
		look->expires = m.expires;
		look->content = m.content;
		look->sum = m.sum;
	}
	if (taken && answer->age > (int64_t) (2 * m.poll + 60))
		complain("%s: a cache holds the manifest back by %" PRId64 " s", look->plan->out, answer->age);
	feed_manifest_free(&m);
	return taken;
}

/*
 * Once a day, at no certain hour, and after the first look: FILE against its own sum, and that
 * against the manifest's.
 */
static bool
check_content(url_look *look)
{
	place	   *p = look->place;
	uint64_t	sum;

	if (p->state != PLACE_MINE || p->lost || p->changes % 2 != 0 || monotonic_seconds() < p->check_due)
		return true;
	p->check_due = monotonic_seconds() + CHECK_SECONDS * (0.5 + random_share());
	if (!parts_sum(p->fd, p->parts, p->who.parts, &sum) || sum != p->now.content.sum)
	{
		place_lose(p, "damaged", "its bits are not those that were set");
		return false;
	}
	if (look->content != p->now.content.serial || look->sum == sum)
		return true;
	look->differs = true;
	look->tag[0] = '\0';
	complain("%s: its bits are not those of the list on the server", look->plan->out);
	return true;
}

static bool
ask(url_look *look, http_answer *answer)
{
	char	   *url = url_address(look, FEED_MANIFEST);
	bool		full = look->tag[0] == '\0' || look->place->state != PLACE_MINE || look->place->lost ||
		look->place->how.failures > 0 || monotonic_seconds() - look->full_look >= FULL_LOOK_SECONDS;
	http_bytes	bytes;
	bool		well;

	memset(&bytes, 0, sizeof bytes);
	well = http_get(look->client, url, full ? NULL : look->tag, FEED_MANIFEST_BYTES, MANIFEST_SECONDS, &bytes, answer);
	if (!well)
		look->word = "no-look";
	else
		compare_clocks(look, answer);
	if (well && answer->status != 304)
	{
		look->full_look = monotonic_seconds();
		look->tag[0] = '\0';
		well = take_manifest(look, &bytes, answer);
		if (well && !look->no_news && !look->differs)
			snprintf(look->tag, sizeof look->tag, "%s", answer->tag);
	}
	else if (well)
		well = url_check_expiry(look, look->expires);
	free(bytes.bytes);
	free(url);
	return well;
}

bool
url_once(url_look *look)
{
	const place *p = look->place;
	http_answer answer;
	char	   *agent;
	bool		well;

	memset(&answer, 0, sizeof answer);
	look->word = look->way = look->place->word = "";
	look->retry = 0;
	look->waiting = look->no_news = false;
	/* the web server's log is so the list of hosts, with what each has, and which don't read format 2 yet */
	agent = text_of("bloomfilter-pull/%s (%s %" PRIu64 "; formats " FEED_FORMATS ")", bloomfilter_version(), p->who.name,
					p->now.content.serial);
	well = http_use(look->client, &look->plan->http, agent) && ask(look, &answer) && check_content(look);
	free(agent);
	if (!well && look->retry == 0)
		look->retry = answer.retry;
	if (!well && look->word[0] == '\0')
		look->word = look->waiting ? "waiting" : p->word[0] != '\0' ? p->word : "no-look";
	return well || look->waiting;
}

/* What is wrong though the server was looked at. */
static const char *
find_trouble(const url_look *look, char *text, size_t size)
{
	double		silent = monotonic_seconds() - look->grown;

	text[0] = '\0';
	if (look->waiting)
	{
		snprintf(text, size, "for its turn to fetch the full file");
		return "waiting";
	}
	if (look->clock != 0)
	{
		snprintf(text, size, "this host's clock is %" PRId64 " s %s the web server's: one of them is wrong",
				 look->clock > 0 ? look->clock : -look->clock, look->clock > 0 ? "ahead of" : "behind");
		return "clock";
	}
	if (look->heartbeat > 0 && silent > FEED_MISSED_HEARTBEATS * (double) look->heartbeat / 1e6)
	{
		snprintf(text, size, "the exporter has not renewed the list for %.0f s: it is dead, or a cache holds it back", silent);
		return "old";
	}
	if (look->differs)
	{
		snprintf(text, size, "its bits are not those of the list on the server");
		return "damaged";
	}
	return "";
}

void
url_note(url_look *look, bool well)
{
	place	   *p = look->place;
	char		text[FEED_TEXT_BYTES];
	const char *word;

	p->how.every = look->plan->follow ? (uint64_t) (fmax(look->plan->every, (double) look->poll) * 1e6) : 0;
	p->how.heartbeat = look->heartbeat;
	p->how.expires = look->expires;
	if (!well)
	{
		place_note(p, false, look->word, last_complaint());
		return;
	}
	/* how fresh it is stays what it was */
	if (look->no_news)
		return;
	word = find_trouble(look, text, sizeof text);
	place_note(p, !look->waiting, word, text);
}
