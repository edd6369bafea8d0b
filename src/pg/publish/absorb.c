/*
 * absorb.c
 *	  What a publish does with the changes of its list: absorbs what its query has seen, and removes
 *	  what both generations have absorbed.
 *
 * The statements hold no lock that a changer waits for, wait for no changer, and can't fail by one,
 * since they update and delete no row of bloom_change that another transaction has changed
 * (t/090_tracked.pl):
 *
 * 1. To absorb a change is to insert its version into bloom_absorbed.  (Mutation J2.)
 * 2. A change goes only if the current generation has absorbed this very version, and so has the
 *	  generation before, which bloom_rollback brings back.  (J12, J13.)
 * 3. A row that somebody has locked is left for the next time.  (J14.)
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "executor/spi.h"
#include "utils/snapmgr.h"

#include "bf_key.h"
#include "ask/access.h"
#include "list/changes.h"
#include "publish/publish.h"

/* Changes that a look-up reads at once, see changes.c. */
#define MANY_CHANGES 100000

void
bfpg_absorb_prune(const BfpgPlace *place, const char *name)
{
	/* A snapshot of before would make an error of a change since. */
	if (IsolationUsesXactSnapshot())
		return;
	bfpg_run_for_list(place, name,
					  "WITH old AS (SELECT c.key, c.version FROM %1$sbloom_change c WHERE c.name = $1 "
					  "AND EXISTS (SELECT FROM %1$sbloom_absorbed a WHERE a.name = $1 AND a.back = 0 AND a.key = c.key AND a.version = c.version) "
					  "AND (NOT EXISTS (SELECT FROM %1$sbloom_generation g WHERE g.name = $1 AND g.back = 1) "
					  "OR EXISTS (SELECT FROM %1$sbloom_absorbed b WHERE b.name = $1 AND b.back = 1 AND b.key = c.key AND b.version = c.version)) "
					  "FOR UPDATE OF c SKIP LOCKED), "
					  "gone AS (DELETE FROM %1$sbloom_change c USING old o WHERE c.name = $1 AND c.key = o.key AND c.version = o.version "
					  "RETURNING c.key, c.version) "
					  "DELETE FROM %1$sbloom_absorbed a USING gone g WHERE a.name = $1 AND a.key = g.key AND a.version = g.version",
					  SPI_OK_DELETE);
}

/*
 * Of a list that is dropped.  Whoever changes a key whose row was deleted waits for the end of the
 * transaction: so in a transaction block they stay.  What stays is absorbed by the first publish of
 * that name.
 */
void
bfpg_absorb_drop(const BfpgPlace *place, const char *name, bool in_block)
{
	bfpg_run_for_list(place, name, "DELETE FROM %1$sbloom_absorbed WHERE name = $1", SPI_OK_DELETE);
	if (!in_block && !IsolationUsesXactSnapshot())
		bfpg_run_for_list(place, name,
						  "DELETE FROM %1$sbloom_change c USING (SELECT key FROM %1$sbloom_change WHERE name = $1 FOR UPDATE SKIP LOCKED) o "
						  "WHERE c.name = $1 AND c.key = o.key",
						  SPI_OK_DELETE);
}

/* Whether there is a change of another kind of keys than this. */
typedef struct OtherKind
{
	uint32		kind;
	bool		found;
} OtherKind;

static bool
see_kind(void *state, uint32 kind, const bytea *key, bool value)
{
	OtherKind  *other = state;

	other->found = kind != other->kind;
	return !other->found;
}

/* The only error that a change can make: the caller has allowed another type of keys. */
static void
check_kind(const BfpgPublication *list, const BfpgLastList *last)
{
	const char *type = bfpg_publish_key_type(list);
	OtherKind	other = {bfpg_publish_kind(list)};

	if (!list->tracked || other.kind == BF_KEY_NONE || (last->key_type != NULL && strcmp(type, last->key_type) == 0))
		return;
	PushActiveSnapshot(GetLatestSnapshot());
	bfpg_changes_each(list->place.schema, list->name, see_kind, &other);
	PopActiveSnapshot();
	if (other.found)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("list \"%s\" is not published: a key that is not %s was changed meanwhile", list->name, type),
				 errhint("Repeat the statement.")));
}

void
bfpg_absorb(const BfpgPublication *list, const BfpgLastList *last)
{
	bfpg_run_for_list(&list->place, list->name,
					  "INSERT INTO %1$sbloom_absorbed (name, back, key, version) SELECT name, 0, key, version FROM %1$sbloom_change WHERE name = $1",
					  SPI_OK_INSERT);
	if (SPI_processed > MANY_CHANGES)
		ereport(WARNING,
				(errmsg("list \"%s\" has absorbed " UINT64_FORMAT " changes", list->name, SPI_processed),
				 errdetail("Up to %d of them are looked up fast.", MANY_CHANGES),
				 errhint("Publish it more often.")));
	check_kind(list, last);
}

/* What an exact list says other than its changes, by their value, and how many were asked. */
typedef struct Differences
{
	const BfpgPublication *list;
	double		asked[2];
	double		differ[2];
} Differences;

static bool
see_difference(void *state, uint32 kind, const bytea *key, bool value)
{
	Differences *differences = state;
	const BfpgPublication *list = differences->list;
	const bf_header *header = &list->made.shapes[0].level[0];
	BfpgAccess	access = {0};
	uint64		hash;

	if (kind != bfpg_publish_kind(list))
		return true;
	hash = bf_hash(VARDATA_ANY(key) + BFPG_KIND_BYTES, VARSIZE_ANY_EXHDR(key) - BFPG_KIND_BYTES, header->seed);
	bfpg_access_open(&access, list->made.filters[bf_part_of(hash, header->parts)]);
	differences->asked[value]++;
	differences->differ[value] += bfpg_access_contains(&access, hash) != value;
	bfpg_access_close(&access);
	return true;
}

/*
 * A key whose row was deleted is a stranger to the list, which may say true of it: so many as that rate
 * explains, but for once in a million publishes (Chernoff's bound), tell nothing.
 */
bool
bfpg_absorb_is_by_chance(double found, double expected)
{
	return found <= expected || found - expected - found * log(found / expected) > -14;
}

/* A key of an exact list that was changed says so in the query, too: else rows change without their trigger. */
void
bfpg_absorb_tell_differences(BfpgPublication *list)
{
	Differences differences = {.list = list};

	if (!list->tracked || !list->exact)
		return;
	bfpg_changes_each(list->place.schema, list->name, see_difference, &differences);
	if (bfpg_absorb_is_by_chance(differences.differ[false], differences.asked[false] * list->p))
		differences.differ[false] = 0;
	list->others.contradicted = (int64) (differences.differ[true] + differences.differ[false]);
	if (list->others.contradicted > 0)
		ereport(WARNING,
				(errmsg("exact list \"%s\" says other than changes that it has absorbed: " INT64_FORMAT,
						list->name, list->others.contradicted),
				 errdetail("Their rows were changed without the trigger that records it, or by hand otherwise than the query says."),
				 errhint("From now on the list says what its query does. Look for disabled triggers, session_replication_role, attached partitions; and CALL bloom_refresh after such changes.")));
}
