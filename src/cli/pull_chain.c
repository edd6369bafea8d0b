/*
 * pull_chain.c
 *	  From an older epoch to that of the manifest, by its chain: steps of old epochs, and
 *	  deltas.
 *
 * No key can get lost here.  A delta turns the bits that differ, and so it is right for
 * one state only, the one that the exporter's manifest announced.  Where the host has any
 * other (bits beyond its serial after a kill, a damaged byte, a step that came to
 * nothing), (1) the delta refuses it by the checksum of its base, and (2) the result is
 * compared with the SHA-256 of the whole file that it stands for.  All this happens in a
 * copy that no reader has; what doesn't fit is thrown away, and the whole is fetched.
 * test/cli/url_epochs.t fails without (1) and (2) together, by the host with a bit too many
 * and by the delta to another list.
 */
#include "pull_list.h"

#include <inttypes.h>
#include <string.h>

#include "feed_delta.h"
#include "messages.h"

/* Where the chain goes on from a serial; its end, if it doesn't. */
static size_t
find_place(const feed_manifest *m, uint64_t serial)
{
	size_t		i = m->chain_count;

	while (i > 0 && m->chain[i - 1].from > serial)
		i--;
	if (i == 0 || (m->chain[i - 1].delta && m->chain[i - 1].from != serial))
		return m->chain_count;
	/* of deltas this is that of the last part */
	return i - 1 - m->chain[i - 1].part;
}

/* NULL, or what is wrong with a step of an older epoch. */
static const char *
apply_old_step(const feed_manifest *m, const feed_file *file, const uint8_t *bytes, feed_copy *copy)
{
	bf_step		step;
	bf_step_status status = bf_step_read(bytes, (size_t) file->length, copy->headers, copy->parts, &step);

	if (status != BF_STEP_OK)
		return bf_step_word(status);
	if (step.epoch >= m->epoch || step.from != file->from || step.to != file->to ||
		memcmp(step.identity, m->identity, FEED_IDENTITY_BYTES) != 0)
		return "it is of another epoch or list";
	/* whether the bits are right then is seen by the delta */
	(void) feed_copy_apply(copy, &step, false);
	return NULL;
}

static led
follow(url_host *host, const feed_manifest *m, const feed_file *file, feed_copy *copy, bool *missing)
{
	const uint8_t *bytes = list_fetch(host, file, file->delta ? DELTA_ENDING : STEP_ENDING, missing);
	const char *problem;

	if (bytes == NULL)
		return host->broken_off ? FAILED : NO_STEPS;
	problem = file->delta ? feed_delta_apply(copy, file->part, bytes, file) : apply_old_step(m, file, bytes, copy);
	if (problem == NULL)
		return LED;
	complain("%s: what leads from serial %" PRIu64 " to the new epoch doesn't fit: %s: fetching the whole", host->plan->out, file->from, problem);
	return NO_STEPS;
}

led
list_follow_chain(url_host *host, const feed_manifest *m, feed_copy *copy, bool *missing)
{
	size_t		i = find_place(m, host->serial);
	led			found = LED;

	*missing = false;
	memset(copy, 0, sizeof *copy);
	if (i == m->chain_count || host->no_chain == m->epoch || host->copy.parts != m->parts ||
		memcmp(host->mark.identity, m->identity, FEED_IDENTITY_BYTES) != 0 ||
		feed_files_bytes(m->chain + i, m->chain_count - i) >= feed_files_bytes(m->wholes, m->parts))
		return NO_STEPS;
	if (!list_has_room(host, list_room_of_wholes(m)))
		return FAILED;
	feed_copy_clone(copy, &host->copy);
	for (; i < m->chain_count && found == LED; i++)
		found = follow(host, m, &m->chain[i], copy, missing);
	if (found != LED)
		feed_copy_free(copy);
	return found;
}
