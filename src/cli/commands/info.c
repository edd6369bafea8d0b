/*
 * info.c
 *	  bloomfilter info: what is in a filter.
 *
 * The names are those of SQL's bloom_stats.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"

static const char help[] =
"Usage: bloomfilter info [--json] [--count] FILE\n"
"\n"
"Prints what a filter's header says; of a set all parts together and each.  FILE\n"
"is a filter, or what pull keeps.  All of it is read and checked by verify.\n"
"\n"
"      --json   as one JSON object, with seed and checksum as strings\n"
"      --count  count the bits of a set, or of what pull keeps, whose headers\n"
"               lack bits_set, fill, cardinality, fpr, over_capacity, checksum\n"
"      --help   print this\n"
"\n"
"  n, p            keys it was sized for, and their false-positive rate at most\n"
"  bits, bytes     size without and with the header\n"
"  hashes          bits per key, k\n"
"  bits_set, fill  bits that are 1, and their share\n"
"  cardinality     estimated number of different keys in it\n"
"  fpr             expected false-positive rate with these keys\n"
"  seed            as SQL shows it, signed\n"
"  exact, others   right for all keys that it was built of, of which so many are\n"
"                  no members; the figures above are then those of the members\n"
"  changes, slots  of a tracked list: keys that were changed by day, whose answer\n"
"                  is not the filter's, and slots of the table that has them\n"
"\n"
"Exit status: 0, or 2 if it is no valid filter.\n";

/* Where fields go: lines of a table, or members of a JSON object. */
typedef struct printer
{
	bool		json;
	bool		counted;		/* bits, or the header says their number */
	const char *indent;
	const char *before;			/* of the next member */
} printer;

static LIKE_PRINTF(4, 5) void
print_field(printer *to, const char *name, bool quoted, const char *format,...)
{
	char		value[PATH_MAX];
	va_list		arguments;

	va_start(arguments, format);
	vsnprintf(value, sizeof value, format, arguments);
	va_end(arguments);
	if (!to->json)
	{
		printf("%s%-16s%s\n", to->indent, name, value);
		return;
	}
	printf("%s%s\"%s\": ", to->before, to->indent, name);
	to->before = ",\n";
	if (quoted)
		output_json(value);
	else
		printf("%s", value);
}

static void
print_count(printer *to, const char *name, uint64_t count)
{
	print_field(to, name, false, "%" PRIu64, count);
}

/* The shortest decimal that reads back as the same. */
static void
print_double(printer *to, const char *name, double number)
{
	char		text[32];
	int			digits;

	for (digits = 1; digits <= 17; digits++)
	{
		snprintf(text, sizeof text, "%.*g", digits, number);
		if (strtod(text, NULL) == number)
			break;
	}
	print_field(to, name, false, "%s", text);
}

static void
print_info(printer *to, const bloomfilter_info *info)
{
	char		keys[BLOOMFILTER_KEYS_TEXT];

	print_count(to, "n", info->capacity);
	print_double(to, "p", info->rate);
	print_count(to, "bits", info->total_bits);
	print_count(to, "bytes", info->total_bytes);
	print_count(to, "hashes", info->probes);
	print_count(to, "block_bits", info->block_bits);
	print_count(to, "blocks", info->blocks);
	print_field(to, "seed", true, "%" PRId64, (int64_t) info->seed);
	print_field(to, "key_type", true, "%s", bloomfilter_describe_keys(info, keys));
	if (to->counted)
	{
		print_count(to, "bits_set", info->bits_set);
		print_double(to, "fill", info->fill);
		print_count(to, "cardinality", (uint64_t) (info->estimated_keys + 0.5));
		print_double(to, "fpr", info->estimated_rate);
		print_field(to, "over_capacity", false, "%s", info->over_capacity != 0 ? "true" : "false");
	}
	print_count(to, "part", info->part);
	print_count(to, "parts", info->parts);
	print_field(to, "exact", false, "%s", info->exact != 0 ? "true" : "false");
	print_count(to, "others", info->others);
	print_count(to, "format_version", info->version);
	if (to->counted)
		print_field(to, "checksum", true, "%016" PRIx64, info->checksum);
	if (info->slots > 0)
	{
		print_count(to, "changes", info->changes);
		print_count(to, "slots", info->slots);
	}
}

exit_status
command_info(int argc, char **argv)
{
	command_line line = {"info", help, argc, argv};
	printer		to = {false, false, "", ""};
	const command_option options[] = {
		{"json", 0, option_flag, &to.json, 0, 0},
		{"count", 0, option_flag, &to.counted, 0, 0},
		{NULL, 0, NULL, NULL, 0, 0}
	};
	bloomfilter *filter;
	bloomfilter_info info;
	const char *path;
	uint32_t	part;

	read_options(&line, options);
	path = only_operand(&line, "filter");
	filter = open_filter(path, BLOOMFILTER_SKIP_CHECK | (to.counted ? 0 : BLOOMFILTER_SKIP_COUNT));
	info = filter_info(filter, -1);
	to.counted |= info.checksum != 0;
	to.indent = to.json ? "  " : "";
	printf("%s", to.json ? "{\n" : "");
	print_field(&to, "file", true, "%s", path);
	print_info(&to, &info);
	to.indent = to.json ? "      " : "  ";
	for (part = 0; info.open_parts > 1 && part < info.open_parts; part++)
	{
		bloomfilter_info of_part = filter_info(filter, part);

		printf("%s", !to.json ? "\n" : part > 0 ? ",\n    {\n" : ",\n  \"set\": [\n    {\n");
		to.before = "";
		print_info(&to, &of_part);
		printf("%s", to.json ? "\n    }" : "");
	}
	if (to.json)
		printf("%s\n}\n", info.open_parts > 1 ? "\n  ]" : "");
	output_flush();
	bloomfilter_close(filter);
	return STATUS_YES;
}
