/*
 * system.c
 *	  What the system gives: memory, whose lack ends the program, clocks, random numbers, files.
 */
#define _GNU_SOURCE				/* vasprintf, reallocarray */
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "feed_values.h"

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
text_of_list(const char *format, va_list values)
{
	char	   *text;

	if (vasprintf(&text, format, values) < 0)
		fail("out of memory");
	return text;
}

char *
text_of(const char *format,...)
{
	va_list		values;
	char	   *text;

	va_start(values, format);
	text = text_of_list(format, values);
	va_end(values);
	return text;
}

static uint64_t
clock_now(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t) now.tv_sec * 1000000 + (uint64_t) now.tv_nsec / 1000;
}

double
monotonic_seconds(void)
{
	return (double) clock_now(CLOCK_MONOTONIC) / 1e6;
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

bool
is_folder_at(int folder, const char *path)
{
	struct stat mine;
	struct stat there;

	return fstat(folder, &mine) == 0 && stat(path, &there) == 0 && mine.st_ino == there.st_ino && mine.st_dev == there.st_dev;
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
	int			error;

	if (fd < 0)
		return NULL;
	error = fstat(fd, &st) != 0 ? EIO : S_ISREG(st.st_mode) ? EFBIG : S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
	if (error == EFBIG && (uint64_t) st.st_size <= most)
	{
		*length = (size_t) st.st_size;
		bytes = allocate(NULL, *length + 1, 1);
		bytes[*length] = '\0';
		error = read_all(fd, bytes, *length, 0) ? 0 : EIO;
		if (error != 0)
			free(bytes);
	}
	close(fd);
	errno = error;
	return error == 0 ? bytes : NULL;
}
