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
	A_UUID
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
	FIELD(exporter, IN_HEX, false, 0, 0),
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

/* 16 digits */
static bool
read_hex(const char *text, uint64_t *number)
{
	*number = strtoull(text, NULL, 16);
	return strlen(text) == 16 && strspn(text, "0123456789abcdef") == 16;
}

static bool
read_field(feed_manifest *manifest, const field *f, const char *value)
{
	char	   *at = (char *) manifest + f->at;
	uint64_t	number = 0;
	bool		right;

	switch (f->kind)
	{
		case A_NAME:
			snprintf(at, FEED_NAME_BYTES + 1, "%s", value);
			return feed_is_name(value);
		case A_UUID:
			return feed_uuid_read(manifest->identity, value);
		case IN_HEX:
			right = read_hex(value, &number);
			break;
		default:
			right = feed_number(value, &number) && number >= f->least && number <= f->most;
	}
	memcpy(at, &number, sizeof number);
	return right;
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

typedef struct reading
{
	feed_manifest *manifest;
	size_t		wholes;			/* lines so far */
	unsigned	seen;			/* words that stand once */
} reading;

/* What stands before the numbers of a patch's file. */
static const char *const kinds[] = {[0] = "", [FEED_SET] = "set ", [FEED_FLIP] = "flip "};

/* from, to, length, digest: one more file of at least so many bytes; NULL if they are wrong. */
static feed_file *
read_file(feed_file **files, size_t *count, uint64_t least, char *values)
{
	char	   *value[4];
	feed_file  *file = realloc(*files, (*count + 1) * sizeof *file);

	if (file == NULL)
		return NULL;
	*files = file;
	file += (*count)++;
	memset(file, 0, sizeof *file);
	return feed_split(values, value, 4) && feed_number(value[0], &file->from) && feed_number(value[1], &file->to) &&
		feed_number(value[2], &file->length) && file->length >= least && file->length <= FEED_MOST_BYTES &&
		feed_from_hex(file->digest, FEED_DIGEST_BYTES, value[3]) ? file : NULL;
}

/* Its numbers are part, serial and length. */
static bool
read_whole(reading *state, char *values)
{
	const feed_file *file = state->wholes == FEED_MOST_PARTS ? NULL :
		read_file(&state->manifest->wholes, &state->wholes, WHOLE_BYTES, values);

	return file != NULL && file->from == state->wholes - 1;
}

static bool
read_patch(feed_manifest *manifest, char *values)
{
	feed_patch_kind kind = strncmp(values, kinds[FEED_FLIP], strlen(kinds[FEED_FLIP])) == 0 ? FEED_FLIP : FEED_SET;
	feed_file  *file = strncmp(values, kinds[kind], strlen(kinds[kind])) != 0 ? NULL :
		read_file(&manifest->patches, &manifest->patch_count, FEED_PATCH_BYTES, values + strlen(kinds[kind]));

	if (file == NULL)
		return false;
	file->kind = kind;
	return file->from >= 1 && file->to > file->from;
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
	char	   *value[2];

	if (manifest->tracked || !feed_split(values, value, 2) || !read_hex(value[0], &manifest->changes_id))
		return false;
	manifest->tracked = true;
	return feed_number(value[1], &manifest->entries);
}

static bool
read_change(feed_manifest *manifest, char *values)
{
	const feed_file *file = manifest->change_count == FEED_MOST_CHANGES ? NULL :
		read_file(&manifest->changes, &manifest->change_count, feed_changes_bytes(1), values);

	return file != NULL && file->to > file->from && (file->length - FEED_CHANGES_HEADER) % FEED_ENTRY_BYTES == 0;
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
	char	   *newline;
	const char *problem;

	for (*number = 1; text < end; text = newline + 1, ++*number)
	{
		newline = memchr(text, '\n', (size_t) (end - text));
		if (newline == NULL)
			return "has no newline at its end";
		*newline = '\0';
		if (strlen(text) != (size_t) (newline - text))
			return "has a zero byte";
		problem = *number > 1 ? read_line(state, text) :
			strcmp(text, FEED_FIRST_LINE) == 0 ? NULL : "is not \"" FEED_FIRST_LINE "\"";
		if (problem != NULL)
			return problem;
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
add_files(FILE *to, const char *word, const feed_file *files, size_t count)
{
	char		hex[2 * FEED_DIGEST_BYTES + 1];
	size_t		i;

	for (i = 0; i < count; i++)
	{
		feed_hex(hex, files[i].digest, FEED_DIGEST_BYTES);
		fprintf(to, "%s %s%" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n",
				word, kinds[files[i].kind], files[i].from, files[i].to, files[i].length, hex);
	}
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

char *
feed_manifest_text(const feed_manifest *m, unsigned dots)
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
		add_field(to, m, &fields[i]);
	add_files(to, "whole", m->wholes, m->parts);
	add_files(to, "patch", m->patches, m->patch_count);
	add_inline(to, "inline", m->inlined, m->inlined_length);
	if (m->tracked)
		fprintf(to, MUST "changes %016" PRIx64 " %" PRIu64 "\n", m->changes_id, m->entries);
	add_files(to, "change", m->changes, m->change_count);
	add_inline(to, "inline-changes", m->inlined_changes, m->inlined_changes_length);
	fprintf(to, "# %.*s\n", (int) dots, "................................................................");
	well = ferror(to) == 0;
	if (fclose(to) == 0 && well)
		return text;
	free(text);
	return NULL;
}
