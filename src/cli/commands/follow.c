/*
 * follow.c
 *	  Following a list on a web server.
 */
#include "follow.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "server.h"
#include "system.h"
#include "url.h"

#define FIRST_WAIT 1.0
#define LONGEST_WAIT 300.0
#define LONGEST_RETRY 3600.0

/* FILE is looked at so often, whatever the server wants: others may remove it. */
#define CHECK_SECONDS 2.0

/* Seconds to the next look: a fixed period while all goes well. */
static double
next_wait(const url_look *look, bool well, double begun, double *wait)
{
	double		period = fmax(look->plan->every, (double) look->poll);

	if (well)
	{
		*wait = FIRST_WAIT;
		return fmax(0, begun + period - monotonic_seconds());
	}
	if (look->retry > 0)
		return fmin((double) look->retry, LONGEST_RETRY);
	*wait = fmin(*wait * 2, LONGEST_WAIT);
	return *wait * (0.5 + 0.5 * random_share());
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

/* Until the next look is due, or FILE needs one. */
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

static void
say_changed(const url_look *look, uint64_t before)
{
	uint64_t	serial = look->place->now.content.serial;

	if (!look->plan->quiet && serial != before)
		(void) output_news("%s: serial %llu, %s", look->plan->out, (unsigned long long) serial, look->way);
}

static bool
look_once(url_look *look, bool *over)
{
	place	   *p = look->place;
	uint64_t	before = p->now.content.serial;
	uint64_t	epoch = p->who.epoch;
	bool		well;

	(void) check_place(p, over);
	if (*over || (p->word[0] != '\0' && !p->lost))
		return false;
	well = url_once(look);
	if (stop_requested())
		return well;
	url_note(look, well);
	/* patches come each second: of these nothing is said */
	if (well && (epoch != p->who.epoch || !look->plan->follow))
		say_changed(look, before);
	return well;
}

static exit_status
status_of(const url_look *look, bool well)
{
	static const char *const refusals[] = {"old", "back", "signature", "identity", "clock"};
	size_t		i;

	if (well && !look->waiting)
		return STATUS_YES;
	for (i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
		if (strcmp(look->word, refusals[i]) == 0)
			return STATUS_NO;
	return STATUS_TROUBLE;
}

static exit_status
follow(url_look *look)
{
	place	   *p = look->place;
	double		wait = FIRST_WAIT;
	double		due = 0;
	bool		over = false;
	bool		well = false;

	/* hosts that begin at the same moment don't look at the same moment */
	if (look->plan->follow && p->state != PLACE_EMPTY && !p->lost)
		due = random_share() * fmin(look->plan->every, 60);
	do
	{
		double		begun;

		wait_for_look(p, due, &over);
		begun = monotonic_seconds();
		if (over || stop_requested())
			break;
		well = look_once(look, &over);
		due = next_wait(look, well, begun, &wait);
	}
	while (look->plan->follow && !over && !stop_requested());
	return over ? STATUS_TROUBLE : look->plan->follow ? STATUS_YES : status_of(look, well);
}

exit_status
follow_list(const pull_plan *plan)
{
	url_look	look;
	place		p;
	exit_status status = STATUS_TROUBLE;

	srandom(randombytes_random());
	memset(&look, 0, sizeof look);
	look.plan = plan;
	look.place = &p;
	look.word = "";
	look.client = http_begin();
	/* what is wrong from the start is not waited for */
	if (http_use(look.client, &plan->http, NULL))
	{
		if (place_open(&p, plan->out))
			status = follow(&look);
		url_close(&look);
		place_close(&p);
	}
	http_end(look.client);
	return status;
}
