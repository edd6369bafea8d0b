/*
 * io.c
 *	  The ways in and out: text, binary, bytea, and bytea in chunks.
 *
 * The text form is base64: hex of the largest filter would be more than a row of
 * pg_dump can hold.  Nothing comes in but through bf_any_parse.
 */
#include "postgres.h"

#include "libpq/pqformat.h"
#include "miscadmin.h"

#include "bf_format.h"
#include "value/filter.h"
#include "base/pg_compat.h"

PG_FUNCTION_INFO_V1(bloomfilter_in);
PG_FUNCTION_INFO_V1(bloomfilter_out);
PG_FUNCTION_INFO_V1(bloomfilter_recv);
PG_FUNCTION_INFO_V1(bloomfilter_send);
PG_FUNCTION_INFO_V1(bloomfilter_from_bytea);
PG_FUNCTION_INFO_V1(bloomfilter_to_bytea);
PG_FUNCTION_INFO_V1(bloomfilter_chunk);

/* base64 is made and read in pieces of this many bytes, to be cancelled between. */
#define PIECE_BYTES ((size_t) 3 * 1024 * 1024)
#define PIECE_CHARS (PIECE_BYTES / 3 * 4)

/* Characters of so many bytes in base64, padded. */
static size_t
encoded_length(size_t bytes)
{
	return (bytes + 2) / 3 * 4;
}

/* Whether a varlena is a whole valid filter; reports softly where it may. */
static bool
is_valid(struct varlena *value, BfpgDoor door, struct Node *escontext)
{
	bf_shape	shape;
	bf_status	status = bf_any_parse(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), bfpg_tick, &shape);

	if (status != BF_OK)
		bfpg_report_invalid(status, VARDATA_ANY(value), door, escontext);
	return status == BF_OK;
}

/*
 * Decodes exactly length bytes; false if the text is not their base64.  The
 * server's decoder skips white space, which shows in what it returns.
 */
static bool
decode_base64(const char *text, size_t chars, char *bytes, size_t length)
{
	while (chars > 0)
	{
		size_t		piece = Min(chars, PIECE_CHARS);
		size_t		want = Min(length, PIECE_BYTES);

		CHECK_FOR_INTERRUPTS();
		if (pg_b64_decode(text, (int) piece, (bfpg_b64_byte *) bytes, (int) want) != (int) want)
			return false;
		text += piece;
		chars -= piece;
		bytes += want;
		length -= want;
	}
	return true;
}

Datum
bloomfilter_in(PG_FUNCTION_ARGS)
{
	const char *text = PG_GETARG_CSTRING(0);
	size_t		chars = strlen(text);
	size_t		padding = 0;
	size_t		length;
	struct varlena *result;

	while (padding < 2 && padding < chars && text[chars - 1 - padding] == '=')
		padding++;
	length = chars / 4 * 3 - padding;
	/* Of "AAA=AA==" the server's decoder would make the bytes of "AAAAAA==". */
	if (chars == 0 || chars % 4 != 0 || length > BF_MAX_BYTES || memchr(text, '=', chars - padding) != NULL)
		length = 0;
	result = palloc(VARHDRSZ + length);
	SET_VARSIZE(result, VARHDRSZ + length);
	if (length == 0 || !decode_base64(text, chars, VARDATA(result), length))
		bfpg_errsave(fcinfo->context,
					 (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
					  errmsg("invalid input syntax for type %s", "bloomfilter"),
					  errdetail("The text is not a filter in base64, without spaces and line breaks.")));
	else if (is_valid(result, BFPG_DOOR_TEXT, fcinfo->context))
		PG_RETURN_POINTER(result);
	PG_RETURN_NULL();
}

Datum
bloomfilter_out(PG_FUNCTION_ARGS)
{
	struct varlena *value = bfpg_flat_value(PG_GETARG_DATUM(0));
	const char *bytes = VARDATA(value);
	size_t		length = VARSIZE(value) - VARHDRSZ;
	size_t		chars = encoded_length(length);
	char	   *text = palloc(chars + 1);
	char	   *at = text;

	while (length > 0)
	{
		size_t		piece = Min(length, PIECE_BYTES);
		int			written;

		CHECK_FOR_INTERRUPTS();
		written = pg_b64_encode((const bfpg_b64_byte *) bytes, (int) piece, at, (int) encoded_length(piece));
		if (written < 0)
			elog(ERROR, "could not encode a bloomfilter");
		bytes += piece;
		length -= piece;
		at += written;
	}
	*at = '\0';
	PG_FREE_IF_COPY(value, 0);
	PG_RETURN_CSTRING(text);
}

Datum
bloomfilter_recv(PG_FUNCTION_ARGS)
{
	StringInfo	message = (StringInfo) PG_GETARG_POINTER(0);
	int			length = message->len - message->cursor;
	struct varlena *result = palloc(VARHDRSZ + length);

	SET_VARSIZE(result, VARHDRSZ + length);
	pq_copymsgbytes(message, VARDATA(result), length);
	is_valid(result, BFPG_DOOR_BINARY, NULL);
	PG_RETURN_POINTER(result);
}

/*
 * Inside a varlena a filter is the bytes of the format: nothing to convert.  But
 * who calls a send function may free its result, which must not be the argument.
 */
Datum
bloomfilter_send(PG_FUNCTION_ARGS)
{
	struct varlena *value = bfpg_flat_value(PG_GETARG_DATUM(0));

	PG_RETURN_POINTER(PointerGetDatum(value) == PG_GETARG_DATUM(0) ? pg_detoast_datum_copy(value) : value);
}

Datum
bloomfilter_to_bytea(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(bfpg_flat_value(PG_GETARG_DATUM(0)));
}

Datum
bloomfilter_from_bytea(PG_FUNCTION_ARGS)
{
	struct varlena *value = PG_DETOAST_DATUM(PG_GETARG_DATUM(0));

	is_valid(value, BFPG_DOOR_ARGUMENT, NULL);
	PG_RETURN_POINTER(value);
}

/*
 * Bytes of the format from an offset on, read by a slice; fewer, or none, at the
 * end.  Within one snapshot the chunks of a value fit together.
 */
Datum
bloomfilter_chunk(PG_FUNCTION_ARGS)
{
	struct varlena *attr = (struct varlena *) PG_GETARG_POINTER(0);
	int64		offset = PG_GETARG_INT64(1);
	int32		length = PG_GETARG_INT32(2);

	if (offset < 0 || length < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("offset and length of a chunk must not be negative")));
	if (offset >= (int64) BF_MAX_BYTES)
		length = offset = 0;
	length = Min(length, (int32) (BF_MAX_BYTES - offset));
	PG_RETURN_POINTER(detoast_attr_slice(attr, (int32) offset, length));
}
