/*
 * report.h
 *	  The wording and SQLSTATE of errors that more than one file reports.
 */
#ifndef BFPG_REPORT_H
#define BFPG_REPORT_H

#include "fmgr.h"

#include "bf_format.h"
#include "base/pg_compat.h"
#include "bf_sizing.h"

struct Node;
struct TriggerData;

/* How bytes came in: the SQLSTATE of what is wrong with them. */
typedef enum BfpgDoor
{
	BFPG_DOOR_TEXT = ERRCODE_INVALID_TEXT_REPRESENTATION,	/* type input */
	BFPG_DOOR_BINARY = ERRCODE_INVALID_BINARY_REPRESENTATION,	/* type receive */
	BFPG_DOOR_ARGUMENT = ERRCODE_INVALID_PARAMETER_VALUE,	/* a bytea that a user casts */
	BFPG_DOOR_STORED = ERRCODE_DATA_CORRUPTED	/* a value of a table */
} BfpgDoor;

/*
 * Reports that bytes are not a valid filter, softly where escontext is an
 * ErrorSaveContext; returns only then.  bytes are looked at for their version.
 */
extern void bfpg_report_invalid(bf_status status, const void *bytes, BfpgDoor door, struct Node *escontext);

/* The memory of the aggregate that calls the function; throws where none does. */
extern MemoryContext bfpg_aggregate_context(FunctionCallInfo fcinfo);

/* What a trigger's function is called with; throws where no trigger calls it. */
extern const struct TriggerData *bfpg_trigger_data(FunctionCallInfo fcinfo);

pg_noreturn extern void bfpg_refuse_null(const char *what);

/* Throws unless the parameters of a filter are in range. */
extern void bfpg_check_capacity(int64 n);
extern void bfpg_check_rate(double p);
extern void bfpg_check_parts(int32 parts);

/* The size of a filter for n keys at rate p: bf_size_for_rate, with every error thrown. */
extern void bfpg_size_for_rate(int64 n, double p, bf_sizing *sizing);

/* The same, and the fewest parts that they fit in. */
extern int32 bfpg_choose_parts(int64 n, double p, bf_sizing *sizing);

/* Throws unless a sizing fits one filter. */
extern void bfpg_check_fits(const bf_sizing *sizing);

/*
 * Does what bloomfilter.overflow says if a filter holds more keys than it was
 * sized for.
 */
extern void bfpg_check_overflow(const bf_header *header);

/* The row that a call returns, whose columns from first_null on are null. */
extern Datum bfpg_make_row(FunctionCallInfo fcinfo, Datum *values, int columns, int first_null);

/* What a hint writes: a relation, a function of the extension, whose schema search_path may lack, and a CALL with a list's name. */
extern const char *bfpg_qualified_name(Oid relation);
extern const char *bfpg_callable_name(Oid schema, const char *function);
extern const char *bfpg_call_text(Oid schema, const char *procedure, const char *list);

/* Lets a query be cancelled; a bf_tick. */
extern void bfpg_tick(void);

#endif							/* BFPG_REPORT_H */
