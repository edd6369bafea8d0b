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
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Steps of a level that are merged into one of the next. */
#define MERGED 4

/*
 * Whole files are renewed so often, microseconds, for the sake of hosts that begin, unless
 * the steps behind them are as long as so many of them.  All bits of a filter, set
 * one step after the other, take about eight times its length.
 */
#define WHOLE_AGE UINT64_C(3600000000)
#define MOST_BEHIND 8

/* How long the user's command may take to end when it is asked to, seconds. */
#define END_SECONDS 5.0

/* The longest wait until the user's command is looked at again. */
#define LONGEST_NAP 0.05

/* Ends the user's command, with all that it has started if that has a process group. */
static void
end_command(pid_t child, bool group, int *status)
{
	static const struct timespec nap = {0, 20000000};
	double		until = monotonic_seconds() + END_SECONDS;

	kill(group ? -child : child, SIGTERM);
	while (monotonic_seconds() < until)
	{
		if (waitpid(child, status, WNOHANG) != 0)
			return;
		nanosleep(&nap, NULL);
	}
	kill(group ? -child : child, SIGKILL);
	while (waitpid(child, status, 0) < 0 && errno == EINTR)
		;
}

/* It may take as long as it needs, but not beyond a signal that ends the exporter. */
static void
wait_for_command(pid_t child, bool group, int *status)
{
	double		nap = 0.001;

	while (waitpid(child, status, WNOHANG) == 0)
	{
		if (stop_requested())
		{
			end_command(child, group, status);
			return;
		}
		stop_wait(-1, nap);
		nap = fmin(nap * 2, LONGEST_NAP);
	}
}

/* Runs the user's command for a file; true if it has none or it ends with 0. */
bool
export_run_after(const exporter *e, const char *name)
{
	char	   *path = text_of("%s/%s", e->plan->to, name);
	int			status = -1;
	/* another group could not ask for a password at the terminal */
	bool		group = !isatty(STDIN_FILENO);
	pid_t		child;

	if (e->plan->after == NULL)
	{
		free(path);
		return true;
	}
	child = fork();
	if (child == 0)
	{
		if (group)
			setpgid(0, 0);
		execl("/bin/sh", "sh", "-c", e->plan->after, "sh", path, (char *) NULL);
		_exit(127);
	}
	if (child > 0)
	{
		/* also here: who of the two comes first isn't known */
		if (group)
			setpgid(child, child);
		wait_for_command(child, group, &status);
	}
	if (status != 0 && !stop_requested())
		complain("--after failed for \"%s\"", path);
	free(path);
	return status == 0;
}

bool
export_write_content(exporter *e, const feed_piece *pieces, int count, const char *ending, feed_file *file)
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
	feed_file_name(name, file, ending);
	return (there != NULL || feed_write(e->folder, name, 0644, pieces, count)) && export_run_after(e, name);
}

bool
export_fits(size_t length)
{
	if (length <= FEED_MANIFEST_BYTES)
		return true;
	complain("the manifest has %zu bytes, and hosts refuse more than %zu: publish fewer parts, each for more keys",
			 length, FEED_MANIFEST_BYTES);
	return false;
}

/* Whether the lines of the parts fit, before their files are written. */
static bool
check_parts(const feed_manifest *next)
{
	char	   *text = feed_manifest_text(next, 0);
	size_t		length = strlen(text);

	free(text);
	return export_fits(length);
}

/* Whole files of all parts, into next->wholes. */
bool
export_write_wholes(exporter *e, feed_manifest *next, export_reason reason)
{
	uint32_t	i;

	free(next->wholes);
	next->wholes = allocate(NULL, e->copy.parts, sizeof *next->wholes);
	memset(next->wholes, 0, e->copy.parts * sizeof *next->wholes);
	next->parts = e->copy.parts;
	for (i = 0; i < e->copy.parts; i++)
	{
		next->wholes[i].to = next->content;
		next->wholes[i].length = bf_total_bytes(&e->copy.headers[i]);
	}
	if (!check_parts(next))
		return false;
	for (i = 0; i < e->copy.parts; i++)
	{
		uint8_t		header[BF_HEADER_BYTES];
		feed_piece	pieces[2];

		feed_copy_seal(&e->copy, i, header);
		pieces[0].bytes = header;
		pieces[0].length = sizeof header;
		pieces[1].bytes = e->copy.blocks[i];
		pieces[1].length = (size_t) bf_blocks_bytes(&e->copy.headers[i]);
		if (!export_write_content(e, pieces, 2, WHOLE_ENDING, &next->wholes[i]))
			return false;
	}
	e->wholes_written = true;
	e->whole_reason = reason;
	return true;
}

static void
drop_steps(feed_manifest *next, size_t count)
{
	next->step_count -= count;
	memmove(next->steps, next->steps + count, next->step_count * sizeof *next->steps);
}

static bool
is_step_sound(const exporter *e, const feed_file *file)
{
	bf_step		step;
	uint8_t    *bytes = export_load_step(e, &e->copy, file, &step);

	free(bytes);
	return bytes != NULL;
}

bool
export_write_anew(exporter *e, feed_manifest *next)
{
	size_t		left = next->step_count;

	complain("files that the manifest of \"%s\" names are missing or damaged: writing whole files anew", e->plan->to);
	while (left > 0 && is_step_sound(e, &next->steps[left - 1]))
		left--;
	drop_steps(next, left);
	if (export_is_chain_lost(e, next))
		next->chain_count = 0;
	return export_write_wholes(e, next, WHOLE_FOLDER);
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
	bool		sound = true;
	bool		went_well = true;
	int			i;

	*merged = false;
	if (next->step_count < MERGED)
		return true;
	first = &next->steps[next->step_count - MERGED];
	for (i = 1; i < MERGED; i++)
		if (first[i].level != first[0].level)
			return true;
	for (i = 0; i < MERGED && sound; i++)
	{
		bytes[i] = export_load_step(e, &e->copy, &first[i], &steps[i]);
		sound = bytes[i] != NULL;
	}
	if (sound)
	{
		uint8_t    *sum = feed_merge(&e->copy, steps, MERGED, &piece.length);

		piece.bytes = sum;
		memset(&file, 0, sizeof file);
		file.from = first[0].from;
		file.to = first[MERGED - 1].to;
		file.level = first[0].level + 1;
		went_well = export_write_content(e, &piece, 1, STEP_ENDING, &file);
		free(sum);
	}
	for (i = 0; i < MERGED; i++)
		free(bytes[i]);
	/* all that it had is in memory */
	if (!sound)
		return export_write_anew(e, next);
	if (went_well)
	{
		*first = file;
		next->step_count -= MERGED - 1;
		*merged = true;
	}
	return went_well;
}

/*
 * Hosts that begin take the whole files and the steps behind them: these are kept shorter
 * than half of it, by new whole files that are made once an hour at most.  The
 * steps before are for hosts that are behind, as long as they are shorter than the whole.
 */
static bool
renew_wholes(exporter *e, feed_manifest *next)
{
	uint64_t	most = feed_copy_bytes(&e->copy);
	uint64_t	bytes = feed_files_bytes(next->steps, next->step_count);
	size_t		before = 0;
	size_t		dropped;
	uint64_t	behind;

	while (before < next->step_count && next->steps[before].to <= next->wholes[0].to)
		before++;
	behind = feed_files_bytes(next->steps + before, next->step_count - before);
	if (feed_now() >= next->wholes[0].to + WHOLE_AGE ? behind > most / 2 : behind > MOST_BEHIND * most)
	{
		if (!export_write_wholes(e, next, WHOLE_RENEWED))
			return false;
		before = next->step_count;
	}
	for (dropped = 0; bytes > most && dropped < before; dropped++)
		bytes -= next->steps[dropped].length;
	drop_steps(next, dropped);
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
	e->step_bytes = piece.length;
	if (e->whole_needed || piece.length > feed_copy_bytes(&e->copy))
	{
		free(bytes);
		next->step_count = 0;
		return export_write_wholes(e, next, WHOLE_LONG);
	}
	next->steps = allocate(next->steps, next->step_count + 1, sizeof *file);
	file = &next->steps[next->step_count++];
	memset(file, 0, sizeof *file);
	file->from = step.from;
	file->to = step.to;
	if (!export_write_content(e, &piece, 1, STEP_ENDING, file))
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
