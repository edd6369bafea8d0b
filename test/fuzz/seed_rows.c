/*
 * seed_rows.c
 *	  Seeds from the golden vectors: seed_rows TABLE COLUMN FOLDER
 *
 * Writes the bytes of a column of hex, one file for each row.
 */
#include <stdio.h>
#include <stdlib.h>

#include "files.h"
#include "tsv.h"

int
main(int count, char **arguments)
{
	tsv		   *table;
	size_t		row;

	if (count != 4)
		return 2;
	table = tsv_open(arguments[1]);
	for (row = 0; tsv_next(table); row++)
	{
		char		path[4096];
		size_t		length;
		uint8_t    *bytes = tsv_bytes(table, arguments[2], &length);

		snprintf(path, sizeof path, "%s/%s-%zu", arguments[3], arguments[2], row);
		write_file(path, bytes, length);
		free(bytes);
	}
	tsv_close(table);
	return 0;
}
