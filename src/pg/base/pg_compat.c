/*
 * pg_compat.c
 *	  What older PostgreSQL versions lack, or newer ones want done otherwise.
 */
#include "postgres.h"

#include "catalog/pg_proc.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/supportnodes.h"
#include "storage/ipc.h"
#include "storage/shmem.h"
#include "utils/acl.h"
#include "utils/tuplestore.h"

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

bool
bfpg_may_execute(Oid function)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(ProcedureRelationId, function, GetUserId(), ACL_EXECUTE) == ACLCHECK_OK;
#else
	return pg_proc_aclcheck(function, GetUserId(), ACL_EXECUTE) == ACLCHECK_OK;
#endif
}

#if PG_VERSION_NUM >= 150000

static shmem_request_hook_type prev_request_hook = NULL;
static Size requested = 0;

static void
request_shmem(void)
{
	if (prev_request_hook != NULL)
		prev_request_hook();
	RequestAddinShmemSpace(requested);
}

void
bfpg_request_shmem(Size size)
{
	requested = size;
	prev_request_hook = shmem_request_hook;
	shmem_request_hook = request_shmem;
}

#else

void
bfpg_request_shmem(Size size)
{
	RequestAddinShmemSpace(size);
}

void
bfpg_init_materialized_srf(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext old;
	TupleDesc	desc;

	if (result == NULL || !IsA(result, ReturnSetInfo) ||
		(result->allowedModes & SFRM_Materialize) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("set-valued function called in context that cannot accept a set")));
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	old = MemoryContextSwitchTo(result->econtext->ecxt_per_query_memory);
	result->returnMode = SFRM_Materialize;
	result->setResult = tuplestore_begin_heap(false, false, work_mem);
	result->setDesc = CreateTupleDescCopy(desc);
	MemoryContextSwitchTo(old);
}

#endif
