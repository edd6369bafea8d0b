/*
 * lines.h
 *	  Lines of a file, many at a time, where they were read: no copying.
 *
 * A line ends with the delimiter (newline, or zero byte) and does not contain
 * it; the last one may lack it.  Nothing else is taken away: a carriage return
 * belongs to the line, and an empty line is a line.
 */
#ifndef CLI_LINES_H
#define CLI_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * text[length] may be read: it is the delimiter or a zero byte, so functions
 * that stop at the first foreign character, as strtod does, need no copy.
 */
typedef struct text_line
{
	const char *text;
	size_t		length;
} text_line;

typedef struct line_reader
{
	const char *name;			/* for messages */
	int			fd;
	char		delimiter;
	bool		at_end;			/* nothing more to read */
	char	   *buffer;
	size_t		capacity;
	size_t		begin;			/* first byte not handed out yet */
	size_t		searched;		/* bytes from there without a delimiter */
	size_t		end;			/* after the last byte read */
	uint64_t	bytes;			/* read so far */
	uint64_t	lines;			/* handed out so far */
} line_reader;

extern void line_reader_open(line_reader *reader, const char *path,
							 char delimiter);
extern void line_reader_stdin(line_reader *reader, char delimiter);
extern void line_reader_close(line_reader *reader);

/*
 * Up to max lines that are in the buffer, without reading.  They are valid until
 * the next line_reader_fill.
 */
extern size_t line_reader_take(line_reader *reader, text_line *lines, size_t max);

/*
 * Reads once.  False at the end, when all lines have been taken.  A failure to
 * read ends the program.
 */
extern bool line_reader_fill(line_reader *reader);

/* Bytes of the file, 0 where that is not known. */
extern uint64_t line_reader_size(const line_reader *reader);

#endif							/* CLI_LINES_H */
