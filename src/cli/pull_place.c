/*
 * pull_place.c
 *	  Where a followed list lies on a host: the file that programs open, its working copy
 *	  in memory, and the mark behind which neither goes back.
 *
 * The mark is written before a file takes its name, with what the file was and what it
 * will be.  A kill between any two calls leaves a file that the mark knows, and a working
 * copy that either stands for it or is left aside by its readers.
 */
#define _GNU_SOURCE
#include "pull_url.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "bf_bits.h"
#include "bf_bytes.h"
#include "bf_hash.h"
#include "bf_limits.h"
#include "bf_working.h"
#include "feed_files.h"
#include "messages.h"
#include "status.h"

#define MARK_ENDING ".mark"
#define LOCK_ENDING ".lock"
#define MARK_FIRST_LINE "bloomfilter-mark 1"

/* The mark is synced so often while bits come in, and the base written. */
#define MARK_SECONDS 60.0
#define FOLD_SECONDS 3600.0

/* FILE.status of a followed list is written so often if nothing happens. */
#define STATUS_SECONDS 5.0

/* ------------------------------------------------------------------------
 * The mark
 * ------------------------------------------------------------------------ */

static char *
beside(const url_host *host, const char *ending)
{
	return text_of("%s%s", host->file, ending);
}

static bool
write_mark(url_host *host)
{
	const url_mark *mark = &host->mark;
	char		identity[FEED_UUID_TEXT_BYTES];
	char		digest[2 * FEED_DIGEST_BYTES + 1];
	char	   *name = beside(host, MARK_ENDING);
	char	   *text;
	feed_piece	piece;
	bool		written;

	feed_uuid_text(identity, mark->identity);
	feed_hex(digest, mark->digest, FEED_DIGEST_BYTES);
	text = text_of(MARK_FIRST_LINE "\nname %s\nidentity %s\nserial %" PRIu64 "\ndigest %s\nepoch %" PRIu64
				   "\nbase %016" PRIx64 " %" PRIu64 "\nbase %016" PRIx64 " %" PRIu64 "\n",
				   mark->name, identity, mark->serial, digest, mark->epoch, mark->bases[0],
				   mark->base_serials[0], mark->bases[1], mark->base_serials[1]);
	piece.bytes = text;
	piece.length = strlen(text);
	written = feed_write(host->folder, name, 0644, &piece, 1);
	if (written)
		host->marked = monotonic_seconds();
	free(text);
	free(name);
	return written;
}

static void
read_mark(url_host *host)
{
	url_mark   *mark = &host->mark;
	char	   *name = beside(host, MARK_ENDING);
	char		identity[64];
	char		digest[80];
	size_t		length;
	char	   *text = (char *) feed_read(host->folder, name, 4096, &length);

	if (text != NULL)
	{
		mark->known = sscanf(text, MARK_FIRST_LINE "\nname %200[^\n]\nidentity %63s\nserial %" SCNu64 "\ndigest %79s\nepoch %" SCNu64
							 "\nbase %" SCNx64 " %" SCNu64 "\nbase %" SCNx64 " %" SCNu64,
							 mark->name, identity, &mark->serial, digest, &mark->epoch, &mark->bases[0],
							 &mark->base_serials[0], &mark->bases[1], &mark->base_serials[1]) == 9 &&
			feed_uuid_read(mark->identity, identity) && feed_from_hex(mark->digest, FEED_DIGEST_BYTES, digest);
		if (!mark->known)
			fail("\"%s%s\" is not what bloomfilter pull writes: remove it and \"%s\"", host->plan->out, MARK_ENDING, host->plan->out);
	}
	else if (errno != ENOENT)
		fail("cannot read \"%s%s\": %s", host->plan->out, MARK_ENDING, strerror(errno));
	free(text);
	free(name);
}

bool
place_mark(url_host *host, const feed_manifest *m, const uint8_t digest[FEED_DIGEST_BYTES], bool sync)
{
	url_mark   *mark = &host->mark;

	snprintf(mark->name, sizeof mark->name, "%s", m->name);
	memcpy(mark->identity, m->identity, sizeof mark->identity);
	memcpy(mark->digest, digest, sizeof mark->digest);
	mark->serial = m->serial;
	mark->epoch = m->epoch;
	mark->known = true;
	return (!sync && host->map != NULL && monotonic_seconds() - host->marked < MARK_SECONDS) || write_mark(host);
}

/* ------------------------------------------------------------------------
 * The base
 * ------------------------------------------------------------------------ */

/* FORMAT.md's "base" of parts with these checksums. */
static uint64_t
base_of(const uint64_t *checksums, uint32_t parts)
{
	uint8_t    *bytes = allocate(NULL, parts, 8);
	uint64_t	base;
	uint32_t	i;

	for (i = 0; i < parts; i++)
		bf_store_le64(bytes + 8 * (size_t) i, checksums[i]);
	base = bf_hash(bytes, (size_t) parts * 8, 0);
	free(bytes);
	return base;
}

static bool
say_detail(const bloomfilter_detail *detail)
{
	complain("%s", detail->text);
	return false;
}

/* Writes FILE: headers have the copy's checksums. */
static bool
write_base(url_host *host, const feed_copy *copy, uint8_t (*headers)[BF_HEADER_BYTES])
{
	bloomfilter_writer *writer;
	bloomfilter_detail detail;
	char		identity[FEED_UUID_TEXT_BYTES];
	char		serial[24];
	char		built[TIME_TEXT_BYTES];
	bool		written;
	uint32_t	i;

	if (bloomfilter_writer_begin(host->plan->out, copy->parts, &writer, &detail) < 0)
		return say_detail(&detail);
	feed_uuid_text(identity, host->mark.identity);
	snprintf(serial, sizeof serial, "%" PRIu64, host->mark.base_serials[0]);
	message_time(built, (time_t) (host->built / 1000000));
	written = bloomfilter_writer_note(writer, "list", host->mark.name, &detail) >= 0 &&
		bloomfilter_writer_note(writer, "identity", identity, &detail) >= 0 &&
		bloomfilter_writer_note(writer, "serial", serial, &detail) >= 0 &&
		(host->built == 0 || bloomfilter_writer_note(writer, "built", built, &detail) >= 0);
	for (i = 0; i < copy->parts && written; i++)
		written = bloomfilter_writer_append(writer, headers[i], BF_HEADER_BYTES, &detail) >= 0 &&
			bloomfilter_writer_append(writer, copy->blocks[i], (size_t) bf_blocks_bytes(&copy->headers[i]), &detail) >= 0;
	written = written && bloomfilter_writer_commit(writer, &detail) >= 0;
	bloomfilter_writer_free(writer);
	return written || say_detail(&detail);
}

/* FORMAT.md's "base" of an open file. */
static uint64_t
base_of_filter(const bloomfilter *filter)
{
	bloomfilter_info info;
	uint64_t   *checksums;
	uint64_t	base;
	uint32_t	parts;
	uint32_t	i;

	bloomfilter_get_info(filter, &info, sizeof info);
	parts = info.open_parts;
	checksums = allocate(NULL, parts, sizeof *checksums);
	for (i = 0; i < parts; i++)
	{
		bloomfilter_get_part_info(filter, i, &info, sizeof info);
		checksums[i] = info.checksum;
	}
	base = base_of(checksums, parts);
	free(checksums);
	return base;
}

/* Whether FILE still is what this process put there, or nothing. */
static bool
is_ours(const url_host *host)
{
	bloomfilter *filter;
	bloomfilter_detail detail;
	bool		ours;
	int			code = bloomfilter_open(host->plan->out, BLOOMFILTER_BASE | BLOOMFILTER_SKIP_CHECK, &filter, &detail);

	if (code < 0)
		ours = code == BLOOMFILTER_ERR_SYSTEM && detail.system_error == ENOENT;
	else
	{
		ours = base_of_filter(filter) == host->mark.bases[0];
		bloomfilter_close(filter);
	}
	if (!ours)
		complain("\"%s\" was replaced by another program and is left alone: remove it, if it may go", host->plan->out);
	return ours;
}

/* Makes FILE what a copy is, with the mark before. */
static bool
replace_base(url_host *host, feed_copy *copy, uint64_t serial)
{
	uint8_t		(*headers)[BF_HEADER_BYTES] = allocate(NULL, copy->parts, sizeof *headers);
	uint64_t   *checksums = allocate(NULL, copy->parts, sizeof *checksums);
	url_mark   *mark = &host->mark;
	uint64_t	base;
	bool		replaced;
	uint32_t	i;

	if (!is_ours(host))
	{
		free(headers);
		free(checksums);
		return false;
	}
	for (i = 0; i < copy->parts; i++)
	{
		feed_copy_seal(copy, i, headers[i]);
		checksums[i] = copy->headers[i].checksum;
	}
	base = base_of(checksums, copy->parts);
	if (base != mark->bases[0])
	{
		mark->bases[1] = mark->bases[0];
		mark->base_serials[1] = mark->base_serials[0];
	}
	mark->bases[0] = base;
	mark->base_serials[0] = serial;
	replaced = write_mark(host) && write_base(host, copy, headers);
	if (replaced)
	{
		host->base_written = monotonic_seconds();
		host->changed = false;
	}
	free(headers);
	free(checksums);
	return replaced;
}

/* FILE as it is, checked, or NULL if it isn't there. */
static bloomfilter *
open_base(url_host *host, uint64_t *base)
{
	bloomfilter *filter;
	bloomfilter_detail detail;
	int			code = bloomfilter_open(host->plan->out, BLOOMFILTER_BASE, &filter, &detail);

	if (code < 0 && code == BLOOMFILTER_ERR_SYSTEM && detail.system_error == ENOENT)
		return NULL;
	if (code < 0)
		fail("%s; it is not replaced: remove it, if it may go", detail.text);
	*base = base_of_filter(filter);
	return filter;
}

/* The base's bits, into a copy. */
static void
load_base(url_host *host, const bloomfilter *filter)
{
	bloomfilter_info info;
	bf_header  *headers;
	uint32_t	i;

	bloomfilter_get_info(filter, &info, sizeof info);
	headers = allocate(NULL, info.open_parts, sizeof *headers);
	for (i = 0; i < info.open_parts; i++)
	{
		const void *bytes;
		size_t		length;

		if (bloomfilter_get_bytes(filter, i, &bytes, &length) < 0 || bf_header_read(bytes, length, &headers[i]) != BF_OK)
			fail("\"%s\" changed while it was read", host->plan->out);
	}
	feed_copy_create(&host->copy, headers, info.open_parts);
	for (i = 0; i < info.open_parts; i++)
	{
		const void *bytes;
		size_t		length;

		bloomfilter_get_bytes(filter, i, &bytes, &length);
		feed_copy_or(&host->copy, i, 0, (const uint8_t *) bytes + BF_HEADER_BYTES, length - BF_HEADER_BYTES, false);
	}
	free(headers);
}

/* ------------------------------------------------------------------------
 * The working copy
 * ------------------------------------------------------------------------ */

static void
read_boot(uint8_t boot[BF_WORKING_ID_BYTES])
{
	FILE	   *stream = fopen("/proc/sys/kernel/random/boot_id", "r");
	char		line[64] = "";

	memset(boot, 0, BF_WORKING_ID_BYTES);
	if (stream == NULL)
		return;
	if (fgets(line, sizeof line, stream) != NULL)
	{
		line[strcspn(line, "\n")] = '\0';
		if (!feed_uuid_read(boot, line))
			memset(boot, 0, BF_WORKING_ID_BYTES);
	}
	fclose(stream);
}

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
	char	   *name = beside(host, BF_WORKING_ENDING);
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

static void
unmap(url_host *host)
{
	if (host->map != NULL)
		munmap(host->map, host->map_length);
	host->map = NULL;
}

/* A new file of memory, under a name that nobody looks for; NULL, said, if there is no room. */
static uint8_t *
new_memory(const char *path, size_t length)
{
	int			fd;
	uint8_t    *map = NULL;
	int			error = 0;

	unlink(path);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || !is_in_memory(fd) || (error = posix_fallocate(fd, 0, (off_t) length)) != 0 || fchmod(fd, 0644) != 0)
	{
		complain("no working copy in memory: cannot make \"%s\": %s", path,
				 fd >= 0 && !is_in_memory(fd) ? "it would not be in memory" : strerror(error != 0 ? error : errno));
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

/* Puts the copy into memory that all readers of this host map. */
static void
begin_working(url_host *host)
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
	working.epoch = host->mark.epoch;
	memcpy(working.identity, host->mark.identity, sizeof working.identity);
	read_boot(working.boot);
	map = new_memory(unfinished, (size_t) working.length);
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
			complain("no working copy in memory: \"%s\": %s", path != NULL ? path : plain, strerror(errno));
			munmap(map, (size_t) working.length);
		}
		else
			map_copy(host, map, (size_t) working.length, &working);
	}
	if (old != NULL)
	{
		bf_working_store(old, BF_WORKING_SUPERSEDED, 1);
		munmap(old, old_length);
	}
	free(unfinished);
	free(plain);
	free(path);
}

/*
 * Takes up a working copy that a process before this one left: of this boot, of this
 * list and epoch, and of a base that the mark knows.
 */
static bool
adopt_working(url_host *host, uint64_t base)
{
	char	   *name = beside(host, BF_WORKING_ENDING);
	int			fd = openat(host->folder, name, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	uint8_t		boot[BF_WORKING_ID_BYTES];
	struct stat st;
	bf_working	working;
	bf_header  *headers;
	uint8_t    *map;
	uint64_t	at = BF_WORKING_PAGE;
	uint64_t	theirs;
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
	read_boot(boot);
	fits = bf_working_read(map, (uint64_t) st.st_size, &working) == BF_WORKING_OK &&
		memcmp(working.boot, boot, sizeof boot) == 0 && working.epoch == host->mark.epoch &&
		memcmp(working.identity, host->mark.identity, sizeof working.identity) == 0 &&
		bf_working_load(map, BF_WORKING_SUPERSEDED) == 0;
	theirs = fits ? bf_working_load(map, BF_WORKING_BASE) : 0;
	fits = fits && (theirs == base || theirs == host->mark.bases[0] || theirs == host->mark.bases[1]);
	headers = allocate(NULL, fits ? working.parts : 1, sizeof *headers);
	for (i = 0; fits && i < working.parts; i++)
		fits = bf_working_part(map, &working, i, &at, &headers[i]) == BF_WORKING_OK;
	if (!fits)
	{
		munmap(map, (size_t) st.st_size);
		free(headers);
		return false;
	}
	feed_copy_create(&host->copy, headers, working.parts);
	map_copy(host, map, (size_t) st.st_size, &working);
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

/* ------------------------------------------------------------------------
 * What the look calls
 * ------------------------------------------------------------------------ */

static void
open_folder(url_host *host)
{
	const char *slash = strrchr(host->plan->out, '/');
	char	   *folder = slash == NULL ? text_of(".") : text_of("%.*s", (int) (slash - host->plan->out) + 1, host->plan->out);
	char	   *lock;

	host->file = slash == NULL ? host->plan->out : slash + 1;
	host->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (host->folder < 0)
		fail("cannot open the folder \"%s\": %s", folder, strerror(errno));
	lock = beside(host, LOCK_ENDING);
	host->lock = openat(host->folder, lock, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (host->lock < 0)
		fail("cannot write to the folder \"%s\": %s", folder, strerror(errno));
	if (flock(host->lock, LOCK_EX | LOCK_NB) != 0)
		fail("another process keeps \"%s\"", host->plan->out);
	free(lock);
	free(folder);
}

/*
 * Whether FILE is of "bloomfilter pull --dsn", whose list has the same identity and
 * serials: then it is gone on from there, and not back.
 */
static bool
take_over(url_host *host, uint64_t base)
{
	url_mark   *mark = &host->mark;
	bloomfilter_status status;
	const char *problem;
	uint8_t		identity[FEED_IDENTITY_BYTES];

	if (!status_read(host->plan->out, &status, &problem) || !status.matches || status.serial <= 0 ||
		!feed_uuid_read(identity, status.identity) || !feed_is_name(mark->known ? mark->name : status.list) ||
		(mark->known && memcmp(identity, mark->identity, sizeof identity) != 0))
		return false;
	if (!mark->known)
		snprintf(mark->name, sizeof mark->name, "%.200s", status.list);
	if (mark->serial < (uint64_t) status.serial)
	{
		mark->serial = (uint64_t) status.serial;
		memset(mark->digest, 0, sizeof mark->digest);
	}
	memcpy(mark->identity, identity, sizeof identity);
	mark->known = true;
	mark->epoch = 0;
	mark->bases[0] = base;
	mark->base_serials[0] = (uint64_t) status.serial;
	return true;
}

void
place_open(url_host *host)
{
	bloomfilter *filter;
	uint64_t	base = 0;
	int			i;

	open_folder(host);
	host->refused = "";
	read_mark(host);
	filter = open_base(host, &base);
	if (filter == NULL)
		return;
	for (i = 0; i < 2; i++)
		if (host->mark.known && host->mark.bases[i] == base)
			break;
	if (i == 2 && take_over(host, base))
		i = 0;
	if (i == 2)
		fail("\"%s\" is not what was pulled from this address: remove it, if it may be replaced", host->plan->out);
	host->serial = host->mark.base_serials[i];
	if (i == 1)
	{
		host->mark.bases[0] = base;
		host->mark.base_serials[0] = host->serial;
	}
	host->base_written = monotonic_seconds();
	if (!adopt_working(host, base))
	{
		load_base(host, filter);
		begin_working(host);
	}
	bloomfilter_close(filter);
}

bool
place_begin(url_host *host, feed_copy *copy, uint64_t serial)
{
	if (!replace_base(host, copy, serial))
		return false;
	/* the old mapping stays until the new one is in place */
	feed_copy_free(&host->copy);
	host->copy = *copy;
	memset(copy, 0, sizeof *copy);
	host->serial = serial;
	begin_working(host);
	return true;
}

void
place_advance(url_host *host, uint64_t serial)
{
	host->serial = serial;
	if (host->map != NULL)
		bf_working_store(host->map, BF_WORKING_SERIAL, serial);
}

bool
place_fold(url_host *host)
{
	if (!host->changed || host->copy.parts == 0 || !replace_base(host, &host->copy, host->serial))
		return !host->changed;
	if (host->map != NULL)
		bf_working_store(host->map, BF_WORKING_BASE, host->mark.bases[0]);
	return true;
}

static uint64_t
boot_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t) now.tv_sec * 1000000 + (uint64_t) now.tv_nsec / 1000;
}

/* What FILE is now. */
static void
describe_file(const url_host *host, bloomfilter_status *status)
{
	bloomfilter *filter;
	bloomfilter_info info;
	char		identity[FEED_UUID_TEXT_BYTES];

	if (bloomfilter_open(host->plan->out, BLOOMFILTER_BASE | BLOOMFILTER_SKIP_CHECK, &filter, NULL) >= 0)
	{
		bloomfilter_get_info(filter, &info, sizeof info);
		if (status->checksum != info.checksum)
			status->changed = (int64_t) time(NULL);
		status->checksum = info.checksum;
		bloomfilter_close(filter);
	}
	status->serial = (int64_t) host->serial;
	status->built = (int64_t) (host->built / 1000000);
	feed_uuid_text(identity, host->mark.identity);
	snprintf(status->identity, sizeof status->identity, "%s", identity);
	snprintf(status->list, sizeof status->list, "%s", host->mark.name);
	snprintf(status->server, sizeof status->server, "%.*s", (int) strcspn(host->plan->url, "?"), host->plan->url);
}

static void
describe_look(const url_host *host, bool well, bloomfilter_status *status)
{
	if (well)
	{
		status->looked = (int64_t) time(NULL);
		status->failures = 0;
		status->error[0] = '\0';
	}
	else
	{
		status->failed = (int64_t) time(NULL);
		status->failures = host->failures;
		snprintf(status->error, sizeof status->error, "%s", last_complaint());
	}
	snprintf(status->refused, sizeof status->refused, "%s", host->refused);
}

/* Writes FILE.status, of a look if there was one. */
static void
put_status(url_host *host, bool looked, bool well)
{
	bloomfilter_status status;
	const char *problem;

	if (!status_read(host->plan->out, &status, &problem))
		memset(&status, 0, sizeof status);
	if (looked)
		describe_look(host, well, &status);
	/* content is known from the first look that went well on */
	if (host->content != 0)
		describe_file(host, &status);
	if (!status_write(host->plan->out, &status, NULL))
		complain("cannot write \"%s.status\": %s", host->plan->out, strerror(errno));
	host->status_written = monotonic_seconds();
}

void
place_looked(url_host *host, bool well)
{
	host->failures = well ? 0 : host->failures + 1;
	if (host->map != NULL)
	{
		if (well)
		{
			bf_working_store(host->map, BF_WORKING_TRUE_AT, host->true_at);
			bf_working_store(host->map, BF_WORKING_EXPIRES, host->expires);
			bf_working_store(host->map, BF_WORKING_LOOKED, feed_now());
			bf_working_store(host->map, BF_WORKING_LOOKED_BOOT, boot_now());
		}
		bf_working_store(host->map, BF_WORKING_FAILURES, host->failures);
	}
	/* without a working copy the file is what readers have */
	if (well && host->changed && (host->map == NULL || monotonic_seconds() - host->base_written >= FOLD_SECONDS))
		(void) place_fold(host);
	if (!well || host->status_written == 0 || host->base_written > host->status_written || monotonic_seconds() - host->status_written >= STATUS_SECONDS)
		put_status(host, true, well);
}

void
place_close(url_host *host)
{
	(void) place_fold(host);
	if (host->content != 0)
		put_status(host, false, false);
	feed_copy_free(&host->copy);
	unmap(host);
	close(host->lock);
	close(host->folder);
}
