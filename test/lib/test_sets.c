/*
 * test_sets.c
 *	  Sets of parts: written, opened by each kind of path, asked as one filter,
 *	  and refused where they are not one whole set.
 */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bf_hash.h"
#include "bf_key.h"
#include "bf_limits.h"
#include "make_filters.h"
#include "files.h"
#include "tap.h"

#define KEYS 5000
#define PARTS 3
#define SEED 7					/* of make_range's filters */

static const char *folder;

static const char *
in_folder(const char *name)
{
	static char paths[8][600];
	static int	next;
	char	   *path = paths[next++ % 8];

	snprintf(path, sizeof paths[0], "%s/%s", folder, name);
	return path;
}

static void
empty_folder(void)
{
	DIR		   *dir = opendir(folder);
	struct dirent *entry;

	need(dir != NULL, "folder");
	while ((entry = readdir(dir)) != NULL)
		unlink(in_folder(entry->d_name));
	closedir(dir);
}

/* Writes one part of a set to a file of its own. */
static void
write_part(const bloomfilter *set, uint32_t index, const char *name)
{
	const void *bytes;
	size_t		length;

	need(bloomfilter_get_bytes(set, index, &bytes, &length) == BLOOMFILTER_OK, "part");
	write_file(in_folder(name), bytes, length);
}

static void
check_open(const char *path, int wanted, const char *what)
{
	bloomfilter *filter = NULL;
	bloomfilter_detail detail = {0, 0, ""};
	int			code = bloomfilter_open(path, 0, &filter, &detail);

	same(code, wanted, "%s: %s", what, detail.text);
	ok((code == BLOOMFILTER_OK) == (filter != NULL), "and a filter only then");
	if (code == BLOOMFILTER_OK)
	{
		same(count_missing(filter, 1, KEYS), 0, "no key is missing");
		bloomfilter_close(filter);
	}
}

static void
check_manifest(const char *text, size_t length, int wanted, const char *what)
{
	write_file(in_folder("manifest"), text, length);
	check_open(folder, wanted, what);
}

static void
check_answers(const bloomfilter *set)
{
	int64_t		keys[2000];
	uint8_t		found[2000];
	bloomfilter_info info;
	bloomfilter_info part;
	int			different = 0;
	int			i;

	for (i = 0; i < 2000; i++)
		keys[i] = KEYS - 1000 + i;
	same(bloomfilter_contains_int64_batch(set, keys, 2000, found, NULL), BLOOMFILTER_OK, "batch of a set");
	for (i = 0; i < 2000; i++)
		different += found[i] != bloomfilter_contains_int64(set, keys[i]);
	same(different, 0, "batch and single agree");
	same(bloomfilter_contains_text(set, "x", 1), BLOOMFILTER_ERR_KEY_TYPE, "another type");
	bloomfilter_get_info(set, &info, sizeof info);
	ok(info.parts == PARTS && info.open_parts == PARTS && info.seed == 7 && info.capacity > KEYS &&
	   info.estimated_keys > KEYS * 0.97 && info.estimated_keys < KEYS * 1.03 &&
	   info.estimated_rate < 0.012, "info of a set");
	same(bloomfilter_get_part_info(set, 2, &part, sizeof part), BLOOMFILTER_OK, "info of a part");
	ok(part.part == 2 && part.parts == PARTS && part.open_parts == 1 && part.bits_set < info.bits_set,
	   "is of this part");
	same(bloomfilter_get_part_info(set, PARTS, &part, sizeof part), BLOOMFILTER_ERR_ARGUMENT, "no part 3");
}

/* By their bytes: the same answers, and the same errors. */
static void
check_slices(const bloomfilter *set)
{
	uint8_t		bytes[2000][8];
	bloomfilter_slice keys[2000];
	uint8_t		found[2000];
	size_t		answered = 9;
	int			different = 0;
	int			i;

	for (i = 0; i < 2000; i++)
	{
		keys[i].bytes = bytes[i];
		keys[i].length = bf_key_integer(KEYS - 1000 + i, bytes[i]);
	}
	same(bloomfilter_contains_batch(set, BLOOMFILTER_KEY_INTEGER, keys, 2000, found, &answered),
		 BLOOMFILTER_OK, "batch of slices");
	same((long long) answered, 2000, "answers all");
	for (i = 0; i < 2000; i++)
		different += found[i] != bloomfilter_contains_int64(set, KEYS - 1000 + i);
	same(different, 0, "slices and keys agree");
	same(bloomfilter_contains_batch(set, BLOOMFILTER_KEY_TEXT, keys, 2000, found, &answered),
		 BLOOMFILTER_ERR_KEY_TYPE, "slices of another type");
	same((long long) answered, 0, "answers none");
	same(bloomfilter_contains_batch(set, BLOOMFILTER_KEY_NONE, keys, 2000, found, &answered),
		 BLOOMFILTER_ERR_ARGUMENT, "slices of no type");
	same(bloomfilter_contains_batch(set, 99, keys, 2000, found, NULL),
		 BLOOMFILTER_ERR_ARGUMENT, "slices of a type that is none");
	same(bloomfilter_contains_batch(set, BLOOMFILTER_KEY_INTEGER, keys, 0, found, &answered),
		 BLOOMFILTER_OK, "no slices");
}

static void
check_single_part(const bloomfilter *set)
{
	bloomfilter *part;
	int			answers[2] = {0, 0};
	int			others = 0;
	int			by_slice = 0;
	int64_t		key;
	uint8_t		found;
	bloomfilter_builder *builder;
	bloomfilter *rebuilt;

	write_part(set, 1, "part");
	need(bloomfilter_open(in_folder("part"), 0, &part, NULL) == BLOOMFILTER_OK, "part opens");
	need(bloomfilter_builder_create_like(part, &builder) == BLOOMFILTER_OK, "builder");
	for (key = 1; key <= KEYS; key++)
	{
		int			answer = bloomfilter_contains_int64(part, key);
		int			batch = bloomfilter_contains_int64_batch(part, &key, 1, &found, NULL);
		uint8_t		bytes[8];
		bloomfilter_slice slice = {bytes, bf_key_integer(key, bytes)};
		size_t		answered = 9;
		int			sliced = bloomfilter_contains_batch(part, BLOOMFILTER_KEY_INTEGER, &slice, 1,
														&found, &answered);

		by_slice += answer < 0 ? sliced == answer && answered == 0 :
			sliced == BLOOMFILTER_OK && answered == 1 && found == answer;
		if (answer >= 0)
			answers[answer]++;
		others += answer == BLOOMFILTER_ERR_OTHER_PART && batch == answer &&
			bloomfilter_builder_add_int64(builder, key) == answer;
		if (answer == 1)
			need(bloomfilter_builder_add_int64(builder, key) == BLOOMFILTER_OK, "add");
	}
	same(answers[0], 0, "a part alone denies none of its keys");
	same(answers[1] + others, KEYS, "and refuses those of other parts, never denies them");
	ok(others > KEYS / 2, "which are about two thirds");
	same(by_slice, KEYS, "by their bytes, too");
	need(bloomfilter_builder_finish(builder, &rebuilt, NULL) == BLOOMFILTER_OK, "finish");
	ok(equal_bytes(rebuilt, part), "a part can be built alone");
	bloomfilter_builder_free(builder);
	bloomfilter_close(rebuilt);
	bloomfilter_close(part);
}

static void
check_written(const bloomfilter *set)
{
	bloomfilter *opened;
	bloomfilter *other = make_range(KEYS, 2, 1, KEYS);

	same(bloomfilter_write(set, in_folder("manifest"), NULL), BLOOMFILTER_OK, "a set is written");
	same(count_entries(folder), PARTS + 1, "as a manifest and a file for each part");
	need(bloomfilter_open(folder, 0, &opened, NULL) == BLOOMFILTER_OK, "opened");
	ok(equal_bytes(opened, set), "and opens as it was");
	check_answers(opened);
	check_open(in_folder("manifest"), BLOOMFILTER_OK, "by the manifest's name");
	same(bloomfilter_write(set, in_folder("manifest"), NULL), BLOOMFILTER_OK, "written again");
	same(count_entries(folder), PARTS + 1, "with the same files");
	same(bloomfilter_write(other, in_folder("manifest"), NULL), BLOOMFILTER_OK, "another set over it");
	same(count_entries(folder), 2 + 1, "deletes the parts that are no longer named");
	same(count_missing(opened, 1, KEYS), 0, "who has opened them asks on");
	bloomfilter_close(opened);
	bloomfilter_close(other);
	empty_folder();
}

static void
check_folders(const bloomfilter *set, const bloomfilter *other)
{
	static const char manifest[] = "bloomfilter-set 1\nc.bloom\na.bloom\nb.bloom\n";
	bloomfilter *opened;
	bloomfilter_detail detail;
	char		wanted[256];

	write_part(set, 0, "c.bloom");
	write_part(set, 1, "a.bloom");
	write_part(set, 2, "b.bloom");
	same(bloomfilter_open(folder, 0, &opened, &detail), BLOOMFILTER_ERR_SET, "a folder without manifest is no set");
	snprintf(wanted, sizeof wanted, "%s: folder has no file \"manifest\"", folder);
	ok(strcmp(detail.text, wanted) == 0, "and the error says so: %s", detail.text);
	write_file(in_folder("manifest"), manifest, sizeof manifest - 1);
	check_open(folder, BLOOMFILTER_OK, "a folder with a manifest");
	snprintf(wanted, sizeof wanted, "%s/", folder);
	check_open(wanted, BLOOMFILTER_OK, "and a slash after it");
	write_file(in_folder("notes.txt"), "x", 1);
	write_file(in_folder(".hidden.bloom"), "x", 1);
	write_part(set, 2, "d.bloom");
	check_open(folder, BLOOMFILTER_OK, "other files don't matter");
	write_part(set, 1, "b.bloom");
	check_open(folder, BLOOMFILTER_ERR_SET, "a part twice");
	same(bloomfilter_open(in_folder("manifest"), 0, &opened, &detail), BLOOMFILTER_ERR_SET, "by the manifest, too");
	snprintf(wanted, sizeof wanted, "%s/b.bloom: is part 1, not part 2 as the manifest has it", folder);
	ok(strcmp(detail.text, wanted) == 0, "with the file's whole path: %s", detail.text);
	write_part(other, 2, "b.bloom");
	check_open(folder, BLOOMFILTER_ERR_SET, "a part with another seed");
	unlink(in_folder("b.bloom"));
	same(bloomfilter_open(folder, 0, &opened, &detail), BLOOMFILTER_ERR_SYSTEM, "a part is missing");
	snprintf(wanted, sizeof wanted, "%s/b.bloom: could not open file: %s", folder, strerror(ENOENT));
	ok(strcmp(detail.text, wanted) == 0, "which one: %s", detail.text);
	write_file(in_folder("b.bloom"), "x", 1);
	check_open(folder, BLOOMFILTER_ERR_FORMAT_LENGTH, "a file that is no filter");
	empty_folder();
}

static void
check_manifests(const bloomfilter *set)
{
	static const char good[] = "bloomfilter-set 1\np0\np1\np2\n";
	static const char zero[] = "bloomfilter-set 1\np\0\np1\np2\n";

	write_part(set, 0, "p0");
	write_part(set, 1, "p1");
	write_part(set, 2, "p2");
	check_manifest(good, sizeof good - 1, BLOOMFILTER_OK, "a manifest");
	check_manifest(good, sizeof good - 2, BLOOMFILTER_OK, "without the last newline");
	check_manifest(zero, sizeof zero - 1, BLOOMFILTER_ERR_MANIFEST, "zero byte");
#define MANIFEST(text, code, what) check_manifest(text, sizeof text - 1, code, what)
	MANIFEST("bloomfilter-set 2\np0\np1\np2\n", BLOOMFILTER_ERR_MANIFEST, "later version");
	MANIFEST("bloomfilter-set 1\r\np0\np1\np2\n", BLOOMFILTER_ERR_MANIFEST, "carriage return");
	MANIFEST("bloomfilter-set 1\n", BLOOMFILTER_ERR_MANIFEST, "no parts");
	MANIFEST("bloomfilter-set ", BLOOMFILTER_ERR_MANIFEST, "cut off");
	MANIFEST("bloomfilter-set 1\np0\n\np1\np2\n", BLOOMFILTER_ERR_MANIFEST, "empty line");
	MANIFEST("bloomfilter-set 1\n../p0\np1\np2\n", BLOOMFILTER_ERR_MANIFEST, "other folder");
	MANIFEST("bloomfilter-set 1\n..\np1\np2\n", BLOOMFILTER_ERR_MANIFEST, "the folder above");
	MANIFEST("bloomfilter-set 1\np0\np1\n", BLOOMFILTER_ERR_SET, "a part too few");
	MANIFEST("bloomfilter-set 1\np0\np1\np2\np2\n", BLOOMFILTER_ERR_SET, "a part too many");
	MANIFEST("bloomfilter-set 1\np1\np0\np2\n", BLOOMFILTER_ERR_SET, "wrong order");
	MANIFEST("bloomfilter-set 1\np0\np1\nmissing\n", BLOOMFILTER_ERR_SYSTEM, "missing file");
	MANIFEST("bloomfilter-set 1\np0\np1\nmanifest\n", BLOOMFILTER_ERR_FORMAT_LENGTH, "names itself");
	MANIFEST("bloomfilter-set 1\n# generation 17\np0\np1\n#\np2\n#", BLOOMFILTER_OK, "notes");
	MANIFEST("bloomfilter-set 1\n# p0\n", BLOOMFILTER_ERR_MANIFEST, "nothing but notes");
	MANIFEST("something else, long enough\n", BLOOMFILTER_ERR_MANIFEST, "a file named manifest that is none");
	empty_folder();
}

/* A name with a checksum promises what is in the file. */
static void
check_names(const bloomfilter *set)
{
	bloomfilter *other = make_range(KEYS, PARTS, 1, KEYS - 1000);
	bloomfilter_info info;
	char		names[PARTS][64];
	char		text[300];
	uint32_t	i;

	for (i = 0; i < PARTS; i++)
	{
		bloomfilter_get_part_info(set, i, &info, sizeof info);
		snprintf(names[i], sizeof names[i], "p.%016llx.bloom", (unsigned long long) info.checksum);
		write_part(set, i, names[i]);
	}
	snprintf(text, sizeof text, "bloomfilter-set 1\n%s\n%s\n%s\n", names[0], names[1], names[2]);
	check_manifest(text, strlen(text), BLOOMFILTER_OK, "names with checksums");
	write_part(other, 1, names[1]);
	check_manifest(text, strlen(text), BLOOMFILTER_ERR_SET, "a part of another build under the name");
	bloomfilter_close(other);
	empty_folder();
}

/* Manifests at the limits: names of 255 bytes, parts without number. */
static void
check_long_manifests(void)
{
	static const char first[] = "bloomfilter-set 1\n";
	size_t		start = sizeof first - 1;
	size_t		length = start + (BF_MAX_PARTS + 1) * (size_t) 256;
	char	   *text = malloc(length);
	size_t		i;

	need(text != NULL, "memory");
	memcpy(text, first, start);
	memset(text + start, 'n', 256);
	check_manifest(text, start + 255, BLOOMFILTER_ERR_SYSTEM, "the longest name, of no file");
	check_manifest(text, start + 256, BLOOMFILTER_ERR_MANIFEST, "a longer name");
	for (i = 0; i <= BF_MAX_PARTS; i++)
		memcpy(text + start + 2 * i, "p\n", 2);
	check_manifest(text, start + 2 * (size_t) BF_MAX_PARTS, BLOOMFILTER_ERR_SYSTEM, "the most parts, of no files");
	check_manifest(text, start + 2 * (size_t) BF_MAX_PARTS + 2, BLOOMFILTER_ERR_MANIFEST, "more parts");
	memset(text + start, 'n', length - start);
	check_manifest(text, length, BLOOMFILTER_ERR_MANIFEST, "longer than any manifest");
	free(text);
	empty_folder();
}

/*
 * What the library opens is counted: it is led here by the linker.
 */
extern int	__real_openat(int folder, const char *path, int flags, ...);
extern int	__wrap_openat(int folder, const char *path, int flags, ...);

static int	opened_files;

int
__wrap_openat(int at, const char *path, int flags, ...)
{
	mode_t		mode = 0;
	va_list		arguments;

	opened_files++;
	if (flags & O_CREAT)
	{
		va_start(arguments, flags);
		mode = va_arg(arguments, mode_t);
		va_end(arguments);
	}
	return __real_openat(at, path, flags, mode);
}

/* Many lines in a manifest cost nobody anything unless the parts say the same. */
static void
check_many_lines(const bloomfilter *single)
{
	static const char first[] = "bloomfilter-set 1\n";
	size_t		start = sizeof first - 1;
	char	   *text = malloc(start + 2 * BF_MAX_PARTS);
	size_t		i;

	need(text != NULL, "memory");
	memcpy(text, first, start);
	for (i = 0; i < BF_MAX_PARTS; i++)
		memcpy(text + start + 2 * i, "p\n", 2);
	write_part(single, 0, "p");
	opened_files = 0;
	check_manifest(text, start + 2 * BF_MAX_PARTS, BLOOMFILTER_ERR_SET, "65535 times the same filter");
	same(opened_files, 2, "the manifest and the first part are opened, and no other");
	free(text);
	empty_folder();
}

/* Waiting for a writer of a pipe would hang for good: alarm ends the test then. */
static void
check_no_files(const bloomfilter *single)
{
	static const char manifest[] = "bloomfilter-set 1\nfile\n";
	bloomfilter_detail detail;
	bloomfilter *opened;

	alarm(60);
	need(mkfifo(in_folder("pipe"), 0600) == 0, "pipe");
	same(bloomfilter_open(in_folder("pipe"), 0, &opened, &detail), BLOOMFILTER_ERR_ARGUMENT, "a pipe: %s", detail.text);
	same(bloomfilter_open(in_folder("pipe"), BLOOMFILTER_COPY, &opened, NULL), BLOOMFILTER_ERR_ARGUMENT, "or a copy of it");
	same(bloomfilter_open("/dev/zero", 0, &opened, NULL), BLOOMFILTER_ERR_ARGUMENT, "a device");
	need(rename(in_folder("pipe"), in_folder("file")) == 0, "renamed");
	check_manifest(manifest, sizeof manifest - 1, BLOOMFILTER_ERR_ARGUMENT, "a pipe that a manifest names");
	need(unlink(in_folder("file")) == 0 && symlink("/dev/zero", in_folder("file")) == 0, "link");
	check_manifest(manifest, sizeof manifest - 1, BLOOMFILTER_ERR_ARGUMENT, "a device that it names");
	need(unlink(in_folder("file")) == 0, "unlinked");
	write_part(single, 0, "file");
	check_manifest(manifest, sizeof manifest - 1, BLOOMFILTER_OK, "a file that it names");
	alarm(0);
	empty_folder();
}

static void
check_key_types(void)
{
	static const char manifest[] = "bloomfilter-set 1\n0.bloom\n1.bloom\n";
	bloomfilter_builder *builder;
	bloomfilter *texts = NULL;
	bloomfilter *integers = make_range(10, 2, 1, 10);
	bloomfilter *empty = make_range(10, 2, 1, 0);
	bloomfilter *opened;

	need(bloomfilter_builder_create_set(10, 0.01, 7, 2, &builder) == BLOOMFILTER_OK, "builder");
	need(bloomfilter_builder_add_text(builder, "a", 1) == BLOOMFILTER_OK &&
		 bloomfilter_builder_add_text(builder, "b", 1) == BLOOMFILTER_OK &&
		 bloomfilter_builder_add_text(builder, "c", 1) == BLOOMFILTER_OK &&
		 bloomfilter_builder_add_text(builder, "d", 1) == BLOOMFILTER_OK &&
		 bloomfilter_builder_finish(builder, &texts, NULL) == BLOOMFILTER_OK, "texts");
	bloomfilter_builder_free(builder);
	write_file(in_folder("manifest"), manifest, sizeof manifest - 1);
	write_part(integers, 0, "0.bloom");
	write_part(texts, 1, "1.bloom");
	check_open(folder, BLOOMFILTER_ERR_SET, "parts of different types");
	write_part(empty, 1, "1.bloom");
	need(bloomfilter_open(folder, 0, &opened, NULL) == BLOOMFILTER_OK, "a part without keys fits any type");
	same(bloomfilter_contains_text(opened, "a", 1), BLOOMFILTER_ERR_KEY_TYPE, "the set has the type of its other part");
	bloomfilter_close(opened);
	bloomfilter_close(texts);
	bloomfilter_close(integers);
	bloomfilter_close(empty);
	empty_folder();
}

int
main(void)
{
	bloomfilter *set = make_range(KEYS, PARTS, 1, KEYS);
	bloomfilter *single = make_range(KEYS, 1, 1, KEYS);
	bloomfilter *other;
	bloomfilter_builder *builder;

	folder = scratch_path("set");
	need(mkdir(folder, 0777) == 0, "folder");
	need(bloomfilter_builder_create_set(KEYS, 0.01, 8, PARTS, &builder) == BLOOMFILTER_OK, "builder");
	other = finish_range(builder, 1, KEYS);
	check_answers(set);
	check_slices(set);
	check_single_part(set);
	empty_folder();
	check_written(set);
	check_folders(set, other);
	check_manifests(set);
	check_names(set);
	check_long_manifests();
	check_many_lines(single);
	check_no_files(single);
	check_key_types();
	write_part(single, 0, "one.bloom");
	check_open(folder, BLOOMFILTER_ERR_SET, "a folder with one whole filter");
	empty_folder();
	rmdir(folder);
	bloomfilter_close(set);
	bloomfilter_close(single);
	bloomfilter_close(other);
	return tap_done();
}
