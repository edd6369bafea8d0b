/*
 * output.h
 *	  Standard output, buffered, with every failure to write noticed.
 *
 * A full disk is an error, not a shorter answer.  There is one standard output,
 * so there is one buffer.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "messages.h"

/* Adds bytes, or formatted text of at most OUTPUT_TEXT_BYTES. */
#define OUTPUT_TEXT_BYTES	4096

extern void output_bytes(const char *bytes, size_t length);
extern void output_byte(char byte);
extern void output_text(const char *format,...) LIKE_PRINTF(1, 2);

/* A string of JSON, with its quotes. */
extern void output_json(const char *text);

/*
 * Writes a line that tells what was done, which begins as messages do.  One that can't be
 * written is no failure of that: false, with errno.
 */
extern bool output_news(const char *format,...) LIKE_PRINTF(1, 2);

/* Writes what is buffered; a failure ends the program. */
extern void output_flush(void);

/* The same for what is not worth the end: false, with errno. */
extern bool output_try_flush(void);

#endif							/* CLI_OUTPUT_H */
