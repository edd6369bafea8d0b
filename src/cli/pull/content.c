/*
 * content.c
 *	  From what a host has to what a look found: by patches in FILE, by patches in a new
 *	  file, or by whole parts.
 */
#include "pull.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Seconds over which hosts fetch whole parts that they miss a patch for, if the server doesn't say it. */
#define MISSED_SPREAD 300

/* Wholes for bits that differ from the server's, and rows of changes, at most one in so many seconds. */
#define DIFFER_SECONDS 3600.0
#define ROW_SECONDS 60.0

/* ------------------------------------------------------------------------
 * Patches
 * ------------------------------------------------------------------------ */

/* A feed_patch_section: of a flip, into a new file. */
static void
apply_header(void *state, uint32_t part, const uint8_t *header)
{
	file_bits  *bits = state;
	feed_part  *to = &bits->of->parts[part];

	bits->sum -= feed_sum_header(part, to->header);
	feed_part_take(to, header);
	bits->sum += feed_sum_header(part, to->header);
	if (bits->error == 0 && !(feed_is_exact(to) ? bits_front(bits, part, header) :
							  write_all(bits->of->fd, to->header, FEED_HEADER_BYTES, to->at)))
		bits->error = errno;
}

/* A feed_patch_position. */
static void
apply_position(void *state, uint32_t part, uint64_t position)
{
	file_bits  *bits = state;

	if (bits->error == 0 && !bits_put(bits, part, position))
		bits->error = errno;
}

static bool
apply(follower *f, const feed_patch *patch, file_bits *bits)
{
	feed_patch_each(patch, patch->kind == FEED_FLIP ? apply_header : NULL, apply_position, bits);
	errno = bits->error;
	return errno == 0 || file_trouble(&f->file, "write");
}

/* ------------------------------------------------------------------------
 * Changes by day
 * ------------------------------------------------------------------------ */

/* Into the table of FILE: those that it may lack, or all of the row. */
static led
set_changes(follower *f, const offer *o, bool all)
{
	const feed_table *table = &f->file.kept.table;
	entry_list	entries = {NULL, 0, 0};
	led			result = o->changes(f, all, &entries);

	entries_unite(&entries);
	if (result == LED && (entries.count > 0 || table->id != o->changes_id || table->to != o->changes_to) &&
		!table_set(&f->file, &entries, o->changes_id, o->changes_to))
		result = BROKEN;
	entries_free(&entries);
	return result;
}

/* Whether FILE has changes that the row has not, or lacks some. */
static bool
differs_from_row(const follower *f, const offer *o)
{
	return o->changes_summed && f->file.kept.table.sum != o->changes_sum;
}

/*
 * An exporter that goes on with a copy of another one's folder has the same row, and not the same files:
 * so all of it is taken, now and then.  What FILE has besides is of another exporter, of a server that
 * lost it since, or will come.
 */
static led
change_file(follower *f, const offer *o)
{
	led			result = set_changes(f, o, false);

	if (result != LED || !differs_from_row(f, o) || (f->row_taken > 0 && monotonic_seconds() - f->row_taken < ROW_SECONDS))
		return result;
	f->row_taken = monotonic_seconds();
	result = set_changes(f, o, true);
	if (result == LED && differs_from_row(f, o))
		complain("%s: it has changes by day that the exporter lacks, and keeps them: if they don't come, publish the list", f->plan->out);
	return result;
}

/* The new file becomes FILE, with all changes that there are to its content, and no other. */
static led
end_new(follower *f, const offer *o)
{
	entry_list	entries = {NULL, 0, 0};
	led			result = LED;

	if (o->who.tracked)
		result = o->changes(f, true, &entries);
	if (result == LED && ((o->who.tracked && !new_file_table(&f->file, &entries, o->changes_id, o->changes_to)) ||
						  !new_file_end(&f->file, &o->who, &o->now)))
		result = BROKEN;
	entries_free(&entries);
	return result;
}

/* Each patch by itself: where one is missing, those before it count.  All else is noted with the last one. */
static led
set_in_file(follower *f, const offer *o)
{
	list_file  *file = &f->file;
	feed_now	wanted = o->now;
	feed_now	now = file->kept.now;
	file_bits	bits;

	while (file->kept.now.content.serial < wanted.content.serial)
	{
		feed_patch	patch;
		led			got = o->patch(f, &file->kept, &patch);

		if (got != LED)
			return got;
		now.content.serial = patch.to;
		if (!file_set_begin(file, &bits) || !apply(f, &patch, &bits) ||
			!file_set_end(file, &bits, patch.to == wanted.content.serial ? &wanted : &now))
			return BROKEN;
	}
	if (o->who.tracked)
	{
		led			changed = change_file(f, o);

		if (changed != LED)
			return changed;
		/* while FILE differs from what the server has, it is no truer than it was */
		if (differs_from_row(f, o) && file->kept.now.true_at < wanted.true_at)
			wanted.true_at = file->kept.now.true_at;
	}
	if (file->kept.now.content.mark == wanted.content.mark && file->kept.now.true_at == wanted.true_at && file->writes % 2 == 0)
		return LED;
	return file_set_begin(file, &bits) && file_set_end(file, &bits, &wanted) ? LED : BROKEN;
}

/* ------------------------------------------------------------------------
 * A new file
 * ------------------------------------------------------------------------ */

static void
drop_new(follower *f)
{
	new_file_drop(&f->file);
	memset(&f->whole, 0, sizeof f->whole);
}

/* Its patches, from what it has to what it is to have. */
static led
patch_new(follower *f, const offer *o)
{
	const feed_content *wanted = &o->now.content;
	file_content *at = &f->file.made;
	feed_content *has = &at->now.content;

	while (has->serial < wanted->serial)
	{
		file_bits	bits;
		feed_patch	patch;
		led			got = o->patch(f, at, &patch);

		if (got != LED)
			return got;
		if (patch.kind == FEED_FLIP && patch.from_sum != has->sum)
			return ELSEWHERE;
		bits = (file_bits) {.of = at, .flip = patch.kind == FEED_FLIP, .sum = has->sum};
		if (!apply(f, &patch, &bits) || !bits_end(&bits))
		{
			drop_new(f);
			return BROKEN;
		}
		if (bits.flip)
			at->who.epoch = patch.to;
		has->serial = patch.to;
		has->sum = bits.sum;
	}
	return has->serial == wanted->serial && at->who.epoch == o->who.epoch && has->sum == wanted->sum ? LED : ELSEWHERE;
}

/* Over epochs: a copy of FILE, and patches. */
static led
make_by_patches(follower *f, const offer *o)
{
	list_file  *file = &f->file;
	feed_patch	patch;
	led			result = o->patch(f, &file->kept, &patch);

	if (result != LED)
		return result;
	drop_new(f);
	if (!new_file_begin(file, file->kept.parts, file->kept.who.parts) || !new_file_copy(file))
		return BROKEN;
	result = patch_new(f, o);
	if (result == LED)
		result = end_new(f, o);
	if (result != LED)
		drop_new(f);
	return result;
}

/* ------------------------------------------------------------------------
 * Whole parts
 * ------------------------------------------------------------------------ */

/*
 * Hosts that need whole parts at the same moment come one after the other.  So do those
 * that miss a patch, as a cache says to all of them that it isn't there.
 */
static bool
is_my_turn(follower *f, const offer *o)
{
	uint64_t	spread = o->spread == 0 && (f->misses > 0 || f->differs) ? MISSED_SPREAD : o->spread;

	/* who has nothing that is right can't wait, and a program that looks once would never get its turn */
	if (f->file.state == FILE_EMPTY || f->file.lost || !f->plan->follow)
		return true;
	if (f->spread_until <= 0)
		f->spread_until = monotonic_seconds() + (double) spread * random_share();
	return monotonic_seconds() >= f->spread_until;
}

/* A new file of the parts' lengths, or the one that an earlier look began for the same parts. */
static bool
begin_whole(follower *f, const offer *o)
{
	list_file  *file = &f->file;
	feed_part  *parts;
	uint32_t	i;
	bool		begun;

	if (file->made.fd >= 0 && f->whole.serial == o->whole && file->made.who.parts == o->count)
		return true;
	drop_new(f);
	parts = zeros(o->count, sizeof *parts);
	for (i = 0; i < o->count; i++)
		parts[i].length = o->length(f, i) - FEED_HEADER_BYTES;
	begun = new_file_begin(file, parts, o->count);
	free(parts);
	f->whole.serial = o->whole;
	return begun;
}

/* A part that has come: its header and blocks must be those of a filter, and its part of the list. */
static bool
check_part(follower *f, const offer *o, uint32_t which)
{
	list_file  *file = &f->file;
	uint64_t	length = o->length(f, which);
	void	   *bytes = mmap(NULL, (size_t) length, PROT_READ, MAP_SHARED, file->made.fd, (off_t) file->made.parts[which].at);
	feed_part	part;
	const char *problem;

	if (bytes == MAP_FAILED)
		return pull_refuse(f, "disk", "cannot map what came");
	problem = feed_part_check(bytes, length, &part);
	munmap(bytes, (size_t) length);
	if (problem == NULL && (!feed_is_part(&part, which, o->count) || length != FEED_HEADER_BYTES + file->made.parts[which].length))
		problem = "another part";
	if (problem != NULL)
		return pull_refuse(f, "damaged", problem);
	return new_file_header(file, &part);
}

static led
fill_new(follower *f, const offer *o)
{
	whole_parts *whole = &f->whole;
	file_content *made = &f->file.made;

	for (; whole->part < o->count; whole->part++)
	{
		if (o->part(f, whole->part) != LED)
			return BROKEN;
		whole->got = 0;
		if (!check_part(f, o, whole->part))
		{
			drop_new(f);
			return BROKEN;
		}
	}
	if (!parts_sum(made, &made->now.content.sum))
	{
		(void) file_trouble(&f->file, "fill");
		drop_new(f);
		return BROKEN;
	}
	whole->filled = true;
	made->who.epoch = o->who.epoch;
	made->now.content.serial = o->whole;
	return LED;
}

static led
write_whole(follower *f, const offer *o)
{
	led			result;

	f->way = "full file";
	if (!is_my_turn(f, o))
	{
		f->waiting = true;
		return BROKEN;
	}
	if (!begin_whole(f, o) || (!f->whole.filled && fill_new(f, o) != LED))
		return BROKEN;
	result = patch_new(f, o);
	if (result == ELSEWHERE)
	{
		drop_new(f);
		(void) pull_refuse(f, "damaged", "files and patches of the server don't fit each other");
	}
	return result == LED && end_new(f, o) == LED ? LED : BROKEN;
}

/* ------------------------------------------------------------------------
 * Which way
 * ------------------------------------------------------------------------ */

static led
apply_patches(follower *f, const offer *o)
{
	const list_file *file = &f->file;
	const feed_content *wanted = &o->now.content;

	f->way = "patches";
	if (file->kept.who.tracked != o->who.tracked && file->kept.who.epoch == o->who.epoch)
		return ELSEWHERE;
	/* while a whole is waited for or under way, only a patch that was missing is tried again */
	if (file->kept.who.epoch != o->who.epoch)
		return f->spread_until > 0 && f->misses == 0 ? ELSEWHERE : make_by_patches(f, o);
	/* an exact file has no bits that the list has not: those of another sum are of another list */
	if (file->kept.now.content.serial == wanted->serial && feed_are_exact(file->kept.parts, file->kept.who.parts) && file->kept.now.content.sum != wanted->sum)
		return ELSEWHERE;
	return set_in_file(f, o);
}

bool
content_update(follower *f, const offer *o)
{
	const list_file *file = &f->file;
	/* of this list, and its bits are what it says */
	bool		here = file->state == FILE_MINE && !file->lost && file->kept.who.parts == o->count &&
		memcmp(file->kept.who.identity, o->who.identity, FEED_IDENTITY_BYTES) == 0;
	/* bits that differ from the server's are renewed, but not without end */
	bool		wanted = f->differs && (f->whole_written <= 0 || monotonic_seconds() - f->whole_written >= DIFFER_SECONDS);
	led			result = ELSEWHERE;

	/* an older one was asked for: no patch leads back */
	if (here && !f->plan->allow_older && !wanted)
		result = apply_patches(f, o);
	if (result == ELSEWHERE)
	{
		result = write_whole(f, o);
		if (result == LED && wanted)
		{
			f->whole_written = monotonic_seconds();
			f->differs = false;
		}
	}
	if (result != LED)
		return false;
	f->misses = 0;
	f->spread_until = 0;
	return true;
}
