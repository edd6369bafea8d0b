/*
 * scale.c
 *	  Large numbers for human eyes.
 */
#include "scale.h"

#include <stddef.h>
#include <stdio.h>

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
