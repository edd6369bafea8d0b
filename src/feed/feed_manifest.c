/*
 * feed_manifest.c
 *	  The manifest of a list's folder, read and written by one table of its fields.
 */
#define _POSIX_C_SOURCE 200809L

#include "feed_manifest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed_values.h"

#define NOTE '#'
#define MUST "must-"

/* The shortest filter. */
#define WHOLE_BYTES (FEED_HEADER_BYTES + 64)

/* ------------------------------------------------------------------------
 * Lines that stand once
 * ------------------------------------------------------------------------ */

typedef enum field_kind
{
	IN_DIGITS,					/* within bounds */
	IN_HEX,
	A_NAME,
	A_UUID,
	AN_EXPORTER
} field_kind;

typedef struct field
{
	const char *word;
	size_t		at;				/* in feed_manifest; of numbers 8 bytes */
	field_kind	kind;
	bool		optional;		/* it may be missing, and isn't written where it is 0 */
	uint64_t	least;
	uint64_t	most;
} field;

#define FIELD(field, kind, optional, least, most) {#field, offsetof(feed_manifest, field), kind, optional, least, most}

/* In the order in which they are written. */
static const field fields[] = {
	FIELD(name, A_NAME, false, 0, 0),
	FIELD(identity, A_UUID, false, 0, 0),
	FIELD(exporter, AN_EXPORTER, false, 0, 0),
	FIELD(serial, IN_DIGITS, false, 0, INT64_MAX),
	FIELD(content, IN_DIGITS, false, 0, INT64_MAX),
	FIELD(epoch, IN_DIGITS, false, 0, INT64_MAX),
	FIELD(sum, IN_HEX, false, 0, 0),
	FIELD(true_at, IN_DIGITS, true, 0, INT64_MAX),
	FIELD(poll, IN_DIGITS, false, 1, FEED_MOST_SECONDS),
	FIELD(spread, IN_DIGITS, false, 0, FEED_MOST_SECONDS),
	FIELD(heartbeat, IN_DIGITS, true, 1, FEED_MOST_SECONDS),
	FIELD(expires, IN_DIGITS, true, 0, INT64_MAX),
	FIELD(changes_sum, IN_HEX, true, 0, 0),
	FIELD(parts, IN_DIGITS, false, 1, FEED_MOST_PARTS)
};

#define FIELDS (sizeof fields / sizeof fields[0])

static bool
read_field(feed_manifest *manifest, const field *f, const char *value)
{
	char	   *at = (char *) manifest + f->at;
	uint8_t		bytes[FEED_EXPORTER_BYTES / 2];
	uint64_t	number;

	switch (f->kind)
	{
		case IN_DIGITS:
			if (!feed_number(value, &number) || number < f->least || number > f->most)
				return false;
			memcpy(at, &number, sizeof number);
			return true;
		case IN_HEX:
			number = strtoull(value, NULL, 16);
			memcpy(at, &number, sizeof number);
			return feed_from_hex(bytes, sizeof number, value);
		case A_NAME:
			snprintf(at, FEED_NAME_BYTES + 1, "%s", value);
			return feed_is_name(value);
		case A_UUID:
			return feed_uuid_read(manifest->identity, value);
		default:
			snprintf(at, FEED_EXPORTER_BYTES + 1, "%s", value);
			return feed_from_hex(bytes, sizeof bytes, value);
	}
}

static void
add_field(FILE *to, const feed_manifest *manifest, const field *f)
{
	const char *at = (const char *) manifest + f->at;
	char		identity[FEED_UUID_TEXT_BYTES];
	uint64_t	number;

	switch (f->kind)
	{
		case A_NAME:
		case AN_EXPORTER:
			fprintf(to, "%s %s\n", f->word, at);
			break;
		case A_UUID:
			feed_uuid_text(identity, manifest->identity);
			fprintf(to, "%s %s\n", f->word, identity);
			break;
		default:
			memcpy(&number, at, sizeof number);
			if (number != 0 || !f->optional)
				fprintf(to, f->kind == IN_HEX ? "%s %016" PRIx64 "\n" : "%s %" PRIu64 "\n", f->word, number);
	}
}

/* ------------------------------------------------------------------------
 * Files
 * ------------------------------------------------------------------------ */

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

/* One more file, by the values of its line, of which the last two are length and digest; NULL if they are wrong. */
static feed_file *
read_file(feed_file **files, size_t count, uint64_t least, char *values, char **value, int columns)
{
	feed_file  *file = add_file(files, count);

	return file != NULL && feed_split(values, value, columns) && feed_number(value[columns - 2], &file->length) &&
		file->length >= least && file->length <= FEED_MOST_BYTES &&
		feed_from_hex(file->digest, FEED_DIGEST_BYTES, value[columns - 1]) ? file : NULL;
}

/* from, to */
static bool
read_range(feed_file *file, char *const *value)
{
	return feed_number(value[0], &file->from) && feed_number(value[1], &file->to) && file->to > file->from;
}

typedef struct reading
{
	feed_manifest *manifest;
	uint32_t	wholes;			/* lines so far */
	unsigned	seen;			/* words that stand once */
} reading;

/* part, serial, length, digest */
static bool
read_whole(reading *state, char *values)
{
	char	   *value[4];
	uint64_t	part;
	feed_file  *file = state->wholes >= FEED_MOST_PARTS ? NULL :
		read_file(&state->manifest->wholes, state->wholes, WHOLE_BYTES, values, value, 4);

	return file != NULL && feed_number(value[0], &part) && part == state->wholes++ && feed_number(value[1], &file->to);
}

/* kind, from, to, length, digest */
static bool
read_patch(feed_manifest *manifest, char *values)
{
	char	   *value[5];
	feed_file  *file = read_file(&manifest->patches, manifest->patch_count, FEED_PATCH_BYTES, values, value, 5);

	if (file == NULL || !read_range(file, value + 1) || file->from < 1)
		return false;
	manifest->patch_count++;
	file->kind = strcmp(value[0], "flip") == 0 ? FEED_FLIP : FEED_SET;
	return file->kind == FEED_FLIP || strcmp(value[0], "set") == 0;
}

/* A file that stands in its line, of at most so many bytes; once. */
static bool
read_inline(uint8_t **bytes, size_t *length, size_t most, const char *value)
{
	if (*bytes != NULL)
		return false;
	*bytes = malloc(most);
	return *bytes != NULL && feed_from_base64(*bytes, most, length, value);
}

/* id, entries: the row of changes begins, or is empty */
static bool
read_tracked(feed_manifest *manifest, char *values)
{
	uint8_t		bytes[sizeof manifest->changes_id];
	char	   *value[2];

	if (manifest->tracked || !feed_split(values, value, 2) || !feed_from_hex(bytes, sizeof bytes, value[0]))
		return false;
	manifest->tracked = true;
	manifest->changes_id = strtoull(value[0], NULL, 16);
	return feed_number(value[1], &manifest->entries);
}

/* from, to, length, digest */
static bool
read_change(feed_manifest *manifest, char *values)
{
	char	   *value[4];
	feed_file  *file = manifest->change_count == FEED_MOST_CHANGES ? NULL :
		read_file(&manifest->changes, manifest->change_count, feed_changes_bytes(1), values, value, 4);

	if (file == NULL || !read_range(file, value))
		return false;
	manifest->change_count++;
	return (file->length - FEED_CHANGES_HEADER) % FEED_ENTRY_BYTES == 0;
}

static const char *
read_line(reading *state, char *line)
{
	feed_manifest *m = state->manifest;
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
		for (i = 0; i < FIELDS && strcmp(line, fields[i].word) != 0; i++)
			;
		if (i < FIELDS)
		{
			right = (state->seen & 1u << i) == 0 && read_field(m, &fields[i], values);
			state->seen |= 1u << i;
		}
		else if (strcmp(line, "whole") == 0)
			right = read_whole(state, values);
		else if (strcmp(line, "patch") == 0)
			right = read_patch(m, values);
		else if (strcmp(line, "inline") == 0)
			right = read_inline(&m->inlined, &m->inlined_length, FEED_INLINE_BYTES, values);
		else if (strcmp(line, MUST "changes") == 0)
			right = read_tracked(m, values);
		else if (strcmp(line, "change") == 0)
			right = read_change(m, values);
		else if (strcmp(line, "inline-changes") == 0)
			right = read_inline(&m->inlined_changes, &m->inlined_changes_length, FEED_INLINE_CHANGES_BYTES, values);
		else if (strncmp(line, MUST, strlen(MUST)) == 0)
			return "must be understood, which takes a newer version of bloomfilter";
	}
	return right ? NULL : "is not as it must be";
}

static const char *
check_all(const reading *state)
{
	size_t		i;

	for (i = 0; i < FIELDS; i++)
		if (!fields[i].optional && (state->seen & 1u << i) == 0)
			return "is missing";
	if (state->wholes != state->manifest->parts)
		return "is missing";
	return feed_manifest_check(state->manifest);
}

/* ------------------------------------------------------------------------
 * The whole
 * ------------------------------------------------------------------------ */

/* Where the next line begins; end if there is none. */
static const char *
next_line(const char *line, const char *end)
{
	const char *newline = memchr(line, '\n', (size_t) (end - line));

	return newline == NULL ? end : newline + 1;
}

static bool
is_signature(const char *line, const char *end)
{
	return (size_t) (end - line) >= strlen(FEED_SIGNATURE) && memcmp(line, FEED_SIGNATURE, strlen(FEED_SIGNATURE)) == 0;
}

size_t
feed_signed_length(const char *text, size_t length)
{
	const char *line = text;

	while (line < text + length && !is_signature(line, text + length))
		line = next_line(line, text + length);
	return (size_t) (line - text);
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

/* Behind the first signature line are others, whole, and nothing else. */
static bool
are_signatures(const char *at, const char *end)
{
	bool		whole = at == end || end[-1] == '\n';

	while (at < end && is_signature(at, end))
		at = next_line(at, end);
	return whole && at == end;
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
	free(manifest->changes);
	free(manifest->inlined_changes);
	memset(manifest, 0, sizeof *manifest);
}

/* ------------------------------------------------------------------------
 * Writing
 * ------------------------------------------------------------------------ */

static void
end_line(FILE *to, const feed_file *file)
{
	char		hex[2 * FEED_DIGEST_BYTES + 1];

	feed_hex(hex, file->digest, FEED_DIGEST_BYTES);
	fprintf(to, " %" PRIu64 " %s\n", file->length, hex);
}

static void
add_range(FILE *to, const char *word, const feed_file *file)
{
	fprintf(to, "%s %" PRIu64 " %" PRIu64, word, file->from, file->to);
	end_line(to, file);
}

static void
add_files(FILE *to, const feed_manifest *manifest)
{
	size_t		i;

	for (i = 0; i < manifest->parts; i++)
	{
		fprintf(to, "whole %zu %" PRIu64, i, manifest->wholes[i].to);
		end_line(to, &manifest->wholes[i]);
	}
	for (i = 0; i < manifest->patch_count; i++)
		add_range(to, manifest->patches[i].kind == FEED_FLIP ? "patch flip" : "patch set", &manifest->patches[i]);
}

static void
add_inline(FILE *to, const char *word, const uint8_t *bytes, size_t length)
{
	char		text[FEED_BASE64_BYTES(FEED_INLINE_BYTES)];

	if (bytes == NULL)
		return;
	feed_base64(text, bytes, length);
	fprintf(to, "%s %s\n", word, text);
}

static void
add_changes(FILE *to, const feed_manifest *manifest)
{
	size_t		i;

	if (manifest->tracked)
		fprintf(to, MUST "changes %016" PRIx64 " %" PRIu64 "\n", manifest->changes_id, manifest->entries);
	for (i = 0; i < manifest->change_count; i++)
		add_range(to, "change", &manifest->changes[i]);
	add_inline(to, "inline-changes", manifest->inlined_changes, manifest->inlined_changes_length);
}

char *
feed_manifest_text(const feed_manifest *manifest, unsigned dots)
{
	char	   *text = NULL;
	size_t		length;
	FILE	   *to = open_memstream(&text, &length);
	unsigned	i;
	bool		well;

	if (to == NULL)
		return NULL;
	fputs(FEED_FIRST_LINE "\n", to);
	for (i = 0; i < FIELDS; i++)
		add_field(to, manifest, &fields[i]);
	add_files(to, manifest);
	add_inline(to, "inline", manifest->inlined, manifest->inlined_length);
	add_changes(to, manifest);
	fprintf(to, "# %.*s\n", (int) dots, "................................................................");
	well = ferror(to) == 0;
	if (fclose(to) == 0 && well)
		return text;
	free(text);
	return NULL;
}
