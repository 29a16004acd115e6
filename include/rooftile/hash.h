/* SPDX-License-Identifier: MIT
 *
 * Hashes: XXH3 (128 bits, xxHash) for cache keys, SHA-256 (libmd) for the hashes of files in results.
 */
#ifndef ROOFTILE_HASH_H
#define ROOFTILE_HASH_H

#include "rooftile/base.h"

#define HASH_TEXT 65 /* room for either hash in hex, terminated */

/* An incremental cache key. Each hash_add_* also hashes a length, so that ("ab", "c") and ("a", "bc") differ. */
struct hash;
struct hash *hash_new(void);
void hash_free(struct hash *hash);
void hash_add(struct hash *hash, const void *data, size_t length);
void hash_add_string(struct hash *hash, const char *string);                     /* NULL is distinct from "" */
enum status hash_add_file(struct hash *hash, const char *path, struct err *err); /* its content, not its name */
void hash_hex(struct hash *hash, char out[static HASH_TEXT]);                    /* 32 hex digits */

uint64_t hash_u64(const void *data, size_t length);

void hash_sha256(char out[static HASH_TEXT], const void *data, size_t length); /* 64 hex digits */
enum status hash_sha256_file(char out[static HASH_TEXT], const char *path, struct err *err);

#endif
