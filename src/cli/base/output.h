/*
 * output.h
 *	  Standard output, buffered, with every failure to write noticed.
 *
 * A full disk is an error, not a shorter answer: each of these ends the program then.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "messages.h"

extern void output_bytes(const char *bytes, size_t length);
extern void output_byte(char byte);
extern void output_text(const char *format,...) LIKE_PRINTF(1, 2);

/*
 * A string of JSON, with its quotes, and the same in new memory.  Bytes that are not UTF-8, as
 * file names may have, become U+FFFD: JSON has no others.
 */
extern void output_json(const char *text);
extern char *json_text(const char *text);

extern void output_flush(void);

#endif							/* CLI_OUTPUT_H */
