/*
 * math.h
 *	  What the core's sizing needs of the C library, all of it exact.
 */
#ifndef READER_MATH_H
#define READER_MATH_H

#define floor(x) __builtin_floor(x)
#define ceil(x) __builtin_ceil(x)
#define sqrt(x) __builtin_sqrt(x)

extern double frexp(double x, int *exponent);
extern double ldexp(double x, int exponent);

#endif							/* READER_MATH_H */
