/*
 * bf_explain.c
 *	  What a look-up of one key computes and sees, as text.
 */
#include "bf_explain.h"

#include <inttypes.h>
#include <stdio.h>

#include "bf_filter.h"
#include "bf_hash.h"
#include "bf_key.h"

/* The second column begins behind ten characters. */
#define NAME "%-10s"

/* Writes at the end of a text, which is named twice, and gives its new end. */
#define ADD(text, ...) ((text) + sprintf(text, __VA_ARGS__))

static char *
add_word(char *at, const char *name, uint64_t word)
{
	return ADD(at, NAME "%016" PRIx64 "\n", name, word);
}

static char *
add_key(char *at, const uint8_t *key, size_t length)
{
	size_t		i;

	at = ADD(at, NAME "%s", "bytes", length == 0 ? "-" : "");
	for (i = 0; i < length && i < BF_EXPLAIN_SHOWN; i++)
		at = ADD(at, "%02x", key[i]);
	return ADD(at, i < length ? "...\n" : "\n");
}

/* Which of how many, counted from 0. */
static char *
add_place(char *at, const char *name, uint32_t number, uint32_t all)
{
	return ADD(at, NAME "%" PRIu32 " of %" PRIu32 "\n", name, number, all);
}

char *
bf_explain_number(char *text, const char *name, uint64_t number)
{
	return ADD(text, NAME "%" PRIu64 "\n", name, number);
}

char *
bf_explain_key(char *text, const bf_header *header, uint32_t key_type, const void *key,
			   size_t length, uint64_t hash)
{
	char		kind[BF_KEY_TEXT_BYTES];

	text = ADD(text, NAME "%s\n", "kind", bf_key_type_text(key_type, kind));
	text = bf_explain_number(text, "length", length);
	text = add_key(text, key, length);
	text = add_word(text, "seed", header->seed);
	text = add_word(text, "hash", hash);
	text = add_place(text, "part", bf_part_of(hash, header->parts), header->parts);
	return add_place(text, "block", bf_block_of(hash, header->blocks), header->blocks);
}

char *
bf_explain_probes(char *text, const bf_header *header, uint64_t hash, const uint8_t *block)
{
	unsigned	i;

	text = ADD(text, NAME, "probes");
	for (i = 0; i < header->probes; i++)
	{
		uint32_t	bit = bf_probe_bit(bf_probe(hash, i), header->log2_block_bits);

		text = ADD(text, "%s%" PRIu32 "=%d", i == 0 ? "" : " ", bit, block[bit >> 3] >> (bit & 7) & 1);
	}
	return ADD(text, "\n");
}

char *
bf_explain_answer(char *text, int answer)
{
	return ADD(text, NAME "%s", "answer", answer == BF_EXPLAIN_OTHER_PART ? "other part" : answer ? "true" : "false");
}

/* The levels of an exact filter up to the first that does not have the key. */
static char *
add_levels(char *text, const bf_shape *shape, const uint8_t *blocks, uint64_t hash)
{
	unsigned	level;

	for (level = 0; level < shape->levels; level++)
	{
		const bf_header *header = &shape->level[level];
		uint64_t	own = bf_exact_hash(shape, level, hash);

		if (level > 0)
			text = bf_explain_number(text, "level", level + 1);
		text = bf_explain_probes(text, header, own,
								 blocks + bf_shape_offset(shape, level) + bf_block_offset(header, own));
		if (!bf_exact_level_contains(shape, blocks, level, hash))
			break;
	}
	return text;
}

int
bf_explain(char *text, const bf_shape *shape, const uint8_t *blocks, uint32_t key_type,
		   const void *key, size_t length, uint64_t change)
{
	const bf_header *header = &shape->level[0];
	uint64_t	hash = bf_hash(key, length, header->seed);
	int			answer = BF_EXPLAIN_OTHER_PART;

	text = add_word(text, "filter", header->checksum);
	text = bf_explain_key(text, header, key_type, key, length, hash);
	if (bf_in_part(header, hash))
	{
		text = add_levels(text, shape, blocks, hash);
		answer = bf_shape_contains(shape, blocks, hash);
	}
	if (change != 0 && answer != BF_EXPLAIN_OTHER_PART)
	{
		text = ADD(text, NAME "%s %" PRIu64 "\n", "change", (change & 1) != 0 ? "true" : "false", change >> 1);
		answer = (int) (change & 1);
	}
	bf_explain_answer(text, answer);
	return answer;
}
