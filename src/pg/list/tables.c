/*
 * tables.c
 *	  The extension's own tables: the one way to write them, and what keeps everybody else from it.
 *
 * C code writes them, and SQL does not, whatever rights somebody has.  Else whoever has DELETE on
 * bloom_generation needs no procedure, and is no owner of lists.
 *
 * 1. A statement of ours runs as the tables' owner, so that no role needs rights on them.  It can't
 *	  become another role, and its search_path has no schema of others.
 * 2. A trigger would run as that superuser, and a foreign key's triggers run those of the table that
 *	  refers.  GRANT ALL ON ALL TABLES and default privileges give TRIGGER and REFERENCES on these
 *	  tables to applications' roles.  So each statement looks, under a lock that keeps new triggers
 *	  out, that there is none but the guard.  Whose function a trigger calls doesn't matter: whoever
 *	  made the trigger chose its arguments and its condition.
 * 3. The guard is a trigger that is always fired, also under session_replication_role.  It lets
 *	  statements of ours pass, logical replication, what is restored, and a superuser's cures.
 *
 * sql/refresh.sql tries all of it.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/pg_authid.h"
#include "commands/extension.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "replication/logicalworker.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "base/report.h"
#include "base/settings.h"
#include "list/list.h"
#include "list/tables.h"

PG_FUNCTION_INFO_V1(bloomfilter_guard);

/* The trigger that each table has from the extension's script, a name that no other one of it can have. */
#define GUARD "guard"

/* A statement of ours runs. */
static bool writing;

static ParamExternData *
fetch(ParamListInfo parameters, int number, bool speculative, ParamExternData *workspace)
{
	return &parameters->params[number - 1];
}

ParamListInfo
bfpg_parameters(int count, const ParamExternData *parameters)
{
	ParamListInfo list = makeParamList(count);

	memcpy(list->params, parameters, count * sizeof(ParamExternData));
	list->paramFetch = fetch;
	return list;
}

void
bfpg_check_table_owner(Relation table)
{
	if (!superuser_arg(table->rd_rel->relowner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("table \"%s\" must belong to a superuser", RelationGetRelationName(table)),
				 errdetail("Its owner could have written queries for others to run.")));
}

pg_noreturn static void
refuse_trigger(Relation table, const Trigger *trigger)
{
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 OidIsValid(trigger->tgconstrrelid)
			 ? errmsg("table \"%s\" is referred to by table \"%s\"", RelationGetRelationName(table), get_rel_name(trigger->tgconstrrelid))
			 : errmsg("table \"%s\" has a trigger \"%s\"", RelationGetRelationName(table), trigger->tgname),
			 errdetail("It would run as the superuser who owns the table."),
			 errhint("Drop the trigger or the foreign key, and REVOKE TRIGGER, REFERENCES on the table.")));
}

/* Throws unless it belongs to a superuser, and has no trigger but the extension's; its lock keeps new ones out. */
static void
check_table(Relation table)
{
	const TriggerDesc *triggers = table->trigdesc;
	int			i;

	bfpg_check_table_owner(table);
	for (i = 0; triggers != NULL && i < triggers->numtriggers; i++)
		if (strcmp(triggers->triggers[i].tgname, GUARD) != 0)
			refuse_trigger(table, &triggers->triggers[i]);
}

/* Looks at the tables that statements of ours name, and returns their owner. */
static Oid
check_tables(Oid schema)
{
	static const char *const tables[] = {"bloom_generation", "bloom_generation_part", "bloom_run", "bloom_change", "bloom_absorbed"};
	Oid			owner = InvalidOid;
	int			i;

	for (i = 0; i < lengthof(tables); i++)
	{
		Relation	table = table_open(bfpg_list_relation(schema, tables[i]), RowExclusiveLock);

		check_table(table);
		owner = table->rd_rel->relowner;
		table_close(table, NoLock);
	}
	return owner;
}

static void
run_as_owner(Oid owner, const char *sql, SPIPlanPtr plan, ParamListInfo parameters, int expected)
{
	SPIExecuteOptions options = {.params = parameters};
	Oid			user;
	int			context;
	int			status;

	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(owner, context | SECURITY_RESTRICTED_OPERATION | SECURITY_LOCAL_USERID_CHANGE | SECURITY_NOFORCE_RLS);
	writing = true;
	PG_TRY();
	{
		status = sql != NULL ? SPI_execute_extended(sql, &options) : SPI_execute_plan_extended(plan, &options);
	}
	PG_FINALLY();
	{
		writing = false;
	}
	PG_END_TRY();
	SetUserIdAndSecContext(user, context);
	if (status != expected)
		elog(ERROR, "SPI_execute_extended returned %s", SPI_result_code_string(status));
}

void
bfpg_run_statement(Oid schema, const char *sql, int count, const ParamExternData *parameters, int expected)
{
	Oid			owner = check_tables(schema);
	int			nest = NewGUCNestLevel();

	bfpg_set("search_path", "pg_catalog, pg_temp");
	/* before an ANALYZE the planner expects few changes, and would compare each with each by a nested loop */
	bfpg_set("enable_nestloop", "off");
	/* a statement that can't do without one is given so high a cost that it would be compiled */
	bfpg_set("jit", "off");
	run_as_owner(owner, sql, NULL, bfpg_parameters(count, parameters), expected);
	AtEOXact_GUC(false, nest);
}

void
bfpg_run_plan(Relation table, SPIPlanPtr plan, ParamListInfo parameters, int expected)
{
	check_table(table);
	run_as_owner(table->rd_rel->relowner, NULL, plan, parameters, expected);
}

/*
 * Whether SQL may change a table: by inserting what was dumped, as its owners do, or in a
 * superuser's cure.  The queries that lists keep are changed by no statement, and bloom_owner, which
 * no dump has, not even by INSERT.
 */
static bool
may_change(const TriggerData *trigger)
{
	const char *table = RelationGetRelationName(trigger->tg_relation);
	bool		inserts = TRIGGER_FIRED_BY_INSERT(trigger->tg_event);

	if (IsLogicalWorker())
		return true;
	if (strcmp(table, "bloom_owner") == 0)
		return false;
	if (writing || creating_extension)
		return true;
	if (superuser())
		return inserts || strcmp(table, "bloom_definition") != 0;
	return inserts && (has_privs_of_role(GetUserId(), ROLE_PG_DATABASE_OWNER) ||
					   bfpg_owns_extension(getExtensionOfObject(RelationRelationId, RelationGetRelid(trigger->tg_relation))));
}

/* Before a statement, and of bloom_owner before each row, which logical replication's are skipped by NULL. */
Datum
bloomfilter_guard(PG_FUNCTION_ARGS)
{
	const TriggerData *trigger = bfpg_trigger_data(fcinfo);

	if (!may_change(trigger))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("table \"%s\" can't be changed by SQL", RelationGetRelationName(trigger->tg_relation)),
				 errhint("CALL bloom_publish, bloom_alter and bloom_drop change what it says of lists.")));
	return PointerGetDatum(NULL);
}
