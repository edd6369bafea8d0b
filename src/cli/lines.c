/*
 * lines.c
 *	  Lines of a file, many at a time, where they were read.
 */
#include "lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "messages.h"

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
