/*
 * pull_steps.c
 *	  The steps that lead from what a host has to what its list's folder has.
 */
#include "pull_list.h"

#include <stdlib.h>
#include <string.h>

#include "messages.h"

/* Steps together may be so many times the whole files, and bytes besides, which tiny lists need. */
#define MOST_STEPS 16
#define SMALL_STEPS (1024 * 1024)

/* Reads a step for the copy. */
static bool
read_step(url_host *host, const feed_manifest *m, const feed_copy *copy, const uint8_t *bytes, size_t length,
		  bf_step *step)
{
	bf_step_status status = bf_step_read(bytes, length, copy->headers, copy->parts, step);

	if (status == BF_STEP_OK && step->epoch == m->epoch && memcmp(step->identity, m->identity, FEED_IDENTITY_BYTES) == 0)
		return true;
	complain("%s: a step is not valid: %s", host->plan->out,
			 status == BF_STEP_OK ? "it is of another epoch or list" : bf_step_word(status));
	return false;
}

void
list_free_steps(step_list *list)
{
	free(list->steps);
	memset(list, 0, sizeof *list);
}

static bool
add_step(url_host *host, const feed_manifest *m, const feed_copy *copy, const uint8_t *bytes, size_t length,
		 step_list *list)
{
	list->steps = allocate(list->steps, list->count + 1, sizeof *list->steps);
	return read_step(host, m, copy, bytes, length, &list->steps[list->count++]);
}

static led
add_inline(url_host *host, const feed_manifest *m, const feed_copy *copy, uint64_t serial, step_list *list)
{
	if (m->inlined == NULL)
		return NO_STEPS;
	if (!add_step(host, m, copy, m->inlined, m->inlined_length, list))
		return FAILED;
	if (list->steps[0].from <= serial && list->steps[0].to == m->content)
		return LED;
	list_free_steps(list);
	return NO_STEPS;
}

/* Whether it is worth it to fetch these steps, which are held together: the exporter has no more than this. */
static bool
are_few(url_host *host, const feed_manifest *m, const feed_file *steps, size_t count)
{
	uint64_t	bytes = feed_files_bytes(steps, count);
	char		size[SCALE_TEXT_BYTES];

	if (bytes <= MOST_STEPS * feed_files_bytes(m->wholes, m->parts) + SMALL_STEPS)
		return list_has_room(host, bytes);
	scale(size, (double) bytes, true);
	complain("%s: the steps of the server are %s, more than %d times its whole files, and are not fetched: "
			 "if this lasts, export the list to a new folder", host->plan->out, size, MOST_STEPS);
	return false;
}

led
list_find_steps(url_host *host, const feed_manifest *m, const feed_copy *copy, uint64_t serial,
				step_list *list, bool *missing)
{
	size_t		i = m->step_count;
	led			found;

	*missing = false;
	if (serial >= m->content)
		return LED;
	found = add_inline(host, m, copy, serial, list);
	if (found != NO_STEPS)
		return found;
	while (i > 0 && m->steps[i - 1].from > serial)
		i--;
	if (i == 0 || !are_few(host, m, &m->steps[i - 1], m->step_count - (i - 1)))
		return NO_STEPS;
	for (i--; i < m->step_count; i++)
	{
		const uint8_t *bytes = list_fetch(host, &m->steps[i], STEP_ENDING, missing);

		if (bytes == NULL || !add_step(host, m, copy, bytes, (size_t) m->steps[i].length, list))
			return FAILED;
		if (list->steps[list->count - 1].from != m->steps[i].from || list->steps[list->count - 1].to != m->steps[i].to)
		{
			complain("%s: a step has other serials than the manifest says", host->plan->out);
			return FAILED;
		}
	}
	return LED;
}

bool
list_apply_steps(feed_copy *copy, const step_list *list, uint64_t serial, bool *exact)
{
	size_t		i;

	for (i = 0; i < list->count; i++)
	{
		bool		from_here = *exact && list->steps[i].from == serial;

		if (!feed_copy_apply(copy, &list->steps[i], from_here))
			return false;
		*exact = from_here;
		serial = list->steps[i].to;
	}
	return true;
}
