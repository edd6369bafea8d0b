/*
 * alter.c
 *	  What users call to change a list that is there: bloom_rollback, bloom_drop, bloom_alter and
 *	  bloom_set_identity.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"

#include "base/pg_compat.h"
#include "base/report.h"
#include "list/list.h"
#include "publish/publish.h"

PG_FUNCTION_INFO_V1(bloomfilter_rollback);
PG_FUNCTION_INFO_V1(bloomfilter_drop);
PG_FUNCTION_INFO_V1(bloomfilter_alter);
PG_FUNCTION_INFO_V1(bloomfilter_set_identity);

/* Arguments of bloom_alter. */
enum
{
	ARG_NAME,
	ARG_N,
	ARG_P,
	ARG_MAX_SHRINK,
	ARG_OWNER
};

/* Begins a change of a list that is there.  The rights are looked at again when nobody can take them any more. */
static void
begin_change(FunctionCallInfo fcinfo, BfpgDeed deed, BfpgPublication *change)
{
	SPI_connect();
	bfpg_publish_begin(fcinfo, change, deed);
	bfpg_publish_lock(&change->place, change->name, !IsolationUsesXactSnapshot());
	bfpg_publish_check_owner(change);
}

Datum
bloomfilter_rollback(PG_FUNCTION_ARGS)
{
	BfpgPublication change;

	begin_change(fcinfo, BFPG_CHANGES, &change);
	bfpg_publish_rollback(&change.place, change.name);
	SPI_finish();
	PG_RETURN_VOID();
}

/* Also a name of which all that is known is a run that failed. */
Datum
bloomfilter_drop(PG_FUNCTION_ARGS)
{
	const char *tables[] = {"bloom_run", "bloom_generation_part", "bloom_generation"};
	BfpgPublication change;
	bool		known = false;
	int			i;

	begin_change(fcinfo, BFPG_DISPOSES, &change);
	for (i = 0; i < lengthof(tables); i++)
	{
		bfpg_run_for_list(&change.place, change.name, psprintf("DELETE FROM %%1$s%s WHERE name = $1", tables[i]), SPI_OK_DELETE);
		known |= SPI_processed > 0;
	}
	if (!known)
		bfpg_list_unknown(change.place.schema, CStringGetTextDatum(change.name));
	bfpg_absorb_drop(&change.place, change.name, !bfpg_may_end_transaction(fcinfo));
	bfpg_track_tell_triggers(&change.place, change.name);
	bfpg_definition_drop(&change.place, change.name);
	bfpg_publish_tell(change.name, "dropped");
	SPI_finish();
	PG_RETURN_VOID();
}

/* Whether a role may execute bloom_publish. */
static bool
may_make_lists(Oid role, Oid schema)
{
	const Oid	types[] = {TEXTOID, TEXTOID, INT8OID, FLOAT8OID, INT4OID, INT8OID, BOOLOID, BOOLOID, BOOLOID, BOOLOID, BOOLOID, BOOLOID};

	return bfpg_may_execute(bfpg_extension_function(schema, "bloom_publish", lengthof(types), types), role);
}

static bool
has_schema(const char *role)
{
	return role != NULL && OidIsValid(get_namespace_oid(role, true));
}

/* "$user" in a query's search_path is the schema of the list's owner, and so another one from now on. */
static void
tell_path(const BfpgPublication *change, const char *role)
{
	const char *last = change->owner.name;
	BfpgPublication kept = *change;

	if ((last == NULL || strcmp(last, role) != 0) && (has_schema(role) || has_schema(last)) &&
		bfpg_definition_find(&kept) && strstr(bfpg_settings_path(kept.asked.settings), "$user") != NULL)
		ereport(WARNING,
				(errmsg("the query of list \"%s\" may read other tables from now on", change->name),
				 errdetail("It runs with \"$user\" in its search_path, which is the schema of the list's owner."),
				 errhint("Where it names tables without their schema, CALL bloom_publish with a query that names it.")));
}

/* As of tables: a role that the caller could become, and that could have made the list itself. */
static void
give(const BfpgPublication *change, const char *name)
{
	Oid			role = get_role_oid(name, false);

	if (role == change->owner.role)
		return;
	if (!bfpg_could_become(role))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be able to SET ROLE \"%s\"", name),
				 errdetail("The query of list \"%s\" would run as this role.", change->name)));
	if (!superuser() && !may_make_lists(role, change->place.schema))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("role \"%s\" may not make lists", name),
				 errhint("GRANT EXECUTE ON PROCEDURE %s TO %s.", bfpg_callable_name(change->place.schema, "bloom_publish"), quote_identifier(name))));
	tell_path(change, name);
	bfpg_definition_give(&change->place, change->name, role);
	bfpg_publish_tell(change->name, psprintf("given to role \"%s\"", name));
}

static void
check_max_shrink(double max_shrink)
{
	if (!(max_shrink >= 0 && max_shrink <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_shrink must be between 0 and 1, not %g", max_shrink),
				 errhint("It is the share of its keys that the list may lose: 0.5 is half of them, 1 allows all.")));
}

/* How the list is published from the next run on; NULL: as it was.  Another max_shrink counts from the keys on that the list has now. */
static void
set_next(FunctionCallInfo fcinfo, const BfpgPublication *change)
{
	const NullableDatum *n = &fcinfo->args[ARG_N];
	const NullableDatum *p = &fcinfo->args[ARG_P];
	const NullableDatum *max_shrink = &fcinfo->args[ARG_MAX_SHRINK];
	const ParamExternData parameters[] = {
		bfpg_parameter(TEXTOID, CStringGetTextDatum(change->name)),
		{.value = n->value, .isnull = n->isnull, .ptype = INT8OID},
		{.value = p->value, .isnull = p->isnull, .ptype = FLOAT8OID},
		{.value = max_shrink->value, .isnull = max_shrink->isnull, .ptype = FLOAT8OID},
	};

	if (n->isnull && p->isnull && max_shrink->isnull)
		return;
	if (!n->isnull)
		bfpg_check_capacity(DatumGetInt64(n->value));
	if (!p->isnull)
		bfpg_check_rate(DatumGetFloat8(p->value));
	if (!max_shrink->isnull)
		check_max_shrink(DatumGetFloat8(max_shrink->value));
	bfpg_run_statement(change->place.schema, psprintf("UPDATE %sbloom_generation SET min_n = coalesce($2, min_n), next_p = coalesce($3, next_p), "
													  "max_shrink = coalesce($4, max_shrink), "
													  "most_keys = CASE WHEN $4 <> max_shrink THEN keys ELSE most_keys END, "
													  "most_keys_at = CASE WHEN $4 <> max_shrink THEN built_at ELSE most_keys_at END, "
													  "most_others = CASE WHEN $4 <> max_shrink THEN coalesce(others, -1) ELSE most_others END, "
													  "most_others_at = CASE WHEN $4 <> max_shrink THEN built_at ELSE most_others_at END "
													  "WHERE name = $1 AND back = 0", change->place.prefix),
					   lengthof(parameters), parameters, SPI_OK_UPDATE);
	if (!n->isnull || !p->isnull)
		ereport(NOTICE,
				(errmsg("list \"%s\" stays as it is until it is published again", change->name),
				 errhint("%s.", bfpg_call_text(change->place.schema, "bloom_refresh", change->name))));
}

static void
check_any_given(FunctionCallInfo fcinfo, const BfpgPublication *change)
{
	int			i;

	for (i = ARG_N; i <= ARG_OWNER; i++)
		if (!PG_ARGISNULL(i))
			return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("nothing to change in list \"%s\"", change->name),
			 errhint("Give n, p, max_shrink or owner a value that isn't NULL.")));
}

Datum
bloomfilter_alter(PG_FUNCTION_ARGS)
{
	BfpgPublication change;

	begin_change(fcinfo, BFPG_DISPOSES, &change);
	if (!change.owner.exists)
		bfpg_list_unknown(change.place.schema, CStringGetTextDatum(change.name));
	if (!OidIsValid(change.owner.role) && PG_ARGISNULL(ARG_OWNER))
		bfpg_owner_check(change.place.schema, change.name, BFPG_CHANGES, &change.owner);
	check_any_given(fcinfo, &change);
	set_next(fcinfo, &change);
	if (!PG_ARGISNULL(ARG_OWNER))
		give(&change, NameStr(*PG_GETARG_NAME(ARG_OWNER)));
	SPI_finish();
	PG_RETURN_VOID();
}

/*
 * Of a list that was made anew, and of one that was copied.  The serial is new, since followers of this
 * identity may have one that is greater than that of the row.
 */
Datum
bloomfilter_set_identity(PG_FUNCTION_ARGS)
{
	BfpgPublication change;
	BfpgLastList last;
	ParamExternData parameters[3];

	if (PG_ARGISNULL(1))
		bfpg_refuse_null("identity of a list");
	begin_change(fcinfo, BFPG_CHANGES, &change);
	bfpg_publish_find(&change.place, change.name, &last);
	parameters[0] = bfpg_parameter(TEXTOID, CStringGetTextDatum(change.name));
	parameters[1] = bfpg_parameter(INT8OID, Int64GetDatum(bfpg_next_serial(&change.place, change.name, &last)));
	parameters[2] = bfpg_parameter(UUIDOID, PG_GETARG_DATUM(1));
	bfpg_run_statement(change.place.schema, psprintf("WITH before AS (UPDATE %sbloom_generation SET identity = $3 WHERE name = $1 AND back = 1) "
													 "UPDATE %sbloom_generation SET identity = $3, serial = $2 WHERE name = $1 AND back = 0",
													 change.place.prefix, change.place.prefix),
					   lengthof(parameters), parameters, SPI_OK_UPDATE);
	SPI_finish();
	PG_RETURN_VOID();
}
