/*
 * pg_compat.c
 *	  What older PostgreSQL versions lack, or newer ones want done otherwise.
 */
#include "postgres.h"

#include "catalog/pg_extension.h"
#include "catalog/pg_proc.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/supportnodes.h"
#include "utils/acl.h"
#include "utils/snapmgr.h"

#include "base/pg_compat.h"

Node *
bfpg_modify_in_place(Node *request)
{
#if PG_VERSION_NUM >= 180000
	if (IsA(request, SupportRequestModifyInPlace))
	{
		SupportRequestModifyInPlace *modify = (SupportRequestModifyInPlace *) request;
		Param	   *first = (Param *) linitial(modify->args);

		if (first != NULL && IsA(first, Param) &&
			first->paramkind == PARAM_EXTERN && first->paramid == modify->paramid)
			return (Node *) first;
	}
#endif
	return NULL;
}

/* Before 18 one says besides that the plan is run once. */
void
bfpg_execute(PlannedStmt *plan, const char *text, ParamListInfo params, DestReceiver *receiver)
{
	QueryDesc  *query = CreateQueryDesc(plan, text, GetActiveSnapshot(), InvalidSnapshot, receiver, params, NULL, 0);

	ExecutorStart(query, 0);
#if PG_VERSION_NUM >= 180000
	ExecutorRun(query, ForwardScanDirection, 0);
#else
	ExecutorRun(query, ForwardScanDirection, 0, true);
#endif
	ExecutorFinish(query);
	ExecutorEnd(query);
	FreeQueryDesc(query);
}

bool
bfpg_may_execute(Oid function, Oid role)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(ProcedureRelationId, function, role, ACL_EXECUTE) == ACLCHECK_OK;
#else
	return pg_proc_aclcheck(function, role, ACL_EXECUTE) == ACLCHECK_OK;
#endif
}

bool
bfpg_owns_extension(Oid extension)
{
	if (!OidIsValid(extension))
		return false;
#if PG_VERSION_NUM >= 160000
	return object_ownercheck(ExtensionRelationId, extension, GetUserId());
#else
	return pg_extension_ownercheck(extension, GetUserId());
#endif
}

bool
bfpg_could_become(Oid role)
{
#if PG_VERSION_NUM >= 160000
	return member_can_set_role(GetUserId(), role);
#else
	return is_member_of_role(GetUserId(), role);
#endif
}
