/*
 * feed_sign.c
 *	  Signatures of manifests, with keys and signatures as minisign writes them.
 *
 * minisign's files are lines of base64 behind lines of comment.  A public key is "Ed", the
 * key's id of 8 bytes, and 32 bytes.  A signature is "ED", the id, and the 64 bytes of
 * Ed25519 over the BLAKE2b-512 of what is signed.
 */
#include "feed_sign.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed_manifest.h"
#include "system.h"

#define PUBLIC_BYTES (2 + FEED_KEY_ID_BYTES + 32)
#define SIGNATURE_BYTES (2 + FEED_KEY_ID_BYTES + 64)
#define HASH_BYTES 64
#define VARIANT sodium_base64_VARIANT_ORIGINAL

/* A secret key's file: algorithms, salt and limits of a password, then id and key. */
enum
{
	AT_KDF = 2,
	AT_CHECK = 4,
	AT_ID = 54,
	AT_KEY = 62,
	SECRET_BYTES = 158
};

/* The bytes of base64, exactly so many. */
static bool
decode(const char *text, size_t text_length, uint8_t *bytes, size_t length)
{
	size_t		got;

	return sodium_base642bin(bytes, length, text, text_length, NULL, &got, NULL, VARIANT) == 0 && got == length;
}

/* The second line of a file that minisign wrote; false if it can't be read. */
static bool
second_line(const char *path, char *line, size_t size)
{
	FILE	   *stream = fopen(path, "r");
	bool		found;

	if (stream == NULL)
		return false;
	found = fgets(line, (int) size, stream) != NULL && fgets(line, (int) size, stream) != NULL;
	fclose(stream);
	line[strcspn(line, "\r\n")] = '\0';
	errno = found ? 0 : EINVAL;
	return found;
}

feed_key
feed_public_key(const char *text)
{
	uint8_t		bytes[PUBLIC_BYTES];
	char		line[256];
	feed_key	key = {0};

	if (!decode(text, strlen(text), bytes, sizeof bytes))
	{
		if (!second_line(text, line, sizeof line))
			fail("\"%s\" is neither a public key nor a file of one that can be read", text);
		if (!decode(line, strlen(line), bytes, sizeof bytes))
			fail("\"%s\" is not a public key of minisign", text);
	}
	if (memcmp(bytes, "Ed", 2) != 0)
		fail("\"%s\" is a key for another kind of signature than Ed25519", text);
	memcpy(key.id, bytes + 2, sizeof key.id);
	memcpy(key.public_key, bytes + 2 + sizeof key.id, sizeof key.public_key);
	return key;
}

feed_key
feed_secret_key(const char *path)
{
	uint8_t		bytes[SECRET_BYTES];
	char		line[512];
	feed_key	key = {0};

	if (!second_line(path, line, sizeof line))
		fail("cannot read the key \"%s\": %s", path, strerror(errno));
	if (!decode(line, strlen(line), bytes, sizeof bytes) || memcmp(bytes, "Ed", 2) != 0 ||
		memcmp(bytes + AT_CHECK, "B2", 2) != 0)
		fail("\"%s\" is not a secret key of minisign", path);
	if (bytes[AT_KDF] != 0 || bytes[AT_KDF + 1] != 0)
		fail("the key \"%s\" has a password, which nobody is there to type; make one without: minisign -G -W", path);
	memcpy(key.id, bytes + AT_ID, sizeof key.id);
	memcpy(key.secret_key, bytes + AT_KEY, sizeof key.secret_key);
	memcpy(key.public_key, key.secret_key + 32, sizeof key.public_key);
	sodium_memzero(bytes, sizeof bytes);
	sodium_memzero(line, sizeof line);
	return key;
}

/* A text with "signature BLOB OUTER\n" behind it, in new memory. */
static char *
add_signature(const char *text, const uint8_t hash[HASH_BYTES], const feed_key *key)
{
	uint8_t		blob[SIGNATURE_BYTES];
	uint8_t		named[64 + sizeof FEED_FIRST_LINE - 1];
	uint8_t		outer[64];
	char		blob_text[sodium_base64_ENCODED_LEN(SIGNATURE_BYTES, VARIANT)];
	char		outer_text[sodium_base64_ENCODED_LEN(64, VARIANT)];

	memcpy(blob, "ED", 2);
	memcpy(blob + 2, key->id, sizeof key->id);
	crypto_sign_detached(blob + 2 + sizeof key->id, NULL, hash, HASH_BYTES, key->secret_key);
	memcpy(named, blob + 2 + sizeof key->id, 64);
	memcpy(named + 64, FEED_FIRST_LINE, sizeof named - 64);
	crypto_sign_detached(outer, NULL, named, sizeof named, key->secret_key);
	sodium_bin2base64(blob_text, sizeof blob_text, blob, sizeof blob, VARIANT);
	sodium_bin2base64(outer_text, sizeof outer_text, outer, sizeof outer, VARIANT);
	return text_of("%s" FEED_SIGNATURE "%s %s\n", text, blob_text, outer_text);
}

char *
feed_signed(char *text, const feed_key *keys, size_t count)
{
	uint8_t		hash[HASH_BYTES];
	size_t		i;

	crypto_generichash(hash, sizeof hash, (const uint8_t *) text, strlen(text), NULL, 0);
	for (i = 0; i < count; i++)
	{
		char	   *longer = add_signature(text, hash, &keys[i]);

		free(text);
		text = longer;
	}
	return text;
}

/* Whether a signature line is of a key. */
static bool
is_of_key(const char *line, size_t length, const uint8_t hash[HASH_BYTES], const feed_key *key)
{
	uint8_t		blob[SIGNATURE_BYTES];
	const char *text = line + strlen(FEED_SIGNATURE);
	const char *end = line + length;
	const char *space = memchr(text, ' ', (size_t) (end - text));

	return decode(text, (size_t) ((space != NULL ? space : end) - text), blob, sizeof blob) && memcmp(blob, "ED", 2) == 0 &&
		memcmp(blob + 2, key->id, sizeof key->id) == 0 &&
		crypto_sign_verify_detached(blob + 2 + sizeof key->id, hash, HASH_BYTES, key->public_key) == 0;
}

bool
feed_verify(const char *text, size_t length, const feed_key *keys, size_t count)
{
	size_t		signed_length = feed_signed_length(text, length);
	const char *line = text + signed_length;
	const char *end = text + length;
	uint8_t		hash[HASH_BYTES];
	int			lines;

	crypto_generichash(hash, sizeof hash, (const uint8_t *) text, signed_length, NULL, 0);
	for (lines = 0; line < end && lines < FEED_MOST_KEYS; lines++)
	{
		const char *newline = memchr(line, '\n', (size_t) (end - line));
		size_t		i;

		if (newline == NULL || (size_t) (newline - line) < strlen(FEED_SIGNATURE) ||
			memcmp(line, FEED_SIGNATURE, strlen(FEED_SIGNATURE)) != 0)
			return false;
		for (i = 0; i < count; i++)
			if (is_of_key(line, (size_t) (newline - line), hash, &keys[i]))
				return true;
		line = newline + 1;
	}
	return false;
}
