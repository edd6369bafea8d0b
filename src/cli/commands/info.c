/*
 * info.c
 *	  bloomfilter info: what is in a filter.
 *
 * The names are those of SQL's bloom_stats.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "options.h"
#include "output.h"

static const char help[] =
"Usage: bloomfilter info [--json] FILE\n"
"\n"
"Prints what is in a filter, after checking it.  FILE is a filter, the manifest\n"
"of a set of parts, or a folder with one: then of all parts together and of each.\n"
"FILE - is standard input.\n"
"\n"
"      --json  as one JSON object; seed and checksum are strings there, since\n"
"              many programs read JSON's numbers as 53 bits\n"
"      --help  print this\n"
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
"\n"
"Exit status: 0, or 2 if it is no valid filter.\n";

#define OPTION_JSON OPTION_ANY

static const struct option names[] = {
	OPTION_HELP_ENTRY,
	{"json", no_argument, NULL, OPTION_JSON},
	{NULL, 0, NULL, 0}
};

/* ------------------------------------------------------------------------
 * JSON
 * ------------------------------------------------------------------------ */


/* Writes a double into text: the shortest decimal that reads back as the same. */
#define NUMBER_TEXT_BYTES	32

static void
shortest_double(char text[NUMBER_TEXT_BYTES], double number)
{
	int			digits;

	for (digits = 1; digits <= 17; digits++)
	{
		snprintf(text, NUMBER_TEXT_BYTES, "%.*g", digits, number);
		if (strtod(text, NULL) == number)
			break;
	}
}

/* ------------------------------------------------------------------------
 * Fields
 * ------------------------------------------------------------------------ */

/* One line of the table, or one member of the JSON object. */
#define FIELDS_MAX	24

typedef struct field
{
	const char *name;
	bool		quoted;			/* a string in JSON */
	char		value[BLOOMFILTER_KEYS_TEXT];
} field;

typedef struct field_list
{
	int			count;
	field		fields[FIELDS_MAX];
} field_list;

static field *
new_field(field_list *list, const char *name)
{
	field	   *new = &list->fields[list->count++];

	memset(new, 0, sizeof *new);
	new->name = name;
	return new;
}

static void
add_count(field_list *list, const char *name, uint64_t count)
{
	snprintf(new_field(list, name)->value, NUMBER_TEXT_BYTES, "%" PRIu64, count);
}

static void
add_double(field_list *list, const char *name, double number)
{
	shortest_double(new_field(list, name)->value, number);
}

static field *
add_string(field_list *list, const char *name)
{
	field	   *new = new_field(list, name);

	new->quoted = true;
	return new;
}

static void
add_bool(field_list *list, const char *name, bool value)
{
	strcpy(new_field(list, name)->value, value ? "true" : "false");
}

static field_list
describe(const bloomfilter_info *info)
{
	field_list	list = {0};

	add_count(&list, "n", info->capacity);
	add_double(&list, "p", info->rate);
	add_count(&list, "bits", info->total_bits);
	add_count(&list, "bytes", info->total_bytes);
	add_count(&list, "hashes", info->probes);
	add_count(&list, "block_bits", info->block_bits);
	add_count(&list, "blocks", info->blocks);
	snprintf(add_string(&list, "seed")->value, NUMBER_TEXT_BYTES, "%" PRId64,
			 (int64_t) info->seed);
	bloomfilter_describe_keys(info, add_string(&list, "key_type")->value);
	add_count(&list, "bits_set", info->bits_set);
	add_double(&list, "fill", info->fill);
	add_count(&list, "cardinality", (uint64_t) (info->estimated_keys + 0.5));
	add_double(&list, "fpr", info->estimated_rate);
	add_bool(&list, "over_capacity", info->over_capacity != 0);
	add_count(&list, "part", info->part);
	add_count(&list, "parts", info->parts);
	add_bool(&list, "exact", info->exact != 0);
	add_count(&list, "others", info->others);
	add_count(&list, "format_version", info->version);
	snprintf(add_string(&list, "checksum")->value, NUMBER_TEXT_BYTES,
			 "%016" PRIx64, info->checksum);
	return list;
}

static void
print_table(const field_list *list, const char *indent)
{
	int			i;

	for (i = 0; i < list->count; i++)
		output_text("%s%-16s%s\n", indent, list->fields[i].name,
					list->fields[i].value);
}

/* Members of an object, without its braces. */
static void
print_members(const field_list *list, const char *indent)
{
	int			i;

	for (i = 0; i < list->count; i++)
	{
		const field *member = &list->fields[i];

		output_text("%s%s\"%s\": ", i > 0 ? ",\n" : "", indent, member->name);
		if (member->quoted)
			output_json(member->value);
		else
			output_text("%s", member->value);
	}
}

static field_list
describe_part(const bloomfilter *filter, int64_t part)
{
	bloomfilter_info info = filter_info(filter, part);

	return describe(&info);
}

static void
print_text(const char *path, const bloomfilter *filter)
{
	bloomfilter_info info = filter_info(filter, -1);
	field_list	list = describe(&info);
	uint32_t	part;

	output_text("%-16s", "file");
	output_bytes(path, strlen(path));
	output_byte('\n');
	print_table(&list, "");
	for (part = 0; info.open_parts > 1 && part < info.open_parts; part++)
	{
		list = describe_part(filter, part);
		output_text("\n");
		print_table(&list, "  ");
	}
}

static void
print_json(const char *path, const bloomfilter *filter)
{
	bloomfilter_info info = filter_info(filter, -1);
	field_list	list = describe(&info);
	uint32_t	part;

	output_text("{\n  \"file\": ");
	output_json(path);
	output_text(",\n");
	print_members(&list, "  ");
	if (info.open_parts > 1)
		output_text(",\n  \"set\": [");
	for (part = 0; info.open_parts > 1 && part < info.open_parts; part++)
	{
		list = describe_part(filter, part);
		output_text("%s\n    {\n", part > 0 ? "," : "");
		print_members(&list, "      ");
		output_text("\n    }");
	}
	output_text("%s\n}\n", info.open_parts > 1 ? "\n  ]" : "");
}

exit_status
command_info(int argc, char **argv)
{
	command_line line = {"info", help, ":", names, argc, argv};
	bloomfilter *filter;
	const char *path;
	bool		json = false;
	int			option;

	while ((option = next_option(&line)) != -1)
		json = option == OPTION_JSON;
	path = only_operand(&line, "filter");
	filter = open_filter(path);
	if (json)
		print_json(path, filter);
	else
		print_text(path, filter);
	output_flush();
	bloomfilter_close(filter);
	return STATUS_YES;
}
