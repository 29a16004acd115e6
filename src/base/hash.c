/* SPDX-License-Identifier: MIT */
#include "rooftile/hash.h"

#include <fcntl.h>
#include <sha256.h>
#include <unistd.h>
#include <xxhash.h>

struct hash {
    XXH3_state_t *state;
};

struct hash *hash_new(void)
{
    struct hash *hash = new_zeroed(1, sizeof(*hash));
    hash->state = XXH3_createState();
    if (!hash->state)
        arena_out_of_memory(sizeof(*hash));
    XXH3_128bits_reset(hash->state);
    return hash;
}

void hash_free(struct hash *hash)
{
    if (!hash)
        return;
    XXH3_freeState(hash->state);
    free(hash);
}

/* Adds it byte by byte, so that keys are equal on all machines. */
static void add_length(struct hash *hash, uint64_t length)
{
    unsigned char bytes[8];
    for (unsigned i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)(length >> (8 * i));
    XXH3_128bits_update(hash->state, bytes, sizeof(bytes));
}

void hash_add(struct hash *hash, const void *data, size_t length)
{
    add_length(hash, length);
    if (length)
        XXH3_128bits_update(hash->state, data, length);
}

void hash_add_string(struct hash *hash, const char *string)
{
    if (string)
        hash_add(hash, string, strlen(string));
    else
        add_length(hash, UINT64_MAX); /* longer than any string */
}

static void to_hex(char out[static HASH_TEXT], const unsigned char *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * count] = '\0';
}

void hash_hex(struct hash *hash, char out[static HASH_TEXT])
{
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(hash->state));
    to_hex(out, canonical.digest, sizeof(canonical.digest));
}

uint64_t hash_u64(const void *data, size_t length)
{
    return XXH3_64bits(data, length);
}

/* Passes a file of any size to `update` in pieces. */
static enum status each_chunk(const char *path, void (*update)(void *state, const void *data, size_t length),
                              void *state, struct err *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    enum status status = STATUS_OK;
    char chunk[65536];
    for (;;) {
        const ssize_t got = read(fd, chunk, sizeof(chunk));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            status = err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
        if (got <= 0)
            break;
        update(state, chunk, (size_t)got);
    }
    close(fd);
    return status;
}

static void update_xxh(void *state, const void *data, size_t length)
{
    XXH3_128bits_update(state, data, length);
}

static void update_sha256(void *state, const void *data, size_t length)
{
    SHA256_Update(state, data, length);
}

enum status hash_add_file(struct hash *hash, const char *path, struct err *err)
{
    /* Hashes the file separately and adds its digest, so that a read error leaves `hash` unchanged. */
    struct hash *file = hash_new();
    const enum status status = each_chunk(path, update_xxh, file->state, err);
    if (!status) {
        char hex[HASH_TEXT];
        hash_hex(file, hex);
        hash_add_string(hash, hex);
    }
    hash_free(file);
    return status;
}

static void sha256_end(char out[static HASH_TEXT], SHA256_CTX *context)
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256_Final(digest, context);
    to_hex(out, digest, sizeof(digest));
}

void hash_sha256(char out[static HASH_TEXT], const void *data, size_t length)
{
    SHA256_CTX context;
    SHA256_Init(&context);
    update_sha256(&context, data, length);
    sha256_end(out, &context);
}

enum status hash_sha256_file(char out[static HASH_TEXT], const char *path, struct err *err)
{
    SHA256_CTX context;
    SHA256_Init(&context);
    const enum status status = each_chunk(path, update_sha256, &context, err);
    if (!status)
        sha256_end(out, &context);
    return status;
}
