/*
 * parts.h
 *	  All parts of a whole file in memory, for tests: programs read their headers one by one.
 */
#ifndef TEST_PARTS_H
#define TEST_PARTS_H

#include "feed_page.h"

static inline bool
read_parts(const feed_who *who, const uint8_t *file, feed_part *parts)
{
	uint64_t	at = FEED_PAGE;
	uint32_t	i;

	for (i = 0; i < who->parts; i++)
	{
		if (at > who->length || who->length - at < FEED_FRONT_BYTES ||
			!feed_who_part(who, i, file + at, &at, &parts[i]))
			return false;
	}
	return true;
}

#endif							/* TEST_PARTS_H */
