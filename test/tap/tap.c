/*
 * tap.c
 *	  Numbered results on standard output.
 */
#include "tap.h"

#include <stdarg.h>

static unsigned tests;
static unsigned failures;

void		(*tap_at_end) (void);

static void
print_result(bool holds, const char *format, va_list arguments)
{
	tests++;
	failures += !holds;
	printf("%sok %u - ", holds ? "" : "not ", tests);
	vprintf(format, arguments);
	putchar('\n');
	fflush(stdout);
}

bool
ok(bool holds, const char *format,...)
{
	va_list		arguments;

	va_start(arguments, format);
	print_result(holds, format, arguments);
	va_end(arguments);
	return holds;
}

bool
same(long long got, long long wanted, const char *format,...)
{
	va_list		arguments;

	va_start(arguments, format);
	print_result(got == wanted, format, arguments);
	va_end(arguments);
	if (got != wanted)
		printf("# got %lld, wanted %lld\n", got, wanted);
	return got == wanted;
}

bool
check(bool holds, const char *format,...)
{
	va_list		arguments;

	if (holds)
		return true;
	fputs("# fails at ", stdout);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	return false;
}

void
need(bool holds, const char *what)
{
	if (holds)
		return;
	printf("Bail out! %s\n", what);
	exit(2);
}

int
tap_done(void)
{
	printf("1..%u\n", tests);
	if (tap_at_end != NULL)
		tap_at_end();
	return failures == 0 ? 0 : 1;
}

uint64_t
next_random(uint64_t *state)
{
	uint64_t	z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}
