/*
 * reader.h
 *	  What the files of the WebAssembly module share.
 */
#ifndef READER_H
#define READER_H

#include <stddef.h>
#include <stdint.h>

#define EXPORT(name) __attribute__((export_name(name)))

/* A function that returns a value. */
#define TELLS(type, name, value) \
	EXPORT(#name) type \
	name(void) \
	{ \
		return value; \
	}

/* Where the filter begins. */
extern uint8_t *filter_at(void);

#endif							/* READER_H */
