/*
 * filter.c
 *	  Opening and writing a filter for a subcommand, and what its errors are called.
 */
#include "filter.h"

#include "messages.h"

bloomfilter *
open_filter(const char *path, unsigned flags)
{
	bloomfilter *filter;
	bloomfilter_detail detail;

	if (bloomfilter_open(path, flags, &filter, &detail) < 0)
		fail("%s", detail.text);
	return filter;
}

void
write_filter(const bloomfilter *filter, const char *path)
{
	bloomfilter_detail detail;

	if (bloomfilter_write(filter, path, &detail) < 0)
		fail("%s", detail.text);
}

bloomfilter_info
filter_info(const bloomfilter *filter, int64_t part)
{
	bloomfilter_info info;
	int			code = bloomfilter_get_info(filter, (int) part, &info, sizeof info);

	if (code < 0)
		fail("%s", bloomfilter_strerror(code));
	return info;
}

const char *
estimate_word(const bloomfilter_info *info)
{
	return info->fill > 0.9 ? "more than" : "about";
}

int
filter_text_type(const bloomfilter *filter, int wanted)
{
	int			held = filter_info(filter, -1).key_type;

	if (held == BLOOMFILTER_KEY_NONE)
		return wanted == BLOOMFILTER_KEY_NONE ? BLOOMFILTER_KEY_TEXT : wanted;
	if (wanted == BLOOMFILTER_KEY_NONE)
		return held;
	if (bloomfilter_text_key_type(wanted) != held)
		fail("bloomfilter holds %s keys, not %s", bloomfilter_key_type_name(held),
			 bloomfilter_key_type_name(bloomfilter_text_key_type(wanted)));
	return wanted;
}
