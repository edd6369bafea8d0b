/*
 * error.c
 *	  Error codes, their texts, and details.
 *
 * The texts of the format's rules are the core's: each rule is worded once.
 */
#define _POSIX_C_SOURCE 200809L

#include "error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* No default: the compiler tells when the core has a rule that is not here. */
int
lbf_format_code(bf_status status)
{
	switch (status)
	{
		case BF_OK:
			return BLOOMFILTER_OK;
		case BF_BAD_LENGTH:
			return BLOOMFILTER_ERR_FORMAT_LENGTH;
		case BF_BAD_MAGIC:
			return BLOOMFILTER_ERR_FORMAT_MAGIC;
		case BF_BAD_VERSION:
			return BLOOMFILTER_ERR_FORMAT_VERSION;
		case BF_BAD_HEADER_CHECKSUM:
			return BLOOMFILTER_ERR_FORMAT_HEADER_CHECKSUM;
		case BF_BAD_HASH:
			return BLOOMFILTER_ERR_FORMAT_HASH;
		case BF_BAD_PROBES:
			return BLOOMFILTER_ERR_FORMAT_PROBES;
		case BF_BAD_BLOCK_BITS:
			return BLOOMFILTER_ERR_FORMAT_BLOCK_BITS;
		case BF_BAD_KEY_TYPE:
			return BLOOMFILTER_ERR_FORMAT_KEY_TYPE;
		case BF_BAD_COLUMNS:
			return BLOOMFILTER_ERR_FORMAT_COLUMNS;
		case BF_BAD_BLOCKS:
			return BLOOMFILTER_ERR_FORMAT_BLOCKS;
		case BF_BAD_SIZE:
			return BLOOMFILTER_ERR_FORMAT_SIZE;
		case BF_BAD_PARTS:
			return BLOOMFILTER_ERR_FORMAT_PARTS;
		case BF_BAD_CAPACITY:
			return BLOOMFILTER_ERR_FORMAT_CAPACITY;
		case BF_BAD_RATE:
			return BLOOMFILTER_ERR_FORMAT_RATE;
		case BF_BAD_BITS_SET:
			return BLOOMFILTER_ERR_FORMAT_BITS_SET;
		case BF_BAD_EMPTY:
			return BLOOMFILTER_ERR_FORMAT_EMPTY;
		case BF_BAD_CHECKSUM:
			return BLOOMFILTER_ERR_FORMAT_CHECKSUM;
		case BF_BAD_DIRECTORY:
			return BLOOMFILTER_ERR_FORMAT_DIRECTORY;
		case BF_BAD_LEVELS:
			return BLOOMFILTER_ERR_FORMAT_LEVELS;
	}
	return BLOOMFILTER_ERR_ARGUMENT;
}

static const char *
format_text(int code)
{
	int			status;

	for (status = BF_OK + 1; status <= BF_BAD_LEVELS; status++)
		if (lbf_format_code((bf_status) status) == code)
			return bf_status_text((bf_status) status);
	return "unknown error";
}

const char *
bloomfilter_strerror(int code)
{
	switch (code)
	{
		case BLOOMFILTER_OK:
			return "no error";
		case BLOOMFILTER_ERR_NO_MEMORY:
			return "out of memory";
		case BLOOMFILTER_ERR_SYSTEM:
			return "system call failed";
		case BLOOMFILTER_ERR_ARGUMENT:
			return "argument is out of range";
		case BLOOMFILTER_ERR_FOLLOWED:
			return "file changes while it is read: open it with BLOOMFILTER_COPY";
		case BLOOMFILTER_ERR_KEY_TYPE:
			return "bloomfilter holds keys of another type";
		case BLOOMFILTER_ERR_KEY:
			return "not a valid key of its type";
		case BLOOMFILTER_ERR_OTHER_PART:
			return "key belongs to another part of the set";
		case BLOOMFILTER_ERR_PAGE:
			return "first page of the file is damaged, or of another length";
		case BLOOMFILTER_ERR_SET:
			return "parts are damaged, or not one whole set";
		case BLOOMFILTER_ERR_TOO_LARGE:
			return "filter would be larger than 512 MiB";
		case BLOOMFILTER_ERR_RATE:
			return "no filter reaches this false-positive rate";
		case BLOOMFILTER_ERR_INCOMPATIBLE:
			return "filters differ in geometry, seed, part or key type";
		case BLOOMFILTER_ERR_EXACT:
			return "an exact filter takes no keys and is combined with none: build a new one";
		case BLOOMFILTER_ERR_CONFLICT:
			return "keys are members and others at once, or one of each has the same 64-bit hash";
		default:
			return format_text(code);
	}
}

/* Of a long path the end says more than the beginning, and the text says most. */
static void
write_detail(char *line, size_t size, const char *subject, const char *text)
{
	size_t		length = strlen(subject);
	size_t		used = strlen(text) + sizeof "...: ";
	size_t		cut = 0;

	if (length == 0)
		subject = "\"\"";
	else if (used + length > size)
		cut = used < size ? used + length - size : length;
	snprintf(line, size, "%s%s: %s", cut > 0 ? "..." : "", subject + cut, text);
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
lbf_fail_no_file(bloomfilter_detail *detail, const char *subject)
{
	return lbf_fail_text(detail, BLOOMFILTER_ERR_ARGUMENT, subject,
						 "is no regular file; a pipe can be read by its descriptor only, as standard input");
}

int
lbf_fail_format(bloomfilter_detail *detail, bf_status status,
				const char *subject, const uint8_t *bytes, size_t length)
{
	enum
	{
		AT_VERSION = 4
	};
	char		text[64];

	if (status != BF_BAD_VERSION || length <= AT_VERSION)
		return lbf_fail(detail, lbf_format_code(status), subject);
	snprintf(text, sizeof text, "%s %u", bf_status_text(status),
			 (unsigned) bytes[AT_VERSION]);
	return lbf_fail_text(detail, BLOOMFILTER_ERR_FORMAT_VERSION, subject, text);
}
