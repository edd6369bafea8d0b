/*
 * build.c
 *	  Building a filter: by the core, so that the bytes are those of SQL.
 *
 * First the header of an empty filter at filter_at(), by size_for() or empty(); then
 * zeros for its blocks, from JavaScript; the hashes; and finish().
 */
#include "reader.h"

#include "bf_filter.h"
#include "bf_hashlist.h"
#include "bf_sizing.h"

/* What size_for() returns. */
enum
{
	SIZE_FITS,
	SIZE_UNREACHABLE,			/* no size has this rate */
	SIZE_TOO_LARGE				/* for one filter */
};

EXPORT("size_for") int
size_for(uint64_t n, double p, uint64_t seed)
{
	bf_sizing	sizing;

	if (!bf_size_for_rate(n, p, &sizing))
		return SIZE_UNREACHABLE;
	if (!bf_sizing_fits(&sizing))
		return SIZE_TOO_LARGE;
	header = bf_sizing_header(&sizing, seed);
	bf_header_copy(&header, filter_at());
	return SIZE_FITS;
}

/* The filter whose header was checked, without its keys. */
EXPORT("empty") void
empty(void)
{
	header.bits_set = 0;
	header.key_type = 0;
}

/* Bytes of the filter of this header. */
EXPORT("total_bytes") uint32_t
total_bytes(void)
{
	return (uint32_t) bf_total_bytes(&header);
}

/* How many different hashes there are; they are sorted. */
EXPORT("count_different") size_t
count_different(uint64_t *hashes, size_t count)
{
	return bf_hashlist_unique(hashes, count, NULL);
}

/* Adds keys of a kind; returns count, or the number of the first of another part. */
EXPORT("add_hashes") size_t
add_hashes(const uint64_t *hashes, size_t count, uint32_t kind)
{
	size_t		i;

	for (i = 0; i < count; i++)
		if (!bf_in_part(&header, hashes[i]))
			return i;
	header.key_type = kind;
	bf_add_hashes(&header, filter_at() + BF_HEADER_BYTES, hashes, count);
	return count;
}

EXPORT("finish") void
finish(void)
{
	bf_header_write(&header, filter_at() + BF_HEADER_BYTES, NULL, filter_at());
}

/* XXH64, seed 0, of a few bytes: to where they begin. */
EXPORT("hash_in_place") void
hash_in_place(uint64_t *bytes, size_t length)
{
	*bytes = bf_hash(bytes, length, 0);
}
