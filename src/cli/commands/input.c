/*
 * input.c
 *	  Keys as lines or arguments, on their way to the library.
 */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "messages.h"
#include "output.h"

bool
is_standard(const char *path)
{
	return strcmp(path, "-") == 0;
}

/* ------------------------------------------------------------------------
 * From lines to the function that takes their keys
 * ------------------------------------------------------------------------ */

/* Characters of a bad key that are shown. */
#define SHOWN_CHARACTERS 40

/* Bytes of the keys of a batch, at first: enough for all but long numerics. */
#define ARENA_BYTES ((size_t) 64 * 1024)

/* A batch, memory for those of its keys that are not used as text, and where its lines stand. */
typedef struct key_reader
{
	const key_feed *feed;
	const char *name;			/* "standard input, line", "key" */
	uint64_t	lines;			/* before this batch */
	uint8_t    *arena;
	size_t		room;
	key_batch	batch;
} key_reader;

static void
begin_reader(key_reader *reader, const key_feed *feed, const char *name)
{
	memset(reader, 0, sizeof *reader);
	reader->feed = feed;
	reader->name = name;
	reader->room = ARENA_BYTES;
	reader->arena = allocate(NULL, reader->room, 1);
	reader->batch.key_type = bloomfilter_text_key_type(feed->text_type);
	if (reader->batch.key_type < 0)
		fail("keys of several columns can't be read from text");
}

/* Ends the program for a line; its beginning is shown fit for a message of one line. */
static _Noreturn void
refuse_line(const key_reader *reader, size_t index, const char *problem)
{
	const text_line *line = &reader->batch.lines[index];
	char		shown[SHOWN_CHARACTERS + 4];
	size_t		i;

	for (i = 0; i < line->length && i < SHOWN_CHARACTERS; i++)
		shown[i] = (unsigned char) line->text[i] < ' ' || line->text[i] == 0x7f ? '?' : line->text[i];
	strcpy(shown + i, i < line->length ? "..." : "");
	output_flush();
	fail("%s %" PRIu64 ": \"%s\" %s", reader->name, reader->lines + index + 1, shown, problem);
}

/* Room for the keys of so many lines. */
static void
reserve(key_reader *reader, size_t count)
{
	size_t		room = 0;
	size_t		i;

	for (i = 0; i < count; i++)
		room += bloomfilter_text_room(reader->feed->text_type, reader->batch.lines[i].text, reader->batch.lines[i].length);
	if (room <= reader->room)
		return;
	reader->room = room;
	reader->arena = allocate(reader->arena, room, 1);
}

/* Gives the keys of the batch's first lines on; false when no more are wanted. */
static bool
feed_batch(key_reader *reader, size_t count)
{
	key_batch  *batch = &reader->batch;
	bloomfilter_detail detail;
	size_t		used = 0;
	size_t		done = 0;
	int			code;

	reserve(reader, count);
	for (batch->count = 0; batch->count < count; batch->count++)
	{
		const text_line *line = &batch->lines[batch->count];
		bloomfilter_slice *key = &batch->keys[batch->count];

		if (bloomfilter_text_key(reader->feed->text_type, line->text, line->length, reader->arena + used,
								 reader->room - used, key, &detail) < 0)
			break;
		if (key->bytes != line->text)
			used += key->length;
	}
	code = reader->feed->sink(reader->feed->state, batch, &done);
	if (code == BLOOMFILTER_ERR_OTHER_PART)
		refuse_line(reader, done, "belongs to another part of the set; ask the whole set");
	if (code < 0)
	{
		output_flush();
		fail("%s", bloomfilter_strerror(code));
	}
	if (code == 0 && batch->count < count)
	{
		char	   *problem = text_of("is %s", detail.text);

		refuse_line(reader, batch->count, problem);
	}
	reader->lines += count;
	return code == 0;
}

void
feed_arguments(const key_feed *feed, char **keys, size_t count)
{
	key_reader	reader;
	size_t		i = 0;
	size_t		used;

	begin_reader(&reader, feed, "key");
	do
		for (used = 0; i < count && used < KEY_BATCH; used++, i++)
		{
			reader.batch.lines[used].text = keys[i];
			reader.batch.lines[used].length = strlen(keys[i]);
		}
	while (feed_batch(&reader, used) && i < count);
	free(reader.arena);
}

/* ------------------------------------------------------------------------
 * Lines
 * ------------------------------------------------------------------------ */

/*
 * Bytes read at once.  Few enough to stay in a processor's second cache between
 * being read, split and hashed; many enough for the call not to count.
 */
#define READ_BYTES ((size_t) 256 * 1024)

typedef struct line_buffer
{
	const char *name;			/* for messages */
	int			fd;
	char		delimiter;
	bool		at_end;			/* nothing more to read */
	char	   *bytes;
	size_t		room;
	size_t		begin;			/* first byte not handed out yet */
	size_t		end;			/* after the last byte read */
} line_buffer;

/* Reads once, behind a line that is not complete yet; false at the end, when all was handed out. */
static bool
read_more(line_buffer *buffer)
{
	size_t		kept = buffer->end - buffer->begin;
	ssize_t		got;

	if (buffer->at_end)
		return false;
	if (kept > 0)
		memmove(buffer->bytes, buffer->bytes + buffer->begin, kept);
	if (buffer->room - kept < READ_BYTES)
	{
		buffer->room = 2 * (buffer->room + READ_BYTES);
		buffer->bytes = allocate(buffer->bytes, buffer->room + 1, 1);
	}
	do
		got = read(buffer->fd, buffer->bytes + kept, READ_BYTES);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		fail("cannot read %s: %s", buffer->name, strerror(errno));
	buffer->at_end = got == 0;
	buffer->begin = 0;
	buffer->end = kept + (size_t) got;
	/* the last line may have no delimiter */
	if (buffer->at_end && kept > 0)
		buffer->bytes[buffer->end++] = buffer->delimiter;
	return buffer->end > 0;
}

/* Up to a batch of the lines that are complete. */
static size_t
split(line_buffer *buffer, text_line *lines)
{
	size_t		count;

	for (count = 0; count < KEY_BATCH; count++)
	{
		const char *text = buffer->bytes + buffer->begin;
		const char *end = memchr(text, buffer->delimiter, buffer->end - buffer->begin);

		if (end == NULL)
			break;
		lines[count].text = text;
		lines[count].length = (size_t) (end - text);
		buffer->begin += lines[count].length + 1;
	}
	return count;
}

uint64_t
feed_lines(const key_feed *feed, const char *path, bool null)
{
	bool		standard = is_standard(path);
	line_buffer buffer = {standard ? "standard input" : path, STDIN_FILENO, null ? '\0' : '\n', false, NULL, 0, 0, 0};
	char		name[256];
	key_reader	reader;
	bool		wanted = true;
	size_t		count;

	if (!standard)
		buffer.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (buffer.fd < 0)
		fail("cannot open \"%s\": %s", path, strerror(errno));
	snprintf(name, sizeof name, "%s, line", buffer.name);
	begin_reader(&reader, feed, name);
	while (wanted && read_more(&buffer))
	{
		while (wanted && (count = split(&buffer, reader.batch.lines)) > 0)
			wanted = feed_batch(&reader, count);
		/* answers don't wait for the next question */
		output_flush();
	}
	if (!standard)
		close(buffer.fd);
	free(buffer.bytes);
	free(reader.arena);
	return reader.lines;
}
