/*
 * scale.h
 *	  Large numbers for human eyes.
 */
#ifndef CLI_SCALE_H
#define CLI_SCALE_H

#include <stdbool.h>

#define SCALE_TEXT_BYTES	32

/* "117 MiB" for bytes (powers of 1024), "12.3 M" for others (of 1000). */
extern void scale(char text[SCALE_TEXT_BYTES], double number, bool bytes);

#endif							/* CLI_SCALE_H */
