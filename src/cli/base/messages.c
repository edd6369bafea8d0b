/*
 * messages.c
 *	  What is said and printed; memory, whose lack ends the program; files, clocks, random numbers.
 */
#define _GNU_SOURCE				/* vasprintf, reallocarray */
#include "messages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "feed_values.h"

/* A message's text is cut off where it is longer. */
#define MESSAGE_BYTES 1024

static bool timed;

void
message_time(char text[TIME_TEXT_BYTES], time_t time)
{
	struct tm	parts;

	gmtime_r(&time, &parts);
	strftime(text, TIME_TEXT_BYTES, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

void
messages_have_time(void)
{
	timed = true;
}

void
make_plain(char *text)
{
	while (*text != '\0')
	{
		bool		shown;
		size_t		length = feed_character(text, &shown);

		if (!shown)
			memset(text, '?', length > 0 ? length : 1);
		text += length > 0 ? length : 1;
	}
}

static void say(FILE *to, const char *name, char said[MESSAGE_BYTES], const char *format, va_list arguments) LIKE_PRINTF(4, 0);

static void
say(FILE *to, const char *name, char said[MESSAGE_BYTES], const char *format, va_list arguments)
{
	char		time_text[TIME_TEXT_BYTES];
	char		text[MESSAGE_BYTES];
	char	   *rest;
	char	   *line;

	message_time(time_text, time(NULL));
	vsnprintf(text, sizeof text, format, arguments);
	/* the lines of libpq's are joined */
	said[0] = '\0';
	for (line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
	{
		size_t		length = strlen(said);

		snprintf(said + length, MESSAGE_BYTES - length, "%s%s", length > 0 ? "; " : "", line + strspn(line, "\t "));
	}
	make_plain(said);
	fprintf(to, "%s%s%s%s\n", timed ? time_text : "", timed ? " " : "", name, said);
}

static char complaint[MESSAGE_BYTES];

void
complain(const char *format,...)
{
	va_list		arguments;

	va_start(arguments, format);
	say(stderr, "bloomfilter: ", complaint, format, arguments);
	va_end(arguments);
}

const char *
last_complaint(void)
{
	return complaint;
}

void
announce(const char *format,...)
{
	char		said[MESSAGE_BYTES];
	va_list		arguments;

	va_start(arguments, format);
	say(stdout, "", said, format, arguments);
	va_end(arguments);
	fflush(stdout);
}

void
fail(const char *format,...)
{
	va_list		arguments;

	va_start(arguments, format);
	say(stderr, "bloomfilter: ", complaint, format, arguments);
	va_end(arguments);
	exit(STATUS_TROUBLE);
}

/* ------------------------------------------------------------------------
 * Standard output
 * ------------------------------------------------------------------------ */

static void
check(bool written)
{
	if (!written)
		fail("cannot write to standard output: %s", strerror(errno));
}

void
output_flush(void)
{
	check(fflush(stdout) == 0);
}

void
output_bytes(const char *bytes, size_t length)
{
	check(fwrite(bytes, 1, length, stdout) == length);
}

void
output_byte(char byte)
{
	check(putchar(byte) != EOF);
}

void
output_text(const char *format,...)
{
	va_list		arguments;

	va_start(arguments, format);
	check(vprintf(format, arguments) >= 0);
	va_end(arguments);
}

char *
json_text(const char *text)
{
	char	   *quoted = allocate(NULL, 6 * strlen(text) + 3, 1);
	char	   *end = quoted;

	*end++ = '"';
	while (*text != '\0')
	{
		bool		shown;
		size_t		length = feed_character(text, &shown);

		if (length == 0)
			end += sprintf(end, "\\ufffd");
		else if (*text == '"' || *text == '\\')
			end += sprintf(end, "\\%c", *text);
		else if ((unsigned char) *text < ' ')
			end += sprintf(end, "\\u%04x", (unsigned) *text);
		else
			end += sprintf(end, "%.*s", (int) length, text);
		text += length > 0 ? length : 1;
	}
	strcpy(end, "\"");
	return quoted;
}

void
output_json(const char *text)
{
	char	   *quoted = json_text(text);

	output_bytes(quoted, strlen(quoted));
	free(quoted);
}

/* ------------------------------------------------------------------------
 * Memory
 * ------------------------------------------------------------------------ */

void *
allocate(void *old, size_t count, size_t size)
{
	void	   *memory = reallocarray(old, count, size);

	if (memory == NULL && count != 0 && size != 0)
		fail("out of memory: %zu times %zu bytes are not to be had", count, size);
	return memory;
}

void *
zeros(size_t count, size_t size)
{
	return memset(allocate(NULL, count, size), 0, count * size);
}

char *
text_of(const char *format,...)
{
	va_list		arguments;
	char	   *text;
	int			length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		fail("out of memory");
	return text;
}

/* ------------------------------------------------------------------------
 * The system
 * ------------------------------------------------------------------------ */

double
monotonic_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double) time.tv_sec + (double) time.tv_nsec * 1e-9;
}

static uint64_t
clock_now(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t) now.tv_sec * 1000000 + (uint64_t) now.tv_nsec / 1000;
}

uint64_t
time_now(void)
{
	return clock_now(CLOCK_REALTIME);
}

uint64_t
boot_time_now(void)
{
	return clock_now(CLOCK_BOOTTIME);
}

void
read_boot_id(uint8_t boot[FEED_BOOT_BYTES])
{
	FILE	   *stream = fopen("/proc/sys/kernel/random/boot_id", "re");
	char		text[FEED_UUID_TEXT_BYTES] = "";

	if (stream == NULL || fgets(text, sizeof text, stream) == NULL || !feed_uuid_read(boot, text))
		memset(boot, 0, FEED_BOOT_BYTES);
	if (stream != NULL)
		fclose(stream);
}

double
random_share(void)
{
	return (double) random() / (double) 0x7fffffff;
}

bool
write_all(int fd, const void *bytes, size_t length, uint64_t at)
{
	const uint8_t *from = bytes;

	while (length > 0)
	{
		ssize_t		written = pwrite(fd, from, length, (off_t) at);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
		{
			errno = written == 0 ? ENOSPC : errno;
			return false;
		}
		from += written;
		at += (uint64_t) written;
		length -= (size_t) written;
	}
	return true;
}

bool
read_all(int fd, void *bytes, size_t length, uint64_t at)
{
	uint8_t    *to = bytes;

	while (length > 0)
	{
		ssize_t		got = pread(fd, to, length, (off_t) at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
		{
			errno = got == 0 ? EIO : errno;
			return false;
		}
		to += got;
		at += (uint64_t) got;
		length -= (size_t) got;
	}
	return true;
}

uint8_t *
read_file(int folder, const char *name, size_t most, size_t *length)
{
	int			fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	uint8_t    *bytes;
	bool		read;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || (uint64_t) st.st_size > most)
	{
		close(fd);
		errno = EFBIG;
		return NULL;
	}
	bytes = allocate(NULL, (size_t) st.st_size + 1, 1);
	read = read_all(fd, bytes, (size_t) st.st_size, 0);
	close(fd);
	if (!read)
	{
		free(bytes);
		errno = EIO;
		return NULL;
	}
	bytes[st.st_size] = '\0';
	*length = (size_t) st.st_size;
	return bytes;
}
