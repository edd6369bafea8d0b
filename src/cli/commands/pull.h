/*
 * pull.h
 *	  Pulling one list, as a command or as a child of the command for many.
 */
#ifndef CLI_PULL_H
#define CLI_PULL_H

#include "messages.h"
#include "plan.h"

extern exit_status pull_list(const pull_plan *plan);

#endif							/* CLI_PULL_H */
