/*
 * absorb.c
 *	  What a publish does with the changes of its list: takes up what its query has seen, and takes
 *	  away what both generations have taken up.
 *
 * The statements hold no lock that a changer waits for, wait for no changer, and can't fail by one,
 * since they update and delete no row of bloom_change that another transaction has changed
 * (t/090_tracked.pl):
 *
 * 1. To take a change up is to insert its version into bloom_absorbed.  (Mutation J2.)
 * 2. A change goes only if the current generation has taken up this very version, and so has the
 *	  generation before, which bloom_rollback brings back.  (J12, J13.)
 * 3. A row that somebody has locked is left for the next time.  (J14.)
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "base/pg_compat.h"
#include "change/change.h"
#include "list/changes.h"
#include "list/tables.h"

/* Runs a statement with the name of a list as its parameter; each %s is the schema. */
static void
run(Oid schema, const char *list, const char *sql, int expected)
{
	const ParamExternData name = bfpg_parameter(TEXTOID, CStringGetTextDatum(list));
	const char *prefix = psprintf("%s.", quote_identifier(get_namespace_name(schema)));
	StringInfoData text;
	const char *at;

	initStringInfo(&text);
	for (at = sql; *at != '\0'; at++)
	{
		if (*at == '@')
			appendStringInfoString(&text, prefix);
		else
			appendStringInfoChar(&text, *at);
	}
	bfpg_run_statement(schema, text.data, 1, &name, expected);
}

void
bfpg_change_prune(Oid schema, const char *list)
{
	/* A snapshot of before would make an error of a change since. */
	if (IsolationUsesXactSnapshot())
		return;
	run(schema, list,
		"WITH old AS (SELECT c.key, c.version FROM @bloom_change c WHERE c.name = $1 "
		"AND EXISTS (SELECT FROM @bloom_absorbed a WHERE a.name = $1 AND a.back = 0 AND a.key = c.key AND a.version = c.version) "
		"AND (NOT EXISTS (SELECT FROM @bloom_generation g WHERE g.name = $1 AND g.back = 1) "
		"OR EXISTS (SELECT FROM @bloom_absorbed b WHERE b.name = $1 AND b.back = 1 AND b.key = c.key AND b.version = c.version)) "
		"FOR UPDATE OF c SKIP LOCKED), "
		"gone AS (DELETE FROM @bloom_change c USING old o WHERE c.name = $1 AND c.key = o.key AND c.version = o.version "
		"RETURNING c.key, c.version) "
		"DELETE FROM @bloom_absorbed a USING gone g WHERE a.name = $1 AND a.key = g.key AND a.version = g.version",
		SPI_OK_DELETE);
}

uint64
bfpg_change_absorb(Oid schema, const char *list)
{
	run(schema, list, "INSERT INTO @bloom_absorbed (name, back, key, version) SELECT name, 0, key, version FROM @bloom_change WHERE name = $1",
		SPI_OK_INSERT);
	return SPI_processed;
}

/* What somebody changes just now stays, and the first publish of that name takes it up. */
void
bfpg_change_drop(Oid schema, const char *list)
{
	run(schema, list, "DELETE FROM @bloom_absorbed WHERE name = $1", SPI_OK_DELETE);
	run(schema, list,
		"DELETE FROM @bloom_change c USING (SELECT name, key FROM @bloom_change WHERE name = $1 FOR UPDATE SKIP LOCKED) o "
		"WHERE c.name = o.name AND c.key = o.key",
		SPI_OK_DELETE);
}

bool
bfpg_change_has_other_kind(Oid schema, const char *list, uint32 kind)
{
	BfpgChanges *changes;
	bool		other;

	PushActiveSnapshot(GetLatestSnapshot());
	changes = bfpg_changes_open(schema, CStringGetTextDatum(list), CurrentMemoryContext);
	other = changes != NULL && bfpg_changes_has_other_kind(changes, kind);
	PopActiveSnapshot();
	return other;
}
