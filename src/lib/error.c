/*
 * error.c
 *	  Error codes, their texts, and details.
 *
 * The texts of the format's rules are the core's: each rule is worded once.
 */
#define _POSIX_C_SOURCE 200809L

#include "handle.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Codes of the format's rules are made of the core's numbers. */
#define FORMAT_CODE(status) (-100 - (int) (status))

_Static_assert(FORMAT_CODE(BF_BAD_LENGTH) == BLOOMFILTER_ERR_FORMAT_LENGTH &&
			   FORMAT_CODE(BF_BAD_CHECKSUM) == BLOOMFILTER_ERR_FORMAT_CHECKSUM &&
			   FORMAT_CODE(BF_BAD_LEVELS) == BLOOMFILTER_ERR_FORMAT_LEVELS, "rules have the numbers of their codes");

/* By the negated code. */
static const char *const texts[] = {
	[-BLOOMFILTER_OK] = "no error",
	[-BLOOMFILTER_ERR_NO_MEMORY] = "out of memory",
	[-BLOOMFILTER_ERR_SYSTEM] = "system call failed",
	[-BLOOMFILTER_ERR_ARGUMENT] = "argument is out of range",
	[-BLOOMFILTER_ERR_FOLLOWED] = "file changes while it is read: open it with BLOOMFILTER_COPY",
	[-BLOOMFILTER_ERR_KEY_TYPE] = "bloomfilter holds keys of another type",
	[-BLOOMFILTER_ERR_KEY] = "not a valid key of its type",
	[-BLOOMFILTER_ERR_OTHER_PART] = "key belongs to another part of the set",
	[-BLOOMFILTER_ERR_PAGE] = "first page of the file is damaged, or of another length",
	[-BLOOMFILTER_ERR_SET] = "parts are damaged, or not one whole set",
	[-BLOOMFILTER_ERR_CHANGES] = "table of changes is damaged",
	[-BLOOMFILTER_ERR_LOST] = "file was written to by another program, or its bits were damaged",
	[-BLOOMFILTER_ERR_IDENTITY] = "file is of another list",
	[-BLOOMFILTER_ERR_TOO_LARGE] = "filter would be larger than 512 MiB",
	[-BLOOMFILTER_ERR_RATE] = "no filter reaches this false-positive rate",
	[-BLOOMFILTER_ERR_CONFLICT] = "keys are members and others at once, or one of each has the same 64-bit hash",
};

const char *
bloomfilter_strerror(int code)
{
	const char *text = NULL;

	if (code <= BLOOMFILTER_ERR_FORMAT_LENGTH && code >= BLOOMFILTER_ERR_FORMAT_LEVELS)
		text = bf_status_text((bf_status) (-100 - code));
	else if (code <= 0 && code > -(int) (sizeof texts / sizeof texts[0]))
		text = texts[-code];
	return text == NULL ? "unknown error" : text;
}

/* Of a long path the end says more than the beginning, and the text says most. */
static void
write_detail(char *line, size_t size, const char *subject, const char *text)
{
	size_t		length = strlen(subject);
	size_t		used = length + strlen(text) + sizeof "...: ";
	size_t		cut = used > size ? used - size : 0;

	if (cut > length)
		cut = length;
	snprintf(line, size, "%s%s: %s", cut > 0 ? "..." : "", subject[0] == '\0' ? "\"\"" : subject + cut, text);
}

int
lbf_fail_text(bloomfilter_detail *detail, int code, const char *subject,
			  const char *text)
{
	if (detail == NULL)
		return code;
	detail->code = code;
	detail->system_error = 0;
	if (subject != NULL)
		write_detail(detail->text, sizeof detail->text, subject, text);
	else
		snprintf(detail->text, sizeof detail->text, "%s", text);
	return code;
}

int
lbf_fail(bloomfilter_detail *detail, int code, const char *subject)
{
	return lbf_fail_text(detail, code, subject, bloomfilter_strerror(code));
}

int
lbf_fail_system(bloomfilter_detail *detail, const char *subject,
				const char *action)
{
	int			error = errno;
	char		reason[128];
	char		text[256];

	if (error == ENOMEM)
		return lbf_fail(detail, BLOOMFILTER_ERR_NO_MEMORY, subject);
	if (detail == NULL)
		return BLOOMFILTER_ERR_SYSTEM;
	if (strerror_r(error, reason, sizeof reason) != 0)
		snprintf(reason, sizeof reason, "error %d", error);
	snprintf(text, sizeof text, "could not %s: %s", action, reason);
	lbf_fail_text(detail, BLOOMFILTER_ERR_SYSTEM, subject, text);
	detail->system_error = error;
	return BLOOMFILTER_ERR_SYSTEM;
}

int
lbf_fail_format(bloomfilter_detail *detail, bf_status status,
				const char *subject, const uint8_t *bytes)
{
	char		text[64];

	if (status != BF_BAD_VERSION)
		return lbf_fail(detail, FORMAT_CODE(status), subject);
	snprintf(text, sizeof text, "%s %u", bf_status_text(status), bf_format_version(bytes));
	return lbf_fail_text(detail, BLOOMFILTER_ERR_FORMAT_VERSION, subject, text);
}
