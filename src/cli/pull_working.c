/*
 * pull_working.c
 *	  The working copy of a followed list: a file in memory that all programs of a host
 *	  map, and in which the follower sets bits.
 *
 * A kill between any two calls leaves a working copy that either stands for FILE or is
 * left aside by its readers.
 */
#define _GNU_SOURCE
#include "pull_place.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "bf_bits.h"
#include "bf_hash.h"
#include "bf_limits.h"
#include "bf_working.h"
#include "feed_files.h"
#include "messages.h"

/* Where there was no room for a working copy, it is tried again so often. */
#define AGAIN_SECONDS 10.0

static bool
is_in_memory(int folder)
{
	struct statfs fs;

	return fstatfs(folder, &fs) == 0 && fs.f_type == TMPFS_MAGIC;
}

/* A folder in memory that can be written to, by its path; else NULL. */
static char *
memory_folder(const char *path)
{
	int			fd = path == NULL ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char	   *found = NULL;

	if (fd >= 0 && is_in_memory(fd) && faccessat(fd, ".", W_OK, AT_EACCESS) == 0)
		found = text_of("%s", path);
	if (fd >= 0)
		close(fd);
	return found;
}

/* Where the working copy's file goes; NULL: beside FILE, or nowhere, if that isn't in memory. */
static char *
working_path(const url_host *host)
{
	char	   *here = realpath(host->plan->out, NULL);
	char	   *folder = NULL;
	char	   *path = NULL;

	if (host->plan->working != NULL)
		folder = memory_folder(host->plan->working);
	else if (!is_in_memory(host->folder))
	{
		folder = memory_folder(getenv("RUNTIME_DIRECTORY"));
		if (folder == NULL)
			folder = memory_folder("/run/bloomfilter");
		if (folder == NULL)
			folder = memory_folder("/dev/shm");
	}
	if (folder != NULL && here != NULL)
		path = text_of("%s/bloomfilter-%ld-%016" PRIx64 "%s", folder, (long) geteuid(),
					   bf_hash(here, strlen(here), 0), BF_WORKING_ENDING);
	free(folder);
	free(here);
	return path;
}

/* Makes FILE.working lead to a file. */
static bool
link_working(url_host *host, const char *path)
{
	char	   *name = place_beside(host, BF_WORKING_ENDING);
	char	   *other = text_of("%s%s", FEED_UNFINISHED, name);
	char		there[4096];
	ssize_t		length = readlinkat(host->folder, name, there, sizeof there - 1);
	bool		linked = length > 0 && (size_t) length == strlen(path) && memcmp(there, path, (size_t) length) == 0;

	if (!linked)
	{
		unlinkat(host->folder, other, 0);
		linked = symlinkat(path, host->folder, other) == 0 && renameat(host->folder, other, host->folder, name) == 0;
		if (!linked)
			complain("cannot make \"%s%s\": %s", host->plan->out, BF_WORKING_ENDING, strerror(errno));
	}
	free(other);
	free(name);
	return linked;
}

/* A copy becomes the blocks of a mapped file, which has the copy's bits already. */
static void
map_copy(url_host *host, uint8_t *map, size_t length, const bf_working *working)
{
	uint64_t	at = BF_WORKING_PAGE;
	uint32_t	i;

	host->map = map;
	host->map_length = length;
	for (i = 0; i < host->copy.parts; i++)
	{
		bf_header	header;
		uint64_t	begin = at;

		(void) bf_working_part(map, working, i, &at, &header);
		free(host->copy.blocks[i]);
		host->copy.blocks[i] = map + begin + BF_HEADER_BYTES;
	}
	host->copy.mapped = true;
}

void
working_unmap(url_host *host)
{
	if (host->map != NULL)
		munmap(host->map, host->map_length);
	host->map = NULL;
}

/* Said once, though it is tried again. */
static void
say_no_memory(const url_host *host, const char *path, const char *problem)
{
	if (host->map_tried == 0)
		complain("no working copy in memory: cannot make \"%s\": %s; programs have the file", path, problem);
}

/* A new file of memory, under a name that nobody looks for; NULL, said, if there is no room. */
static uint8_t *
new_memory(const url_host *host, const char *path, size_t length)
{
	int			fd;
	uint8_t    *map = NULL;
	int			error = 0;

	unlink(path);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || !is_in_memory(fd) || (error = posix_fallocate(fd, 0, (off_t) length)) != 0 || fchmod(fd, 0644) != 0)
	{
		say_no_memory(host, path, fd >= 0 && !is_in_memory(fd) ? "it would not be in memory" : strerror(error != 0 ? error : errno));
		if (fd >= 0)
			close(fd);
		unlink(path);
		return NULL;
	}
	map = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return map == MAP_FAILED ? NULL : map;
}

static void
fill_words(url_host *host, uint8_t *map)
{
	bf_working_store(map, BF_WORKING_BASE, host->mark.bases[0]);
	bf_working_store(map, BF_WORKING_EVERY, host->plan->every * 1000000);
	bf_working_store(map, BF_WORKING_SERIAL, host->serial);
}

/* The file that FILE.working leads to. */
static bool
find_file(const url_host *host, struct stat *st)
{
	char	   *name = place_beside(host, BF_WORKING_ENDING);
	bool		found = fstatat(host->folder, name, st, 0) == 0;

	free(name);
	return found;
}

static void
note_file(url_host *host)
{
	struct stat st;

	memset(&st, 0, sizeof st);
	(void) find_file(host, &st);
	host->map_device = st.st_dev;
	host->map_inode = st.st_ino;
}

void
working_begin(url_host *host)
{
	char	   *path = working_path(host);
	char	   *plain = NULL;
	char	   *unfinished;
	bf_working	working;
	uint8_t    *old = host->map;
	size_t		old_length = host->map_length;
	uint8_t    *map;
	uint32_t	i;
	uint64_t	at = BF_WORKING_PAGE;

	host->map = NULL;
	if (!host->plan->follow || (host->plan->working != NULL && strcmp(host->plan->working, "no") == 0) ||
		(path == NULL && !is_in_memory(host->folder)))
	{
		if (host->plan->working != NULL && strcmp(host->plan->working, "no") != 0)
			complain("no working copy: \"%s\" is not a folder in memory that can be written to", host->plan->working);
		free(path);
		return;
	}
	if (path == NULL)
		plain = text_of("%s%s", host->plan->out, BF_WORKING_ENDING);
	unfinished = text_of("%s.tmp", path != NULL ? path : plain);
	memset(&working, 0, sizeof working);
	working.length = bf_working_length(host->copy.headers, host->copy.parts);
	working.parts = host->copy.parts;
	working.epoch = host->mark.epochs[0];
	memcpy(working.identity, host->mark.identity, sizeof working.identity);
	feed_boot(working.boot);
	map = new_memory(host, unfinished, (size_t) working.length);
	if (map != NULL)
	{
		bf_working_write(&working, host->copy.headers, map);
		for (i = 0; i < host->copy.parts; i++)
		{
			bf_header	header;
			uint64_t	begin = at;

			(void) bf_working_part(map, &working, i, &at, &header);
			memcpy(map + begin + BF_HEADER_BYTES, host->copy.blocks[i], (size_t) bf_blocks_bytes(&header));
		}
		fill_words(host, map);
		if (rename(unfinished, path != NULL ? path : plain) != 0 || (path != NULL && !link_working(host, path)))
		{
			say_no_memory(host, path != NULL ? path : plain, strerror(errno));
			munmap(map, (size_t) working.length);
			unlink(unfinished);
		}
		else
		{
			map_copy(host, map, (size_t) working.length, &working);
			note_file(host);
		}
	}
	host->map_tried = host->map != NULL ? 0 : monotonic_seconds();
	if (old != NULL)
	{
		bf_working_store(old, BF_WORKING_SUPERSEDED, 1);
		munmap(old, old_length);
	}
	free(unfinished);
	free(plain);
	free(path);
}

/* The copy's blocks become this process's own, and readers of the map look for another one. */
static void
leave_map(url_host *host)
{
	uint32_t	i;

	for (i = 0; i < host->copy.parts; i++)
	{
		size_t		length = (size_t) bf_blocks_bytes(&host->copy.headers[i]);
		uint8_t    *blocks = allocate(NULL, length, 1);

		memcpy(blocks, host->copy.blocks[i], length);
		host->copy.blocks[i] = blocks;
	}
	host->copy.mapped = false;
	bf_working_store(host->map, BF_WORKING_SUPERSEDED, 1);
	working_unmap(host);
}

void
working_again(url_host *host)
{
	struct stat st;

	/* a clean-up of the folder in memory would leave readers with FILE, which is older */
	if (host->map != NULL && (!find_file(host, &st) || st.st_dev != host->map_device || st.st_ino != host->map_inode))
	{
		complain("\"%s%s\" was removed by another program, and is made again", host->plan->out, BF_WORKING_ENDING);
		leave_map(host);
		working_begin(host);
		return;
	}
	if (host->map == NULL && host->map_tried != 0 && host->copy.parts > 0 && monotonic_seconds() - host->map_tried >= AGAIN_SECONDS)
		working_begin(host);
}

bool
working_adopt(url_host *host, uint64_t base)
{
	char	   *name = place_beside(host, BF_WORKING_ENDING);
	int			fd = openat(host->folder, name, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	uint8_t		boot[BF_WORKING_ID_BYTES];
	struct stat st;
	bf_working	working;
	bf_header  *headers;
	uint8_t    *map;
	uint64_t	at = BF_WORKING_PAGE;
	uint64_t	theirs;
	bool		ours;
	bool		fits;
	uint32_t	i;

	free(name);
	if (fd < 0)
		return false;
	fits = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_size >= BF_WORKING_PAGE &&
		is_in_memory(fd) && host->plan->follow;
	map = fits ? mmap(NULL, (size_t) st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
	close(fd);
	if (map == MAP_FAILED)
		return false;
	feed_boot(boot);
	ours = bf_working_read(map, (uint64_t) st.st_size, &working) == BF_WORKING_OK;
	fits = ours && memcmp(working.boot, boot, sizeof boot) == 0 && working.epoch == host->mark.epochs[0] &&
		memcmp(working.identity, host->mark.identity, sizeof working.identity) == 0 &&
		bf_working_load(map, BF_WORKING_SUPERSEDED) == 0;
	theirs = fits ? bf_working_load(map, BF_WORKING_BASE) : 0;
	/* its base may be the one before FILE, but its state not: FILE was written by a process without it then */
	fits = fits && (theirs == base || theirs == host->mark.bases[0] || theirs == host->mark.bases[1]) &&
		bf_working_load(map, BF_WORKING_SERIAL) >= host->mark.base_serials[0];
	headers = allocate(NULL, fits ? working.parts : 1, sizeof *headers);
	for (i = 0; fits && i < working.parts; i++)
		fits = bf_working_part(map, &working, i, &at, &headers[i]) == BF_WORKING_OK;
	if (!fits)
	{
		/* whoever has it mapped is to look for the one that comes */
		if (ours)
			bf_working_store(map, BF_WORKING_SUPERSEDED, 1);
		munmap(map, (size_t) st.st_size);
		free(headers);
		return false;
	}
	feed_copy_create(&host->copy, headers, working.parts);
	map_copy(host, map, (size_t) st.st_size, &working);
	host->map_device = st.st_dev;
	host->map_inode = st.st_ino;
	for (i = 0; i < working.parts; i++)
		host->copy.headers[i].bits_set = bf_count_bits(host->copy.blocks[i], bf_blocks_bytes(&headers[i]), NULL);
	free(headers);
	host->serial = bf_working_load(map, BF_WORKING_SERIAL);
	/* the mark may be some steps behind it */
	if (host->serial > host->mark.serial)
	{
		host->mark.serial = host->serial;
		memset(host->mark.digest, 0, sizeof host->mark.digest);
	}
	bf_working_store(map, BF_WORKING_BASE, base);
	host->changed = true;
	return true;
}

void
working_unlink(const url_host *host)
{
	char	   *name = place_beside(host, BF_WORKING_ENDING);

	if (unlinkat(host->folder, name, 0) != 0 && errno != ENOENT)
		complain("cannot remove \"%s%s\": %s", host->plan->out, BF_WORKING_ENDING, strerror(errno));
	free(name);
}

void
working_remove(url_host *host)
{
	char	   *name = place_beside(host, BF_WORKING_ENDING);
	char	   *path = working_path(host);
	char		there[4096];
	ssize_t		length = readlinkat(host->folder, name, there, sizeof there - 1);

	bf_working_store(host->map, BF_WORKING_SUPERSEDED, 1);
	/* what a link leads to is removed if it is where this program would have put it */
	if (length > 0 && path != NULL && (size_t) length == strlen(path) && memcmp(there, path, (size_t) length) == 0)
		(void) unlink(path);
	working_unlink(host);
	free(path);
	free(name);
}
