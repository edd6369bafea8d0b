/*
 * command.h
 *	  The subcommands.  argv[0] is the subcommand's name.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "messages.h"

extern exit_status command_build(int argc, char **argv);
extern exit_status command_contains(int argc, char **argv);
extern exit_status command_info(int argc, char **argv);
extern exit_status command_pull(int argc, char **argv);
extern exit_status command_verify(int argc, char **argv);

#endif							/* CLI_COMMAND_H */
