/*
 * kept.c
 *	  Whether the rows of a table are in its own heap.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/tableam.h"
#include "utils/rel.h"

#include "engines/engines.h"
#include "engines/kept.h"

void
bfpg_refuse_kept(const char *table, const char *reason, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("rows of table \"%s\" are not kept in the table: %s", table, reason),
			 errdetail("Neither the table's file nor its indexes know all of its rows."),
			 errhint("%s", hint)));
}

void
bfpg_check_heap(Relation table)
{
	if (table->rd_tableam != NULL && table->rd_tableam != GetHeapamTableAmRoutine())
		bfpg_refuse_kept(RelationGetRelationName(table), "the table's access method is not heap",
						 "Build a filter of a query with bloom_agg or bloom_publish.");
}

bool
bfpg_check_kept_here(Oid table)
{
	/* It may have been dropped before it was locked, which is an error here. */
	Relation	relation = relation_open(table, NoLock);
	bool		lasting = bfpg_check_shard(table) && bfpg_check_chunk(table);

	bfpg_check_heap(relation);
	relation_close(relation, NoLock);
	return lasting;
}
