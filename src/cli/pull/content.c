/*
 * content.c
 *	  From what the host has to what the manifest says: by patches in place, by patches in a
 *	  new file, or by the whole.
 */
#include "url.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "feed_patch.h"
#include "feed_sum.h"
#include "messages.h"
#include "system.h"

/* How often a missing patch is waited for: caches keep "not found" for a while. */
#define MOST_MISSES 3

/* Seconds over which hosts fetch whole files instead, if the manifest doesn't say it. */
#define MISSED_SPREAD 300

/* Wholes for bits that differ from the manifest's, at most one in so many seconds. */
#define DIFFER_SECONDS 3600.0

/* How a way to the content ended. */
typedef enum led
{
	LED,
	ELSEWHERE,					/* it doesn't lead from here: the whole is needed */
	BROKEN						/* it may at the next look */
} led;

/* ------------------------------------------------------------------------
 * Patches
 * ------------------------------------------------------------------------ */

/* Whether the set in the manifest itself leads on from here. */
static bool
is_inlined(const feed_manifest *m, const feed_part *parts, uint32_t count, uint64_t epoch, uint64_t serial, feed_patch *patch)
{
	return m->inlined != NULL && epoch == m->epoch &&
		feed_patch_read(m->inlined, m->inlined_length, parts, count, patch) == NULL && patch->kind == FEED_SET &&
		memcmp(patch->identity, m->identity, FEED_IDENTITY_BYTES) == 0 && patch->epoch == epoch && patch->from <= serial &&
		patch->to == m->content;
}

/* The next one from a state of these parts, fetched and checked; points into the manifest or look->partial. */
static led
get_patch(url_look *look, const feed_manifest *m, const feed_part *parts, uint32_t count, uint64_t epoch, uint64_t serial,
		  feed_patch *patch)
{
	size_t		which = feed_manifest_lead(m, epoch, serial);
	const feed_file *file;
	fetched		got;

	if (is_inlined(m, parts, count, epoch, serial, patch))
		return LED;
	if (which == m->patch_count)
		return ELSEWHERE;
	file = &m->patches[which];
	got = url_fetch_patch(look, file);
	/* where the whole lacks what the patch has, it is no way round it */
	if (got == MISSING && file->to <= m->wholes[0].to && (!look->plan->follow || ++look->misses >= MOST_MISSES))
		return ELSEWHERE;
	if (got != FETCHED)
		return BROKEN;
	if (feed_patch_read(look->partial.bytes, (size_t) look->partial.length, parts, count, patch) == NULL && feed_manifest_names(m, file, patch) &&
		(patch->kind == FEED_FLIP || patch->epoch == epoch))
		return LED;
	complain("%s: a patch of the server isn't valid here: fetching the full file", look->plan->out);
	return ELSEWHERE;
}

typedef struct applying
{
	place	   *place;
	place_bits *bits;
	int			error;
} applying;

/* A feed_patch_section: of a flip, into a new file. */
static void
take_header(void *state, uint32_t part, const uint8_t *header)
{
	applying   *a = state;
	feed_part  *to = &a->place->new_parts[part];

	a->bits->sum -= feed_sum_header(part, to->header);
	feed_part_take(to, header);
	a->bits->sum += feed_sum_header(part, to->header);
	if (a->error == 0 && !(feed_is_exact(to) ? bits_front(a->bits, part, header) :
						   write_all(a->place->new_fd, to->header, FEED_HEADER_BYTES, to->at)))
		a->error = errno;
}

/* A feed_patch_position. */
static void
take_position(void *state, uint32_t part, uint64_t position)
{
	applying   *a = state;

	if (a->error == 0 && !bits_put(a->bits, part, position))
		a->error = errno;
}

static bool
put_bits(url_look *look, const feed_patch *patch, place_bits *bits)
{
	applying	a = {look->place, bits, 0};

	feed_patch_each(patch, patch->kind == FEED_FLIP ? take_header : NULL, take_position, &a);
	if (a.error == 0)
		return true;
	look->word = "disk";
	complain("cannot write \"%s\": %s", look->plan->out, strerror(a.error));
	return false;
}

static place_facts
facts_of(const feed_manifest *m, const uint8_t digest[FEED_DIGEST_BYTES], uint64_t sum)
{
	place_facts facts;

	memset(&facts, 0, sizeof facts);
	memcpy(facts.who.name, m->name, sizeof facts.who.name);
	memcpy(facts.who.identity, m->identity, FEED_IDENTITY_BYTES);
	facts.who.epoch = m->epoch;
	facts.now.content.serial = m->content;
	facts.now.content.sum = sum;
	facts.now.content.mark = m->serial;
	memcpy(facts.now.content.digest, digest, FEED_DIGEST_BYTES);
	facts.now.true_at = m->true_at;
	return facts;
}

/* Each patch by itself: where one is missing, those before it count.  The manifest is noted last. */
static led
set_in_place(url_look *look, const feed_manifest *m, const uint8_t digest[FEED_DIGEST_BYTES])
{
	place	   *p = look->place;
	feed_now	now = p->now;
	place_bits	bits;

	while (p->now.content.serial < m->content)
	{
		feed_patch	patch;
		led			got = get_patch(look, m, p->parts, p->who.parts, p->who.epoch, p->now.content.serial, &patch);

		if (got != LED)
			return got;
		now.content.serial = patch.to;
		look->way = "patches";
		if (!place_set_begin(p, &bits) || !put_bits(look, &patch, &bits) || !place_set_end(p, &bits, &now))
			return BROKEN;
	}
	if (p->now.content.mark == m->serial && p->changes % 2 == 0)
		return LED;
	now = facts_of(m, digest, 0).now;
	return place_set_begin(p, &bits) && place_set_end(p, &bits, &now) ? LED : BROKEN;
}

/* ------------------------------------------------------------------------
 * A new file
 * ------------------------------------------------------------------------ */

static void
drop_building(url_look *look)
{
	place_new_drop(look->place);
	memset(&look->building, 0, sizeof look->building);
}

/* Its patches, from the building's serial to the content. */
static led
patch_building(url_look *look, const feed_manifest *m)
{
	url_building *b = &look->building;

	while (b->serial < m->content)
	{
		place_bits	bits;
		feed_patch	patch;
		led			got;

		got = get_patch(look, m, look->place->new_parts, look->place->new_count, b->epoch, b->serial, &patch);
		if (got != LED)
			return got;
		if (patch.kind == FEED_FLIP && patch.from_sum != b->sum)
			return ELSEWHERE;
		bits_begin(&bits, look->place->new_fd, look->place->new_parts, b->sum, patch.kind == FEED_FLIP);
		if (!put_bits(look, &patch, &bits) || !bits_end(&bits))
		{
			drop_building(look);
			return BROKEN;
		}
		b->sum = bits.sum;
		b->serial = patch.to;
		if (patch.kind == FEED_FLIP)
			b->epoch = patch.to;
	}
	return b->serial == m->content && b->epoch == m->epoch && b->sum == m->sum ? LED : ELSEWHERE;
}

static led
end_building(url_look *look, const feed_manifest *m, const uint8_t digest[FEED_DIGEST_BYTES])
{
	place_facts facts = facts_of(m, digest, look->building.sum);

	return place_new_end(look->place, &facts) ? LED : BROKEN;
}

/* Over epochs: a copy of FILE, and patches. */
static led
make_by_patches(url_look *look, const feed_manifest *m, const uint8_t digest[FEED_DIGEST_BYTES])
{
	place	   *p = look->place;
	url_building *b = &look->building;
	led			result;

	look->way = "patches";
	drop_building(look);
	if (!place_new(p, p->parts, p->who.parts) || !place_new_copy(p, &b->sum))
		return BROKEN;
	b->epoch = p->who.epoch;
	b->serial = p->now.content.serial;
	result = patch_building(look, m);
	if (result == LED)
		return end_building(look, m, digest);
	drop_building(look);
	return result;
}

/* ------------------------------------------------------------------------
 * The whole
 * ------------------------------------------------------------------------ */

/*
 * Hosts that need whole files at the same moment come one after the other.  So do those
 * that miss a patch, as a cache says to all of them that it isn't there.
 */
static bool
is_my_turn(url_look *look, const feed_manifest *m)
{
	uint64_t	spread = m->spread == 0 && (look->misses > 0 || look->differs) ? MISSED_SPREAD : m->spread;

	/* who has nothing that is right can't wait, and a program that looks once would never get its turn */
	if (look->place->state == PLACE_EMPTY || look->place->lost || !look->plan->follow)
		return true;
	if (look->spread_until <= 0)
		look->spread_until = monotonic_seconds() + (double) spread * random_share();
	return monotonic_seconds() >= look->spread_until;
}

/* A new file of the parts' lengths, or the one that an earlier look began for the same files. */
static bool
begin_whole(url_look *look, const feed_manifest *m)
{
	place	   *p = look->place;
	feed_part  *parts;
	uint32_t	i;
	bool		begun;

	if (p->new_fd >= 0 && look->building.whole == m->wholes[0].to && p->new_count == m->parts)
		return true;
	drop_building(look);
	parts = zeros(m->parts, sizeof *parts);
	for (i = 0; i < m->parts; i++)
		parts[i].length = m->wholes[i].length - FEED_HEADER_BYTES;
	begun = place_new(p, parts, (uint32_t) m->parts);
	free(parts);
	look->building.whole = m->wholes[0].to;
	return begun;
}

/* A part that has come: its header and blocks must be those of a filter, and its part of the list. */
static bool
check_part(url_look *look, const feed_manifest *m)
{
	place	   *p = look->place;
	uint32_t	which = look->building.part;
	uint64_t	length = m->wholes[which].length;
	uint64_t	at = p->new_parts[which].at;
	void	   *bytes = mmap(NULL, (size_t) length, PROT_READ, MAP_SHARED, p->new_fd, (off_t) at);
	feed_part	part;
	const char *problem;

	if (bytes == MAP_FAILED)
		return url_refuse(look, "disk", "cannot map what was fetched");
	problem = feed_part_check(bytes, length, &part);
	munmap(bytes, (size_t) length);
	if (problem == NULL && (part.part != which || part.parts != m->parts || length != FEED_HEADER_BYTES + p->new_parts[which].length))
		problem = "another part";
	if (problem != NULL)
		return url_refuse(look, "damaged", problem);
	return place_new_header(p, &part);
}

static led
fetch_wholes(url_look *look, const feed_manifest *m)
{
	url_building *b = &look->building;

	for (; b->part < m->parts; b->part++)
	{
		if (url_fetch_whole(look, &m->wholes[b->part]) != FETCHED)
			return BROKEN;
		b->got.length = 0;
		if (!check_part(look, m))
		{
			drop_building(look);
			return BROKEN;
		}
	}
	if (!parts_sum(look->place->new_fd, look->place->new_parts, (uint32_t) m->parts, &b->sum))
	{
		drop_building(look);
		return BROKEN;
	}
	b->filled = true;
	b->epoch = m->epoch;
	b->serial = m->wholes[0].to;
	return LED;
}

static led
take_whole(url_look *look, const feed_manifest *m, const uint8_t digest[FEED_DIGEST_BYTES])
{
	led			result;

	look->way = "full file";
	if (!is_my_turn(look, m))
	{
		look->waiting = true;
		return BROKEN;
	}
	if (!begin_whole(look, m) || (!look->building.filled && fetch_wholes(look, m) != LED))
		return BROKEN;
	result = patch_building(look, m);
	if (result == ELSEWHERE)
	{
		drop_building(look);
		(void) url_refuse(look, "damaged", "files and patches of the server don't fit each other");
	}
	return result == LED ? end_building(look, m, digest) : BROKEN;
}

/* ------------------------------------------------------------------------
 * Which way
 * ------------------------------------------------------------------------ */

static led
take_patches(url_look *look, const feed_manifest *m, const uint8_t digest[FEED_DIGEST_BYTES])
{
	place	   *p = look->place;
	uint64_t	serial = p->now.content.serial;

	/* while a whole is waited for or under way, only a patch that was missing is tried again */
	if (p->who.epoch != m->epoch)
		return feed_manifest_lead(m, p->who.epoch, serial) == m->patch_count || (look->spread_until > 0 && look->misses == 0) ? ELSEWHERE :
			make_by_patches(look, m, digest);
	/* an exact file has no bits that the list has not: those of another sum are of another list */
	if (serial == m->content && feed_are_exact(p->parts, p->who.parts) && p->now.content.sum != m->sum)
		return ELSEWHERE;
	return set_in_place(look, m, digest);
}

bool
url_take(url_look *look, const feed_manifest *m, const uint8_t digest[FEED_DIGEST_BYTES])
{
	const place *p = look->place;
	/* of this list, and its bits are what it says */
	bool		here = p->state == PLACE_MINE && !p->lost && p->who.parts == m->parts &&
		memcmp(p->who.identity, m->identity, FEED_IDENTITY_BYTES) == 0;
	/* bits that differ from the manifest's are renewed, but not without end */
	bool		wanted = look->differs && (look->whole_taken <= 0 || monotonic_seconds() - look->whole_taken >= DIFFER_SECONDS);
	led			result = ELSEWHERE;

	/* an older one was asked for: no patch leads back */
	if (here && m->content >= p->now.content.serial && !wanted)
		result = take_patches(look, m, digest);
	if (result == ELSEWHERE)
	{
		result = take_whole(look, m, digest);
		if (result == LED && wanted)
		{
			look->whole_taken = monotonic_seconds();
			look->differs = false;
		}
	}
	if (result != LED)
		return false;
	look->misses = 0;
	look->spread_until = 0;
	return true;
}
