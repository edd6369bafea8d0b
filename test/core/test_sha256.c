/*
 * test_sha256.c
 *	  SHA-256: NIST's examples, and the lengths at which a message gets another block.
 *
 * Of the latter the digest of all digests is compared, which is that of Python's hashlib.
 */
#include <stdio.h>
#include <string.h>

#include "bf_hash.h"
#include "support.h"
#include "tap.h"

static void
is_digest(const uint8_t digest[BF_SHA256_BYTES], const char *wanted, const char *what)
{
	char		hex[2 * BF_SHA256_BYTES + 1];
	unsigned	i;

	for (i = 0; i < BF_SHA256_BYTES; i++)
		sprintf(hex + 2 * i, "%02x", digest[i]);
	ok(strcmp(hex, wanted) == 0, "%s: %s", what, hex);
}

static void
check_text(const char *text, const char *wanted)
{
	uint8_t		digest[BF_SHA256_BYTES];

	bf_sha256(text, strlen(text), digest);
	is_digest(digest, wanted, text);
}

/* The digest of the digests of all lengths up to 200. */
static void
check_lengths(void)
{
	uint8_t		bytes[200];
	uint8_t		digests[201][BF_SHA256_BYTES];
	uint8_t		digest[BF_SHA256_BYTES];
	size_t		i;

	for (i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t) (i * 7 + 3);
	for (i = 0; i <= sizeof bytes; i++)
		bf_sha256(bytes, i, digests[i]);
	bf_sha256(digests, sizeof digests, digest);
	is_digest(digest, "3275febb4612d86d586eb9f11cd21e648a9fc7d95e0f6b8d362786e28c9c5b79", "lengths from 0 to 200");
}

static uint8_t million[1000000];

int
main(void)
{
	uint8_t		digest[BF_SHA256_BYTES];

	check_text("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	check_text("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	check_text("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
			   "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	check_text("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
			   "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
	memset(million, 'a', sizeof million);
	bf_sha256(million, sizeof million, digest);
	is_digest(digest, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0", "a million of a");
	check_lengths();
	return tap_done();
}
