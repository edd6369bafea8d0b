/*
 * statement.c
 *	  Statements of our own around a list.
 */
#include "postgres.h"

#include "executor/spi.h"
#include "utils/guc.h"

#include "list/statement.h"

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
bfpg_run_statement(const char *sql, int count, const ParamExternData *parameters, int expected)
{
	SPIExecuteOptions options = {.params = bfpg_parameters(count, parameters)};
	int			nest = NewGUCNestLevel();
	int			status;

	(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	status = SPI_execute_extended(sql, &options);
	AtEOXact_GUC(true, nest);
	if (status != expected)
		elog(ERROR, "SPI_execute_extended returned %s", SPI_result_code_string(status));
}
