/*
 * system.c
 *	  What the system knows.
 */
#define _GNU_SOURCE
#include "system.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "feed_values.h"

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
read_boot_id(uint8_t boot[16])
{
	FILE	   *stream = fopen("/proc/sys/kernel/random/boot_id", "r");
	char		line[64] = "";

	memset(boot, 0, 16);
	if (stream == NULL)
		return;
	if (fgets(line, sizeof line, stream) != NULL)
	{
		line[strcspn(line, "\n")] = '\0';
		if (!feed_uuid_read(boot, line))
			memset(boot, 0, 16);
	}
	fclose(stream);
}

bool
is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

double
random_share(void)
{
	return (double) random() / (double) 0x7fffffff;
}

void
sha256_of(uint8_t digest[SHA256_BYTES], const void *bytes, size_t length)
{
	crypto_hash_sha256(digest, bytes, length);
}
