/*
 * feed_manifest_rows.c
 *	  What no line of a manifest tells alone: serials, and the rows of patches and of changes.
 */
#include "feed_manifest.h"

#include <string.h>

/*
 * Each patch begins where the one before ended, the last flip leads to the epoch, and the
 * last patch to content.
 */
static bool
are_in_a_row(const feed_manifest *m)
{
	uint64_t	begun = 0;		/* by the last flip */
	size_t		i;

	for (i = 0; i < m->patch_count; i++)
	{
		if (i > 0 && m->patches[i].from != m->patches[i - 1].to)
			return false;
		if (m->patches[i].kind == FEED_FLIP)
			begun = m->patches[i].to;
	}
	if (i == 0)
		return true;
	return m->patches[i - 1].to == m->content && (begun != 0 ? begun == m->epoch : m->patches[0].from >= m->epoch);
}

/*
 * The files of changes are one row from 0 on, of which a follower takes what comes behind what it
 * has.  Bits of a list that has changes never come in by themselves: each content of it begins an
 * epoch, and so a file with a table of its own.
 */
static bool
are_changes(const feed_manifest *m)
{
	uint64_t	last = 0;
	uint64_t	entries = 0;
	uint64_t	from = 0;
	size_t		i;

	if (!m->tracked)
		return m->change_count == 0 && m->inlined_changes == NULL;
	for (i = 0; i < m->change_count; i++)
	{
		if (m->changes[i].from != from)
			return false;
		from = m->changes[i].to;
		last = m->changes[i].length;
		entries += (m->changes[i].length - FEED_CHANGES_HEADER) / FEED_ENTRY_BYTES;
	}
	if (m->inlined_changes != NULL && m->inlined_changes_length != last)
		return false;
	return m->content == m->epoch && from <= m->serial && m->entries <= entries && entries <= FEED_MOST_ENTRIES;
}

size_t
feed_manifest_lead(const feed_manifest *m, uint64_t epoch, uint64_t serial)
{
	const feed_file *patch;
	size_t		i = m->patch_count;

	while (i > 0 && m->patches[i - 1].from > serial)
		i--;
	if (i == 0)
		return m->patch_count;
	patch = &m->patches[i - 1];
	/* patches of this epoch are for it alone, and older ones for older epochs */
	if ((patch->from >= m->epoch) != (epoch == m->epoch) || patch->to <= serial)
		return m->patch_count;
	return patch->kind == FEED_SET || patch->from == serial ? i - 1 : m->patch_count;
}

const char *
feed_manifest_check(const feed_manifest *m)
{
	size_t		i;

	if (m->epoch < 1 || m->content < m->epoch || m->serial < m->content)
		return "has serials that don't follow each other";
	for (i = 0; i < m->parts; i++)
		if (m->wholes[i].to != m->wholes[0].to || m->wholes[i].to < m->epoch || m->wholes[i].to > m->content)
			return "has whole files of the wrong serial";
	if (!are_in_a_row(m))
		return "has patches that don't follow each other to its content";
	if (m->wholes[0].to != m->content && feed_manifest_lead(m, m->epoch, m->wholes[0].to) == m->patch_count)
		return "has no patch that leads on from its whole files";
	if (!are_changes(m))
		return "has changes that are not one row";
	return NULL;
}

bool
feed_manifest_names(const feed_manifest *m, const feed_file *file, const feed_patch *patch)
{
	return memcmp(patch->identity, m->identity, FEED_IDENTITY_BYTES) == 0 && patch->kind == file->kind &&
		patch->from == file->from && patch->to == file->to &&
		(file->from < m->epoch || patch->epoch == m->epoch);
}

bool
feed_manifest_has_changes(const feed_manifest *m, const feed_changes_of *of)
{
	return memcmp(of->identity, m->identity, FEED_IDENTITY_BYTES) == 0 && of->serial == m->content;
}
