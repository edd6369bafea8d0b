/*
 * bf_text_number.h
 *	  The pieces of a decimal number that is written as text.
 */
#ifndef BF_TEXT_NUMBER_H
#define BF_TEXT_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct bf_decimal
{
	bool		negative;
	const char *integer;		/* digits before the point */
	size_t		integer_digits;
	const char *fraction;		/* digits after it */
	size_t		fraction_digits;
	int64_t		exponent;
} bf_decimal;

/* [+-]digits[.digits][e[+-]digits], with a digit before or after the point. */
extern bool bf_text_decimal(const char *text, size_t length, bf_decimal *number);

/* The digit at a place of integer and fraction taken together, '0' beyond them. */
extern char bf_text_digit(const bf_decimal *number, size_t place);

/* "NaN", "Infinity", "-Infinity" as PostgreSQL prints them, or NULL. */
extern const char *bf_text_special(const char *text, size_t length);

#endif							/* BF_TEXT_NUMBER_H */
