/*
 * feed_manifest.c
 *	  The manifest of a list's folder: reading and writing it.
 */
#include "feed_manifest.h"

#include <inttypes.h>
#include <stdarg.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bf_limits.h"
#include "bf_step.h"
#include "messages.h"

#define NOTE '#'

/* The shortest delta: its header and its checksum. */
#define FEED_DELTA_BYTES 104

#define MUST "must-"

/* ------------------------------------------------------------------------
 * Lines
 * ------------------------------------------------------------------------ */

static bool
read_number(const char *text, uint64_t *number)
{
	size_t		digits = strspn(text, "0123456789");

	if (digits < 1 || digits > 19 || text[digits] != '\0' || (text[0] == '0' && digits > 1))
		return false;
	*number = strtoull(text, NULL, 10);
	return *number <= INT64_MAX;
}

/* Splits values at single spaces; false if there are not exactly so many. */
static bool
split(char *values, char **value, int count)
{
	int			i;

	for (i = 0; i < count; i++)
	{
		char	   *space = strchr(values, ' ');

		if ((space == NULL) != (i == count - 1) || values[0] == '\0' || values[0] == ' ')
			return false;
		value[i] = values;
		if (space != NULL)
		{
			*space = '\0';
			values = space + 1;
		}
	}
	return true;
}

typedef struct reading
{
	feed_manifest *manifest;
	uint32_t	wholes;			/* lines so far */
	unsigned	seen;			/* words that stand once */
} reading;

static bool
read_name(feed_manifest *manifest, const char *value)
{
	if (!feed_is_name(value))
		return false;
	snprintf(manifest->name, sizeof manifest->name, "%s", value);
	return true;
}

static bool
read_exporter(feed_manifest *manifest, const char *value)
{
	uint8_t		bytes[FEED_EXPORTER_BYTES / 2];

	if (!feed_from_hex(bytes, sizeof bytes, value))
		return false;
	memcpy(manifest->exporter, value, sizeof manifest->exporter);
	return true;
}

static bool
read_rate(feed_manifest *manifest, const char *value)
{
	char	   *end;

	if (strspn(value, "0123456789.e-") != strlen(value))
		return false;
	manifest->rate = strtod(value, &end);
	return *end == '\0' && manifest->rate >= 0 && manifest->rate <= 1;
}

/* part, serial, length, digest */
static bool
read_whole(reading *state, char *values)
{
	feed_manifest *manifest = state->manifest;
	feed_file  *file;
	char	   *value[4];
	uint64_t	part;

	if (state->wholes >= BF_MAX_PARTS)
		return false;
	manifest->wholes = allocate(manifest->wholes, state->wholes + 1, sizeof *file);
	file = &manifest->wholes[state->wholes];
	memset(file, 0, sizeof *file);
	return split(values, value, 4) && read_number(value[0], &part) && part == state->wholes++ &&
		read_number(value[1], &file->to) && read_number(value[2], &file->length) &&
		file->length >= BF_HEADER_BYTES + 64 && file->length <= BF_MAX_BYTES &&
		feed_from_hex(file->digest, FEED_DIGEST_BYTES, value[3]);
}

/* from, to, length, digest */
static bool
read_step(reading *state, char *values)
{
	feed_manifest *manifest = state->manifest;
	feed_file  *file;
	char	   *value[4];

	manifest->steps = allocate(manifest->steps, manifest->step_count + 1, sizeof *file);
	file = &manifest->steps[manifest->step_count++];
	memset(file, 0, sizeof *file);
	return split(values, value, 4) && read_number(value[0], &file->from) &&
		read_number(value[1], &file->to) && read_number(value[2], &file->length) &&
		file->to > file->from && file->length >= BF_STEP_HEADER_BYTES &&
		file->length <= 8 * BF_MAX_BYTES && feed_from_hex(file->digest, FEED_DIGEST_BYTES, value[3]);
}

/* from, to, length, digest of a step of an older epoch; of a delta the part before, and the result's digest behind */
static bool
read_chain(reading *state, char *values, bool delta)
{
	feed_manifest *manifest = state->manifest;
	feed_file  *file;
	char	   *value[6];
	uint64_t	part = 0;

	manifest->chain = allocate(manifest->chain, manifest->chain_count + 1, sizeof *file);
	file = &manifest->chain[manifest->chain_count++];
	memset(file, 0, sizeof *file);
	file->delta = delta;
	if (!split(values, delta ? value : value + 1, delta ? 6 : 4) ||
		(delta && (!read_number(value[0], &part) || part >= BF_MAX_PARTS || !feed_from_hex(file->result, FEED_DIGEST_BYTES, value[5]))))
		return false;
	file->part = (uint32_t) part;
	return read_number(value[1], &file->from) && read_number(value[2], &file->to) && file->from >= 1 &&
		file->to > file->from && read_number(value[3], &file->length) &&
		file->length >= (delta ? FEED_DELTA_BYTES : BF_STEP_HEADER_BYTES) && file->length <= BF_MAX_BYTES &&
		feed_from_hex(file->digest, FEED_DIGEST_BYTES, value[4]);
}

static bool
read_inline(feed_manifest *manifest, const char *value)
{
	size_t		length = strlen(value);

	if (manifest->inlined != NULL)
		return false;
	manifest->inlined = allocate(NULL, length + 1, 1);
	return sodium_base642bin(manifest->inlined, length, value, length, NULL, &manifest->inlined_length,
							 NULL, sodium_base64_VARIANT_ORIGINAL) == 0 &&
		manifest->inlined_length <= FEED_INLINE_BYTES;
}

/* The words that stand once, in the order of their bits in reading.seen. */
static const char *const once[] = {
	"name", "identity", "exporter", "serial", "content", "epoch", "built", "poll", "spread",
	"parts", "true_at", "expires", "rate"
};

#define ONCE (sizeof once / sizeof once[0])
#define NEEDED ((1u << 10) - 1)	/* the first ten of them */

static bool
read_once(reading *state, size_t word, const char *value)
{
	feed_manifest *m = state->manifest;
	uint64_t   *numbers[ONCE] = {NULL, NULL, NULL, &m->serial, &m->content, &m->epoch, &m->built,
	&m->poll, &m->spread, NULL, &m->true_at, &m->expires, NULL};
	uint64_t	parts;

	if (state->seen & 1u << word)
		return false;
	state->seen |= 1u << word;
	if (numbers[word] != NULL)
		return read_number(value, numbers[word]);
	switch (word)
	{
		case 0:
			return read_name(m, value);
		case 1:
			return feed_uuid_read(m->identity, value);
		case 2:
			return read_exporter(m, value);
		case 9:
			if (!read_number(value, &parts) || parts < 1 || parts > BF_MAX_PARTS)
				return false;
			m->parts = (uint32_t) parts;
			return true;
		default:
			return read_rate(m, value);
	}
}

static const char *
read_line(reading *state, char *line)
{
	static const char bad[] = "is not as it must be";
	char	   *values;
	size_t		i;
	bool		right;

	if (line[0] == NOTE)
		return NULL;
	values = strchr(line, ' ');
	if (values == NULL || values == line)
		return bad;
	*values++ = '\0';
	for (i = 0; i < ONCE; i++)
		if (strcmp(line, once[i]) == 0)
			return read_once(state, i, values) ? NULL : bad;
	if (strcmp(line, "whole") == 0)
		right = read_whole(state, values);
	else if (strcmp(line, "step") == 0)
		right = read_step(state, values);
	else if (strcmp(line, "old-step") == 0)
		right = read_chain(state, values, false);
	else if (strcmp(line, "delta") == 0)
		right = read_chain(state, values, true);
	else if (strcmp(line, "inline") == 0)
		right = read_inline(state->manifest, values);
	else if (strncmp(line, MUST, strlen(MUST)) == 0)
		return "must be understood, which takes a newer version of bloomfilter";
	else
		right = true;
	return right ? NULL : bad;
}

/* Whether each of the chain begins where the one before ended, deltas of all parts together, and they end in the epoch. */
static bool
is_chain(const feed_manifest *m)
{
	uint64_t	at = 0;
	size_t		i = 0;
	uint32_t	part;

	while (i < m->chain_count)
	{
		const feed_file *first = &m->chain[i];

		if (at != 0 && first->from != at)
			return false;
		at = first->to;
		for (part = 0; part < (first->delta ? m->parts : 1); part++, i++)
			if (i == m->chain_count || m->chain[i].delta != first->delta || m->chain[i].part != part ||
				m->chain[i].from != first->from || m->chain[i].to != first->to)
				return false;
	}
	return i == 0 || (m->chain[i - 1].delta && at == m->epoch);
}

/* What no line tells alone. */
static const char *
check_all(const reading *state)
{
	const feed_manifest *m = state->manifest;
	size_t		i;

	if ((state->seen & NEEDED) != NEEDED || state->wholes != m->parts)
		return "is missing";
	if (m->epoch < 1 || m->content < m->epoch || m->serial < m->content)
		return "has serials that don't follow each other";
	for (i = 0; i < m->parts; i++)
		if (m->wholes[i].to != m->wholes[0].to || m->wholes[i].to < m->epoch || m->wholes[i].to > m->content)
			return "has whole files of the wrong serial";
	for (i = 0; i < m->step_count; i++)
		if (m->steps[i].from < m->epoch || (i > 0 && m->steps[i].from != m->steps[i - 1].to))
			return "has steps that don't follow each other";
	if (m->step_count > 0 ? m->steps[m->step_count - 1].to != m->content : m->wholes[0].to != m->content)
		return "has steps that don't lead to its content";
	if (!is_chain(m))
		return "has deltas that don't lead to its epoch";
	return NULL;
}

uint64_t
feed_files_bytes(const feed_file *files, size_t count)
{
	uint64_t	bytes = 0;
	size_t		i;

	for (i = 0; i < count; i++)
		bytes += files[i].length;
	return bytes;
}

size_t
feed_signed_length(const char *text, size_t length)
{
	const char *end = text + length;
	const char *line = text;

	while (line < end)
	{
		const char *newline;

		if ((size_t) (end - line) >= strlen(FEED_SIGNATURE) &&
			memcmp(line, FEED_SIGNATURE, strlen(FEED_SIGNATURE)) == 0)
			return (size_t) (line - text);
		newline = memchr(line, '\n', (size_t) (end - line));
		line = newline == NULL ? end : newline + 1;
	}
	return length;
}

static const char *
read_lines(reading *state, char *text, size_t length, unsigned *number)
{
	char	   *end = text + length;
	char	   *line = text;
	const char *problem = NULL;

	for (*number = 1; line < end && problem == NULL; ++*number)
	{
		char	   *newline = memchr(line, '\n', (size_t) (end - line));

		if (newline == NULL)
			return "has no newline at its end";
		*newline = '\0';
		if (strlen(line) != (size_t) (newline - line))
			return "has a zero byte";
		if (*number == 1)
			problem = strcmp(line, FEED_FIRST_LINE) == 0 ? NULL : "is not \"" FEED_FIRST_LINE "\"";
		else
			problem = read_line(state, line);
		if (problem != NULL)
			return problem;
		line = newline + 1;
	}
	return length == 0 ? "is not there: the manifest is empty" : check_all(state);
}

/* Behind the first signature line are others, and nothing else. */
static bool
are_signatures(const char *at, const char *end)
{
	while (at < end)
	{
		const char *newline = memchr(at, '\n', (size_t) (end - at));

		if (newline == NULL || (size_t) (end - at) < strlen(FEED_SIGNATURE) ||
			memcmp(at, FEED_SIGNATURE, strlen(FEED_SIGNATURE)) != 0)
			return false;
		at = newline + 1;
	}
	return true;
}

const char *
feed_manifest_read(const char *text, size_t length, feed_manifest *manifest, unsigned *line)
{
	reading		state = {manifest, 0, 0};
	size_t		signed_length = feed_signed_length(text, length);
	char	   *copy = allocate(NULL, signed_length + 1, 1);
	const char *problem;

	memset(manifest, 0, sizeof *manifest);
	memcpy(copy, text, signed_length);
	copy[signed_length] = '\0';
	problem = read_lines(&state, copy, signed_length, line);
	free(copy);
	if (problem == NULL && !are_signatures(text + signed_length, text + length))
		problem = "stands behind a signature";
	return problem;
}

void
feed_manifest_free(feed_manifest *manifest)
{
	free(manifest->wholes);
	free(manifest->steps);
	free(manifest->chain);
	free(manifest->inlined);
	memset(manifest, 0, sizeof *manifest);
}

/* ------------------------------------------------------------------------
 * Writing
 * ------------------------------------------------------------------------ */

typedef struct text_buffer
{
	char	   *text;
	size_t		length;
	size_t		room;
} text_buffer;

static void LIKE_PRINTF(2, 3)
add(text_buffer *buffer, const char *format,...)
{
	va_list		arguments;
	int			length;

	va_start(arguments, format);
	length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (buffer->length + (size_t) length + 1 > buffer->room)
	{
		buffer->room = 2 * buffer->room + (size_t) length + 1024;
		buffer->text = allocate(buffer->text, buffer->room, 1);
	}
	va_start(arguments, format);
	vsnprintf(buffer->text + buffer->length, (size_t) length + 1, format, arguments);
	va_end(arguments);
	buffer->length += (size_t) length;
}

static void
add_chain(text_buffer *buffer, const feed_manifest *manifest)
{
	size_t		i;

	for (i = 0; i < manifest->chain_count; i++)
	{
		const feed_file *file = &manifest->chain[i];
		char		hex[2 * FEED_DIGEST_BYTES + 1];
		char		result[2 * FEED_DIGEST_BYTES + 1];

		feed_hex(hex, file->digest, FEED_DIGEST_BYTES);
		feed_hex(result, file->result, FEED_DIGEST_BYTES);
		if (file->delta)
			add(buffer, "delta %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %s %s\n", file->part, file->from,
				file->to, file->length, hex, result);
		else
			add(buffer, "old-step %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n", file->from, file->to, file->length, hex);
	}
}

static void
add_files(text_buffer *buffer, const feed_manifest *manifest)
{
	char		hex[2 * FEED_DIGEST_BYTES + 1];
	size_t		i;

	for (i = 0; i < manifest->parts; i++)
	{
		feed_hex(hex, manifest->wholes[i].digest, FEED_DIGEST_BYTES);
		add(buffer, "whole %zu %" PRIu64 " %" PRIu64 " %s\n", i, manifest->wholes[i].to,
			manifest->wholes[i].length, hex);
	}
	add_chain(buffer, manifest);
	for (i = 0; i < manifest->step_count; i++)
	{
		feed_hex(hex, manifest->steps[i].digest, FEED_DIGEST_BYTES);
		add(buffer, "step %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n", manifest->steps[i].from,
			manifest->steps[i].to, manifest->steps[i].length, hex);
	}
}

static void
add_inlined(text_buffer *buffer, const feed_manifest *manifest)
{
	size_t		room = sodium_base64_encoded_len(manifest->inlined_length, sodium_base64_VARIANT_ORIGINAL);
	char	   *text = allocate(NULL, room, 1);

	sodium_bin2base64(text, room, manifest->inlined, manifest->inlined_length, sodium_base64_VARIANT_ORIGINAL);
	add(buffer, "inline %s\n", text);
	free(text);
}

char *
feed_manifest_text(const feed_manifest *manifest, unsigned dots)
{
	text_buffer buffer = {NULL, 0, 0};
	char		identity[FEED_UUID_TEXT_BYTES];

	feed_uuid_text(identity, manifest->identity);
	add(&buffer, FEED_FIRST_LINE "\nname %s\nidentity %s\nexporter %s\n", manifest->name, identity,
		manifest->exporter);
	add(&buffer, "serial %" PRIu64 "\ncontent %" PRIu64 "\nepoch %" PRIu64 "\nbuilt %" PRIu64 "\n",
		manifest->serial, manifest->content, manifest->epoch, manifest->built);
	if (manifest->true_at != 0)
		add(&buffer, "true_at %" PRIu64 "\n", manifest->true_at);
	add(&buffer, "poll %" PRIu64 "\nspread %" PRIu64 "\n", manifest->poll, manifest->spread);
	if (manifest->expires != 0)
		add(&buffer, "expires %" PRIu64 "\n", manifest->expires);
	if (manifest->rate > 0)
		add(&buffer, "rate %.6g\n", manifest->rate);
	add(&buffer, "parts %" PRIu32 "\n", manifest->parts);
	add_files(&buffer, manifest);
	if (manifest->inlined != NULL)
		add_inlined(&buffer, manifest);
	add(&buffer, "# %.*s\n", (int) dots, "................................................................");
	return buffer.text;
}
