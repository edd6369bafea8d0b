/*
 * export_content.c
 *	  What is new, as files under the names of their content: steps and whole files.
 *
 * Each step is also merged with those before it, MERGED of a level at a time, so that a
 * host that is far behind takes few.
 */
#define _GNU_SOURCE
#include "export_folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Steps of a level that are merged into one of the next. */
#define MERGED 4

/* A whole file at most so often, seconds, while steps are shorter than it. */
#define WHOLE_SECONDS 3600.0

/* Writes a file under the name of its content, and notes it in *file. */
static bool
write_content(exporter *e, const feed_piece *pieces, int count, const char *ending, feed_file *file)
{
	char		name[FEED_FILE_NAME_BYTES];
	uint8_t    *there;
	int			i;

	feed_digest(file->digest, pieces, count);
	file->length = 0;
	for (i = 0; i < count; i++)
		file->length += pieces[i].length;
	there = feed_read_file(e->folder, file, ending);
	free(there);
	if (there != NULL)
		return true;
	feed_file_name(name, file, ending);
	return feed_write(e->folder, name, 0644, pieces, count);
}

/* Runs the user's command for a file; true if it has none or it ends with 0. */
bool
export_run_after(const exporter *e, const char *name)
{
	char	   *path = text_of("%s/%s", e->plan->to, name);
	int			status = 0;
	pid_t		child;

	if (e->plan->after == NULL)
	{
		free(path);
		return true;
	}
	child = fork();
	if (child == 0)
	{
		execl("/bin/sh", "sh", "-c", e->plan->after, "sh", path, (char *) NULL);
		_exit(127);
	}
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (child < 0 || status != 0)
		complain("--after failed for \"%s\"", path);
	free(path);
	return child > 0 && status == 0;
}

static bool
after_content(const exporter *e, const feed_file *file, const char *ending)
{
	char		name[FEED_FILE_NAME_BYTES];

	feed_file_name(name, file, ending);
	return export_run_after(e, name);
}

/* Whole files of all parts, into next->wholes. */
bool
export_write_wholes(exporter *e, feed_manifest *next)
{
	uint32_t	i;

	free(next->wholes);
	next->wholes = allocate(NULL, e->copy.parts, sizeof *next->wholes);
	memset(next->wholes, 0, e->copy.parts * sizeof *next->wholes);
	next->parts = e->copy.parts;
	for (i = 0; i < e->copy.parts; i++)
	{
		uint8_t		header[BF_HEADER_BYTES];
		feed_piece	pieces[2];

		feed_copy_seal(&e->copy, i, header);
		pieces[0].bytes = header;
		pieces[0].length = sizeof header;
		pieces[1].bytes = e->copy.blocks[i];
		pieces[1].length = (size_t) bf_blocks_bytes(&e->copy.headers[i]);
		next->wholes[i].to = next->content;
		if (!write_content(e, pieces, 2, WHOLE_ENDING, &next->wholes[i]) ||
			!after_content(e, &next->wholes[i], WHOLE_ENDING))
			return false;
	}
	e->whole_written = monotonic_seconds();
	return true;
}

/* Replaces the last MERGED steps by one, if all of them are of one level; *merged says so. */
static bool
merge_last(exporter *e, feed_manifest *next, bool *merged)
{
	feed_file  *first;
	bf_step		steps[MERGED];
	uint8_t    *bytes[MERGED] = {NULL};
	feed_piece	piece = {NULL, 0};
	feed_file	file;
	bool		went_well = true;
	int			i;

	*merged = false;
	if (next->step_count < MERGED)
		return true;
	first = &next->steps[next->step_count - MERGED];
	for (i = 1; i < MERGED; i++)
		if (first[i].level != first[0].level)
			return true;
	for (i = 0; i < MERGED && went_well; i++)
	{
		bytes[i] = export_load_step(e, &first[i], &steps[i]);
		went_well = bytes[i] != NULL;
	}
	if (went_well)
	{
		uint8_t    *sum = feed_merge(&e->copy, steps, MERGED, &piece.length);

		piece.bytes = sum;
		memset(&file, 0, sizeof file);
		file.from = first[0].from;
		file.to = first[MERGED - 1].to;
		file.level = first[0].level + 1;
		went_well = write_content(e, &piece, 1, STEP_ENDING, &file) && after_content(e, &file, STEP_ENDING);
		free(sum);
	}
	else
		complain("a step that was to be merged is missing or damaged");
	for (i = 0; i < MERGED; i++)
		free(bytes[i]);
	if (went_well)
	{
		*first = file;
		next->step_count -= MERGED - 1;
		*merged = true;
	}
	return went_well;
}

static uint64_t
bytes_of_steps(const feed_manifest *m)
{
	uint64_t	bytes = 0;
	size_t		i;

	for (i = 0; i < m->step_count; i++)
		bytes += m->steps[i].length;
	return bytes;
}

/* Steps that together are longer than the whole are of no use: the oldest go. */
static bool
renew_wholes(exporter *e, feed_manifest *next)
{
	uint64_t	most = feed_copy_bytes(&e->copy);
	uint64_t	bytes = bytes_of_steps(next);
	size_t		dropped = 0;

	if (bytes <= most && (bytes <= most / 2 || monotonic_seconds() - e->whole_written < WHOLE_SECONDS))
		return true;
	if (!export_write_wholes(e, next))
		return false;
	for (; bytes > most && dropped < next->step_count; dropped++)
		bytes -= next->steps[dropped].length;
	next->step_count -= dropped;
	memmove(next->steps, next->steps + dropped, next->step_count * sizeof *next->steps);
	return true;
}

/* The step from the published content to the copy as it is. */
bool
export_write_step(exporter *e, feed_manifest *next)
{
	bf_step		step = {next->epoch, {0}, e->manifest.content, next->content, 0, NULL, 0};
	feed_piece	piece;
	uint8_t    *bytes;
	feed_file  *file;
	bool		merged = true;

	memcpy(step.identity, next->identity, sizeof step.identity);
	bytes = feed_copy_step(&e->copy, &step, &piece.length);
	piece.bytes = bytes;
	if (e->whole_needed || piece.length > feed_copy_bytes(&e->copy))
	{
		free(bytes);
		next->step_count = 0;
		return export_write_wholes(e, next);
	}
	next->steps = allocate(next->steps, next->step_count + 1, sizeof *file);
	file = &next->steps[next->step_count++];
	memset(file, 0, sizeof *file);
	file->from = step.from;
	file->to = step.to;
	if (!write_content(e, &piece, 1, STEP_ENDING, file) || !after_content(e, file, STEP_ENDING))
	{
		free(bytes);
		return false;
	}
	if (piece.length <= FEED_INLINE_BYTES)
	{
		next->inlined = bytes;
		next->inlined_length = piece.length;
	}
	else
		free(bytes);
	while (merged)
		if (!merge_last(e, next, &merged))
			return false;
	return renew_wholes(e, next);
}
