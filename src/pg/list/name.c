/*
 * name.c
 *	  What a list may be called: what hosts take, too, since they ask for it, show it and have it in files.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "list/list.h"

/* Bytes of a name in UTF-8, as doc/FEED.md has it. */
#define MOST_NAME_BYTES 200

/* What is no control character, and doesn't change the direction of what is shown around it. */
static bool
is_shown(pg_wchar c)
{
	return c >= ' ' && (c < 0x7f || c > 0x9f) && c != 0x61c && c != 0x200e && c != 0x200f &&
		(c < 0x2028 || c > 0x202e) && (c < 0x2066 || c > 0x2069) && c != 0xfeff;
}

static bool
is_name(const char *text)
{
	const unsigned char *at = (const unsigned char *) text;
	int			length = (int) strlen(text);

	if (length < 1 || length > MOST_NAME_BYTES || text[0] == ' ' || text[length - 1] == ' ' ||
		!pg_verify_mbstr(PG_UTF8, text, length, true))
		return false;
	for (; *at != '\0'; at += pg_utf_mblen(at))
		if (!is_shown(utf8_to_unicode(at)))
			return false;
	return true;
}

void
bfpg_list_check_name(const char *name)
{
	if (!is_name(pg_server_to_any(name, (int) strlen(name), PG_UTF8)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("a list can't have this name"),
				 errdetail("A name has between 1 and %d bytes of UTF-8, no space at its ends, no control character, and none that changes the direction of text.",
						   MOST_NAME_BYTES)));
}
