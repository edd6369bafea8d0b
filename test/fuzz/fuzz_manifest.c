/*
 * fuzz_manifest.c
 *	  Bytes of any origin as the manifest of a set.
 *
 * The input is tried as it is, and with the right first line before it, so that
 * the mutations reach the names.  Names that are accepted are those of the lines,
 * and none leads out of the folder; what is refused has a reason of one line.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bf_limits.h"
#include "source.h"

#define MOST_NAME_BYTES 255

static void
demand(bool holds)
{
	if (!holds)
		abort();
}

/* After all notes that begin here. */
static size_t
skip_notes(const char *text, size_t length, size_t at)
{
	while (at < length && text[at] == LBF_MANIFEST_NOTE)
	{
		const char *newline = memchr(text + at, '\n', length - at);

		at = newline == NULL ? length : (size_t) (newline - text) + 1;
	}
	return at;
}

/* The names, one per line, with notes between them, are the text again. */
static void
check_names(char *const *names, uint32_t count, const char *text, size_t length)
{
	size_t		at = sizeof LBF_MANIFEST_FIRST_LINE;
	uint32_t	i;

	demand(count >= 1 && count <= BF_MAX_PARTS);
	for (i = 0; i < count; i++)
	{
		size_t		name_length = strlen(names[i]);

		at = skip_notes(text, length, at);
		demand(name_length >= 1 && name_length <= MOST_NAME_BYTES);
		demand(strchr(names[i], '/') == NULL);
		demand(strcmp(names[i], ".") != 0 && strcmp(names[i], "..") != 0);
		demand(at + name_length <= length && memcmp(text + at, names[i], name_length) == 0);
		at += name_length;
		demand(at == length || text[at] == '\n');
		at++;
	}
	if (at < length)
		at = skip_notes(text, length, at);
	/* the last line may or may not end with a newline */
	demand(at == length || at == length + 1);
}

/* Parses a copy that ends, as files that were read do, with a zero byte. */
static void
parse(const char *text, size_t length)
{
	char	   *copy = malloc(length + 1);
	char	  **names = NULL;
	uint32_t	count = 0;
	bloomfilter_detail detail = {0, 0, ""};
	int			code;

	if (copy == NULL)
		return;
	if (length > 0)
		memcpy(copy, text, length);
	copy[length] = '\0';
	code = lbf_manifest_parse(copy, length, "manifest", &names, &count, &detail);
	if (code == BLOOMFILTER_OK)
		check_names(names, count, text, length);
	else
		demand(code == BLOOMFILTER_ERR_MANIFEST && detail.code == code && names == NULL &&
			   detail.text[0] != '\0' && strchr(detail.text, '\n') == NULL);
	free(names);
	free(copy);
}

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char first[] = LBF_MANIFEST_FIRST_LINE "\n";
	char	   *whole = malloc(sizeof first - 1 + size);

	parse((const char *) data, size);
	if (whole == NULL)
		return 0;
	memcpy(whole, first, sizeof first - 1);
	if (size > 0)
		memcpy(whole + sizeof first - 1, data, size);
	parse(whole, sizeof first - 1 + size);
	free(whole);
	return 0;
}
