/*
 * publish_guard.c
 *	  What a publish is refused for, and how a refusal is kept.
 *
 * A half-loaded table gives a list that denies most of its members, and keys of another type a
 * list whose look-ups fail; both look like success.  So a list says what it may lose.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_class.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "tcop/pquery.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "bf_key.h"
#include "list/list.h"
#include "list/publish.h"
#include "base/pg_compat.h"

/* A smaller list may lose what it likes. */
#define LEAST_GUARDED 1000

/* By so much the estimates of keys may be wrong: a list that is just allowed passes. */
#define SLACK 0.01

static void
check_grants(const BfpgPlace *place, Relation table)
{
	const AclMode needed = ACL_SELECT | ACL_INSERT | ACL_UPDATE | ACL_DELETE;

	if (pg_class_aclmask(RelationGetRelid(table), GetUserId(), needed, ACLMASK_ALL) != needed)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for table %s", RelationGetRelationName(table)),
				 errhint("Publishers need GRANT SELECT, INSERT, UPDATE, DELETE ON %sbloom_generation, %sbloom_generation_part, %sbloom_list_delta.",
						 place->prefix, place->prefix, place->prefix)));
}

/*
 * GRANT ALL lets a role add triggers, and a trigger runs with the rights of whoever publishes.
 * Whose its function is doesn't matter: whoever made the trigger chose the arguments and the
 * condition.  A foreign key's triggers run those of the table that refers, before 18.
 */
static void
check_triggers(Relation table)
{
	const Trigger *trigger;

	if (table->trigdesc == NULL)
		return;
	trigger = &table->trigdesc->triggers[0];
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 OidIsValid(trigger->tgconstrrelid)
			 ? errmsg("table \"%s\" is referred to by table \"%s\"", RelationGetRelationName(table), get_rel_name(trigger->tgconstrrelid))
			 : errmsg("table \"%s\" has a trigger \"%s\"", RelationGetRelationName(table), trigger->tgname),
			 errdetail("It would run with the rights of the role that publishes."),
			 errhint("Drop the trigger or the foreign key, and REVOKE TRIGGER, REFERENCES on the table.")));
}

void
bfpg_publish_check_rights(const BfpgPlace *place)
{
	static const char *const tables[] = {"bloom_generation", "bloom_generation_part", "bloom_list_delta"};
	int			i;

	for (i = 0; i < lengthof(tables); i++)
	{
		Relation	table = table_open(bfpg_list_relation(place->schema, tables[i]), RowExclusiveLock);

		check_grants(place, table);
		check_triggers(table);
		table_close(table, NoLock);
	}
}

/* After a rollback the lock is gone; whoever has it now publishes, and that is newer news. */
static void
keep_refusal(const BfpgPublication *list, const char *message)
{
	SPI_rollback();
	if (bfpg_publish_try_lock(&list->place, list->name))
	{
		/* Since the rights were looked at there was no lock: a trigger may have come. */
		bfpg_publish_check_rights(&list->place);
		EnsurePortalSnapshotExists();
		bfpg_publish_write_refusal(&list->place, list->name, message);
	}
	SPI_commit();
}

void
bfpg_publish_refuse(const BfpgPublication *list, int sqlstate, const char *message,
					const char *detail, const char *hint)
{
	if (list->may_end)
		keep_refusal(list, message);
	ereport(ERROR,
			(errcode(sqlstate),
			 errmsg_internal("%s", message),
			 errdetail_internal("%s", detail),
			 errhint("%s", hint)));
}

const char *
bfpg_publish_key_type(const BfpgPublication *list)
{
	uint32		type = BF_KEY_NONE;
	int			i;

	for (i = 0; i < list->count && type == BF_KEY_NONE; i++)
		type = list->headers[i].key_type;
	return bf_key_type_text(type, palloc(BF_KEY_TEXT_BYTES));
}

static const char *
what_stays(const BfpgLastList *last)
{
	return psprintf("The list of %s stays.", timestamptz_to_str(last->built_at));
}

static void
guard_type(const BfpgPublication *list, const BfpgLastList *last)
{
	const char *type = bfpg_publish_key_type(list);

	if (list->allow_type_change || last->key_type == NULL || strcmp(type, last->key_type) == 0 ||
		strcmp(type, bf_key_type_name(BF_KEY_NONE)) == 0)
		return;
	bfpg_publish_refuse(list, ERRCODE_DATATYPE_MISMATCH,
						psprintf("list \"%s\" is not published: its keys would no longer be %s, but %s",
								 list->name, last->key_type, type),
						what_stays(last),
						psprintf("Look-ups of %s keys would fail. If that is meant, add allow_type_change => true.", last->key_type));
}

static void
guard_keys(const BfpgPublication *list, const BfpgLastList *last)
{
	double		keys = bfpg_estimate_list_keys(list);
	bool		few = (last->rows >= 0 && last->rows < LEAST_GUARDED) || last->keys < LEAST_GUARDED * (1 - SLACK);

	if (few || keys >= last->keys * (1 - list->max_shrink) * (1 - SLACK))
		return;
	bfpg_publish_refuse(list, ERRCODE_DATA_EXCEPTION,
						psprintf("list \"%s\" is not published: it would have about %.0f keys instead of %.0f",
								 list->name, keys, last->keys),
						psprintf("It may lose a share of %g at a time, its max_shrink. %s", list->max_shrink, what_stays(last)),
						"Look what the query returns. If that is meant, add max_shrink => 1, which the list keeps until it is given another one.");
}

void
bfpg_publish_guard(const BfpgPublication *list, const BfpgLastList *last)
{
	if (!last->exists)
		return;
	if (last->damaged)
	{
		ereport(WARNING,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("list \"%s\" was damaged, so that its keys can't be compared with those before", list->name),
				 errhint("Look whether it has as many keys as you expect, and check the disks.")));
		return;
	}
	guard_type(list, last);
	guard_keys(list, last);
}
