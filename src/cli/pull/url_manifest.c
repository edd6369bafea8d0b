/*
 * url_manifest.c
 *	  What a server gave as a list's manifest: whether it is one, of this list, and news.
 */
#include "url.h"

#include <sodium.h>
#include <string.h>

#include "messages.h"
#include "system.h"

/* What may lie between the clocks of host and exporter, microseconds. */
#define CLOCK_GRACE UINT64_C(300000000)
#define DAY UINT64_C(86400000000)

bool
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
	const feed_now *now = &look->f->file.now;
	uint64_t	mark = now->content.mark;

	if (m->serial > time_now() + DAY)
		return pull_refuse(look->f, "clock", "its serial is of the future: this clock or the exporter's is wrong");
	if (!url_check_expiry(look, m->expires))
		return false;
	if (look->f->file.who.parts == 0 || look->f->plan->allow_older)
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

bool
url_read_manifest(url_look *look, const http_bytes *bytes, const http_answer *answer, uint8_t digest[FEED_DIGEST_BYTES])
{
	feed_manifest *m = &look->manifest;
	const char *text = bytes->bytes != NULL ? (const char *) bytes->bytes : "";
	const char *problem;
	unsigned	line;

	memset(m, 0, sizeof *m);
	crypto_hash_sha256(digest, bytes->bytes, (size_t) bytes->length);
	if (look->f->plan->key_count > 0 &&
		!feed_verify(text, (size_t) bytes->length, look->f->plan->keys, look->f->plan->key_count))
		return pull_refuse(look->f, "signature", "it has no right signature of a key that was given by --key");
	problem = feed_manifest_read(text, (size_t) bytes->length, m, &line);
	if (problem == NULL)
		return pull_check_list(look->f, m->name, m->identity,
							   "it is another list of this name: ask who keeps it, and if that is right, say --allow-older once") &&
			check_serial(look, m, digest);
	complain("%s: what the server sent is no manifest (content type \"%s\"): manifest line %u %s", look->f->plan->out,
			 answer->type, line, problem);
	return false;
}
