/*
 * bf_explain.c
 *	  What a look-up of one key computes and sees, as text.
 */
#include "bf_explain.h"

#include <string.h>

#include "bf_filter.h"
#include "bf_hash.h"
#include "bf_key.h"

/* Where the second column begins. */
#define NAME_WIDTH	10

/* Digits of the largest number of 64 bits. */
#define MAX_DIGITS	20

static char *
add_text(char *at, const char *text)
{
	size_t		length = strlen(text);

	memcpy(at, text, length + 1);
	return at + length;
}

static char *
add_name(char *at, const char *name)
{
	size_t		length = strlen(name);

	memcpy(at, name, length);
	memset(at + length, ' ', NAME_WIDTH - length);
	return at + NAME_WIDTH;
}

static char *
add_number(char *at, uint64_t number)
{
	char		digits[MAX_DIGITS];
	size_t		count = 0;

	do
	{
		digits[count++] = (char) ('0' + number % 10);
		number /= 10;
	} while (number > 0);
	while (count > 0)
		*at++ = digits[--count];
	*at = '\0';
	return at;
}

static char *
add_hex(char *at, const uint8_t *bytes, size_t length)
{
	static const char digits[] = "0123456789abcdef";
	size_t		i;

	for (i = 0; i < length; i++)
	{
		*at++ = digits[bytes[i] >> 4];
		*at++ = digits[bytes[i] & 15];
	}
	*at = '\0';
	return at;
}

/* A number of 64 bits, the most significant digit first. */
static char *
add_word(char *at, const char *name, uint64_t word)
{
	uint8_t		bytes[8];
	unsigned	i;

	for (i = 0; i < 8; i++)
		bytes[i] = (uint8_t) (word >> (56 - 8 * i));
	return add_text(add_hex(add_name(at, name), bytes, 8), "\n");
}

static char *
add_key(char *at, const void *key, size_t length)
{
	size_t		shown = length < BF_EXPLAIN_SHOWN ? length : BF_EXPLAIN_SHOWN;

	at = add_name(at, "bytes");
	at = length == 0 ? add_text(at, "-") : add_hex(at, key, shown);
	return add_text(at, shown < length ? "...\n" : "\n");
}

/* Which of how many, counted from 0. */
static char *
add_place(char *at, const char *name, uint64_t number, uint64_t all)
{
	at = add_number(add_name(at, name), number);
	return add_text(add_number(add_text(at, " of "), all), "\n");
}

char *
bf_explain_number(char *text, const char *name, uint64_t number)
{
	return add_text(add_number(add_name(text, name), number), "\n");
}

char *
bf_explain_key(char *text, const bf_header *header, uint32_t key_type, const void *key,
			   size_t length, uint64_t hash)
{
	char		kind[BF_KEY_TEXT_BYTES];

	text = add_text(add_text(add_name(text, "kind"), bf_key_type_text(key_type, kind)), "\n");
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

	text = add_name(text, "probes");
	for (i = 0; i < header->probes; i++)
	{
		uint32_t	bit = bf_probe_bit(bf_probe(hash, i), header->log2_block_bits);

		text = add_number(add_text(text, i == 0 ? "" : " "), bit);
		text = add_text(text, (block[bit >> 3] >> (bit & 7) & 1) != 0 ? "=1" : "=0");
	}
	return add_text(text, "\n");
}

char *
bf_explain_answer(char *text, int answer)
{
	const char *word = answer == BF_EXPLAIN_OTHER_PART ? "other part" : answer ? "true" : "false";

	return add_text(add_name(text, "answer"), word);
}

char *
bf_explain_change(char *text, uint64_t state)
{
	text = add_text(add_name(text, "change"), (state & 1) != 0 ? "true " : "false ");
	return add_text(add_number(text, state >> 1), "\n");
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
		text = bf_explain_change(text, change);
		answer = (int) (change & 1);
	}
	bf_explain_answer(text, answer);
	return answer;
}
