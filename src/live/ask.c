/*
 * ask.c
 *	  bloom_index_contains and its kin: whether a live index may contain keys.
 */
#include "postgres.h"

#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "ask/access.h"
#include "engines/engines.h"
#include "key/key.h"
#include "live/target.h"
#include "base/pg_compat.h"

PG_FUNCTION_INFO_V1(bloomfilter_index_contains);
PG_FUNCTION_INFO_V1(bloomfilter_index_contains_each);
PG_FUNCTION_INFO_V1(bloomfilter_index_partitions);
PG_FUNCTION_INFO_V1(bloomfilter_index_explain);

/* What a call site keeps between calls. */
typedef struct BfpgLiveQuestion
{
	BfpgKeyCoder coder;
	BfpgLiveTargets targets;
} BfpgLiveQuestion;

/* Of an index and keys, or of a table, a column and keys. */
#define KEY_ARGUMENT (PG_NARGS() - 1)

/*
 * Throws unless keys of the coder's type can be in what is asked.  A key without a type is
 * read as SQL reads it beside the column, which is known here.
 */
static void
check_key_type(BfpgKeyCoder *coder, const BfpgLiveTargets *targets)
{
	bf_header	header = {.key_type = targets->key_type};

	if (targets->key_type == BF_KEY_NONE)
		return;
	if (coder->untyped)
		bfpg_read_as_column(coder, targets->column_type);
	else
		bfpg_check_key_type(coder, &header);
}

/* This call site's question for a key, or an array of them, with its targets found and locked. */
static BfpgLiveQuestion *
open_question(FunctionCallInfo fcinfo, Oid relation, bool array)
{
	const NameData *column = PG_NARGS() == 3 ? PG_GETARG_NAME(1) : NULL;
	BfpgLiveQuestion *question = bfpg_call_state(fcinfo, KEY_ARGUMENT, array, sizeof *question);

	if (bfpg_live_find_targets(&question->targets, relation, column, fcinfo->flinfo->fn_mcxt))
		check_key_type(&question->coder, &question->targets);
	return question;
}

static bool
ask_target(BfpgLiveQuestion *question, BfpgLiveTarget *target, Datum key)
{
	bool		found;

	bfpg_live_begin_ask(&question->targets, target);
	/* Filters of partitions may have different seeds. */
	found = bfpg_live_contains(target, bfpg_hash_key(&question->coder, key, target->live.header.seed));
	bfpg_live_end_ask(&question->targets, target);
	return found;
}

/*
 * Throws if the answer would be true for each key, as some are in compressed chunks.
 * bloom_search and bloom_index_partitions tell the chunks that may have a key, and these do.
 */
static void
refuse_compressed(const BfpgLiveTargets *targets)
{
	if (unlikely(targets->compressed))
		bfpg_refuse_compressed(targets->table);
}

static bool
ask_targets(BfpgLiveQuestion *question, Datum key)
{
	const BfpgLiveTargets *targets = &question->targets;
	int			i;

	refuse_compressed(targets);
	for (i = 0; i < targets->count; i++)
	{
		if (ask_target(question, &targets->targets[i], key))
			return true;
	}
	return false;
}

Datum
bloomfilter_index_contains(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(ask_targets(open_question(fcinfo, PG_GETARG_OID(0), false), PG_GETARG_DATUM(KEY_ARGUMENT)));
}

static void
ask_targets_array(BfpgLiveQuestion *question, uint64 seed, BfpgKeyArray *keys, uint8 *found)
{
	const BfpgLiveTargets *targets = &question->targets;
	int			i;

	for (i = 0; i < targets->count; i++)
	{
		BfpgLiveTarget *target = &targets->targets[i];
		int			j;

		bfpg_live_begin_ask(targets, target);
		if (target->live.header.seed != seed)
		{
			seed = target->live.header.seed;
			for (j = 0; j < keys->count; j++)
				keys->hashes[j] = bfpg_hash_key(&question->coder, keys->keys[keys->places[j]], seed);
		}
		bfpg_live_contains_hashes(target, keys->hashes, keys->count, found);
		bfpg_live_end_ask(targets, target);
	}
}

/* A boolean for each key, in an array of the same shape. */
Datum
bloomfilter_index_contains_each(PG_FUNCTION_ARGS)
{
	BfpgLiveQuestion *question = open_question(fcinfo, PG_GETARG_OID(0), true);
	bf_header	whole = {.parts = 1};
	BfpgKeyArray keys;
	uint8	   *found;

	refuse_compressed(&question->targets);
	/* All targets mostly have one seed, so that keys are hashed once. */
	if (question->targets.count > 0)
		whole.seed = question->targets.targets[0].live.header.seed;
	bfpg_key_array(bfpg_array_argument(&question->coder, PG_GETARG_DATUM(KEY_ARGUMENT)), &question->coder, &whole, &keys);
	found = palloc0(keys.count + 1);
	ask_targets_array(question, whole.seed, &keys, found);
	return bfpg_key_array_answers(&keys, found);
}

List *
bfpg_live_tables_of(FunctionCallInfo fcinfo, Oid table)
{
	BfpgLiveQuestion *question = open_question(fcinfo, table, false);
	List	   *tables = NIL;
	int			i;

	for (i = 0; i < question->targets.count; i++)
		if (ask_target(question, &question->targets.targets[i], PG_GETARG_DATUM(KEY_ARGUMENT)))
			tables = lappend_oid(tables, question->targets.targets[i].table);
	return tables;
}

/* The tables that may have the key, with the index that was asked: NULL where none was. */
Datum
bloomfilter_index_partitions(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	BfpgLiveQuestion *question = open_question(fcinfo, PG_GETARG_OID(0), false);
	const BfpgLiveTargets *targets = &question->targets;
	int			i;

	InitMaterializedSRF(fcinfo, 0);
	for (i = 0; i < targets->count; i++)
	{
		BfpgLiveTarget *target = &targets->targets[i];
		Datum		values[2] = {ObjectIdGetDatum(target->table), ObjectIdGetDatum(target->index)};
		bool		nulls[2] = {false, !OidIsValid(target->index)};

		if (ask_target(question, target, PG_GETARG_DATUM(KEY_ARGUMENT)))
			tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/* What bloom_index_contains computes and sees, page by page. */
Datum
bloomfilter_index_explain(PG_FUNCTION_ARGS)
{
	BfpgLiveQuestion *question = open_question(fcinfo, PG_GETARG_OID(0), false);
	BfpgLiveTarget *target = &question->targets.targets[0];
	const bf_header *header = &target->live.header;
	StringInfoData key;
	StringInfoData lines;
	char		text[BF_EXPLAIN_ROOM];
	uint64		hash;
	bool		answer;

	bfpg_live_refuse_partitioned(PG_GETARG_OID(0));
	initStringInfo(&lines);
	if (!OidIsValid(target->index))
		PG_RETURN_TEXT_P(cstring_to_text("answer    true\nreason    the index can't be read under this snapshot"));
	bfpg_key_bytes(&question->coder, PG_GETARG_DATUM(KEY_ARGUMENT), &key);
	hash = bf_hash(key.data, (size_t) key.len, header->seed);
	bf_explain_key(text, header, question->coder.type, key.data, (size_t) key.len, hash);
	appendStringInfoString(&lines, text);
	answer = bfpg_live_contains(target, hash);
	bfpg_live_explain(target, hash, &lines);
	bf_explain_answer(text, answer);
	appendStringInfoString(&lines, text);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(lines.data, lines.len));
}
