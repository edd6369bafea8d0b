/*
 * messages.h
 *	  What is said on standard error, and memory, whose lack ends the program.
 *
 * Every message is one line, "bloomfilter: what is wrong", with what to do about
 * it where that is not plain.  On a terminal, one more line says how far a long run
 * has come; nothing that is kept or piped has it.
 */
#ifndef CLI_MESSAGES_H
#define CLI_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* ------------------------------------------------------------------------
 * Messages
 * ------------------------------------------------------------------------ */

#if defined(__GNUC__)
#define LIKE_PRINTF(text, values) __attribute__((format(printf, text, values)))
#else
#define LIKE_PRINTF(text, values)
#endif

/* As grep's: 1 is an answer, 2 is no answer. */
typedef enum exit_status
{
	STATUS_YES = 0,
	STATUS_NO = 1,
	STATUS_TROUBLE = 2
} exit_status;

/* Says what is wrong and goes on. */
extern void complain(const char *format,...) LIKE_PRINTF(1, 2);

/* What messages are about from now on, which they begin with: "users: ", or "" for NULL. */
extern void message_about(const char *subject);
extern const char *message_subject(void);

/* What was said last by it, cut off where it is long. */
extern const char *last_complaint(void);

/* Says what is wrong and ends the program with STATUS_TROUBLE. */
extern _Noreturn void fail(const char *format,...) LIKE_PRINTF(1, 2);

/* From now on each line begins with the time, in UTC. */
extern void messages_have_time(void);

/* "2026-11-21T02:13:04Z", and what a line begins with: that and a space, or "". */
#define TIME_TEXT_BYTES sizeof "2026-11-21T02:13:04Z"

extern void message_time(char text[TIME_TEXT_BYTES], time_t time);
extern void message_prefix(char text[TIME_TEXT_BYTES + 1]);

/*
 * Makes each byte a question mark that could do something to a terminal: control characters,
 * those that turn the direction of text, and what is no UTF-8.
 */
extern void make_plain(char *text);

/* Memory, or the end of the program. */
extern void *allocate(void *old, size_t count, size_t size);

/* As sprintf, in new memory. */
extern char *text_of(const char *format,...) LIKE_PRINTF(1, 2);

/* ------------------------------------------------------------------------
 * How far a long run has come
 * ------------------------------------------------------------------------ */

typedef struct progress_bar
{
	bool		shown;
	const char *label;
	const char *unit;			/* "keys", or "bytes", which are scaled */
	double		started;		/* seconds */
	double		drawn;
} progress_bar;

/* wanted: false where the user asked for silence. */
extern void progress_start(progress_bar *progress, const char *label,
						   const char *unit, bool wanted);

/*
 * Draws, at most ten times a second: count in the unit, and the bar at done out
 * of total, which may be counted in something else; 0 if total is not known.
 */
extern void progress_update(progress_bar *progress, uint64_t count,
							uint64_t done, uint64_t total);

/* Draws no more, and clears the line. */
extern void progress_end(progress_bar *progress);

/* Clears the line, if there is one, for something else to be said. */
extern void progress_clear(void);

/* "117 MiB" for bytes (powers of 1024), "12.3 M" for others (of 1000). */
#define SCALE_TEXT_BYTES	32

extern void scale(char text[SCALE_TEXT_BYTES], double number, bool bytes);

/* Seconds by which the clocks of two machines may differ where both are right. */
#define CLOCKS_DIFFER 60

/* The clock that it goes by: seconds since some moment. */
extern double monotonic_seconds(void);

#endif							/* CLI_MESSAGES_H */
