/*
 * verify_followed.h
 *	  Whether a file that pull keeps has the sum that its first page says.
 */
#ifndef CLI_VERIFY_FOLLOWED_H
#define CLI_VERIFY_FOLLOWED_H

#include "messages.h"

/* Says what is wrong; nothing is with a file that nobody follows. */
extern exit_status verify_followed(const char *path);

#endif							/* CLI_VERIFY_FOLLOWED_H */
