/*
 * tsv.h
 *	  Reading the golden files of test/vectors.
 */
#ifndef TSV_H
#define TSV_H

#include <stddef.h>
#include <stdint.h>

typedef struct tsv tsv;

/* VECTORS is the folder of the golden files, given by the Makefile. */
extern tsv *tsv_open(const char *name);
extern void tsv_close(tsv *table);

/* Goes to the next row; 0 at the end. */
extern int	tsv_next(tsv *table);

/* Opens a file, calls for each row, and closes it. */
typedef void (*tsv_row) (const tsv *table);
extern void tsv_each(const char *name, tsv_row call);

/* A column of the row, by its name. */
extern const char *tsv_text(const tsv *table, const char *column);
extern uint64_t tsv_number(const tsv *table, const char *column);
extern uint64_t tsv_hex_number(const tsv *table, const char *column);

/* Bytes of a column, in memory to be freed. */
extern uint8_t *tsv_bytes(const tsv *table, const char *column, size_t *length);

/* Calls for each key in a list column: bytes and length. */
typedef void (*tsv_key) (void *context, const uint8_t *bytes, size_t length);
extern void tsv_keys(const tsv *table, const char *column, tsv_key call,
					 void *context);

#endif							/* TSV_H */
