/*
 * progress.c
 *	  One line on a terminal that says how far a long run has come.
 */
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "scale.h"

/* Seconds between two drawings: fluent to the eye, and no cost. */
#define INTERVAL 0.1

/* Characters of the bar; the whole line stays under 80. */
#define BAR_WIDTH 30

/* Whether the terminal's line is ours: messages must clear it first. */
static bool on_screen;

double
monotonic_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double) time.tv_sec + (double) time.tv_nsec * 1e-9;
}

void
progress_start(progress_bar *progress, const char *label, const char *unit,
			   bool wanted)
{
	memset(progress, 0, sizeof *progress);
	progress->shown = wanted && isatty(STDERR_FILENO);
	progress->label = label;
	progress->unit = unit;
	if (progress->shown)
		progress->started = monotonic_seconds();
}

static void
draw_bar(double share)
{
	int			filled = (int) (share * BAR_WIDTH);
	int			i;

	fputc('[', stderr);
	for (i = 0; i < BAR_WIDTH; i++)
		fputc(i < filled ? '=' : i == filled ? '>' : ' ', stderr);
	fprintf(stderr, "] %3d %%  ", (int) (share * 100));
}

static void
draw_count(const progress_bar *progress, double count, double seconds)
{
	char		amount[SCALE_TEXT_BYTES];
	char		rate[SCALE_TEXT_BYTES];
	bool		bytes = strcmp(progress->unit, "bytes") == 0;
	double		per_second = seconds > 0 ? count / seconds : 0;

	scale(amount, count, bytes);
	scale(rate, per_second, bytes);
	if (bytes)
		fprintf(stderr, "%s  %s/s", amount, rate);
	else
		fprintf(stderr, "%s %s  %s/s", amount, progress->unit, rate);
}

void
progress_update(progress_bar *progress, uint64_t count, uint64_t done,
				uint64_t total)
{
	double		time;

	if (!progress->shown)
		return;
	time = monotonic_seconds();
	if (time - progress->drawn < INTERVAL)
		return;
	progress->drawn = time;
	on_screen = true;
	fprintf(stderr, "\r%s ", progress->label);
	if (total > 0)
		draw_bar(done < total ? (double) done / (double) total : 1.0);
	draw_count(progress, (double) count, time - progress->started);
	fputs("\033[K", stderr);
	fflush(stderr);
}

void
progress_clear(void)
{
	if (!on_screen)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	on_screen = false;
}

void
progress_end(progress_bar *progress)
{
	progress->shown = false;
	progress_clear();
}
