/*
 * filter.c
 *	  The filter of a subcommand: opened, written, described, or the end of the program.
 */
#include "input.h"

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

text_types
filter_text_types(const bloomfilter *filter, const text_types *wanted)
{
	const bloomfilter_info info = filter_info(filter, -1);
	int			held = info.key_type;
	text_types	types = {1, {BLOOMFILTER_KEY_TEXT}};
	size_t		i;

	if (held == BLOOMFILTER_KEY_NONE && wanted->count == 0 && info.changes > 0)
		fail("the list had no keys when it was published, so the file doesn't tell of which type its keys are: give --type");
	if (held == BLOOMFILTER_KEY_NONE)
		return wanted->count == 0 ? types : *wanted;
	types.type[0] = held;
	for (i = 0; i < MOST_COLUMNS && info.columns[i] != 0; i++)
		types.type[(types.count = i + 1) - 1] = info.columns[i];
	if (wanted->count == 0)
		return types;
	for (i = 0; i < types.count && wanted->count == types.count; i++)
		if (bloomfilter_text_key_type(wanted->type[i]) != types.type[i])
			break;
	if (i < types.count)
		fail("bloomfilter holds %s keys, not %s", bloomfilter_key_type_name(held),
			 wanted->count == 1 ? bloomfilter_key_type_name(bloomfilter_text_key_type(wanted->type[0])) : "rows of these columns");
	return *wanted;
}
