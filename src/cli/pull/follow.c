/*
 * follow.c
 *	  Following a list: FILE is looked after, and looks are noted in it, wherever they lead.
 */
#include "pull.h"

#include <math.h>
#include <stdio.h>
#include <string.h>


/* FILE is checked so often, whatever the server wants: others may remove it. */
#define CHECK_SECONDS 2.0

bool
pull_refuse(follower *f, const char *reason, const char *text)
{
	f->reason = reason;
	complain("%s: refused: %s", f->plan->out, text);
	return false;
}

bool
pull_check_name(follower *f, const char *name)
{
	const feed_who *who = &f->file.who;

	if (who->parts == 0 || strcmp(who->name, name) == 0)
		return true;
	f->reason = "identity";
	return file_refuse_list(&f->file, who->name, name);
}

bool
pull_check_list(follower *f, const char *name, const uint8_t *identity, const char *other)
{
	const feed_who *who = &f->file.who;
	char		text[600];

	if (f->plan->name != NULL && strcmp(f->plan->name, name) != 0)
	{
		snprintf(text, sizeof text, "it is the list \"%s\", not \"%s\"", name, f->plan->name);
		return pull_refuse(f, "identity", text);
	}
	return pull_check_name(f, name) &&
		(who->parts == 0 || f->plan->allow_older || memcmp(who->identity, identity, FEED_IDENTITY_BYTES) == 0 ||
		 pull_refuse(f, "identity", other));
}

/* True if FILE is as it should be; else the look is over, and maybe the follower. */
static bool
check_file(follower *f)
{
	list_file  *file = &f->file;
	bool		lost = file->lost;

	if (!file_check(file, &f->loop.over))
	{
		if (!f->loop.over)
			file_note(file, false, file->reason, last_complaint());
		return false;
	}
	/* what was found to be lost is fetched at once */
	return lost || !file->lost;
}

/* A rest of looks: until FILE needs one, too. */
static void
look_after_file(void *state, double seconds)
{
	follower   *f = state;
	double		until = monotonic_seconds() + seconds;

	while (!f->loop.over && !stop_requested() && monotonic_seconds() < until)
	{
		file_save(&f->file);
		stop_wait(-1, fmin(CHECK_SECONDS, until - monotonic_seconds()));
		if (!check_file(f) && f->file.lost)
			return;
	}
}

static void
note_look(follower *f, bool well)
{
	list_file  *file = &f->file;

	file->how.every = f->plan->follow ? (uint64_t) (f->loop.period * 1e6) : 0;
	if (!well)
		file_note(file, false, f->reason, last_complaint());
	/* else how fresh it is stays what it was */
	else if (!f->no_news)
		file_note(file, !f->waiting, f->reason, f->message);
}

/* A look of looks. */
static bool
look_once(void *state)
{
	follower   *f = state;
	list_file  *file = &f->file;
	uint64_t	before = file->now.content.serial;
	uint64_t	epoch = file->who.epoch;
	bool		well;

	(void) check_file(f);
	if (f->loop.over || (file->reason[0] != '\0' && !file->lost))
		return false;
	f->reason = f->way = file->reason = "";
	f->message[0] = '\0';
	f->loop.retry = 0;
	f->no_news = f->waiting = false;
	well = f->look(f);
	if (!well && f->reason[0] == '\0')
		f->reason = file->reason[0] != '\0' ? file->reason : "no-look";
	if (!stop_requested())
		note_look(f, well);
	/* patches come each second: of these nothing is said */
	if (well && !f->plan->quiet && before != file->now.content.serial && (epoch != file->who.epoch || !f->plan->follow))
		announce("%s: serial %llu, %s", f->plan->out, (unsigned long long) file->now.content.serial, f->way);
	return well;
}

static exit_status
status_of(const follower *f, bool well)
{
	static const char *const refusals[] = {"old", "back", "signature", "identity", "clock"};
	size_t		i;

	if (well && !f->waiting)
		return STATUS_YES;
	for (i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
		if (strcmp(f->reason, refusals[i]) == 0)
			return STATUS_NO;
	return STATUS_TROUBLE;
}

exit_status
follow(follower *f)
{
	bool		well;

	f->loop.look = look_once;
	f->loop.rest = look_after_file;
	f->loop.state = f;
	f->loop.follow = f->plan->follow;
	f->loop.period = f->plan->every;
	well = keep_looking(&f->loop);
	return f->loop.over ? STATUS_TROUBLE : f->plan->follow ? STATUS_YES : status_of(f, well);
}
