/*
 * bytes.h
 *	  Getting the bytes of one filter: by mapping a file, or by reading.
 */
#ifndef LBF_BYTES_H
#define LBF_BYTES_H

#include "handle.h"

/*
 * The bytes of the regular file that is open at fd, mapped, or read where flags say
 * so.  subject is for messages.
 */
extern int	lbf_bytes_of_file(int fd, unsigned flags, const char *subject,
							  lbf_bytes *bytes, bloomfilter_detail *detail);

/* So many bytes of a file, mapped read-only and shared. */
extern int	lbf_map_file(int fd, size_t length, unsigned flags, const char *subject,
						 lbf_bytes *bytes, bloomfilter_detail *detail);

/* The bytes that can be read from fd up to its end. */
extern int	lbf_bytes_of_stream(int fd, unsigned flags, const char *subject,
								lbf_bytes *bytes, bloomfilter_detail *detail);

/*
 * Checks bytes as flags say and makes them a part, which then owns them.  On an
 * error they are released.
 */
extern int	lbf_part_of_bytes(lbf_bytes *bytes, unsigned flags,
							  const char *subject, lbf_part *part,
							  bloomfilter_detail *detail);

#endif							/* LBF_BYTES_H */
