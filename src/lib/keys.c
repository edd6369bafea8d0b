/*
 * keys.c
 *	  What keys are: names of types, their bytes, and the bytes of a row.
 */
#include "keys.h"

#include <string.h>

_Static_assert((int) BLOOMFILTER_KEY_ROW == (int) BF_KEY_ROW && (int) BLOOMFILTER_KEY_MACADDR == (int) BF_KEY_LAST,
			   "the public header has the core's kinds of keys");

int
lbf_key_check(int type, const void *bytes, size_t *length, uint32_t *full)
{
	if (type < 0 || !bf_key_is_kind((uint32_t) type) || (bytes == NULL && *length > 0))
		return BLOOMFILTER_ERR_ARGUMENT;
	return bf_key_check((uint32_t) type, bytes == NULL ? "" : bytes, length, full) ? BLOOMFILTER_OK : BLOOMFILTER_ERR_KEY;
}

const char *
bloomfilter_key_type_name(int key_type)
{
	return key_type < 0 ? NULL : bf_key_type_name((unsigned) key_type);
}

int
bloomfilter_row_append(bloomfilter_row *row, int key_type, const void *bytes,
					   size_t length)
{
	uint32_t	columns = BF_KEY_ROW;
	size_t		left = row->room - row->length;
	int			code = BLOOMFILTER_OK;

	if (key_type < 0 || !bf_key_is_column((uint32_t) key_type) || length > UINT32_MAX ||
		left < BF_KEY_COLUMN_HEAD || left - BF_KEY_COLUMN_HEAD < length)
		return BLOOMFILTER_ERR_ARGUMENT;
	if (row->length > 0)
		code = lbf_key_check(BF_KEY_ROW, row->bytes, &row->length, &columns);
	if (code != BLOOMFILTER_OK)
		return code;
	if (!bf_key_row_add(&columns, (unsigned) key_type))
		return BLOOMFILTER_ERR_ARGUMENT;
	code = lbf_key_check(key_type, bytes, &length, &columns);
	if (code != BLOOMFILTER_OK)
		return code;
	row->length += bf_key_row_head((unsigned) key_type, (uint32_t) length,
								   row->bytes + row->length);
	if (length > 0)
		memcpy(row->bytes + row->length, bytes, length);
	row->length += length;
	return BLOOMFILTER_OK;
}

int
bloomfilter_row_append_int64(bloomfilter_row *row, int64_t value)
{
	uint8_t		bytes[8];

	return bloomfilter_row_append(row, BF_KEY_INTEGER, bytes,
								  bf_key_integer(value, bytes));
}
