/*
 * follow.c
 *	  Following a list: a look, and what is done until the next one; and the look at a web server.
 */
#include "pull.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stop.h"
#include "system.h"
#include "url.h"

#define LONGEST_RETRY 3600.0

/* FILE is looked at so often, whatever the server wants: others may remove it. */
#define CHECK_SECONDS 2.0

/* Seconds to the next look: a fixed period while all goes well. */
static double
next_wait(const follower *f, bool well, double begun, double *wait)
{
	if (well)
	{
		*wait = 0;
		return fmax(0, begun + f->period - monotonic_seconds());
	}
	if (f->retry > 0)
		return fmin((double) f->retry, LONGEST_RETRY);
	return longer_wait(wait);
}

/* True if FILE is as it should be; else the look is over, and maybe the follower. */
static bool
check_place(place *p, bool *over)
{
	bool		lost = p->lost;

	if (!place_check(p, over))
	{
		if (!*over)
			place_note(p, false, p->word, last_complaint());
		return false;
	}
	/* what was found to be lost is fetched at once */
	return lost || !p->lost;
}

/* Until the next look is due, FILE needs one, or the follower is to end. */
static void
wait_for_look(place *p, double seconds, bool *over)
{
	double		until = monotonic_seconds() + seconds;

	while (!*over && !stop_requested() && monotonic_seconds() < until)
	{
		place_save(p);
		stop_wait(-1, fmin(CHECK_SECONDS, until - monotonic_seconds()));
		if (!check_place(p, over) && p->lost)
			return;
	}
}

static bool
look_once(follower *f, bool *over)
{
	place	   *p = &f->place;
	uint64_t	before = p->now.content.serial;
	uint64_t	epoch = p->who.epoch;
	bool		well;

	(void) check_place(p, over);
	if (*over || (p->word[0] != '\0' && !p->lost))
		return false;
	well = f->look(f);
	/* patches come each second: of these nothing is said */
	if (well && !f->plan->quiet && before != p->now.content.serial && (epoch != p->who.epoch || !f->plan->follow))
		announce("%s: serial %llu, %s", f->plan->out, (unsigned long long) p->now.content.serial, f->way);
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
		if (strcmp(f->word, refusals[i]) == 0)
			return STATUS_NO;
	return STATUS_TROUBLE;
}

exit_status
follow(follower *f)
{
	place	   *p = &f->place;
	double		wait = 0;
	double		due = 0;
	bool		over = false;
	bool		well = false;

	/* hosts that begin at the same moment don't look at the same moment */
	if (f->plan->url != NULL && f->plan->follow && p->state != PLACE_EMPTY && !p->lost)
		due = random_share() * fmin(f->plan->every, 60);
	do
	{
		double		begun;

		wait_for_look(p, due, &over);
		begun = monotonic_seconds();
		if (over || stop_requested())
			break;
		well = look_once(f, &over);
		due = next_wait(f, well, begun, &wait);
	}
	while (f->plan->follow && !over && !stop_requested());
	return over ? STATUS_TROUBLE : f->plan->follow ? STATUS_YES : status_of(f, well);
}

/* ------------------------------------------------------------------------
 * A web server
 * ------------------------------------------------------------------------ */

static bool
look_at_url(follower *f)
{
	url_look   *look = f->state;
	uint64_t	poll = look->poll;
	bool		well = url_once(look);

	if (!stop_requested())
		url_note(look, well);
	/* --every may have been given for nothing */
	if (f->plan->follow && !f->plan->quiet && look->poll != poll && (double) look->poll > f->plan->every)
		announce("%s: looks each %llu s, as the exporter's --poll says", f->plan->out, (unsigned long long) look->poll);
	f->word = look->word;
	f->way = look->way;
	f->period = fmax(f->plan->every, (double) look->poll);
	f->retry = look->retry;
	f->waiting = look->waiting;
	return well;
}

exit_status
follow_url(follower *f)
{
	url_look	look;
	exit_status status = STATUS_TROUBLE;

	memset(&look, 0, sizeof look);
	look.plan = f->plan;
	look.place = &f->place;
	look.word = "";
	look.client = http_begin();
	f->look = look_at_url;
	f->state = &look;
	/* what is wrong from the start is not waited for */
	if (http_use(look.client, &f->plan->http, NULL))
		status = follow(f);
	free(look.partial.bytes);
	http_end(look.client);
	return status;
}
