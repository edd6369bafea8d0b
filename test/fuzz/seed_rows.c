/*
 * seed_rows.c
 *	  Seeds from the golden vectors: seed_rows TABLE COLUMN FOLDER
 *
 * Writes the bytes of a column of hex, one file for each row.
 */
#include <stdio.h>
#include <stdlib.h>

#include "support.h"

int
main(int count, char **arguments)
{
	table		t;
	size_t		row;

	if (count != 4)
		return 2;
	t = table_read(arguments[1]);
	for (row = 0; row < t.rows; row++)
	{
		char		path[4096];
		size_t		length;
		uint8_t    *bytes = from_hex(table_text(&t, row, arguments[2]), &length);
		FILE	   *file;

		snprintf(path, sizeof path, "%s/%s-%zu", arguments[3], arguments[2], row);
		file = fopen(path, "wb");
		if (file == NULL || fwrite(bytes, 1, length, file) != length || fclose(file) != 0)
			return 2;
		free(bytes);
	}
	table_free(&t);
	return 0;
}
