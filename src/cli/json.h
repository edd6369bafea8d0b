/*
 * json.h
 *	  JSON on standard output.
 */
#ifndef CLI_JSON_H
#define CLI_JSON_H

/*
 * A string in quotes.  Bytes that are not UTF-8, as file names may have, become
 * U+FFFD: JSON has no others.
 */
extern void json_string(const char *text);

/* Writes a double into text: the shortest decimal that reads back as the same. */
#define NUMBER_TEXT_BYTES	32

extern void shortest_double(char text[NUMBER_TEXT_BYTES], double number);

#endif							/* CLI_JSON_H */
