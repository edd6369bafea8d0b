/*
 * owner.c
 *	  The role that a list belongs to.
 *
 * bloom_definition has the owner's name, which dumps carry: a number in a dump is another role's
 * number elsewhere.  bloom_owner says who that is here, and is never dumped.  A list has an owner
 * only where both agree, so that its query, which may have come by any way, runs as a role that
 * somebody who could become it has accepted:
 *
 * 1. Both rows are written past SQL: without an executor there is no trigger, rule or policy that
 *	  somebody with rights on the table could have added.  Guards keep SQL from them (tables.c).
 * 2. A row of bloom_definition that is inserted by SQL, as a restore does, is accepted if who inserts
 *	  it could become its owner.  That is decided after the row is there: before, ON CONFLICT DO NOTHING
 *	  would accept the row that stays.
 * 3. What logical replication writes there is never accepted, and takes away what was.
 * 4. A role that was dropped or renamed is nobody's owner, and neither is another role that got its
 *	  name or its number.
 *
 * t/062_restore.pl and t/057_logical.pl have each way.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/pg_authid.h"
#include "commands/trigger.h"
#include "miscadmin.h"
#include "replication/logicalworker.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/rel.h"

#include "base/report.h"
#include "list/list.h"
#include "list/owner.h"
#include "list/tables.h"

PG_FUNCTION_INFO_V1(bloomfilter_accept);

/* Columns of bloom_owner. */
enum
{
	OWNER_NAME,
	OWNER_ROLE,
	OWNER_COLUMNS
};

/* Columns of bloom_definition. */
#define DEFINITION_NAME 1
#define DEFINITION_OWNER 2
#define DEFINITION_QUERY 3

static bool
read_column(Oid schema, const char *table, const char *list, const char *column, NullableDatum *value)
{
	return bfpg_list_read(schema, table, CStringGetTextDatum(list), 1, &column, value);
}

void
bfpg_owner_find(Oid schema, const char *list, BfpgOwner *owner)
{
	NullableDatum value;
	const char *now;

	memset(owner, 0, sizeof(*owner));
	owner->exists = read_column(schema, "bloom_definition", list, "owner", &value);
	if (!owner->exists)
	{
		owner->exists = read_column(schema, "bloom_generation", list, "name", &value);
		return;
	}
	owner->name = NameStr(*DatumGetName(value.value));
	if (!read_column(schema, "bloom_owner", list, "role", &value))
		return;
	now = GetUserNameFromId(DatumGetObjectId(value.value), true);
	if (now != NULL && strcmp(now, owner->name) == 0)
		owner->role = DatumGetObjectId(value.value);
	else
		owner->gone = true;
}

/* Whether the current role is the database's owner, or has its rights. */
static bool
owns_database(void)
{
	return has_privs_of_role(GetUserId(), ROLE_PG_DATABASE_OWNER);
}

/* With the hint to become the owner where the current role could. */
pg_noreturn static void
refuse(const char *list, Oid owner)
{
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("must be owner of list %s", list),
			 OidIsValid(owner) && bfpg_could_become(owner)
			 ? errhint("SET ROLE %s.", quote_identifier(GetUserNameFromId(owner, false))) : 0));
}

/* What gives a list an owner here: the one that it had, if there is such a role. */
static int
hint_at_owner(Oid schema, const char *list, const char *owner)
{
	bool		there = owner != NULL && OidIsValid(get_role_oid(owner, true));

	return errhint("A superuser or the database's owner: CALL %s(%s, owner => %s).",
				   bfpg_callable_name(schema, "bloom_alter"), quote_literal_cstr(list), there ? quote_literal_cstr(owner) : "...");
}

pg_noreturn static void
refuse_ownerless(Oid schema, const char *list, const BfpgOwner *owner)
{
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("list \"%s\" has no owner here", list),
			 owner->name == NULL ? errdetail("It came without the name of one.")
			 : owner->gone ? errdetail("Role \"%s\" was dropped or renamed.", owner->name)
			 : errdetail("It was restored, and belonged to role \"%s\".", owner->name),
			 hint_at_owner(schema, list, owner->name)));
}

/* Who may dispose of a name that has a run that failed, and no list: who started the run. */
static void
check_starter(Oid schema, const char *list)
{
	NullableDatum starter;
	Oid			role;

	if (!read_column(schema, "bloom_run", list, "started_by", &starter))
		bfpg_list_unknown(schema, CStringGetTextDatum(list));
	role = get_role_oid(NameStr(*DatumGetName(starter.value)), true);
	if (!owns_database() && !(OidIsValid(role) && has_privs_of_role(GetUserId(), role)))
		refuse(list, role);
}

void
bfpg_owner_check(Oid schema, const char *list, BfpgDeed deed, BfpgOwner *owner)
{
	bfpg_owner_find(schema, list, owner);
	if (!owner->exists)
	{
		if (deed == BFPG_CHANGES)
			bfpg_list_unknown(schema, CStringGetTextDatum(list));
		if (deed == BFPG_DISPOSES)
		{
			check_starter(schema, list);
			return;
		}
		owner->role = GetUserId();
		owner->name = GetUserNameFromId(owner->role, false);
		return;
	}
	if (!OidIsValid(owner->role))
	{
		if (deed == BFPG_DISPOSES && owns_database())
			return;
		refuse_ownerless(schema, list, owner);
	}
	if (!has_privs_of_role(GetUserId(), owner->role))
		refuse(list, owner->role);
	if (deed == BFPG_GIVES_QUERY && !bfpg_could_become(owner->role))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be able to SET ROLE \"%s\"", owner->name),
				 errdetail("The query of list \"%s\" runs as its owner.", list)));
}

void
bfpg_owner_write(Oid schema, const char *list, Oid role)
{
	Relation	table = table_open(bfpg_list_relation(schema, "bloom_owner"), RowExclusiveLock);
	bool		nulls[OWNER_COLUMNS] = {false};
	SysScanDesc scan;
	HeapTuple	tuple;
	Datum		values[OWNER_COLUMNS];

	bfpg_check_table_owner(table);
	values[OWNER_NAME] = CStringGetTextDatum(list);
	values[OWNER_ROLE] = ObjectIdGetDatum(role);
	tuple = bfpg_list_newest_row(table, values[OWNER_NAME], &scan);
	if (tuple != NULL)
		CatalogTupleDelete(table, &tuple->t_self);
	systable_endscan(scan);
	if (OidIsValid(role))
		CatalogTupleInsert(table, heap_form_tuple(RelationGetDescr(table), values, nulls));
	table_close(table, NoLock);
	CommandCounterIncrement();
}

static void
warn_of_owner(Oid schema, const char *list, const char *owner, bool exists, bool has_query)
{
	ereport(WARNING,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 has_query ? errmsg("the query of list \"%s\" is not accepted", list)
			 : errmsg("list \"%s\" has no owner here", list),
			 exists ? errdetail("It belongs to role \"%s\", which \"%s\" can't become.", owner, GetUserNameFromId(GetUserId(), false))
			 : errdetail("It belongs to role \"%s\", which does not exist.", owner),
			 hint_at_owner(schema, list, owner)));
}

/* After SQL has changed a row of bloom_definition: what was there before is not accepted any more. */
Datum
bloomfilter_accept(PG_FUNCTION_ARGS)
{
	const TriggerData *trigger = bfpg_trigger_data(fcinfo);
	TupleDesc	columns = RelationGetDescr(trigger->tg_relation);
	Oid			schema = RelationGetNamespace(trigger->tg_relation);
	bool		is_null;
	const char *list = TextDatumGetCString(heap_getattr(trigger->tg_trigtuple, DEFINITION_NAME, columns, &is_null));
	const char *owner = NameStr(*DatumGetName(heap_getattr(trigger->tg_trigtuple, DEFINITION_OWNER, columns, &is_null)));
	Oid			role = get_role_oid(owner, true);
	bool		is_restored = !IsLogicalWorker() && TRIGGER_FIRED_BY_INSERT(trigger->tg_event);
	bool		accepted = is_restored && OidIsValid(role) && bfpg_could_become(role);

	bfpg_owner_write(schema, list, accepted ? role : InvalidOid);
	if (is_restored && !accepted)
		warn_of_owner(schema, list, owner, OidIsValid(role), !heap_attisnull(trigger->tg_trigtuple, DEFINITION_QUERY, columns));
	return PointerGetDatum(NULL);
}
