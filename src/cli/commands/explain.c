/*
 * explain.c
 *	  bloomfilter explain: what a look-up of one key computes and sees.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "feed_values.h"
#include "input.h"

static const char help[] =
"Usage: bloomfilter explain [OPTION]... FILE KEY\n"
"\n"
"Prints what a look-up of the key computes and sees: the filter's checksum, the\n"
"kind of the key and its bytes, the hash, part and block, each probed bit with its\n"
"value, and the answer.  SQL's bloom_explain prints the same lines: where the two\n"
"differ, the first line that does says why.\n"
"\n"
"  -t, --type TYPE   read the key as this type (default: the filter's key type)\n"
"      --copy        it is a row as COPY ... TO STDOUT prints it\n"
"      --bytes TYPE  KEY is bytes in hexadecimal of a key of this type, as a\n"
"                    reader's key describes itself\n"
"      --help        print this\n"
"\n"
"FILE is a filter, or what pull keeps.  Put -- before a key that begins with a\n"
"minus.\n"
"\n"
"Exit status: 0 if the answer is true, 1 if it is false, 2 if there was an error,\n"
"or the key belongs to a part that is not open.\n";

typedef struct explanation
{
	const bloomfilter *filter;
	int			answer;
	char		text[BLOOMFILTER_EXPLAIN_TEXT];
} explanation;

static int
explain_key(explanation *to, int type, const void *bytes, size_t length)
{
	to->answer = bloomfilter_explain(to->filter, type, bytes, length, to->text);
	return to->answer == BLOOMFILTER_ERR_OTHER_PART || to->answer > 0 ? 0 : to->answer;
}

/* A key_sink. */
static int
explain(void *state, const key_batch *batch, UNUSED size_t *done)
{
	return batch->count == 0 ? 0 : explain_key(state, batch->key_type, batch->keys[0].bytes, batch->keys[0].length);
}

static int
key_type_of_name(const char *name)
{
	int			type;

	for (type = 1; type <= BLOOMFILTER_KEY_ROW; type++)
		if (bloomfilter_key_type_name(type) != NULL && strcmp(bloomfilter_key_type_name(type), name) == 0)
			return type;
	refuse_key_type(name, bloomfilter_key_type_name(BLOOMFILTER_KEY_ROW));
}

/* A key of bytes in hexadecimal; - stands for none. */
static void
explain_bytes(explanation *to, const char *type, const char *hex)
{
	const char *digits = strcmp(hex, "-") == 0 ? "" : hex;
	size_t		length = strlen(digits) / 2;
	uint8_t    *bytes = zeros(length + 1, 1);
	int			code;

	if (!feed_from_hex(bytes, length, digits))
		fail("\"%.40s\" is not bytes in hexadecimal, two digits each", hex);
	code = explain_key(to, key_type_of_name(type), bytes, length);
	if (code == BLOOMFILTER_ERR_KEY)
		fail("no key of type %s has these bytes", type);
	if (code < 0)
		fail("%s", bloomfilter_strerror(code));
	free(bytes);
}

exit_status
command_explain(int argc, char **argv)
{
	command_line line = {"explain", help, argc, argv};
	explanation to = {0};
	key_feed	feed = {.sink = explain, .state = &to};
	const char *bytes_of = NULL;
	const command_option options[] = {
		{"type", 't', option_types, &feed.types, 0, 0},
		{"copy", 0, option_flag, &feed.copy, 0, 0},
		{"bytes", 0, option_text, &bytes_of, 0, 0},
		{NULL, 0, NULL, NULL, 0, 0}
	};
	bloomfilter *filter;

	read_options(&line, options);
	if (argc - optind != 2)
		usage_error(&line, "a filter and one key are needed");
	if (bytes_of != NULL && (feed.copy || feed.types.count > 0))
		usage_error(&line, "--bytes says all of a key: --type and --copy are for texts");
	to.filter = filter = open_filter(argv[optind], 0);
	if (bytes_of != NULL)
		explain_bytes(&to, bytes_of, argv[optind + 1]);
	else
	{
		feed.types = filter_text_types(filter, &feed.types);
		feed_arguments(&feed, argv + optind + 1, 1);
	}
	bloomfilter_close(filter);
	printf("%s\n", to.text);
	output_flush();
	return to.answer < 0 ? STATUS_TROUBLE : to.answer > 0 ? STATUS_YES : STATUS_NO;
}
