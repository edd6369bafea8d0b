/*
 * feed.c
 *	  Leads keys from lines or arguments, batch by batch, to whoever wants them.
 */
#include "feed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "messages.h"
#include "output.h"

/* Characters of a bad key that are shown. */
#define SHOWN_CHARACTERS 40

/* Where a line stands. */
typedef struct key_origin
{
	const char *name;			/* "standard input, line", "key" */
	uint64_t	first;			/* number of the first line */
} key_origin;

/* The beginning of a key, fit for a message of one line. */
static void
show_key(const text_line *key, char shown[SHOWN_CHARACTERS + 4])
{
	size_t		i;

	for (i = 0; i < key->length && i < SHOWN_CHARACTERS; i++)
		shown[i] = (unsigned char) key->text[i] < ' ' ||
			key->text[i] == 0x7f ? '?' : key->text[i];
	strcpy(shown + i, i < key->length ? "..." : "");
}

static _Noreturn void
refuse_key(const key_origin *origin, const text_line *lines,
		   size_t index, const char *problem)
{
	char		shown[SHOWN_CHARACTERS + 4];

	show_key(&lines[index], shown);
	output_flush();
	fail("%s %" PRIu64 ": \"%s\" is %s", origin->name, origin->first + index,
		 shown, problem);
}

static _Noreturn void
refuse_code(const key_origin *origin, const text_line *lines, size_t index, int code)
{
	char		shown[SHOWN_CHARACTERS + 4];

	output_flush();
	if (code != BLOOMFILTER_ERR_OTHER_PART)
		fail("%s", bloomfilter_strerror(code));
	show_key(&lines[index], shown);
	fail("%s %" PRIu64 ": \"%s\" belongs to another part of the set; ask the set's manifest or folder",
		 origin->name, origin->first + index, shown);
}

/* False when the sink wants no more. */
static bool
feed_some(const key_feed *feed, key_batch *batch, const key_origin *origin,
		  const text_line *lines, size_t count)
{
	size_t		begin = 0;

	while (begin < count)
	{
		bloomfilter_detail detail;
		size_t		added;
		size_t		done = 0;
		int			code;

		key_batch_clear(batch);
		added = key_batch_add(batch, lines + begin, count - begin, &detail);
		code = feed->sink(feed->state, batch, lines + begin, &done);
		if (code < 0)
			refuse_code(origin, lines, begin + done, code);
		if (code > 0)
			return false;
		begin += added;
		if (detail.code != BLOOMFILTER_OK)
			refuse_key(origin, lines, begin, detail.text);
	}
	return true;
}

static void
show_progress(const key_feed *feed, const line_reader *reader, uint64_t size)
{
	if (feed->progress == NULL)
		return;
	if (size > 0)
		progress_update(feed->progress, reader->lines, reader->bytes, size);
	else
		progress_update(feed->progress, reader->lines, reader->lines,
						feed->expected);
}

/* All lines that are in the buffer; false when the sink wants no more. */
static bool
feed_buffer(const key_feed *feed, key_batch *batch, const char *name,
			line_reader *reader)
{
	text_line		lines[KEY_BATCH];
	size_t		count;

	while ((count = line_reader_take(reader, lines, KEY_BATCH)) > 0)
	{
		key_origin	origin = {name, reader->lines - count + 1};

		if (!feed_some(feed, batch, &origin, lines, count))
			return false;
	}
	return true;
}

uint64_t
feed_lines(const key_feed *feed, line_reader *reader)
{
	uint64_t	size = line_reader_size(reader);
	char		name[256];
	key_batch	batch;

	snprintf(name, sizeof name, "%s, line", reader->name);
	key_batch_init(&batch, feed->text_type);
	while (line_reader_fill(reader))
	{
		if (!feed_buffer(feed, &batch, name, reader))
			break;
		/* answers don't wait for the next question */
		output_flush();
		show_progress(feed, reader, size);
	}
	key_batch_free(&batch);
	return reader->lines;
}

void
feed_arguments(const key_feed *feed, char **keys, size_t count)
{
	text_line	   *lines = allocate(NULL, count, sizeof *lines);
	key_origin	origin = {"key", 1};
	key_batch	batch;
	size_t		i;

	for (i = 0; i < count; i++)
	{
		lines[i].text = keys[i];
		lines[i].length = strlen(keys[i]);
	}
	key_batch_init(&batch, feed->text_type);
	feed_some(feed, &batch, &origin, lines, count);
	key_batch_free(&batch);
	free(lines);
}
