/*
 * messages.c
 *	  What is said on standard error, and memory, whose lack ends the program.
 */
#include "messages.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ------------------------------------------------------------------------
 * How far a long run has come
 * ------------------------------------------------------------------------ */

/* Seconds between two drawings: fluent to the eye, and no cost. */
#define INTERVAL 0.1

/* Characters of the bar; the whole line stays under 80. */
#define BAR_WIDTH 30

/* Whether the terminal's line is ours: messages must clear it first. */
static bool on_screen;

static const char *const bytes_units[] = {"B", "KiB", "MiB", "GiB", "TiB", NULL};
static const char *const count_units[] = {"", "k", "M", "G", "T", NULL};

void
scale(char text[SCALE_TEXT_BYTES], double number, bool bytes)
{
	const char *const *unit = bytes ? bytes_units : count_units;
	double		step = bytes ? 1024 : 1000;
	int			digits = 0;

	/* 999.5 would be shown as 1000 */
	while (number >= step - 0.5 && unit[1] != NULL)
	{
		number /= step;
		unit++;
		digits = number < 9.95 ? 2 : number < 99.5 ? 1 : 0;
	}
	snprintf(text, SCALE_TEXT_BYTES, "%.*f%s%s", digits, number,
			 **unit == '\0' ? "" : " ", *unit);
}

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

/* ------------------------------------------------------------------------
 * Messages
 * ------------------------------------------------------------------------ */

static bool timed;

void
message_time(char text[TIME_TEXT_BYTES], time_t time)
{
	struct tm	parts;

	gmtime_r(&time, &parts);
	strftime(text, TIME_TEXT_BYTES, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

void
messages_have_time(void)
{
	timed = true;
}

void
message_prefix(char text[TIME_TEXT_BYTES + 1])
{
	text[0] = '\0';
	if (!timed)
		return;
	message_time(text, time(NULL));
	text[TIME_TEXT_BYTES - 1] = ' ';
	text[TIME_TEXT_BYTES] = '\0';
}

static char subject[128];

void
message_about(const char *about)
{
	snprintf(subject, sizeof subject, "%s%s", about != NULL ? about : "", about != NULL ? ": " : "");
}

const char *
message_subject(void)
{
	return subject;
}

/* Bytes of the UTF-8 character at text, 0 if it is none. */
static size_t
character_bytes(const unsigned char *text)
{
	size_t		length = text[0] < 0x80 ? 1 : text[0] < 0xc2 ? 0 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : text[0] < 0xf5 ? 4 : 0;
	size_t		i;

	for (i = 1; i < length; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

static bool
is_plain(const unsigned char *text, size_t length)
{
	/* U+0080 to U+009F, U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069 */
	if (length == 2)
		return !(text[0] == 0xc2 && text[1] < 0xa0) && !(text[0] == 0xd8 && text[1] == 0x9c);
	if (length == 3 && text[0] == 0xe2)
		return !(text[1] == 0x80 && (text[2] == 0x8e || text[2] == 0x8f || (text[2] >= 0xaa && text[2] <= 0xae))) &&
			!(text[1] == 0x81 && text[2] >= 0xa6 && text[2] <= 0xa9);
	return length > 0 && text[0] >= ' ' && text[0] != 0x7f;
}

void
make_plain(char *text)
{
	unsigned char *at = (unsigned char *) text;

	while (*at != '\0')
	{
		size_t		length = character_bytes(at);

		if (!is_plain(at, length))
			memset(at, '?', length > 0 ? length : 1);
		at += length > 0 ? length : 1;
	}
}

static void say(const char *format, va_list arguments) LIKE_PRINTF(1, 0);

static void
say(const char *format, va_list arguments)
{
	char		prefix[TIME_TEXT_BYTES + 1];
	char		text[4096];

	message_prefix(prefix);
	vsnprintf(text, sizeof text, format, arguments);
	make_plain(text);
	progress_clear();
	fprintf(stderr, "%sbloomfilter: %s%s\n", prefix, subject, text);
}

static char complaint[512];

void
complain(const char *format,...)
{
	va_list		arguments;

	va_start(arguments, format);
	vsnprintf(complaint, sizeof complaint, format, arguments);
	make_plain(complaint);
	va_end(arguments);
	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
}

const char *
last_complaint(void)
{
	return complaint;
}

void
fail(const char *format,...)
{
	va_list		arguments;

	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
	exit(STATUS_TROUBLE);
}

void *
allocate(void *old, size_t count, size_t size)
{
	void	   *memory;

	if (size != 0 && count > SIZE_MAX / size)
		fail("out of memory");
	memory = realloc(old, count * size);
	if (memory == NULL && count * size != 0)
		fail("out of memory: %zu bytes are not to be had", count * size);
	return memory;
}

char *
text_of(const char *format,...)
{
	va_list		arguments;
	char	   *text;
	int			length;

	va_start(arguments, format);
	length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (length < 0)
		fail("cannot format a text");
	text = allocate(NULL, (size_t) length + 1, 1);
	va_start(arguments, format);
	vsnprintf(text, (size_t) length + 1, format, arguments);
	va_end(arguments);
	return text;
}
