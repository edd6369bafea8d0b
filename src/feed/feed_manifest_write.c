/*
 * feed_manifest_write.c
 *	  Writing the manifest of a list's folder.
 */
#include "feed_manifest.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "feed_values.h"

typedef struct text_buffer
{
	char	   *text;			/* NULL with room: there was no memory */
	size_t		length;
	size_t		room;
} text_buffer;

/* Room for so many bytes more, and a zero byte; false if there is none. */
static bool
make_room(text_buffer *buffer, size_t length)
{
	char	   *more;

	if (buffer->length + length + 1 <= buffer->room)
		return buffer->text != NULL;
	buffer->room = 2 * buffer->room + length + 1024;
	more = realloc(buffer->text, buffer->room);
	if (more == NULL)
	{
		free(buffer->text);
		buffer->room = SIZE_MAX;
	}
	buffer->text = more;
	return more != NULL;
}

static void
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
add(text_buffer *buffer, const char *format,...)
{
	va_list		arguments;
	int			length;

	va_start(arguments, format);
	length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (!make_room(buffer, (size_t) length))
		return;
	va_start(arguments, format);
	vsnprintf(buffer->text + buffer->length, (size_t) length + 1, format, arguments);
	va_end(arguments);
	buffer->length += (size_t) length;
}

static void
add_files(text_buffer *buffer, const feed_manifest *manifest)
{
	char		hex[2 * FEED_DIGEST_BYTES + 1];
	size_t		i;

	for (i = 0; i < manifest->parts; i++)
	{
		const feed_file *file = &manifest->wholes[i];

		feed_hex(hex, file->digest, FEED_DIGEST_BYTES);
		add(buffer, "whole %zu %" PRIu64 " %" PRIu64 " %s\n", i, file->to, file->length, hex);
	}
	for (i = 0; i < manifest->patch_count; i++)
	{
		const feed_file *file = &manifest->patches[i];

		feed_hex(hex, file->digest, FEED_DIGEST_BYTES);
		add(buffer, "patch %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n", file->kind == FEED_FLIP ? "flip" : "set",
			file->from, file->to, file->length, hex);
	}
}

static void
add_inlined(text_buffer *buffer, const feed_manifest *manifest)
{
	size_t		room = FEED_BASE64_BYTES(manifest->inlined_length);

	add(buffer, "inline ");
	if (!make_room(buffer, room))
		return;
	feed_base64(buffer->text + buffer->length, manifest->inlined, manifest->inlined_length);
	buffer->length += room - 1;
	add(buffer, "\n");
}

char *
feed_manifest_text(const feed_manifest *manifest, unsigned dots)
{
	text_buffer buffer = {NULL, 0, 0};
	char		identity[FEED_UUID_TEXT_BYTES];

	feed_uuid_text(identity, manifest->identity);
	add(&buffer, FEED_FIRST_LINE "\nname %s\nidentity %s\nexporter %s\n", manifest->name, identity,
		manifest->exporter);
	add(&buffer, "serial %" PRIu64 "\ncontent %" PRIu64 "\nepoch %" PRIu64 "\nsum %016" PRIx64 "\nbuilt %" PRIu64 "\n",
		manifest->serial, manifest->content, manifest->epoch, manifest->sum, manifest->built);
	if (manifest->true_at != 0)
		add(&buffer, "true_at %" PRIu64 "\n", manifest->true_at);
	add(&buffer, "poll %" PRIu64 "\nspread %" PRIu64 "\n", manifest->poll, manifest->spread);
	if (manifest->heartbeat != 0)
		add(&buffer, "heartbeat %" PRIu64 "\n", manifest->heartbeat);
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
