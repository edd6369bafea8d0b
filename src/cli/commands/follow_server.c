/*
 * follow_server.c
 *	  Following a list or a live index on a PostgreSQL server: what a look brings into a copy
 *	  in memory goes into FILE.
 */
#include "follow.h"

#include <errno.h>
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "messages.h"
#include "output.h"
#include "server.h"
#include "source.h"
#include "system.h"

#define FIRST_WAIT 1.0
#define LONGEST_WAIT 60.0

#define CHUNK ((size_t) 1024 * 1024)

typedef struct server_follow
{
	const pull_plan *plan;
	place		place;
	source		source;
	bool		taken;			/* FILE has all that the copy had at the last look */
	const char *word;
	bool		refused;
	bool		lost_server;	/* the connection is of no use any more */
} server_follow;

static bool
refuse(server_follow *f, const char *word, const char *text)
{
	f->word = word;
	complain("%s: refused: %s", f->plan->out, text);
	return false;
}

static bool
fail_place(server_follow *f)
{
	f->word = f->place.word;
	return false;
}

/* ------------------------------------------------------------------------
 * What FILE gets
 * ------------------------------------------------------------------------ */

/* Of FILE, or of a file that is made now. */
static place_facts
facts_of(const server_follow *f, bool same_file, uint8_t identity[FEED_IDENTITY_BYTES])
{
	const source *s = &f->source;
	const place *p = &f->place;
	place_facts facts;
	uint64_t	now = time_now();
	bool		news = !same_file || s->copy.news_count > 0 || !f->taken;

	memset(&facts, 0, sizeof facts);
	facts.name = s->name;
	/* a list has an identity, and an index gets one with its first file */
	if (s->plan.list != NULL)
		memcpy(identity, s->identity, FEED_IDENTITY_BYTES);
	else if (p->who.parts > 0)
		memcpy(identity, p->who.identity, FEED_IDENTITY_BYTES);
	else
	{
		randombytes_buf(identity, FEED_IDENTITY_BYTES);
		identity[6] = (uint8_t) (0x40 | (identity[6] & 0x0f));
		identity[8] = (uint8_t) (0x80 | (identity[8] & 0x3f));
	}
	facts.identity = identity;
	facts.now.content.serial = s->plan.list != NULL ? s->serial : !news ? p->now.content.serial :
		now > p->now.content.serial ? now : p->now.content.serial + 1;
	facts.now.content.mark = facts.now.content.serial;
	facts.now.true_at = s->true_at;
	facts.epoch = same_file ? p->who.epoch : facts.now.content.serial;
	facts.built = s->plan.list != NULL ? s->built : facts.now.content.serial;
	return facts;
}

/* A new file of the copy. */
static bool
make_file(server_follow *f)
{
	place	   *p = &f->place;
	list_copy  *copy = &f->source.copy;
	uint8_t		identity[FEED_IDENTITY_BYTES];
	place_facts facts = facts_of(f, false, identity);
	uint64_t	sum;
	uint32_t	i;

	if (!place_new(p, copy->parts, copy->count))
		return fail_place(f);
	for (i = 0; i < copy->count; i++)
		if (!place_new_write(p, feed_blocks_at(&p->new_parts[i]), copy->blocks[i], (size_t) copy->parts[i].length))
			break;
	if (i < copy->count || !parts_sum(p->new_fd, p->new_parts, p->new_count, &sum))
	{
		complain("cannot fill \"%s\": %s", p->new_file, strerror(errno));
		place_new_drop(p);
		f->word = "disk";
		return false;
	}
	facts.now.content.sum = sum;
	if (sum != copy_sum(copy))
	{
		place_new_drop(p);
		return refuse(f, "damaged", "what was written is not what came from the server");
	}
	return place_new_end(p, &facts) || fail_place(f);
}

/* What is new in the copy, which FILE has but for that. */
static bool
put_news(server_follow *f, place_bits *bits)
{
	list_copy  *copy = &f->source.copy;
	feed_change *changes = copy_changes(copy);
	uint32_t	i;
	size_t		j;
	bool		put = true;

	for (i = 0; i < copy->count && put; i++)
		for (j = 0; j < changes[i].count && put; j++)
			put = bits_put(bits, i, changes[i].positions[j]);
	free(changes);
	return put;
}

/* Of bytes of a part, what the copy has and FILE has not. */
static bool
put_difference(place_bits *bits, uint32_t part, uint64_t at, const uint8_t *here, const uint8_t *there, size_t length)
{
	size_t		i;
	unsigned	bit;

	for (i = 0; i < length; i++)
		for (bit = 0; here[i] != there[i] && bit < 8; bit++)
			if (((here[i] ^ there[i]) >> bit & 1) != 0 && !bits_put(bits, part, (at + i) * 8 + bit))
				return false;
	return true;
}

/* Goes through FILE and the copy; false if it lacks bits of FILE, or can't be read or written.  bits NULL: only looks. */
static bool
compare(const server_follow *f, place_bits *bits, bool *same)
{
	const place *p = &f->place;
	const list_copy *copy = &f->source.copy;
	uint8_t    *chunk = allocate(NULL, CHUNK, 1);
	bool		well = true;
	uint32_t	i;
	uint64_t	at;
	size_t		j;

	*same = true;
	for (i = 0; i < copy->count && well; i++)
		for (at = 0; at < copy->parts[i].length && well; at += CHUNK)
		{
			const uint8_t *there = copy->blocks[i] + at;
			size_t		length = copy->parts[i].length - at < CHUNK ? (size_t) (copy->parts[i].length - at) : CHUNK;

			well = read_all(p->fd, chunk, length, feed_blocks_at(&p->parts[i]) + at);
			if (!well || memcmp(chunk, there, length) == 0)
				continue;
			*same = false;
			for (j = 0; j < length && well; j++)
				well = (chunk[j] & ~(unsigned) there[j]) == 0;
			if (well && bits != NULL)
				well = put_difference(bits, i, at, chunk, there, length);
		}
	free(chunk);
	return well;
}

static bool
has_geometry(const server_follow *f)
{
	const place *p = &f->place;
	const list_copy *copy = &f->source.copy;
	uint32_t	i;

	if (p->state != PLACE_MINE || p->lost || p->who.parts != copy->count)
		return false;
	for (i = 0; i < copy->count; i++)
		if (!feed_part_fits(&p->parts[i], &copy->parts[i]))
			return false;
	return true;
}

static bool
set_bits(server_follow *f, bool news_alone)
{
	place	   *p = &f->place;
	uint8_t		identity[FEED_IDENTITY_BYTES];
	place_facts facts = facts_of(f, true, identity);
	place_bits	bits;
	bool		same;

	if (!place_set_begin(p, &bits))
		return fail_place(f);
	if (!(news_alone ? put_news(f, &bits) : compare(f, &bits, &same)))
	{
		f->word = "disk";
		complain("cannot write \"%s\": %s", f->plan->out, strerror(errno));
		return false;
	}
	return place_set_end(p, &bits, &facts) || fail_place(f);
}

/* After a look: FILE becomes what the copy is. */
static bool
take(server_follow *f)
{
	source	   *s = &f->source;
	place	   *p = &f->place;
	bool		fits = has_geometry(f);
	bool		same = false;
	bool		covered;

	if (f->taken && fits && !s->new_epoch && !s->too_many)
		return set_bits(f, true);
	covered = fits && compare(f, NULL, &same);
	if (s->plan.list != NULL && p->who.parts > 0 && p->state == PLACE_MINE && !p->lost && !f->plan->allow_older &&
		!(covered && same) && s->serial == p->now.content.serial)
		return refuse(f, "back", "it has other bits under the same serial: two servers publish under one identity");
	return covered && !f->plan->allow_older ? set_bits(f, false) : make_file(f);
}

/* ------------------------------------------------------------------------
 * Looks
 * ------------------------------------------------------------------------ */

/* What the source is not to go behind. */
static void
tell_known(server_follow *f)
{
	const place *p = &f->place;
	source	   *s = &f->source;

	s->known = p->who.parts > 0 && !f->plan->allow_older;
	memcpy(s->known_identity, p->who.identity, FEED_IDENTITY_BYTES);
	s->known_serial = p->now.content.serial;
	s->known_true_at = p->now.true_at;
}

static bool
check_name(server_follow *f)
{
	const char *name = f->plan->name != NULL ? f->plan->name : f->place.who.parts > 0 ? f->place.who.name : f->source.name;

	return strcmp(name, f->source.name) == 0 || refuse(f, "identity", "it is another list than the one that is here, or was named");
}

static bool
check_place(server_follow *f, bool *over)
{
	place	   *p = &f->place;

	if (!place_check(p, over))
		return fail_place(f);
	/* bits that are lost come with the whole */
	if (p->lost)
		f->taken = false;
	return true;
}

static bool
look_once(server_follow *f, PGconn *connection, bool *over)
{
	source	   *s = &f->source;
	uint64_t	serial = f->place.now.content.serial;
	ino_t		inode = (ino_t) f->place.here.inode;

	f->lost_server = false;
	if (!check_place(f, over))
		return false;
	f->word = "no-look";
	tell_known(f);
	f->lost_server = !source_look(s, connection);
	if (f->lost_server)
	{
		f->word = s->word;
		return false;
	}
	if (!check_name(f) || !take(f))
		return false;
	source_settle(s);
	f->taken = true;
	if (!f->plan->quiet && serial != f->place.now.content.serial && (inode != (ino_t) f->place.here.inode || !f->plan->follow))
		(void) output_news("%s: serial %llu", f->plan->out, (unsigned long long) f->place.now.content.serial);
	return true;
}

static void
note(server_follow *f, bool well)
{
	place	   *p = &f->place;

	p->how.every = (uint64_t) (f->plan->every * 1e6);
	p->how.heartbeat = 0;
	p->how.expires = 0;
	place_note(p, well, well ? "" : f->word, well ? "" : last_complaint());
	f->refused = !well && strcmp(f->word, "no-look") != 0 && strcmp(f->word, "disk") != 0;
}

/* Until something fails; whether anything went well before. */
static bool
stay(server_follow *f, PGconn *connection, bool *over)
{
	bool		looked = false;
	bool		well = true;
	double		begun;

	tell_known(f);
	f->word = "no-look";
	if (!source_begin(&f->source, connection))
	{
		f->word = f->source.word;
		note(f, false);
		return false;
	}
	do
	{
		begun = monotonic_seconds();
		well = look_once(f, connection, over);
		if (stop_requested())
			break;
		note(f, well);
		looked |= well;
		place_save(&f->place);
	}
	/* what could not be written stays new: that costs no other connection */
	while (f->plan->follow && !f->lost_server && !*over && source_wait(&f->source, connection, begun));
	return f->plan->follow ? looked : well;
}

static bool
follow(server_follow *f)
{
	double		wait = FIRST_WAIT;
	bool		over = false;
	bool		well;

	do
	{
		PGconn	   *connection = server_connect(f->plan->dsn, f->plan->quiet, f->plan->follow);

		f->word = "no-look";
		if (connection == NULL && !stop_requested())
		{
			(void) check_place(f, &over);
			f->word = "no-look";
			note(f, false);
		}
		well = connection != NULL && stay(f, connection, &over);
		PQfinish(connection);
		if (!f->plan->follow || over || stop_requested())
			break;
		wait = well ? FIRST_WAIT : fmin(wait * 2, LONGEST_WAIT);
		stop_wait(-1, wait * (0.5 + 0.5 * random_share()));
	}
	while (!stop_requested());
	return well && !over;
}

exit_status
follow_server(const pull_plan *plan)
{
	server_follow f;
	exit_status status = STATUS_TROUBLE;

	memset(&f, 0, sizeof f);
	srandom(randombytes_random());
	f.plan = plan;
	f.word = "";
	f.source.plan.dsn = plan->dsn;
	f.source.plan.index = plan->index;
	f.source.plan.list = plan->list;
	f.source.plan.quiet = plan->quiet;
	f.source.plan.follow = plan->follow;
	f.source.plan.every = plan->every;
	if (place_open(&f.place, plan->out))
	{
		bool		well = follow(&f);

		status = plan->follow && stop_requested() ? STATUS_YES : well ? STATUS_YES : f.refused ? STATUS_NO : STATUS_TROUBLE;
	}
	source_free(&f.source);
	place_close(&f.place);
	return status;
}
