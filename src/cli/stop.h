/*
 * stop.h
 *	  Ending cleanly on SIGINT, SIGTERM and SIGHUP: temporary files go first.
 */
#ifndef CLI_STOP_H
#define CLI_STOP_H

#include <stdbool.h>

/*
 * From now on the signals are only noted, and stop_wait returns.  clean: the end
 * they bring is the one that was planned, with status 0.
 */
extern void stop_catch(bool clean);
extern bool stop_requested(void);

/*
 * Between these two there is nothing to clean up, and the signals end the program
 * at once, whatever call it waits in.
 */
extern void stop_begin_immediate(void);
extern void stop_end_immediate(void);

/*
 * Waits until fd (-1: none) can be read, a signal comes or the time is over
 * (negative: no limit).  True if fd can be read.
 */
extern bool stop_wait(int fd, double seconds);

/* Ends the program as the signal that came would have. */
extern void stop_die(void);

#endif							/* CLI_STOP_H */
