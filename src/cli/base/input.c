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
#include <sys/stat.h>
#include <unistd.h>

#include "messages.h"
#include "output.h"

/* ------------------------------------------------------------------------
 * Lines
 * ------------------------------------------------------------------------ */

/*
 * Bytes read at once.  Few enough to stay in a processor's second cache between
 * being read, split and hashed; many enough for the call not to count.
 */
#define READ_BYTES ((size_t) 256 * 1024)

static void
reader_init(line_reader *reader, const char *name, int fd, char delimiter)
{
	memset(reader, 0, sizeof *reader);
	reader->name = name;
	reader->fd = fd;
	reader->delimiter = delimiter;
	reader->capacity = READ_BYTES;
	reader->buffer = allocate(NULL, reader->capacity + 1, 1);
}

void
line_reader_open(line_reader *reader, const char *path, char delimiter)
{
	int			fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		fail("cannot open \"%s\": %s", path, strerror(errno));
	reader_init(reader, path, fd, delimiter);
}

void
line_reader_stdin(line_reader *reader, char delimiter)
{
	reader_init(reader, "standard input", STDIN_FILENO, delimiter);
}

void
line_reader_close(line_reader *reader)
{
	if (reader->fd != STDIN_FILENO)
		close(reader->fd);
	free(reader->buffer);
	reader->buffer = NULL;
}

/* The rest of the file, which no delimiter ends. */
static size_t
take_last(line_reader *reader, text_line *last)
{
	if (!reader->at_end || reader->begin == reader->end)
		return 0;
	last->text = reader->buffer + reader->begin;
	last->length = reader->end - reader->begin;
	reader->buffer[reader->end] = '\0';
	reader->begin = reader->end;
	reader->searched = 0;
	return 1;
}

size_t
line_reader_take(line_reader *reader, text_line *lines, size_t max)
{
	size_t		count = 0;

	while (count < max)
	{
		const char *text = reader->buffer + reader->begin;
		size_t		left = reader->end - reader->begin;
		const char *delimiter = memchr(text + reader->searched,
									   reader->delimiter,
									   left - reader->searched);

		if (delimiter == NULL)
		{
			reader->searched = left;
			count += take_last(reader, &lines[count]);
			break;
		}
		lines[count].text = text;
		lines[count].length = (size_t) (delimiter - text);
		reader->begin += lines[count].length + 1;
		reader->searched = 0;
		count++;
	}
	reader->lines += count;
	return count;
}

/* Makes room for one more read after the line that is not complete yet. */
static void
make_room(line_reader *reader)
{
	size_t		kept = reader->end - reader->begin;

	memmove(reader->buffer, reader->buffer + reader->begin, kept);
	reader->begin = 0;
	reader->end = kept;
	if (reader->capacity - kept < READ_BYTES)
	{
		reader->capacity = 2 * reader->capacity;
		reader->buffer = allocate(reader->buffer, reader->capacity + 1, 1);
	}
}

bool
line_reader_fill(line_reader *reader)
{
	ssize_t		got;

	if (reader->at_end)
		return false;
	make_room(reader);
	do
		got = read(reader->fd, reader->buffer + reader->end, READ_BYTES);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		fail("cannot read %s: %s", reader->name, strerror(errno));
	reader->at_end = got == 0;
	reader->end += (size_t) got;
	reader->bytes += (uint64_t) got;
	return !reader->at_end || reader->end > 0;
}

uint64_t
line_reader_size(const line_reader *reader)
{
	struct stat status;

	if (fstat(reader->fd, &status) != 0 || !S_ISREG(status.st_mode))
		return 0;
	return (uint64_t) status.st_size;
}

/* ------------------------------------------------------------------------
 * Keys
 * ------------------------------------------------------------------------ */

/* Bytes of the keys of a batch, at first: enough for all but long numerics. */
#define ARENA_BYTES ((size_t) 64 * 1024)

void
key_batch_init(key_batch *batch, int text_type)
{
	batch->text_type = text_type;
	batch->key_type = bloomfilter_text_key_type(text_type);
	if (batch->key_type < 0)
		fail("keys of several columns can't be read from text");
	batch->count = 0;
	batch->used = 0;
	batch->capacity = ARENA_BYTES;
	batch->arena = allocate(NULL, batch->capacity, 1);
}

void
key_batch_clear(key_batch *batch)
{
	batch->count = 0;
	batch->used = 0;
}

void
key_batch_free(key_batch *batch)
{
	free(batch->arena);
	batch->arena = NULL;
}

/* False where the batch must be asked and cleared first. */
static bool
arena_reserve(key_batch *batch, size_t bytes)
{
	if (bytes <= batch->capacity - batch->used)
		return true;
	if (batch->count > 0)
		return false;
	batch->capacity = bytes;
	batch->arena = allocate(batch->arena, batch->capacity, 1);
	return true;
}

size_t
key_batch_add(key_batch *batch, const text_line *lines, size_t count,
			  bloomfilter_detail *detail)
{
	size_t		i;

	detail->code = BLOOMFILTER_OK;
	for (i = 0; i < count && batch->count < KEY_BATCH; i++)
	{
		const text_line *line = &lines[i];
		bloomfilter_slice *key = &batch->keys[batch->count];
		size_t		room = bloomfilter_text_room(batch->text_type, line->text, line->length);

		if (!arena_reserve(batch, room) ||
			bloomfilter_text_key(batch->text_type, line->text, line->length,
								 batch->arena + batch->used, room, key, detail) < 0)
			break;
		if (key->bytes != line->text)
			batch->used += key->length;
		batch->count++;
	}
	return i;
}

/* ------------------------------------------------------------------------
 * From lines to the function that takes their keys
 * ------------------------------------------------------------------------ */

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

/* Says so, and ends the program unless such lines are skipped. */
static void
refuse_key(const key_feed *feed, const key_origin *origin, const text_line *lines,
		   size_t index, const char *problem)
{
	char		shown[SHOWN_CHARACTERS + 4];

	show_key(&lines[index], shown);
	output_flush();
	complain("%s %" PRIu64 ": \"%s\" is %s", origin->name, origin->first + index,
			 shown, problem);
	if (feed->skipped == NULL)
		exit(STATUS_TROUBLE);
	++*feed->skipped;
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
			refuse_key(feed, origin, lines, begin++, detail.text);
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
