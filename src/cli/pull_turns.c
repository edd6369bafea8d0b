/*
 * pull_turns.c
 *	  Following lists in one thread: whose turn it is, how long, and when the next one.
 */
#include "pull_turns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "server.h"

#define FIRST_WAIT 1.0
#define LONGEST_WAIT 300.0
#define LONGEST_RETRY 3600.0

/* What a turn may take of other lists' time, at first and at most, seconds. */
#define FIRST_SHARE 2.0
#define LONGEST_SHARE 16.0

/* Bytes of files in a turn that are worth another one at once. */
#define LEAST_PROGRESS 1000

/* Changes are looked for so often, seconds. */
#define CHANGE_SECONDS 1.0

turn_list *
turns_add(pull_turns *turns, const url_plan *plan, const char *name)
{
	turn_list  *list = allocate(NULL, 1, sizeof *list);

	memset(list, 0, sizeof *list);
	list->name = name;
	list->host.plan = plan;
	list->host.client = turns->client;
	list->due = monotonic_seconds();
	list->wait = FIRST_WAIT;
	list->share = FIRST_SHARE;
	turns->lists = allocate(turns->lists, turns->count + 1, sizeof *turns->lists);
	turns->lists[turns->count++] = list;
	return list;
}

void
turns_drop(pull_turns *turns, turn_list *list)
{
	size_t		i;

	for (i = 0; turns->lists[i] != list; i++)
		;
	turns->count--;
	memmove(&turns->lists[i], &turns->lists[i + 1], (turns->count - i) * sizeof *turns->lists);
	free(list);
}

/* ------------------------------------------------------------------------
 * How long
 * ------------------------------------------------------------------------ */

/* An is_over of http_limit. */
static bool
is_over(void *state)
{
	const pull_turns *turns = state;
	double		now = monotonic_seconds();

	return now >= turns->until &&
		(now >= turns->next_due || (turns->is_changed != NULL && turns->is_changed(turns->state)));
}

/* When another list wants its turn. */
static double
next_due(const pull_turns *turns, const turn_list *but)
{
	double		due = INFINITY;
	size_t		i;

	/* with one look for each, lists that have begun don't hurry each other */
	for (i = 0; i < turns->count; i++)
		if (turns->lists[i] != but && !(turns->once && turns->lists[i]->begun))
			due = fmin(due, turns->lists[i]->due);
	return due;
}

/* ------------------------------------------------------------------------
 * A look
 * ------------------------------------------------------------------------ */

static double
random_share(void)
{
	return (double) random() / (double) 0x7fffffff;
}

/* The web server's log is so the list of hosts, with what each has. */
static bool
use_client(url_host *host)
{
	char	   *agent = text_of("bloomfilter-pull/%s (%s %llu)", bloomfilter_version(), host->mark.name,
								(unsigned long long) host->serial);
	bool		used = http_use(host->client, &host->plan->http, host->plan->no_agent ? NULL : agent);

	free(agent);
	return used;
}

static void
say_changed(const url_host *host)
{
	if (!host->plan->quiet)
		(void) output_news("%s: serial %llu, %s", host->plan->out, (unsigned long long) host->serial, host->way);
}

/* When the next look is due, from now on: a fixed period while all goes well. */
static double
next_wait(turn_list *list, bool well, double begun)
{
	const url_host *host = &list->host;
	double		period = fmax((double) host->plan->every, (double) host->poll);

	if (well)
	{
		list->wait = FIRST_WAIT;
		list->share = FIRST_SHARE;
		return fmax(0, begun + period - monotonic_seconds());
	}
	if (host->retry > 0)
		return fmin((double) host->retry, LONGEST_RETRY);
	list->wait = fmin(list->wait * 2, LONGEST_WAIT);
	return list->wait * (0.5 + 0.5 * random_share());
}

/*
 * The turn ended before the look did: the list goes on soon.  Where next to nothing came
 * meanwhile it is a failure, and if the server is there at all, the next turn is longer.
 * So it is where a file comes from its beginning each time, up to a turn in which all of
 * it comes: else it never would.
 */
static bool
is_on_its_way(pull_turns *turns, turn_list *list, uint64_t held)
{
	bool		restarted = http_was_restarted(turns->client);
	const char *url = list->host.plan->url;
	int			length = (int) strcspn(url, "?");

	if (turns->once || monotonic_seconds() < turns->next_due ||
		(!restarted && list_held(&list->host) >= held + LEAST_PROGRESS))
		return true;
	if (restarted)
		complain("%.*s: a file didn't come in %.0f s, while other lists wait: turn ranges on in its server, or it begins "
				 "anew at each turn", length, url, list->share);
	else
		complain("%.*s: next to nothing came in %.0f s, while other lists wait", length, url, list->share);
	if (restarted)
		list->share *= 2;
	else if (http_was_connected(turns->client))
		list->share = fmax(list->share, fmin(2 * list->share, LONGEST_SHARE));
	list->host.retry = 0;
	return false;
}

/* One look; false if there is to be another one at once. */
static bool
look(pull_turns *turns, turn_list *list, bool *well)
{
	url_host   *host = &list->host;
	uint64_t	serial = host->serial;
	uint64_t	epoch = host->mark.epochs[0];
	uint64_t	held = list_held(host);

	host->retry = 0;
	host->refused = "";
	*well = use_client(host) && list_look(host);
	if (stop_requested())
		return true;
	if (!*well && http_was_ended(turns->client) && is_on_its_way(turns, list, held))
		return false;
	/* steps come each second: of these nothing is said */
	if (*well && serial != host->serial && (epoch != host->mark.epochs[0] || turns->once))
		say_changed(host);
	place_looked(host, *well);
	return true;
}

bool
turns_open(pull_turns *turns, turn_list *list)
{
	url_host   *host = &list->host;

	if (!place_open(host))
		return false;
	/* hosts that begin at the same moment don't look at the same moment */
	if (!turns->once && host->copy.parts > 0)
		list->due = monotonic_seconds() + random_share() * fmin((double) host->plan->every, 60);
	return true;
}

static void
take_turn(pull_turns *turns, turn_list *list)
{
	url_host   *host = &list->host;
	double		begun = monotonic_seconds();
	bool		well = host->opened || turns_open(turns, list);
	bool		ended = true;

	if (well && list->due > begun)
		return;
	list->begun = true;
	turns->until = begun + list->share;
	turns->next_due = next_due(turns, list);
	if (well)
		ended = look(turns, list, &well);
	list->status = well ? STATUS_YES : host->refused[0] != '\0' ? STATUS_NO : STATUS_TROUBLE;
	if (!ended)
		list->due = monotonic_seconds();
	else if (turns->once)
		list->due = INFINITY;
	else
		list->due = monotonic_seconds() + next_wait(list, well, begun);
}

/* ------------------------------------------------------------------------
 * Whose turn
 * ------------------------------------------------------------------------ */

static turn_list *
first_due(const pull_turns *turns)
{
	turn_list  *first = NULL;
	size_t		i;

	for (i = 0; i < turns->count; i++)
		if (first == NULL || turns->lists[i]->due < first->due)
			first = turns->lists[i];
	return first;
}

void
turns_take(pull_turns *turns)
{
	http_limit(turns->client, is_over, turns);
	while (!stop_requested())
	{
		turn_list  *list = first_due(turns);
		double		wait = list->due - monotonic_seconds();

		if (isinf(wait))
			return;
		if (turns->is_changed != NULL && turns->is_changed(turns->state))
			turns->change(turns->state);
		else if (wait > 0)
			stop_wait(-1, turns->is_changed != NULL ? fmin(wait, CHANGE_SECONDS) : wait);
		else
		{
			message_about(list->name);
			take_turn(turns, list);
			message_about(NULL);
		}
	}
}
