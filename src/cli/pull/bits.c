/*
 * bits.c
 *	  Setting and flipping bits in a file of parts, piece by piece, with its sum.
 *
 * Bytes are read by the descriptor that writes them: a mapping of another one may show an
 * older file on overlayfs, and one of a file that was cut would end the process.
 */
#define _GNU_SOURCE
#include "file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t) 1024 * 1024)

static bool
part_sum(int fd, const feed_part *part, uint8_t *chunk, uint64_t *sum)
{
	uint8_t		header[FEED_FRONT_BYTES];
	uint64_t	at;

	if (!read_all(fd, header, sizeof header, part->at))
		return false;
	if (memcmp(header, part->header, feed_front(part)) != 0)
	{
		errno = EIO;
		return false;
	}
	*sum += feed_sum_header(part->shape.level[0].part, header);
	for (at = 0; at < part->length; at += CHUNK)
	{
		size_t		length = part->length - at < CHUNK ? (size_t) (part->length - at) : CHUNK;

		if (!read_all(fd, chunk, length, feed_body_at(part) + at))
			return false;
		*sum += feed_sum(part->shape.level[0].part, at / FEED_PIECE, chunk, length);
	}
	return true;
}

bool
parts_sum(const file_content *of, uint64_t *sum)
{
	uint8_t    *chunk = allocate(NULL, CHUNK, 1);
	bool		read = true;
	uint32_t	i;

	*sum = 0;
	for (i = 0; i < of->who.parts && read; i++)
		read = part_sum(of->fd, &of->parts[i], chunk, sum);
	free(chunk);
	return read;
}

/* ------------------------------------------------------------------------
 * Pieces
 * ------------------------------------------------------------------------ */

static uint64_t
sum_of_piece(const file_bits *bits, const feed_part *part)
{
	return feed_sum(part->shape.level[0].part, bits->at / FEED_PIECE, bits->bytes, bits->length);
}

bool
bits_end(file_bits *bits)
{
	const feed_part *part = bits->part;

	bits->part = NULL;
	if (part == NULL || bits->first >= bits->end)
		return true;
	if (!write_all(bits->of->fd, bits->bytes + bits->first, bits->end - bits->first,
				   feed_body_at(part) + bits->at + bits->first))
		return false;
	bits->sum += sum_of_piece(bits, part) - bits->was;
	return true;
}

static bool
begin_piece(file_bits *bits, const feed_part *part, uint64_t byte)
{
	if (!bits_end(bits))
		return false;
	bits->at = byte / FEED_PIECE * FEED_PIECE;
	bits->length = part->length - bits->at < FEED_PIECE ? (size_t) (part->length - bits->at) : FEED_PIECE;
	if (!read_all(bits->of->fd, bits->bytes, bits->length, feed_body_at(part) + bits->at))
		return false;
	bits->part = part;
	bits->first = sizeof bits->bytes;
	bits->end = 0;
	bits->was = sum_of_piece(bits, part);
	return true;
}

bool
bits_front(file_bits *bits, uint32_t part, const uint8_t *front)
{
	if (!begin_piece(bits, &bits->of->parts[part], 0))
		return false;
	memcpy(bits->bytes, front, FEED_FRONT_BYTES);
	bits->first = 0;
	bits->end = FEED_FRONT_BYTES;
	return true;
}

bool
bits_put(file_bits *bits, uint32_t part, uint64_t position)
{
	uint64_t	byte = position / 8;
	uint8_t		bit = (uint8_t) (1u << position % 8);
	size_t		at;

	if ((bits->part != &bits->of->parts[part] || byte - bits->at >= bits->length) &&
		!begin_piece(bits, &bits->of->parts[part], byte))
		return false;
	at = (size_t) (byte - bits->at);
	if (!bits->flip && feed_is_exact(bits->part))
	{
		errno = EPERM;
		return false;
	}
	if (!bits->flip && (bits->bytes[at] & bit) != 0)
		return true;
	bits->bytes[at] ^= bit;
	if (at < bits->first)
		bits->first = at;
	if (at >= bits->end)
		bits->end = at + 1;
	return true;
}

/* ------------------------------------------------------------------------
 * FILE
 * ------------------------------------------------------------------------ */

static bool
store_writes(list_file *file)
{
	uint8_t		word[8];

	/* no bit of an exact file is ever set: it has what it was born with, whatever comes between */
	if (feed_are_exact(file->kept.parts, file->kept.who.parts))
		return true;
	file->writes++;
	feed_word(word, file->writes);
	return write_all(file->kept.fd, word, sizeof word, FEED_WRITES);
}

bool
file_set_begin(list_file *file, file_bits *bits)
{
	if (file->writes % 2 == 0 && file_was_written(file))
		return file_refuse(file, "damaged", "was written to by another program");
	*bits = (file_bits) {.of = &file->kept, .sum = file->kept.now.content.sum};
	/* after a step that failed it is odd already, and bits may be there that the sum doesn't know */
	if (file->writes % 2 != 0)
		return parts_sum(&file->kept, &bits->sum) || file_trouble(file, "write");
	return store_writes(file) || file_trouble(file, "write");
}

bool
file_set_end(list_file *file, file_bits *bits, const feed_now *now)
{
	uint8_t		bytes[FEED_NOW_BYTES];

	if (!bits_end(bits))
		return file_trouble(file, "write");
	/* who copies over the file cuts it first */
	if (!file_has_page(file))
		return file_refuse(file, "damaged", "was written to by another program");
	file->kept.now = *now;
	file->kept.now.content.sum = bits->sum;
	feed_now_write(&file->kept.now, bytes);
	if (!write_all(file->kept.fd, bytes, sizeof bytes, FEED_NOW_AT) || !store_writes(file))
		return file_trouble(file, "write");
	file_wrote(file);
	return true;
}
