/*
 * forge.c
 *	  Prints integer keys that a filter lets through and that were never added.
 *
 *	  forge FILE COUNT FIRST LAST
 *
 * The filter is read from FILE; keys FIRST to LAST, those that were added, are left
 * out.  Hashes are drawn until the filter contains them, and turned into keys.
 * Nothing of a key is tried: what the attack needs are the bytes and the seed.
 */
#include <string.h>

#include "bf_filter.h"
#include "forge.h"
#include "tap.h"
#include "support.h"

/* The bytes of a file; a file that can't be read ends the program. */
static uint8_t *
read_file(const char *path, size_t *length)
{
	FILE	   *file = fopen(path, "rb");
	uint8_t    *bytes;

	if (file == NULL || fseek(file, 0, SEEK_END) != 0)
		abort();
	*length = (size_t) ftell(file);
	rewind(file);
	bytes = allocate(*length);
	if (fread(bytes, 1, *length, file) != *length)
		abort();
	fclose(file);
	return bytes;
}

int
main(int argc, char **argv)
{
	uint64_t	state = 7;
	size_t		length;
	uint8_t    *bytes;
	bf_header	header;
	int64_t		first;
	int64_t		last;
	long		wanted;

	if (argc != 5)
		return 2;
	bytes = read_file(argv[1], &length);
	if (plain_parse(bytes, length, NULL, &header) != BF_OK)
		return 2;
	wanted = strtol(argv[2], NULL, 10);
	first = strtoll(argv[3], NULL, 10);
	last = strtoll(argv[4], NULL, 10);
	while (wanted > 0)
	{
		uint64_t	hash = next_random(&state);
		int64_t		key = (int64_t) word_of_hash(hash, header.seed);

		if (!bf_contains(&header, bytes + BF_HEADER_BYTES, hash) ||
			(key >= first && key <= last))
			continue;
		printf("%" PRId64 "\n", key);
		wanted--;
	}
	free(bytes);
	return 0;
}
