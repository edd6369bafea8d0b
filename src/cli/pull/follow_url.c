/*
 * follow_url.c
 *	  Following a list's folder on a web server.
 */
#include "pull.h"

#include <inttypes.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/libbloomfilter.h"

/* An unconditional look so often: an ETag may stand for two manifests. */
#define FULL_LOOK_SECONDS 60.0

/* For a manifest, from the first byte asked to the last one read. */
#define MANIFEST_SECONDS 30L

/* What may lie between the clocks of host and exporter, microseconds. */
#define CLOCK_GRACE UINT64_C(300000000)
#define DAY UINT64_C(86400000000)

/* ------------------------------------------------------------------------
 * The manifest
 * ------------------------------------------------------------------------ */

static bool
url_check_expiry(url_look *look, uint64_t expires)
{
	uint64_t	now = time_now();

	/* what has expired by this host's clock or the server's has expired, and no answer makes it later */
	if (look->true_by > now)
		now = look->true_by < now + DAY ? look->true_by : now + DAY;
	return expires == 0 || expires + CLOCK_GRACE >= now ||
		pull_refuse(look->f, "old", "it has expired: the exporter is dead, or somebody holds an old manifest back");
}

static bool
check_serial(url_look *look, const feed_manifest *m, const uint8_t digest[FEED_DIGEST_BYTES])
{
	const feed_now *now = &look->f->file.kept.now;
	uint64_t	mark = now->content.mark;

	if (m->serial > time_now() + DAY)
		return pull_refuse(look->f, "clock", "its serial is of the future: this clock or the exporter's is wrong");
	if (!url_check_expiry(look, m->expires))
		return false;
	if (look->f->file.kept.who.parts == 0 || look->f->plan->allow_older)
		return true;
	look->f->no_news = m->serial < mark && mark - m->serial < FEED_MISSED_HEARTBEATS * m->heartbeat * UINT64_C(1000000);
	if (look->f->no_news)
		return true;
	if (m->serial < mark || m->content < now->content.serial)
		return pull_refuse(look->f, "back", "it is older than what was here: ask who keeps it, and if that is right, say --allow-older once");
	if (m->serial == mark && !sodium_is_zero(now->content.digest, FEED_DIGEST_BYTES) &&
		memcmp(digest, now->content.digest, FEED_DIGEST_BYTES) != 0)
		return pull_refuse(look->f, "back", "there are two different ones of one serial: do two exporters write to it?");
	return true;
}

/* Reads and checks what the server gave as its manifest; to be freed also on failure. */
static bool
url_read_manifest(url_look *look, const http_bytes *bytes, const http_answer *answer, feed_manifest *m,
				  uint8_t digest[FEED_DIGEST_BYTES])
{
	const char *text = bytes->bytes != NULL ? (const char *) bytes->bytes : "";
	const char *problem;
	unsigned	line;

	crypto_hash_sha256(digest, bytes->bytes, (size_t) bytes->length);
	if (look->f->plan->key_count > 0 &&
		!feed_verify(text, (size_t) bytes->length, look->f->plan->keys, look->f->plan->key_count))
		return pull_refuse(look->f, "signature", "it has no right signature of a key that was given by --key");
	problem = feed_manifest_read(text, (size_t) bytes->length, m, &line);
	if (problem == NULL)
		return pull_check_list(look->f, m->name, m->identity,
							   "it is another list of this name: ask who keeps it, and if that is right, say --allow-older once") &&
			check_serial(look, m, digest);
	return complain("%s: what the server sent is no manifest (content type \"%s\"): manifest line %u %s", look->f->plan->out,
					answer->type, line, problem);
}

/* ------------------------------------------------------------------------
 * A look
 * ------------------------------------------------------------------------ */

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

	if (m->serial <= look->serial)
		return;
	/* of the first one its own time is all that is known */
	look->grown = monotonic_seconds() - (look->serial == 0 ? fmax(0, age - CLOCKS_DIFFER) : 0);
	look->serial = m->serial;
}

static offer
offer_of(const feed_manifest *m, const uint8_t digest[FEED_DIGEST_BYTES])
{
	offer		o = {.patch = url_patch, .changes = url_changes, .length = url_length, .part = url_part};

	memcpy(o.who.name, m->name, sizeof o.who.name);
	memcpy(o.who.identity, m->identity, FEED_IDENTITY_BYTES);
	o.who.epoch = m->epoch;
	o.now.content.serial = m->content;
	o.now.content.sum = m->sum;
	o.now.content.mark = m->serial;
	memcpy(o.now.content.digest, digest, FEED_DIGEST_BYTES);
	o.now.true_at = m->true_at;
	o.count = (uint32_t) m->parts;
	o.whole = m->wholes[0].to;
	o.spread = m->spread;
	o.who.tracked = m->tracked;
	o.changes_id = m->changes_id;
	o.changes_to = m->change_count == 0 ? 0 : m->changes[m->change_count - 1].to;
	o.changes_sum = m->changes_sum;
	o.changes_summed = m->changes_sum != 0 || m->entries == 0;
	return o;
}

/* What the server gave is checked and used. */
static bool
use_manifest(url_look *look, const http_bytes *bytes, const http_answer *answer)
{
	feed_manifest m = {0};
	uint8_t		digest[FEED_DIGEST_BYTES];
	bool		right = url_read_manifest(look, bytes, answer, &m, digest);
	offer		o;

	if (right)
		note_serial(look, &m);
	if (right && answer->age > (int64_t) (2 * m.poll + 60))
		complain("%s: a cache holds the manifest back by %" PRId64 " s", look->f->plan->out, answer->age);
	if (!right || look->f->no_news)
	{
		feed_manifest_free(&m);
		return right;
	}
	feed_manifest_free(&look->manifest);
	look->manifest = m;
	o = offer_of(&look->manifest, digest);
	return content_update(look->f, &o);
}

/* After the first look, and then once a day: FILE against its own sum, and that against the manifest's. */
static bool
check_content(url_look *look)
{
	list_file  *file = &look->f->file;
	double		due = file->check_due;

	if (!file_check_sum(file))
		return false;
	if (file->check_due == due || look->manifest.content != file->kept.now.content.serial || look->manifest.sum == file->kept.now.content.sum)
		return true;
	look->f->differs = true;
	look->tag[0] = '\0';
	complain("%s: its bits are not those of the list on the server", look->f->plan->out);
	return true;
}

static bool
ask(url_look *look, http_answer *answer)
{
	char	   *url = url_address(look, FEED_MANIFEST);
	bool		full = look->tag[0] == '\0' || look->f->file.state != FILE_MINE || look->f->file.lost ||
		look->f->file.how.failures > 0 || monotonic_seconds() - look->full_look >= FULL_LOOK_SECONDS;
	http_bytes	bytes = {.fd = -1};
	bool		well;

	well = http_get(look->client, url, full ? NULL : look->tag, FEED_MANIFEST_BYTES, MANIFEST_SECONDS, &bytes, answer);
	if (!well)
		look->f->reason = "no-look";
	else
		compare_clocks(look, answer);
	if (well && answer->status != 304)
	{
		look->full_look = monotonic_seconds();
		look->tag[0] = '\0';
		well = use_manifest(look, &bytes, answer);
		if (well && !look->f->no_news && !look->f->differs)
			snprintf(look->tag, sizeof look->tag, "%s", answer->tag);
	}
	else if (well)
		well = url_check_expiry(look, look->manifest.expires);
	free(bytes.bytes);
	free(url);
	return well;
}

/* What is wrong though the server was looked at. */
static void
find_trouble(const url_look *look)
{
	follower   *f = look->f;
	double		silent = monotonic_seconds() - look->grown;
	double		most = FEED_MISSED_HEARTBEATS * (double) look->manifest.heartbeat;
	size_t		size = sizeof f->message;

	f->reason = "";
	if (f->waiting)
	{
		f->reason = "waiting";
		snprintf(f->message, size, "for its turn to fetch the full file");
	}
	else if (look->clock != 0)
	{
		f->reason = "clock";
		snprintf(f->message, size, "this host's clock is %" PRId64 " s %s the web server's: one of them is wrong",
				 look->clock > 0 ? look->clock : -look->clock, look->clock > 0 ? "ahead of" : "behind");
	}
	else if (most > 0 && silent > most)
	{
		f->reason = "old";
		snprintf(f->message, size, "the exporter has not renewed the list for %.0f s: it is dead, or a cache holds it back", silent);
	}
	else if (f->differs)
	{
		f->reason = "damaged";
		snprintf(f->message, size, "its bits are not those of the list on the server");
	}
}

static bool
look_at_url(follower *f)
{
	url_look   *look = f->state;
	const feed_manifest *m = &look->manifest;
	list_file  *file = &f->file;
	uint64_t	poll = look->manifest.poll;
	http_answer answer = {0};
	char	   *agent;
	bool		well;

	/* the web server's log is so the list of hosts, with what each has, and which don't read format 2 yet */
	agent = text_of("bloomfilter-pull/%s (%s %" PRIu64 "; formats " FEED_FORMATS ")", bloomfilter_version(), file->kept.who.name,
					file->kept.now.content.serial);
	well = http_use(look->client, &f->plan->http, agent) && ask(look, &answer) && check_content(look);
	free(agent);
	if (!well && f->loop.retry == 0)
		f->loop.retry = answer.retry;
	/* --every may have been given for nothing */
	if (f->plan->follow && !f->plan->quiet && m->poll != poll && (double) m->poll > f->plan->every)
		announce("%s: looks each %llu s, as the exporter's --poll says", f->plan->out, (unsigned long long) m->poll);
	/* keys that go must go soon */
	f->loop.period = fmax(m->tracked && !f->plan->every_said ? 1 : f->plan->every, (double) m->poll);
	file->how.heartbeat = m->heartbeat * 1000000;
	file->how.expires = m->expires;
	if (well || f->waiting)
		find_trouble(look);
	return well || f->waiting;
}

exit_status
follow_url(follower *f)
{
	url_look	look = {.f = f, .client = http_begin(), .partial.fd = -1};
	exit_status status = STATUS_TROUBLE;

	f->look = look_at_url;
	f->state = &look;
	/* hosts that begin at the same moment don't look at the same moment */
	if (f->plan->follow && f->file.state != FILE_EMPTY && !f->file.lost)
		f->loop.due = random_share() * fmin(f->plan->every, 60);
	/* what is wrong from the start is not waited for */
	if (http_use(look.client, &f->plan->http, NULL))
		status = follow(f);
	feed_manifest_free(&look.manifest);
	free(look.partial.bytes);
	http_end(look.client);
	return status;
}
