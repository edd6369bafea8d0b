/*
 * follow_server.c
 *	  Following a list or a live index on a PostgreSQL server: what a look brings into a copy
 *	  in memory goes into FILE.
 */
#include "pull.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"
#include "source.h"
#include "stop.h"
#include "system.h"

#define CHUNK ((size_t) 1024 * 1024)

typedef struct server_look
{
	PGconn	   *connection;		/* NULL: none that is of use */
	source		source;
	bool		taken;			/* FILE has all that the copy had at the last look */
} server_look;

static bool
refuse(follower *f, const char *word, const char *text)
{
	f->word = word;
	complain("%s: refused: %s", f->plan->out, text);
	return false;
}

/* ------------------------------------------------------------------------
 * What FILE gets
 * ------------------------------------------------------------------------ */

/* Of FILE, or of a file that is made now. */
static place_facts
facts_of(const follower *f, bool same_file)
{
	const server_look *look = f->state;
	const source *s = &look->source;
	const place *p = &f->place;
	place_facts facts;
	uint64_t	now = time_now();
	bool		news = !same_file || s->news.copy.news_count > 0 || !look->taken;

	memset(&facts, 0, sizeof facts);
	snprintf(facts.who.name, sizeof facts.who.name, "%s", s->news.name);
	memcpy(facts.who.identity, s->news.identity, FEED_IDENTITY_BYTES);
	facts.now.content.serial = s->plan.list != NULL ? s->news.serial : !news ? p->now.content.serial :
		now > p->now.content.serial ? now : p->now.content.serial + 1;
	facts.now.content.mark = facts.now.content.serial;
	facts.now.true_at = s->news.true_at;
	facts.who.epoch = same_file ? p->who.epoch : facts.now.content.serial;
	return facts;
}

/* A new file of the copy. */
static bool
make_file(follower *f)
{
	server_look *look = f->state;
	place	   *p = &f->place;
	list_copy  *copy = &look->source.news.copy;
	place_facts facts = facts_of(f, false);
	uint64_t	sum;
	uint32_t	i;

	if (!place_new(p, copy->parts, copy->count))
		return false;
	for (i = 0; i < copy->count; i++)
		if (!place_new_header(p, &copy->parts[i]) ||
			!write_all(p->new_fd, copy->bodies[i], (size_t) copy->parts[i].length, feed_body_at(&p->new_parts[i])))
			break;
	if (i < copy->count || !parts_sum(p->new_fd, p->new_parts, p->new_count, &sum))
	{
		complain("cannot fill \"%s\": %s", p->new_file, strerror(errno));
		place_new_drop(p);
		f->word = "disk";
		return false;
	}
	facts.now.content.sum = sum;
	f->way = "full file";
	if (sum != copy_sum(copy))
	{
		place_new_drop(p);
		return refuse(f, "damaged", "what was written is not what came from the server");
	}
	return place_new_end(p, &facts);
}

/* What is new in the copy, which FILE has but for that. */
static bool
put_news(list_copy *copy, place_bits *bits)
{
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
compare(const place *p, const list_copy *copy, place_bits *bits, bool *same)
{
	uint8_t    *chunk = allocate(NULL, CHUNK, 1);
	bool		well = true;
	uint32_t	i;
	uint64_t	at;
	size_t		j;

	*same = true;
	for (i = 0; i < copy->count && well; i++)
		for (at = 0; at < copy->parts[i].length && well; at += CHUNK)
		{
			const uint8_t *there = copy->bodies[i] + at;
			size_t		length = copy->parts[i].length - at < CHUNK ? (size_t) (copy->parts[i].length - at) : CHUNK;

			well = read_all(p->fd, chunk, length, feed_body_at(&p->parts[i]) + at);
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
set_bits(follower *f, bool news_alone)
{
	server_look *look = f->state;
	list_copy  *copy = &look->source.news.copy;
	place	   *p = &f->place;
	place_facts facts = facts_of(f, true);
	place_bits	bits;
	bool		same;

	f->way = "bits";
	if (!place_set_begin(p, &bits))
		return false;
	if (!(news_alone ? put_news(copy, &bits) : compare(p, copy, &bits, &same)))
	{
		f->word = "disk";
		complain("cannot write \"%s\": %s", f->plan->out, strerror(errno));
		return false;
	}
	return place_set_end(p, &bits, &facts.now);
}

/* Whether FILE is of a serial that it has other bits of than the server. */
static bool
is_forked(follower *f)
{
	const server_look *look = f->state;
	place	   *p = &f->place;
	uint64_t	sum;

	if (f->plan->list == NULL || p->who.parts == 0 || p->state != PLACE_MINE || p->lost || f->plan->allow_older ||
		look->source.news.serial != p->now.content.serial)
		return false;
	if (parts_sum(p->fd, p->parts, p->who.parts, &sum) && sum == p->now.content.sum)
		return true;
	place_lose(p, "damaged", "its bits are not those that were set");
	return false;
}

/* After a look: FILE becomes what the copy is. */
static bool
take(follower *f)
{
	const server_look *look = f->state;
	const source *s = &look->source;
	place	   *p = &f->place;
	bool		fits = p->state == PLACE_MINE && !p->lost && copy_fits(&s->news.copy, p->parts, p->who.parts);
	bool		same = false;
	bool		covered;

	if (look->taken && fits && !s->news.new_epoch)
		return set_bits(f, true);
	covered = fits && compare(p, &s->news.copy, NULL, &same);
	/* nothing is set in an exact file: it is the list, or it is made anew */
	if (feed_are_exact(s->news.copy.parts, s->news.copy.count))
		covered = same;
	if (!(covered && same) && is_forked(f))
		return refuse(f, "back", "it has other bits under the same serial: two servers publish under one identity");
	return covered && !p->lost && !f->plan->allow_older ? set_bits(f, same) : make_file(f);
}

/* ------------------------------------------------------------------------
 * Looks
 * ------------------------------------------------------------------------ */

/* What the source is not to go behind. */
static void
tell_known(const follower *f, source *s)
{
	const place *p = &f->place;

	s->known = p->who.parts > 0 && !f->plan->allow_older;
	memcpy(s->known_identity, p->who.identity, FEED_IDENTITY_BYTES);
	s->known_serial = p->now.content.serial;
	s->known_true_at = p->now.true_at;
}

/* What was looked at is the list that FILE has. */
static bool
check_list(const follower *f, source *s)
{
	const char *name = f->plan->name != NULL ? f->plan->name : f->place.who.parts > 0 ? f->place.who.name : s->news.name;

	if (strcmp(name, s->news.name) != 0)
		complain("%s: refused: it is another list than the one that is here, or was named", f->plan->out);
	else if (s->known && memcmp(s->news.identity, s->known_identity, sizeof s->news.identity) != 0)
		complain("%s: refused: the index is another server's or another database's than the one that is here", f->plan->out);
	else
		return true;
	return source_refuse(s, "identity");
}

/*
 * What the server has is in the copy, and is the list that FILE has.  If not, the connection
 * ends: a pooler may lead to the right server next.
 */
static bool
read_server(follower *f)
{
	server_look *look = f->state;
	source	   *s = &look->source;
	bool		begun = look->connection != NULL;

	tell_known(f, s);
	s->word = "no-look";
	if (!begun)
		look->connection = server_connect(f->plan->dsn);
	if (look->connection != NULL && (begun || source_begin(s, look->connection)) && source_look(s, look->connection) &&
		check_list(f, s))
		return true;
	f->word = s->word;
	PQfinish(look->connection);
	look->connection = NULL;
	return false;
}

static bool
look_at_server(follower *f)
{
	server_look *look = f->state;
	source	   *s = &look->source;
	place	   *p = &f->place;
	bool		well;

	f->word = p->word = "";
	/* bits that are lost come with the whole */
	if (p->lost)
		look->taken = false;
	well = read_server(f) && take(f);
	if (well)
	{
		source_settle(s);
		/* a pooler may lead to another server, whose index of this name is another list */
		snprintf(s->known_system, sizeof s->known_system, "%s", s->news.system);
		look->taken = true;
	}
	else if (f->word[0] == '\0')
		f->word = p->word;
	if (stop_requested())
		return well;
	p->how.every = f->plan->follow ? (uint64_t) (f->plan->every * 1e6) : 0;
	p->how.heartbeat = 0;
	p->how.expires = 0;
	place_note(p, well, well ? "" : f->word, well ? "" : last_complaint());
	return well;
}

exit_status
follow_server(follower *f)
{
	server_look look;
	exit_status status;

	memset(&look, 0, sizeof look);
	look.source.plan.index = f->plan->index;
	look.source.plan.list = f->plan->list;
	f->look = look_at_server;
	f->state = &look;
	status = follow(f);
	PQfinish(look.connection);
	source_free(&look.source);
	return status;
}
