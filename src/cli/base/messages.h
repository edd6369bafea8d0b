/*
 * messages.h
 *	  What is said and printed; memory, whose lack ends the program; files, clocks, random numbers.
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

/* As grep's: 1 is an answer, 2 is no answer. */
typedef enum exit_status
{
	STATUS_YES = 0,
	STATUS_NO = 1,
	STATUS_TROUBLE = 2
} exit_status;

/* Says what is wrong and goes on. */
extern void complain(const char *format,...) LIKE_PRINTF(1, 2);

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
 * Standard output, buffered.  A full disk is an error, not a shorter answer: each of these ends the
 * program then.
 */
extern void output_bytes(const char *bytes, size_t length);
extern void output_byte(char byte);
extern void output_text(const char *format,...) LIKE_PRINTF(1, 2);
extern void output_flush(void);

/*
 * A string of JSON, with its quotes, and the same in new memory.  Bytes that are not UTF-8, as
 * file names may have, become U+FFFD: JSON has no others.
 */
extern void output_json(const char *text);
extern char *json_text(const char *text);

/*
 * Makes each byte a question mark that could do something to a terminal: control characters,
 * those that turn the direction of text, and what is no UTF-8.
 */
extern void make_plain(char *text);

/* Memory, or the end of the program.  That of zeros is all zero. */
extern void *allocate(void *old, size_t count, size_t size);
extern void *zeros(size_t count, size_t size);

/* As sprintf, in new memory. */
extern char *text_of(const char *format,...) LIKE_PRINTF(1, 2);

/* Seconds by which the clocks of two machines may differ where both are right. */
#define CLOCKS_DIFFER 60

/* By a clock that nobody sets: since some moment. */
extern double monotonic_seconds(void);

/* Microseconds since 1970, and since the boot. */
extern uint64_t time_now(void);
extern uint64_t boot_time_now(void);

/* What tells this boot of this host from all others; all zeros where the system has none. */
extern void read_boot_id(uint8_t boot[16]);

/* All of it, from this byte of a file on; false with errno.  A file that is shorter gives EIO. */
extern bool write_all(int fd, const void *bytes, size_t length, uint64_t at);
extern bool read_all(int fd, void *bytes, size_t length, uint64_t at);

/* A whole regular file of at most so many bytes, in new memory with a zero byte behind; NULL, with errno. */
extern uint8_t *read_file(int folder, const char *name, size_t most, size_t *length);

/* 0 to 1, by srandom(); what nobody can guess comes from libsodium. */
extern double random_share(void);

#endif							/* CLI_MESSAGES_H */
