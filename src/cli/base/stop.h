/*
 * stop.h
 *	  Signals that end the program: SIGINT, SIGTERM and SIGHUP end it cleanly, temporary
 *	  files go first.
 */
#ifndef CLI_STOP_H
#define CLI_STOP_H

#include <stdbool.h>

/* From now on the signals are only noted, and stop_wait returns. */
extern void stop_catch(void);
extern bool stop_requested(void);

/*
 * Waits until fd (-1: none) can be read, a signal comes or the time is over
 * (below zero it is).  True if fd can be read.
 */
extern bool stop_wait(int fd, double seconds);

/* Ends the program as the signal that came would have. */
extern void stop_die(void);

#endif							/* CLI_STOP_H */
