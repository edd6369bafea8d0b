/*
 * follow_server.c
 *	  Following a list or a live index on a PostgreSQL server: what a look brings into an image
 *	  in memory is handed over as a patch, or as whole parts.
 *
 * The image of an index stays, as looks bring what changed in it.  A list is fetched at each
 * serial that FILE has not, and its image goes when FILE has it.
 */
#include "pull.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source.h"

#define CHUNK ((size_t) 1024 * 1024)

typedef struct server_look
{
	source		source;
	bool		current;		/* FILE has all that the image had at the last look */
	bool		covered;		/* FILE has no bit that the image has not, and lacks its news alone */
	uint64_t	serial;			/* that FILE is to have */
	uint8_t    *patch;			/* that was handed over last */
} server_look;

/* ------------------------------------------------------------------------
 * What is handed over
 * ------------------------------------------------------------------------ */

/* An offer's: the news, as a set. */
static led
server_patch(follower *f, const file_content *at, feed_patch *patch)
{
	server_look *look = f->state;
	list_image *image = &look->source.news.image;
	feed_patch	set = {.kind = FEED_SET, .epoch = at->who.epoch, .from = at->now.content.serial, .to = look->serial};
	feed_change *changes;
	size_t		length;

	if (!look->covered)
		return ELSEWHERE;
	changes = image_changes(image);
	length = feed_patch_write(&set, image->parts, changes, image->count, NULL);
	look->patch = allocate(look->patch, length, 1);
	feed_patch_write(&set, image->parts, changes, image->count, look->patch);
	free(changes);
	return feed_patch_read(look->patch, length, at->parts, at->who.parts, patch) == NULL ? LED : ELSEWHERE;
}

/* An offer's. */
static led
server_changes(follower *f, bool all, entry_list *entries)
{
	const server_look *look = f->state;
	const list_changes *changes = &look->source.news.changes;
	const entry_list *which = all || !look->current ? &changes->all : &changes->news;

	entries_add(entries, which->entries, which->count);
	return LED;
}

/* An offer's. */
static uint64_t
server_length(const follower *f, uint32_t part)
{
	const server_look *look = f->state;
	const feed_part *of = &look->source.news.image.parts[part];

	return feed_before(of) + of->length;
}

/* An offer's. */
static led
server_part(follower *f, uint32_t part)
{
	server_look *look = f->state;
	size_t		length;
	const uint8_t *filter = image_filter(&look->source.news.image, part, &length);

	if (write_all(f->file.made.fd, filter, length, f->file.made.parts[part].at))
		return LED;
	(void) file_trouble(&f->file, "fill");
	return BROKEN;
}

static offer
offer_of(follower *f)
{
	server_look *look = f->state;
	list_news  *news = &look->source.news;
	const list_file *file = &f->file;
	uint64_t	now = time_now();
	bool		fetched = news->image.count > 0;
	offer		o = {.count = fetched ? news->image.count : file->kept.who.parts, .patch = server_patch, .changes = server_changes, .length = server_length, .part = server_part};

	if (f->plan->list != NULL)
		look->serial = news->serial;
	else if (look->covered && news->image.news_count == 0)
		look->serial = file->kept.now.content.serial;
	else
		look->serial = now > file->kept.now.content.serial ? now : file->kept.now.content.serial + 1;
	snprintf(o.who.name, sizeof o.who.name, "%s", news->name);
	memcpy(o.who.identity, news->identity, FEED_IDENTITY_BYTES);
	o.who.epoch = look->covered ? file->kept.who.epoch : look->serial;
	o.now.content.serial = o.now.content.mark = o.whole = look->serial;
	o.now.content.sum = fetched ? image_sum(&news->image) : file->kept.now.content.sum;
	o.now.true_at = news->true_at;
	o.who.tracked = news->changes.tracked;
	/* no row of files; what is new is told by a number that grows */
	o.changes_to = look->current && news->changes.news.count == 0 ? file->kept.table.to : now > file->kept.table.to ? now : file->kept.table.to + 1;
	return o;
}

/* ------------------------------------------------------------------------
 * What FILE lacks
 * ------------------------------------------------------------------------ */

/* Of bytes of a part: what the image has and FILE has not is news; false if FILE has more. */
static bool
note_difference(list_image *image, uint32_t part, uint64_t at, const uint8_t *here, size_t length)
{
	const uint8_t *there = image->bodies[part] + at;
	size_t		i;
	unsigned	bit;

	for (i = 0; i < length && (here[i] & ~(unsigned) there[i]) == 0; i++)
		for (bit = 0; here[i] != there[i] && bit < 8; bit++)
			if (((here[i] ^ there[i]) >> bit & 1) != 0)
				image_note(image, part, (at + i) * 8 + bit);
	return i == length;
}

/*
 * Goes through FILE and the image, whose news become what FILE lacks; false if it has other
 * bits, lacks very many, or can't be read, and so is lost.
 */
static bool
compare(list_file *file, list_image *image)
{
	uint8_t    *chunk = allocate(NULL, CHUNK, 1);
	bool		covered = true;
	uint32_t	i;
	uint64_t	at;

	image_forget_news(image);
	for (i = 0; i < image->count && covered; i++)
		for (at = 0; at < image->parts[i].length && covered; at += CHUNK)
		{
			size_t		length = image->parts[i].length - at < CHUNK ? (size_t) (image->parts[i].length - at) : CHUNK;

			covered = read_all(file->kept.fd, chunk, length, feed_body_at(&file->kept.parts[i]) + at);
			if (!covered)
				file_lose(file, "disk", strerror(errno));
			covered = covered && note_difference(image, i, at, chunk, length) && image->news_count <= image_bytes(image) / SOURCE_PATCH_SHARE;
		}
	free(chunk);
	if (!covered)
		image_forget_news(image);
	return covered;
}

/* After a look: FILE becomes what the image is. */
static bool
fill_file(follower *f)
{
	server_look *look = f->state;
	list_news  *news = &look->source.news;
	list_image *image = &news->image;
	list_file  *file = &f->file;
	bool		fits = file->state == FILE_MINE && !file->lost && image_fits(image, file->kept.parts, file->kept.who.parts);
	offer		o;

	look->covered = image->count == 0 || (fits && ((look->current && !news->new_epoch) || compare(file, image)));
	/* nothing is set in an exact file: it is the list, or it is made anew */
	if (image->news_count > 0 && feed_are_exact(image->parts, image->count))
		look->covered = false;
	/* each serial of a tracked list has its own file, with its own changes */
	if (news->changes.tracked != file->kept.who.tracked || (news->changes.tracked && news->serial != file->kept.now.content.serial))
		look->covered = false;
	o = offer_of(f);
	return content_update(f, &o);
}

/* ------------------------------------------------------------------------
 * Looks
 * ------------------------------------------------------------------------ */

/* A source's. */
static bool
file_has_part(void *state, const feed_part *part)
{
	list_file  *file = state;
	const bf_header *head = &part->shape.level[0];
	const feed_part *here;
	uint8_t    *body;
	bool		has;

	if (head->parts != file->kept.who.parts)
		return false;
	here = &file->kept.parts[head->part];
	body = allocate(NULL, (size_t) here->length, 1);
	has = (read_all(file->kept.fd, body, (size_t) here->length, feed_body_at(here)) || file_lose(file, "disk", strerror(errno))) &&
		feed_part_is(part, here, body);
	free(body);
	return has;
}

/* What the source is not to go behind, and what of a list is here, which the image then needn't have. */
static void
tell_known(follower *f, source *s)
{
	server_look *look = f->state;
	list_file  *file = &f->file;
	bool		here = file->state == FILE_MINE && !file->lost && !f->plan->allow_older;

	s->has_part = here ? file_has_part : NULL;
	s->state = file;
	/* FILE has the serial of an image that it was never given, so others made it: it is checked as at the first look */
	if (f->plan->list != NULL && here && s->news.image.count > 0 && file->kept.now.content.serial == s->news.serial)
	{
		image_free(&s->news.image);
		look->current = false;
	}
	if (f->plan->list != NULL && s->news.image.count == 0)
		s->news.serial = here && look->current ? file->kept.now.content.serial : 0;
	s->known = file->kept.who.parts > 0 && !f->plan->allow_older;
	memcpy(s->known_identity, file->kept.who.identity, FEED_IDENTITY_BYTES);
	s->known_serial = file->kept.now.content.serial;
	s->known_tracked = file->kept.who.tracked;
	s->known_true_at = file->kept.now.true_at;
	/* as an exporter goes on with its folder's changes: a server that lost some since is told of */
	if (s->known && s->news.changes.serial == 0 && file->kept.slots != NULL && !file->lost)
	{
		changes_begin(&s->news.changes, file->kept.now.content.serial);
		table_entries(file, &s->news.changes.all);
		entries_unite(&s->news.changes.all);
	}
}

/*
 * What the server has is in the image, and is the list that FILE has.  If not, the connection
 * ends: a pooler may lead to the right server next.
 */
static bool
read_server(follower *f)
{
	server_look *look = f->state;
	source	   *s = &look->source;
	bool		begun = s->connection != NULL;
	bool		looked;

	tell_known(f, s);
	s->reason = "no-look";
	if (!begun)
		s->connection = server_connect(f->plan->dsn, "bloomfilter pull", 60);
	looked = s->connection != NULL && (begun || source_begin(s)) && source_look(s);
	if (!looked)
		f->reason = s->reason;
	else if (pull_check_list(f, s->news.name, s->news.identity,
							 "the index is another server's or another database's than the one that is here"))
		return true;
	PQfinish(s->connection);
	s->connection = NULL;
	return false;
}

static bool
look_at_server(follower *f)
{
	server_look *look = f->state;
	source	   *s = &look->source;

	(void) file_check_sum(&f->file);
	/* bits that are lost come with the whole */
	look->current = look->current && !f->file.lost;
	f->file.how.heartbeat = f->file.how.expires = 0;
	if (!read_server(f) || !fill_file(f))
		return false;
	source_forget_news(s);
	if (f->plan->list != NULL)
		image_free(&s->news.image);
	/* a pooler may lead to another server, whose index of this name is another list */
	snprintf(s->known_system, sizeof s->known_system, "%s", s->news.system);
	look->current = true;
	return true;
}

exit_status
follow_server(follower *f)
{
	server_look look = {.source.plan = {f->plan->index, f->plan->list, "if it is the right one, --allow-older takes it once"}};
	exit_status status;

	f->look = look_at_server;
	f->state = &look;
	status = follow(f);
	source_free(&look.source);
	free(look.patch);
	return status;
}
