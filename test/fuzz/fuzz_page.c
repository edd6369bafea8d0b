/*
 * fuzz_page.c
 *	  Bytes of any origin as the file of a followed list.
 *
 * The input is tried as it is, and with the right length and checksum in it, so that the
 * mutations reach the other fields and the parts.  What is taken lies in the file.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../feed/parts.h"
#include "bf_bytes.h"
#include "bf_hash.h"
#include "demand.h"
#include "feed_page.h"

static void
read_all(const uint8_t *file, size_t length)
{
	feed_who	who;
	feed_part  *parts;
	feed_how	how;
	feed_content told;
	uint32_t	i;

	if (feed_who_read(file, length, &who) != NULL)
		return;
	demand(strlen(who.name) <= FEED_NAME_BYTES);
	feed_how_read(file, &how);
	for (i = 0; how.message[i] != '\0'; i++)
		demand(how.message[i] >= ' ' && how.message[i] < 0x7f);
	feed_told(file, &who, FEED_OTHER_BOOT, &told);
	parts = malloc(who.parts * sizeof *parts);
	if (parts != NULL && read_parts(&who, file, parts))
		for (i = 0; i < who.parts; i++)
			demand(feed_body_at(&parts[i]) + parts[i].length <= length);
	free(parts);
}

static void
repair(uint8_t *file, size_t length)
{
	bf_store_le64(file + 8, length);
	bf_store_le64(file + 504, bf_hash(file, 504, 0));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	use_twice(data, size, read_all, FEED_PAGE, repair);
	return 0;
}
