/*
 * keys.h
 *	  From a caller's value to the canonical bytes of a key, checked.
 *
 * The core writes canonical bytes from values that are known to be good; the
 * checks whether they are stand here, once for asking and for adding.
 */
#ifndef LBF_KEYS_H
#define LBF_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bf_key.h"
#include "libbloomfilter.h"

/* Bytes of a numeric that needs no memory of its own. */
#define LBF_KEY_BUFFER 250

typedef struct lbf_key
{
	uint32_t	type;			/* with a row's columns, as in bf_key.h */
	const void *bytes;			/* the caller's, or one of the two below */
	size_t		length;
	void	   *allocated;		/* NULL for most */
	uint8_t		buffer[LBF_KEY_BUFFER];
} lbf_key;

/*
 * Each fills a key and returns BLOOMFILTER_OK, or an error after which the key
 * needs no lbf_key_free.
 */
extern int	lbf_key_bytes(lbf_key *key, int type, const void *bytes, size_t length);
extern int	lbf_key_numeric(lbf_key *key, const char *decimal, size_t length);
extern int	lbf_key_double(lbf_key *key, double value);
extern int	lbf_key_inet(lbf_key *key, int family, unsigned prefix,
						 const uint8_t *address);
extern int	lbf_key_macaddr(lbf_key *key, const uint8_t *address, size_t length);

/* integer, date, timestamp, timestamptz */
extern int	lbf_key_count(lbf_key *key, uint32_t type, int64_t value);

extern void lbf_key_free(lbf_key *key);

/*
 * Whether bytes are canonical bytes of some key of a type; a code if not.  If so,
 * *full is that type, and of a row with its columns.  *length loses the blanks at the
 * end of a text, which are no part of the key; a text in a row must not have them.
 */
extern int	lbf_key_check(int type, const void *bytes, size_t *length,
						  uint32_t *full);

#endif							/* LBF_KEYS_H */
