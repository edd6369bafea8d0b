/*
 * feed_sign.h
 *	  Signatures of manifests, with keys and signatures as minisign writes them.
 */
#ifndef CLI_FEED_SIGN_H
#define CLI_FEED_SIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FEED_KEY_ID_BYTES 8

/* Keys that sign or check a manifest at most, and signatures of it that are looked at. */
#define FEED_MOST_KEYS 8

typedef struct feed_key
{
	uint8_t		id[FEED_KEY_ID_BYTES];
	uint8_t		public_key[32];
	uint8_t		secret_key[64];	/* of an exporter's key */
} feed_key;

/* A public key: its text, or a file that minisign wrote. */
extern feed_key feed_public_key(const char *text);

/* A secret key's file, which has no password.  What is no key ends the program. */
extern feed_key feed_secret_key(const char *path);

/* A text with a signature line of each key behind it, in new memory; the old one is freed. */
extern char *feed_signed(char *text, const feed_key *keys, size_t count);

/* Whether one of the keys has signed. */
extern bool feed_verify(const char *text, size_t length, const feed_key *keys, size_t count);

#endif							/* CLI_FEED_SIGN_H */
