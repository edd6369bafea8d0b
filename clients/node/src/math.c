/*
 * math.c
 *	  frexp and ldexp by the bits of a double.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#define EXPONENT_BITS 0x7ff
#define BIAS 1022

double
frexp(double x, int *exponent)
{
	uint64_t	bits;
	int			shift = 0;
	int			stored;

	/* Subnormal numbers are made normal first. */
	if (x != 0 && x < 0x1p-1022 && x > -0x1p-1022)
	{
		x *= 0x1p54;
		shift = -54;
	}
	memcpy(&bits, &x, sizeof bits);
	stored = (int) (bits >> 52 & EXPONENT_BITS);
	*exponent = 0;
	if (x == 0 || stored == EXPONENT_BITS)
		return x;
	*exponent = stored - BIAS + shift;
	bits = (bits & ~((uint64_t) EXPONENT_BITS << 52)) | (uint64_t) BIAS << 52;
	memcpy(&x, &bits, sizeof x);
	return x;
}

static double
power_of_two(int exponent)
{
	uint64_t	bits = (uint64_t) (exponent + BIAS + 1) << 52;
	double		power;

	memcpy(&power, &bits, sizeof power);
	return power;
}

/* Exact for normal results, which are all that the core asks for. */
double
ldexp(double x, int exponent)
{
	for (; exponent > 1023; exponent -= 1023)
		x *= 0x1p1023;
	for (; exponent < -969; exponent += 969)
		x *= 0x1p-969;
	return x * power_of_two(exponent);
}
