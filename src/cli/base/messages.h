/*
 * messages.h
 *	  What the program says: messages on standard error, answers on standard output.
 *
 * Every message is one line, "bloomfilter: what is wrong", with what to do about
 * it where that is not plain.
 */
#ifndef CLI_MESSAGES_H
#define CLI_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define LIKE_PRINTF(text, values) __attribute__((format(printf, text, values)))

/* A parameter that others of the same type need. */
#define UNUSED __attribute__((unused))

/* As grep's: 1 is an answer, 2 is no answer. */
typedef enum exit_status
{
	STATUS_YES = 0,
	STATUS_NO = 1,
	STATUS_TROUBLE = 2
} exit_status;

/* Says what is wrong and goes on.  False, as what many functions return then. */
extern bool complain(const char *format,...) LIKE_PRINTF(1, 2);

/* What was said last by it, cut off where it is long. */
extern const char *last_complaint(void);

/* The same of what was done, on standard output; a line that can't be written is no failure of that. */
extern void announce(const char *format,...) LIKE_PRINTF(1, 2);

/* Says what is wrong and ends the program with STATUS_TROUBLE. */
extern _Noreturn void fail(const char *format,...) LIKE_PRINTF(1, 2);

/* From now on each line begins with the time, in UTC. */
extern void messages_have_time(void);

/* "2026-11-21T02:13:04Z" */
#define TIME_TEXT_BYTES sizeof "2026-11-21T02:13:04Z"

extern void message_time(char text[TIME_TEXT_BYTES], time_t time);

/*
 * Writes what standard output has buffered.  A full disk is an error, not a shorter answer: it ends
 * the program.
 */
extern void output_flush(void);

/*
 * A string of JSON, with its quotes, to standard output, and the same in new memory.  Bytes that are not UTF-8, as
 * file names may have, become U+FFFD: JSON has no others.
 */
extern void output_json(const char *text);
extern char *json_text(const char *text);

/*
 * Makes each byte a question mark that could do something to a terminal: control characters,
 * those that turn the direction of text, and what is no UTF-8.
 */
extern void make_plain(char *text);

#endif							/* CLI_MESSAGES_H */
