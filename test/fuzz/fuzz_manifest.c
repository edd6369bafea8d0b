/*
 * fuzz_manifest.c
 *	  Bytes of any origin as the manifest of a list's folder.
 *
 * The input is tried as it is, and with the right first line before it.  What is taken
 * keeps the bounds, leads on from its whole files, and is written as it was read; what is
 * refused has a reason of one line.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "demand.h"
#include "feed_manifest.h"

static void
check_taken(const feed_manifest *m)
{
	feed_manifest again;
	char	   *text = feed_manifest_text(m, 1);
	unsigned	line;
	size_t		i;

	demand(m->poll <= FEED_MOST_SECONDS && m->spread <= FEED_MOST_SECONDS && m->heartbeat <= FEED_MOST_SECONDS);
	demand(m->epoch >= 1 && m->epoch <= m->content && m->content <= m->serial);
	demand(m->wholes[0].to == m->content || feed_manifest_lead(m, m->epoch, m->wholes[0].to) < m->patch_count);
	for (i = 0; i < m->patch_count; i++)
		demand(m->patches[i].length <= FEED_MOST_BYTES && m->patches[i].to <= m->content);
	demand(text != NULL && feed_manifest_read(text, strlen(text), &again, &line) == NULL);
	demand(again.patch_count == m->patch_count && again.sum == m->sum && again.serial == m->serial);
	feed_manifest_free(&again);
	free(text);
}

static void
parse(const char *text, size_t length)
{
	feed_manifest manifest;
	unsigned	line;
	const char *problem = feed_manifest_read(text, length, &manifest, &line);

	if (problem == NULL)
		check_taken(&manifest);
	else
		demand(problem[0] != '\0' && strchr(problem, '\n') == NULL);
	feed_manifest_free(&manifest);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char first[] = FEED_FIRST_LINE "\n";
	char	   *whole = malloc(sizeof first - 1 + size);

	parse((const char *) data, size);
	if (whole == NULL)
		return 0;
	memcpy(whole, first, sizeof first - 1);
	if (size > 0)
		memcpy(whole + sizeof first - 1, data, size);
	parse(whole, sizeof first - 1 + size);
	free(whole);
	return 0;
}
