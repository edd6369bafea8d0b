/*
 * pull_list.c
 *	  A look at a list's folder: the manifest, and what of its content isn't here yet.
 *
 * Nothing is used before all of it was checked: the signature first, then the manifest,
 * then that it doesn't lead back, then each file by length and digest, then its content.
 */
#include "pull_list.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bf_limits.h"
#include "messages.h"

/* An unconditional look so often: an ETag may stand for two manifests. */
#define FULL_LOOK_SECONDS 60.0

/* How often a missing step is waited for: caches keep "not found" for a while. */
#define MOST_MISSES 3

/* Seconds over which hosts fetch whole files instead, if the manifest doesn't say it; at most. */
#define MISSED_SPREAD 300
#define LONGEST_SPREAD 3600

/* What may lie between the clocks of host and exporter, microseconds. */
#define CLOCK_GRACE UINT64_C(300000000)
#define DAY UINT64_C(86400000000)

static bool
refuse(url_host *host, const char *word, const char *text)
{
	host->refused = word;
	complain("%s: refused: %s", host->plan->out, text);
	return false;
}

/* ------------------------------------------------------------------------
 * The manifest
 * ------------------------------------------------------------------------ */

static bool
check_identity(url_host *host, const feed_manifest *m)
{
	const url_mark *mark = &host->mark;
	const char *name = host->plan->name != NULL ? host->plan->name : mark->known ? mark->name : m->name;
	char	   *text;

	if (strcmp(name, m->name) != 0)
	{
		text = text_of("it is the list \"%s\", not \"%s\"", m->name, name);
		refuse(host, "list", text);
		free(text);
		return false;
	}
	/* the same key and name are the same list, whatever the folder was lost to */
	if (mark->known && host->plan->key_count == 0 && memcmp(mark->identity, m->identity, FEED_IDENTITY_BYTES) != 0 &&
		!host->plan->allow_older)
		return refuse(host, "identity", "it is another list of this name; if that is right, say --allow-older once");
	return true;
}

/* The clock that is ahead counts: what has expired by one of them has expired. */
static bool
has_expired(const url_host *host, uint64_t expires)
{
	uint64_t	now = feed_now();

	if (host->clock < 0)
		now += (uint64_t) -host->clock * 1000000;
	return expires != 0 && expires + CLOCK_GRACE < now;
}

static bool
check_expiry(url_host *host, uint64_t expires)
{
	return !has_expired(host, expires) ||
		refuse(host, "expired", "it has expired: the exporter is dead, or somebody holds an old manifest back");
}

/* An answer's date is of the time at which a cache took it, which says how old that is. */
static void
compare_clocks(url_host *host, const http_answer *answer)
{
	int64_t		ahead = answer->date == 0 ? 0 : (int64_t) (feed_now() / 1000000) - answer->date - answer->age;

	host->clock = ahead > CLOCKS_DIFFER || ahead < -CLOCKS_DIFFER ? ahead : 0;
}

static bool
check_serial(url_host *host, const feed_manifest *m, const uint8_t digest[FEED_DIGEST_BYTES])
{
	const url_mark *mark = &host->mark;
	uint64_t	now = feed_now();

	if (m->serial > now + DAY)
		return refuse(host, "clock", "its serial is of the future: this clock or the exporter's is wrong");
	if (!check_expiry(host, m->expires))
		return false;
	if (!mark->known || host->plan->allow_older)
		return true;
	if (m->serial < mark->serial || m->content < host->serial)
		return refuse(host, "back", "it is older than what was here; if that is right, say --allow-older once");
	/* after a kill the working copy can be later than the mark, whose digest is not known then */
	if (m->serial == mark->serial && !sodium_is_zero(mark->digest, FEED_DIGEST_BYTES) && memcmp(digest, mark->digest, FEED_DIGEST_BYTES) != 0)
		return refuse(host, "forked", "there are two different ones of one serial: do two exporters write to it?");
	return true;
}

/* Reads bytes that the server gave as a manifest. */
static bool
read_manifest(url_host *host, const http_bytes *bytes, const http_answer *answer, feed_manifest *m)
{
	const char *text = bytes->bytes != NULL ? (const char *) bytes->bytes : "";
	const char *problem;
	unsigned	line;
	size_t		which;

	memset(m, 0, sizeof *m);
	if (host->plan->key_count > 0 &&
		!feed_verify(text, bytes->length, host->plan->keys, host->plan->key_count, &which))
		return refuse(host, "signature", "it has no right signature of a key that was given by --key");
	problem = feed_manifest_read(text, bytes->length, m, &line);
	if (problem == NULL)
		return true;
	complain("%s: what the server sent is no manifest (content type \"%s\"): manifest line %u %s", host->plan->out,
			 answer->type, line, problem);
	return false;
}

/* ------------------------------------------------------------------------
 * Files
 * ------------------------------------------------------------------------ */

/* All parts as the manifest's whole files have them, in a copy of its own. */
static bool
fetch_wholes(url_host *host, const feed_manifest *m, feed_copy *copy)
{
	bf_header  *headers = allocate(NULL, m->parts, sizeof *headers);
	const uint8_t **bytes = allocate(NULL, m->parts, sizeof *bytes);
	bool		sound = true;
	bool		missing;
	uint32_t	i;

	for (i = 0; i < m->parts && sound; i++)
	{
		bytes[i] = list_fetch(host, &m->wholes[i], WHOLE_ENDING, &missing);
		sound = bytes[i] != NULL;
		if (!sound)
			break;
		sound = bf_parse(bytes[i], m->wholes[i].length, NULL, &headers[i]) == BF_OK && headers[i].part == i &&
			headers[i].parts == m->parts && headers[i].seed == headers[0].seed;
		if (!sound)
			complain("%s: part %" PRIu32 " that the server has is not a valid filter", host->plan->out, i);
	}
	if (sound)
	{
		feed_copy_create(copy, headers, m->parts);
		for (i = 0; i < m->parts; i++)
			feed_copy_or(copy, i, 0, bytes[i] + BF_HEADER_BYTES, bf_blocks_bytes(&headers[i]), false);
	}
	free(bytes);
	free(headers);
	return sound;
}

/* ------------------------------------------------------------------------
 * Content
 * ------------------------------------------------------------------------ */

/* Whether the whole files have what a step has that isn't there: else they would not help. */
static bool
have_wholes_missed(const url_host *host, const feed_manifest *m)
{
	size_t		i;

	for (i = 0; i < m->step_count; i++)
		if (memcmp(m->steps[i].digest, host->partial_digest, FEED_DIGEST_BYTES) == 0)
			return m->steps[i].to <= m->wholes[0].to;
	return false;
}

/* By steps, in place. */
static led
take_steps(url_host *host, const feed_manifest *m, const uint8_t digest[FEED_DIGEST_BYTES])
{
	step_list	list = {NULL, 0};
	bool		missing;
	led			found = list_find_steps(host, m, &host->copy, host->serial, &list, &missing);

	if (found == FAILED && missing && ++host->misses >= MOST_MISSES && have_wholes_missed(host, m))
		found = NO_STEPS;
	if (found == LED && !place_mark(host, m, digest, false))
		found = FAILED;
	if (found == LED)
	{
		host->changed |= list.count > 0;
		if (!list_apply_steps(&host->copy, &list, host->content, &host->exact))
		{
			complain("%s: a step gave other bits than it should: fetching the whole", host->plan->out);
			found = NO_STEPS;
		}
	}
	if (found == LED)
	{
		host->misses = 0;
		host->spread_until = 0;
		host->content = m->content;
		place_advance(host, m->content);
	}
	list_free_steps(&list);
	return found;
}

/*
 * Hosts that need whole files at the same moment come one after the other.  So do those
 * that miss a step, as a cache says to all of them that it isn't there.
 */
static bool
is_my_turn(url_host *host, const feed_manifest *m)
{
	uint64_t	spread = m->spread == 0 && host->misses > 0 ? MISSED_SPREAD : m->spread;

	/* a program that looks once would never get its turn */
	if (host->copy.parts == 0 || spread == 0 || !host->plan->follow)
		return true;
	if (spread > LONGEST_SPREAD)
		spread = LONGEST_SPREAD;
	if (host->spread_until == 0)
		host->spread_until = monotonic_seconds() + (double) spread * (double) random() / (double) 0x7fffffff;
	return monotonic_seconds() >= host->spread_until;
}

/* A copy of some serial becomes the host's, with the steps behind it; NO_STEPS if they don't fit. */
static led
take_copy(url_host *host, const feed_manifest *m, const uint8_t digest[FEED_DIGEST_BYTES], feed_copy *copy,
		  uint64_t serial, bool *missing)
{
	step_list	list = {NULL, 0};
	bool		exact = true;
	led			found = list_find_steps(host, m, copy, serial, &list, missing);

	if (found == FAILED && !host->broken_off)
		found = NO_STEPS;
	if (found == LED && !list_apply_steps(copy, &list, serial, &exact))
	{
		complain("%s: steps and files of the server don't fit each other", host->plan->out);
		found = NO_STEPS;
	}
	list_free_steps(&list);
	if (found != LED)
		return found;
	/* they are in the copy, and there is to be memory for a working copy */
	list_let_go(host, false);
	if (!place_mark(host, m, digest, true) || !place_begin(host, copy, m->content, m->epoch))
		return FAILED;
	host->content = m->content;
	host->exact = exact;
	host->misses = 0;
	host->spread_until = 0;
	return LED;
}

/* Before anything is fetched that would be fetched again at each look. */
static bool
can_be_taken(url_host *host, const feed_manifest *m)
{
	return list_has_room(host, list_room_of_wholes(m)) &&
		base_is_writable(host, m->parts, feed_files_bytes(m->wholes, m->parts));
}

/* From an older epoch, by deltas. */
static led
take_chain(url_host *host, const feed_manifest *m, const uint8_t digest[FEED_DIGEST_BYTES])
{
	feed_copy	copy;
	bool		missing;
	led			found;

	host->way = "deltas";
	if (!can_be_taken(host, m))
		return FAILED;
	found = list_follow_chain(host, m, &copy, &missing);
	if (found == LED)
	{
		found = take_copy(host, m, digest, &copy, m->epoch, &missing);
		feed_copy_free(&copy);
	}
	if (found == FAILED && missing && (!host->plan->follow || ++host->misses >= MOST_MISSES))
		found = NO_STEPS;
	if (found == NO_STEPS)
		host->no_chain = m->epoch;
	return found;
}

/* By whole files. */
static bool
take_wholes(url_host *host, const feed_manifest *m, const uint8_t digest[FEED_DIGEST_BYTES])
{
	feed_copy	copy;
	bool		taken;
	bool		missing;

	host->way = "whole";
	if (!is_my_turn(host, m))
	{
		/* to wait for a step that is missing is no look that went well */
		host->waiting = host->misses == 0;
		return false;
	}
	if (!can_be_taken(host, m))
		return false;
	memset(&copy, 0, sizeof copy);
	taken = fetch_wholes(host, m, &copy) &&
		take_copy(host, m, digest, &copy, m->wholes[0].to, &missing) == LED;
	feed_copy_free(&copy);
	return taken;
}

static bool
take_content(url_host *host, const feed_manifest *m, const uint8_t digest[FEED_DIGEST_BYTES])
{
	bool		same_epoch = host->copy.parts > 0 && host->copy.parts == m->parts && host->mark.epochs[0] == m->epoch &&
		memcmp(host->mark.identity, m->identity, FEED_IDENTITY_BYTES) == 0 && m->serial >= host->serial;
	led			led_on;
	uint64_t	built = host->built;

	/* a new file tells it */
	host->built = m->built;
	host->way = "steps";
	led_on = same_epoch ? take_steps(host, m, digest) : take_chain(host, m, digest);
	if (led_on == FAILED || (led_on == NO_STEPS && !take_wholes(host, m, digest)))
	{
		host->built = built;
		return false;
	}
	host->true_at = m->true_at;
	host->expires = m->expires;
	host->poll = m->poll;
	return true;
}

/* What the server gave is checked and taken. */
static bool
take_manifest(url_host *host, const http_bytes *bytes, const http_answer *answer)
{
	uint8_t		digest[FEED_DIGEST_BYTES];
	feed_piece	piece = {bytes->bytes, bytes->length};
	feed_manifest m;
	bool		taken;

	feed_digest(digest, &piece, 1);
	taken = read_manifest(host, bytes, answer, &m) && check_identity(host, &m) &&
		check_serial(host, &m, digest) && take_content(host, &m, digest);
	if (taken && answer->age > (int64_t) (2 * m.poll + 60))
		complain("%s: a cache holds the manifest back by %" PRId64 " s", host->plan->out, answer->age);
	feed_manifest_free(&m);
	return taken;
}

bool
list_look(url_host *host)
{
	char	   *url = list_address(host, MANIFEST);
	bool		full = host->tag[0] == '\0' || host->copy.parts == 0 || host->failures > 0 ||
		monotonic_seconds() - host->full_look >= FULL_LOOK_SECONDS;
	http_bytes	bytes = {NULL, 0, 0};
	http_answer answer;
	bool		went_well;
	bool		known;

	host->refused = "";
	host->retry = 0;
	host->waiting = host->broken_off = false;
	went_well = http_get(host->client, url, full ? NULL : host->tag, FEED_MANIFEST_BYTES, &bytes, &answer);
	known = went_well;
	if (known)
		compare_clocks(host, &answer);
	if (went_well && answer.status != 304)
	{
		host->full_look = monotonic_seconds();
		went_well = take_manifest(host, &bytes, &answer);
		snprintf(host->tag, sizeof host->tag, "%s", went_well ? answer.tag : "");
	}
	else if (went_well)
		went_well = check_expiry(host, host->expires);
	if (!went_well && host->retry == 0)
		host->retry = answer.retry;
	/* where the manifest didn't come, nothing tells what is needed */
	if (known)
		list_let_go(host, !went_well && host->broken_off);
	free(bytes.bytes);
	free(url);
	return went_well || host->waiting;
}

uint64_t
list_held(const url_host *host)
{
	uint64_t	bytes = host->partial.length;
	size_t		i;

	for (i = 0; i < host->kept_count; i++)
		bytes += host->kept[i].length;
	return bytes;
}

void
list_close(url_host *host)
{
	list_let_go(host, false);
	free(host->partial.bytes);
	memset(&host->partial, 0, sizeof host->partial);
}
