/*
 * error.h
 *	  Error codes and the detail that goes with them.
 */
#ifndef LBF_ERROR_H
#define LBF_ERROR_H

#include "bf_format.h"
#include "libbloomfilter.h"

/*
 * Each fills detail, if there is one, and returns the code, so that callers can
 * return what they return.
 */

/* subject is a file's name or another noun; NULL for none. */
extern int	lbf_fail(bloomfilter_detail *detail, int code, const char *subject);

/* The same with a text of its own instead of the code's. */
extern int	lbf_fail_text(bloomfilter_detail *detail, int code,
						  const char *subject, const char *text);

/* BLOOMFILTER_ERR_SYSTEM with errno, or BLOOMFILTER_ERR_NO_MEMORY for ENOMEM. */
extern int	lbf_fail_system(bloomfilter_detail *detail, const char *subject,
							const char *action);

/* For what bf_any_parse or bf_any_read said of bytes. */
extern int	lbf_fail_format(bloomfilter_detail *detail, bf_status status,
							const char *subject, const uint8_t *bytes);

#endif							/* LBF_ERROR_H */
