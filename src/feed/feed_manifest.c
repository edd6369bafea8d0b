/*
 * feed_manifest.c
 *	  Reading the manifest of a list's folder.
 */
#include "feed_manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed_values.h"

#define NOTE '#'
#define MUST "must-"

/* The shortest filter. */
#define WHOLE_BYTES (FEED_HEADER_BYTES + 64)

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

static bool
read_seconds(const char *text, uint64_t least, uint64_t *number)
{
	return read_number(text, number) && *number >= least && *number <= FEED_MOST_SECONDS;
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
read_sum(feed_manifest *manifest, const char *value)
{
	uint8_t		bytes[8];
	unsigned	i;

	if (!feed_from_hex(bytes, sizeof bytes, value))
		return false;
	for (i = 0; i < sizeof bytes; i++)
		manifest->sum = manifest->sum << 8 | bytes[i];
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

/* Room for one more file, which is all zeros; NULL if there is no memory. */
static feed_file *
add_file(feed_file **files, size_t count)
{
	feed_file  *more = *files;

	/* twice as many at each power of two */
	if ((count & (count - 1)) == 0)
		more = realloc(*files, (count == 0 ? 1 : 2 * count) * sizeof **files);
	if (more == NULL)
		return NULL;
	*files = more;
	memset(&more[count], 0, sizeof *more);
	return &more[count];
}

static bool
read_length_digest(feed_file *file, const char *length, const char *digest, uint64_t least)
{
	return read_number(length, &file->length) && file->length >= least && file->length <= FEED_MOST_BYTES &&
		feed_from_hex(file->digest, FEED_DIGEST_BYTES, digest);
}

/* part, serial, length, digest */
static bool
read_whole(reading *state, char *values)
{
	feed_manifest *manifest = state->manifest;
	feed_file  *file;
	char	   *value[4];
	uint64_t	part;

	if (state->wholes >= FEED_MOST_PARTS || (file = add_file(&manifest->wholes, state->wholes)) == NULL)
		return false;
	return split(values, value, 4) && read_number(value[0], &part) && part == state->wholes++ &&
		read_number(value[1], &file->to) && read_length_digest(file, value[2], value[3], WHOLE_BYTES);
}

/* kind, from, to, length, digest */
static bool
read_patch(feed_manifest *manifest, char *values)
{
	feed_file  *file = add_file(&manifest->patches, manifest->patch_count);
	char	   *value[5];

	if (file == NULL || !split(values, value, 5))
		return false;
	manifest->patch_count++;
	file->kind = strcmp(value[0], "flip") == 0 ? FEED_FLIP : FEED_SET;
	return (file->kind == FEED_FLIP || strcmp(value[0], "set") == 0) &&
		read_number(value[1], &file->from) && read_number(value[2], &file->to) && file->from >= 1 &&
		file->to > file->from && read_length_digest(file, value[3], value[4], FEED_PATCH_BYTES);
}

static bool
read_inline(feed_manifest *manifest, const char *value)
{
	if (manifest->inlined != NULL)
		return false;
	manifest->inlined = malloc(FEED_INLINE_BYTES);
	return manifest->inlined != NULL &&
		feed_from_base64(manifest->inlined, FEED_INLINE_BYTES, &manifest->inlined_length, value);
}

/* The words that stand once, in the order of their bits in reading.seen. */
typedef enum once_word
{
	ONCE_NAME, ONCE_IDENTITY, ONCE_EXPORTER, ONCE_SERIAL, ONCE_CONTENT, ONCE_EPOCH, ONCE_SUM, ONCE_BUILT,
	ONCE_POLL, ONCE_SPREAD, ONCE_PARTS, ONCE_TRUE_AT, ONCE_HEARTBEAT, ONCE_EXPIRES, ONCE_RATE,
	ONCE_WORDS
} once_word;

static const char *const once[ONCE_WORDS] = {
	"name", "identity", "exporter", "serial", "content", "epoch", "sum", "built", "poll", "spread",
	"parts", "true_at", "heartbeat", "expires", "rate"
};

/* All up to parts. */
#define NEEDED ((2u << ONCE_PARTS) - 1)

static bool
read_parts(feed_manifest *manifest, const char *value)
{
	uint64_t	parts;

	if (!read_number(value, &parts) || parts < 1 || parts > FEED_MOST_PARTS)
		return false;
	manifest->parts = (uint32_t) parts;
	return true;
}

static bool
read_once(reading *state, once_word word, const char *value)
{
	feed_manifest *m = state->manifest;

	if (state->seen & 1u << word)
		return false;
	state->seen |= 1u << word;
	switch (word)
	{
		case ONCE_NAME:
			return read_name(m, value);
		case ONCE_IDENTITY:
			return feed_uuid_read(m->identity, value);
		case ONCE_EXPORTER:
			return read_exporter(m, value);
		case ONCE_SERIAL:
			return read_number(value, &m->serial);
		case ONCE_CONTENT:
			return read_number(value, &m->content);
		case ONCE_EPOCH:
			return read_number(value, &m->epoch);
		case ONCE_SUM:
			return read_sum(m, value);
		case ONCE_BUILT:
			return read_number(value, &m->built);
		case ONCE_POLL:
			return read_seconds(value, 0, &m->poll);
		case ONCE_SPREAD:
			return read_seconds(value, 0, &m->spread);
		case ONCE_PARTS:
			return read_parts(m, value);
		case ONCE_TRUE_AT:
			return read_number(value, &m->true_at);
		case ONCE_HEARTBEAT:
			return read_seconds(value, 1, &m->heartbeat);
		case ONCE_EXPIRES:
			return read_number(value, &m->expires);
		case ONCE_RATE:
			return read_rate(m, value);
		default:
			return false;
	}
}

static const char *
read_line(reading *state, char *line)
{
	char	   *values;
	unsigned	i;
	bool		right;

	if (line[0] == NOTE)
		return NULL;
	values = strchr(line, ' ');
	right = values != NULL && values != line;
	if (right)
	{
		*values++ = '\0';
		for (i = 0; i < ONCE_WORDS && strcmp(line, once[i]) != 0; i++)
			;
		if (i < ONCE_WORDS)
			right = read_once(state, (once_word) i, values);
		else if (strcmp(line, "whole") == 0)
			right = read_whole(state, values);
		else if (strcmp(line, "patch") == 0)
			right = read_patch(state->manifest, values);
		else if (strcmp(line, "inline") == 0)
			right = read_inline(state->manifest, values);
		else if (strncmp(line, MUST, strlen(MUST)) == 0)
			return "must be understood, which takes a newer version of bloomfilter";
	}
	return right ? NULL : "is not as it must be";
}

/* ------------------------------------------------------------------------
 * What no line tells alone
 * ------------------------------------------------------------------------ */

/*
 * Each patch begins where the one before ended, the last flip leads to the epoch, and the
 * last patch to content.
 */
static bool
are_in_a_row(const feed_manifest *m)
{
	uint64_t	begun = 0;		/* by the last flip */
	size_t		i;

	for (i = 0; i < m->patch_count; i++)
	{
		if (i > 0 && m->patches[i].from != m->patches[i - 1].to)
			return false;
		if (m->patches[i].kind == FEED_FLIP)
			begun = m->patches[i].to;
	}
	if (i == 0)
		return true;
	return m->patches[i - 1].to == m->content && (begun != 0 ? begun == m->epoch : m->patches[0].from >= m->epoch);
}

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
	if (!are_in_a_row(m))
		return "has patches that don't follow each other to its content";
	if (m->wholes[0].to != m->content && feed_manifest_lead(m, m->epoch, m->wholes[0].to) == m->patch_count)
		return "has no patch that leads on from its whole files";
	return NULL;
}

size_t
feed_manifest_lead(const feed_manifest *m, uint64_t epoch, uint64_t serial)
{
	const feed_file *patch;
	size_t		i = m->patch_count;

	while (i > 0 && m->patches[i - 1].from > serial)
		i--;
	if (i == 0)
		return m->patch_count;
	patch = &m->patches[i - 1];
	/* patches of this epoch are for it alone, and older ones for older epochs */
	if ((patch->from >= m->epoch) != (epoch == m->epoch) || patch->to <= serial)
		return m->patch_count;
	return patch->kind == FEED_SET || patch->from == serial ? i - 1 : m->patch_count;
}

bool
feed_manifest_names(const feed_manifest *m, const feed_file *file, const feed_patch *patch)
{
	return memcmp(patch->identity, m->identity, FEED_IDENTITY_BYTES) == 0 && patch->kind == file->kind &&
		patch->from == file->from && patch->to == file->to &&
		(file->from < m->epoch || patch->epoch == m->epoch);
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

/* ------------------------------------------------------------------------
 * The whole
 * ------------------------------------------------------------------------ */

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
	char	   *copy = malloc(signed_length + 1);
	const char *problem;

	memset(manifest, 0, sizeof *manifest);
	*line = 1;
	if (copy == NULL)
		return "needs more memory than there is";
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
	free(manifest->patches);
	free(manifest->inlined);
	memset(manifest, 0, sizeof *manifest);
}

/* The same bytes in memory of their own. */
static bool
copy_bytes(void *to, const void *from, size_t length)
{
	void	   *bytes = from == NULL ? NULL : malloc(length + 1);

	if (bytes != NULL)
		memcpy(bytes, from, length);
	memcpy(to, &bytes, sizeof bytes);
	return from == NULL || bytes != NULL;
}

bool
feed_manifest_copy(feed_manifest *copy, const feed_manifest *m)
{
	*copy = *m;
	copy->wholes = copy->patches = NULL;
	copy->inlined = NULL;
	if (copy_bytes(&copy->wholes, m->wholes, m->parts * sizeof *m->wholes) &&
		copy_bytes(&copy->patches, m->patches, m->patch_count * sizeof *m->patches) &&
		copy_bytes(&copy->inlined, m->inlined, m->inlined_length))
		return true;
	feed_manifest_free(copy);
	return false;
}
