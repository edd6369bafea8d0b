/*
 * input.c
 *	  Keys as lines or arguments, on their way to the library.
 */
#include "input.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------------
 * Rows as PostgreSQL's COPY prints them in its text format
 *
 * What COPY FROM reads is read here alike: a backslash before any other character means that one.
 * ------------------------------------------------------------------------ */

/* What at most so many digits behind a backslash mean, of which the first is one; *at is moved behind them. */
static char
numbered(const char **at, const char *end, int base, int most)
{
	char		digits[4] = "";
	char	   *after;
	long		value;

	memcpy(digits, *at, (size_t) (end - *at < most ? end - *at : most));
	value = strtol(digits, &after, base);
	*at += after - digits;
	return (char) (value & 0xff);
}

/* What stands behind a backslash; *at is moved behind it. */
static char
escaped(const char **at, const char *end)
{
	static const char letters[] = "bfnrtv";
	static const char meant[] = "\b\f\n\r\t\v";
	char		character = **at;
	const char *letter = character == '\0' ? NULL : strchr(letters, character);

	if (character >= '0' && character <= '7')
		return numbered(at, end, 8, 3);
	++*at;
	if (character == 'x' && *at < end && isxdigit((unsigned char) **at))
		return numbered(at, end, 16, 2);
	return letter != NULL ? meant[letter - letters] : character;
}

/* A column that ends at the next tab, or at the row's end. */
static text_line
read_column(const char **at, const char *end, char **plain)
{
	const char *tab = memchr(*at, '\t', (size_t) (end - *at));
	text_line	column = {*plain, 0};

	if (tab != NULL)
		end = tab;
	if (end - *at == 2 && memcmp(*at, "\\N", 2) == 0)
	{
		*at = end;
		return (text_line) {NULL, 0};
	}
	while (*at < end)
	{
		char		character = *(*at)++;

		*(*plain)++ = character == '\\' && *at < end ? escaped(at, end) : character;
	}
	column.length = (size_t) (*plain - column.text);
	*(*plain)++ = '\0';
	return column;
}

/*
 * The columns of a row without their escapes; plain has room for the row's length and a byte
 * for each column.  Returns how many there are, of which columns has the first ones.
 */
static size_t
split_row(const text_line *row, char *plain, text_line columns[MOST_COLUMNS])
{
	const char *at = row->text;
	const char *end = at + row->length;
	size_t		count = 0;

	for (;; at++)
	{
		/* of those that are too many nothing is kept but their number */
		char	   *begin = plain;
		text_line	column = read_column(&at, end, &plain);

		if (count < MOST_COLUMNS)
			columns[count] = column;
		else
			plain = begin;
		count++;
		if (at == end)
			return count;
	}
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
	fed_lines	fed;
	uint8_t    *arena;
	size_t		room;
	char	   *plain;			/* columns of rows of COPY, without escapes */
	size_t		plain_room;
	text_line	columns[KEY_BATCH][MOST_COLUMNS];	/* of each line; of other forms it is one itself */
	size_t		number[KEY_BATCH];	/* of the batch's line that a key is from */
	key_batch	batch;
} key_reader;

static key_reader *
begin_reader(const key_feed *feed, const char *name)
{
	key_reader *reader = zeros(1, sizeof *reader);

	reader->feed = feed;
	reader->name = name;
	if (feed->copy && feed->null)
		fail("--copy excludes --null: COPY's rows end with newlines");
	reader->room = ARENA_BYTES;
	reader->arena = allocate(NULL, reader->room, 1);
	reader->batch.key_type = feed->types.count > 1 ? BLOOMFILTER_KEY_ROW : bloomfilter_text_key_type(feed->types.type[0]);
	if (reader->batch.key_type < 0 || (feed->types.count > 1 && !feed->copy))
		fail("keys of several columns are read from what COPY prints: --copy");
	return reader;
}

static fed_lines
end_reader(key_reader *reader)
{
	fed_lines	fed = reader->fed;

	free(reader->arena);
	free(reader->plain);
	free(reader);
	if (fed.nulls > 0)
		complain("%" PRIu64 " of %" PRIu64 " rows have a NULL, and are no keys", fed.nulls, fed.nulls + fed.keys);
	return fed;
}

/* Ends the program for a line, of which the beginning is shown. */
static _Noreturn void
refuse_line(const key_reader *reader, const text_line *line, size_t index, const char *problem)
{
	char		shown[SHOWN_CHARACTERS];
	size_t		length = line->length < sizeof shown ? line->length : sizeof shown;
	size_t		i;

	/* a message ends before a zero byte, and its lines are joined */
	for (i = 0; i < length; i++)
		shown[i] = line->text[i] == '\0' || line->text[i] == '\n' ? '?' : line->text[i];
	output_flush();
	fail("%s %" PRIu64 ": \"%.*s%s\" %s", reader->name, reader->lines + index + 1, (int) length, shown,
		 length < line->length ? "..." : "", problem);
}

/* The columns of so many lines. */
static void
split_columns(key_reader *reader, size_t count)
{
	const key_feed *feed = reader->feed;
	size_t		room = 0;
	size_t		i;
	char	   *plain;

	for (i = 0; i < count; i++)
	{
		reader->columns[i][0] = reader->batch.lines[i];
		room += reader->batch.lines[i].length + MOST_COLUMNS + 1;
	}
	if (!feed->copy)
		return;
	if (room > reader->plain_room)
		reader->plain = allocate(reader->plain, reader->plain_room = room, 1);
	for (i = 0, plain = reader->plain; i < count; plain += reader->batch.lines[i++].length + MOST_COLUMNS + 1)
	{
		size_t		columns = split_row(&reader->batch.lines[i], plain, reader->columns[i]);

		if (columns != feed->types.count)
		{
			char	   *problem = text_of("has %zu columns, not %zu: --type has a type for each, such as integer,text", columns,
										  feed->types.count);

			refuse_line(reader, &reader->batch.lines[i], i, problem);
		}
	}
}

/* Room for the keys of so many lines, rows with their columns' keys behind them. */
static void
reserve(key_reader *reader, size_t count)
{
	const text_types *types = &reader->feed->types;
	size_t		room = 0;
	size_t		i;
	size_t		j;

	for (i = 0; i < count; i++)
		for (j = 0; j < types->count; j++)
		{
			const text_line *column = &reader->columns[i][j];

			room += bloomfilter_text_room(types->type[j], column->text, column->length) +
				(types->count > 1 ? bloomfilter_text_room(types->type[j], column->text, column->length) + column->length + BLOOMFILTER_COLUMN_BYTES : 0);
		}
	if (room <= reader->room)
		return;
	reader->room = room;
	reader->arena = allocate(reader->arena, room, 1);
}

static bool
has_null(const key_reader *reader, size_t line)
{
	size_t		i;

	for (i = 0; i < reader->feed->types.count; i++)
		if (reader->columns[line][i].text == NULL)
			return true;
	return false;
}

/* The key of a line, which takes *used more bytes of the arena; false: it is none. */
static bool
read_key(key_reader *reader, size_t line, bloomfilter_slice *key, size_t *used, bloomfilter_detail *detail)
{
	const text_types *types = &reader->feed->types;
	bloomfilter_row row = {reader->arena + *used, reader->room - *used, 0};
	size_t		i;

	for (i = 0; i < types->count; i++)
	{
		const text_line *column = &reader->columns[line][i];
		size_t		room = bloomfilter_text_room(types->type[i], column->text, column->length);
		bool		alone = types->count == 1;
		/* a column's key is made behind the row, and then becomes a part of it */
		uint8_t    *at = alone ? row.bytes : row.bytes + row.length + BLOOMFILTER_COLUMN_BYTES + room + column->length;

		if (bloomfilter_text_key(types->type[i], column->text, column->length, at, room, key, detail) < 0)
			return false;
		if (alone)
			*used += key->bytes != column->text ? key->length : 0;
		else if (bloomfilter_row_append(&row, bloomfilter_text_key_type(types->type[i]), key->bytes, key->length) < 0)
			fail("a row is too long for a key");
	}
	if (types->count > 1)
	{
		*key = (bloomfilter_slice) {row.bytes, row.length};
		*used += row.length;
	}
	return true;
}

/* Gives the keys of the batch's first lines on; false when no more are wanted. */
static bool
feed_batch(key_reader *reader, size_t count)
{
	key_batch  *batch = &reader->batch;
	bloomfilter_detail detail;
	size_t		used = 0;
	size_t		done = 0;
	size_t		line;
	int			code;

	split_columns(reader, count);
	reserve(reader, count);
	batch->count = 0;
	for (line = 0; line < count; line++)
	{
		if (has_null(reader, line))
		{
			reader->fed.nulls++;
			continue;
		}
		if (!read_key(reader, line, &batch->keys[batch->count], &used, &detail))
			break;
		batch->lines[batch->count] = batch->lines[line];
		reader->number[batch->count++] = line;
	}
	code = batch->count == 0 ? 0 : reader->feed->sink(reader->feed->state, batch, &done);
	if (code == BLOOMFILTER_ERR_OTHER_PART)
		refuse_line(reader, &batch->lines[done], reader->number[done], "belongs to another part of the set; ask the whole set");
	if (code < 0)
	{
		output_flush();
		fail("%s", bloomfilter_strerror(code));
	}
	if (code == 0 && line < count)
	{
		char	   *problem = text_of("is %s", detail.text);

		refuse_line(reader, &batch->lines[line], line, problem);
	}
	reader->fed.keys += batch->count;
	reader->lines += count;
	return code == 0;
}

void
feed_arguments(const key_feed *feed, char **keys, size_t count)
{
	key_reader *reader = begin_reader(feed, "key");
	size_t		i = 0;
	size_t		used;

	do
		for (used = 0; i < count && used < KEY_BATCH; used++, i++)
			reader->batch.lines[used] = (text_line) {keys[i], strlen(keys[i])};
	while (feed_batch(reader, used) && i < count);
	(void) end_reader(reader);
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
		lines[count] = (text_line) {text, (size_t) (end - text)};
		buffer->begin += lines[count].length + 1;
	}
	return count;
}

/* What lines that came from another system than COPY's have, and no key has. */
static void
look_for_marks(key_reader *reader, size_t count)
{
	static const char mark[] = "\xef\xbb\xbf";
	const text_line *lines = reader->batch.lines;
	size_t		i;

	if (reader->lines == 0 && count > 0 && lines[0].length >= strlen(mark) && memcmp(lines[0].text, mark, strlen(mark)) == 0)
		reader->fed.byte_order_mark = true;
	for (i = 0; i < count; i++)
	{
		reader->fed.returns += lines[i].length > 0 && lines[i].text[lines[i].length - 1] == '\r';
		reader->fed.like_nulls += lines[i].length == 2 && memcmp(lines[i].text, "\\N", 2) == 0;
	}
}

fed_lines
feed_lines(const key_feed *feed, const char *path)
{
	bool		standard = strcmp(path, "-") == 0;
	line_buffer buffer = {standard ? "standard input" : path, STDIN_FILENO, feed->null ? '\0' : '\n', false, NULL, 0, 0, 0};
	char		name[256];
	key_reader *reader;
	bool		wanted = true;
	size_t		count;

	if (!standard)
		buffer.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (buffer.fd < 0)
		fail("cannot open \"%s\": %s", path, strerror(errno));
	snprintf(name, sizeof name, "%s, line", buffer.name);
	reader = begin_reader(feed, name);
	while (wanted && read_more(&buffer))
	{
		while (wanted && (count = split(&buffer, reader->batch.lines)) > 0)
		{
			look_for_marks(reader, count);
			wanted = feed_batch(reader, count);
		}
		/* answers don't wait for the next question */
		output_flush();
	}
	if (!standard)
		close(buffer.fd);
	free(buffer.bytes);
	return end_reader(reader);
}
