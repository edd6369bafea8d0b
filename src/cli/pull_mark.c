/*
 * pull_mark.c
 *	  FILE.mark: what a host has seen last of a list, behind which it never goes back.
 */
#include "pull_place.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed_files.h"
#include "messages.h"

#define MARK_ENDING ".mark"
#define MARK_FIRST_LINE "bloomfilter-mark 1"

/* The mark is synced so often while bits come in. */
#define MARK_SECONDS 60.0

bool
mark_write(url_host *host)
{
	const url_mark *mark = &host->mark;
	char		identity[FEED_UUID_TEXT_BYTES];
	char		digest[2 * FEED_DIGEST_BYTES + 1];
	char	   *name = place_beside(host, MARK_ENDING);
	char	   *text;
	feed_piece	piece;
	bool		written;

	feed_uuid_text(identity, mark->identity);
	feed_hex(digest, mark->digest, FEED_DIGEST_BYTES);
	text = text_of(MARK_FIRST_LINE "\nname %s\nidentity %s\nserial %" PRIu64 "\ndigest %s"
				   "\nbase %016" PRIx64 " %" PRIu64 " %" PRIu64 "\nbase %016" PRIx64 " %" PRIu64 " %" PRIu64 "\n",
				   mark->name, identity, mark->serial, digest, mark->bases[0], mark->base_serials[0],
				   mark->epochs[0], mark->bases[1], mark->base_serials[1], mark->epochs[1]);
	piece.bytes = text;
	piece.length = strlen(text);
	written = feed_write(host->folder, name, 0644, &piece, 1);
	if (written)
		host->marked = monotonic_seconds();
	free(text);
	free(name);
	return written;
}

static void
swap(uint64_t values[2])
{
	uint64_t	first = values[0];

	values[0] = values[1];
	values[1] = first;
}

bool
mark_settle(url_mark *mark, uint64_t base)
{
	if (base != mark->bases[0] && base == mark->bases[1])
	{
		swap(mark->bases);
		swap(mark->base_serials);
		swap(mark->epochs);
	}
	return base == mark->bases[0];
}

bool
mark_base(url_host *host, uint64_t base, uint64_t serial, uint64_t epoch)
{
	url_mark   *mark = &host->mark;

	if (base != mark->bases[0])
	{
		mark->bases[1] = mark->bases[0];
		mark->base_serials[1] = mark->base_serials[0];
		mark->epochs[1] = mark->epochs[0];
	}
	mark->bases[0] = base;
	mark->base_serials[0] = serial;
	mark->epochs[0] = epoch;
	return mark_write(host);
}

bool
mark_read(url_host *host)
{
	url_mark   *mark = &host->mark;
	char	   *name = place_beside(host, MARK_ENDING);
	char		identity[64];
	char		digest[80];
	size_t		length;
	char	   *text = (char *) feed_read(host->folder, name, 4096, &length);
	bool		well = true;

	if (text != NULL)
	{
		mark->known = sscanf(text, MARK_FIRST_LINE "\nname %200[^\n]\nidentity %63s\nserial %" SCNu64 "\ndigest %79s"
							 "\nbase %" SCNx64 " %" SCNu64 " %" SCNu64 "\nbase %" SCNx64 " %" SCNu64 " %" SCNu64,
							 mark->name, identity, &mark->serial, digest, &mark->bases[0], &mark->base_serials[0],
							 &mark->epochs[0], &mark->bases[1], &mark->base_serials[1], &mark->epochs[1]) == 10 &&
			feed_uuid_read(mark->identity, identity) && feed_from_hex(mark->digest, FEED_DIGEST_BYTES, digest);
		well = mark->known;
		if (!well)
			complain("\"%s%s\" is not what bloomfilter pull writes: remove it and \"%s\"", host->plan->out, MARK_ENDING, host->plan->out);
	}
	else if (errno != ENOENT)
	{
		complain("cannot read \"%s%s\": %s", host->plan->out, MARK_ENDING, strerror(errno));
		well = false;
	}
	free(text);
	free(name);
	return well;
}

bool
place_mark(url_host *host, const feed_manifest *m, const uint8_t digest[FEED_DIGEST_BYTES], bool sync)
{
	url_mark   *mark = &host->mark;

	snprintf(mark->name, sizeof mark->name, "%s", m->name);
	memcpy(mark->identity, m->identity, sizeof mark->identity);
	memcpy(mark->digest, digest, sizeof mark->digest);
	mark->serial = m->serial;
	mark->known = true;
	return (!sync && host->map != NULL && monotonic_seconds() - host->marked < MARK_SECONDS) || mark_write(host);
}
