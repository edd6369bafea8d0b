/*
 * messages.h
 *	  Exit statuses, and what is said on standard error.
 *
 * Every message is one line, "bloomfilter: what is wrong", with what to do about
 * it where that is not plain.
 */
#ifndef CLI_MESSAGES_H
#define CLI_MESSAGES_H

#include <stddef.h>

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

/* Says what is wrong and ends the program with STATUS_TROUBLE. */
extern _Noreturn void fail(const char *format,...) LIKE_PRINTF(1, 2);

/* Memory, or the end of the program. */
extern void *allocate(void *old, size_t count, size_t size);

#endif							/* CLI_MESSAGES_H */
