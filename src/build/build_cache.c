/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build_internal.h"
#include "rooftile/file.h"
#include "rooftile/log.h"

/* Variables that change what a compiler does. */
static const char *const key_variables[] = {
    "CPATH",        "C_INCLUDE_PATH",       "CPLUS_INCLUDE_PATH",         "COMPILER_PATH", "GCC_EXEC_PREFIX",
    "LIBRARY_PATH", "CCC_OVERRIDE_OPTIONS", "HIPCC_COMPILE_FLAGS_APPEND", "HIP_PATH",      "HIP_CLANG_PATH",
    "ROCM_PATH",    "HIP_DEVICE_LIB_PATH",
};

/* Range locks of one open file: they need no file per key, end with the process, and do not outlive a crash. */
static enum status open_lock(struct build_cache *cache, const char *dir, struct err *err)
{
    const char *path = path_join(cache->arena, dir, "lock");
    cache->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (cache->lock_fd < 0)
        return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    cache->dir = dir;
    return STATUS_OK;
}

static enum status open_dir(struct build_cache *cache, const char *dir, struct err *err)
{
    if (file_make_dirs(dir, err))
        return err->status;
    const char *real = path_real(cache->arena, dir);
    return open_lock(cache, real ? real : dir, err);
}

/* The folder has a fixed name, so that runs reuse it; in a public place it must be a folder of ours and nobody else's.
 */
static enum status open_fallback(struct build_cache *cache, struct err *err)
{
    const char *parent = getenv("TMPDIR");
    const char *dir = arena_printf(cache->arena, "%s/rooftile-%lu-objects", parent && *parent ? parent : "/tmp",
                                   (unsigned long)getuid());
    struct stat info;
    cache->is_fallback = true;
    if (mkdir(dir, 0700) && errno != EEXIST)
        return err_set(err, ERR_IO, "%s: cannot create the folder: %s", dir, strerror(errno));
    if (lstat(dir, &info))
        return err_set(err, ERR_IO, "%s: %s", dir, strerror(errno));
    if (!S_ISDIR(info.st_mode) || info.st_uid != getuid() || (info.st_mode & 077))
        return err_set(err, ERR_IO, "%s: not a private folder of this user", dir);
    return open_lock(cache, dir, err);
}

enum status cache_fall_back(struct build_cache *cache, struct err *err)
{
    const struct err cause = *err;
    if (cache->is_fallback)
        return err_within(err, "the cache and its substitute cannot be written");
    if (cache->lock_fd >= 0)
        close(cache->lock_fd);
    cache->lock_fd = -1;
    if (open_fallback(cache, err))
        return err_within(err, "the cache cannot be written (%s)", cause.text);
    log_warn("W004",
             "the cache cannot be written (%s); compiled kernels go to %s; free space or set ROOFTILE_CACHE to "
             "another folder",
             cause.text, cache->dir);
    *err = (struct err){0};
    return STATUS_OK;
}

enum status cache_open(struct build_cache *cache, const char *dir, struct arena *arena, struct err *err)
{
    *cache = (struct build_cache){.arena = arena, .lock_fd = -1};
    clock_gettime(CLOCK_REALTIME, &cache->opened); /* the clock of file times */
    if (!dir)
        dir = path_join(arena, path_cache_dir(arena), "objects");
    return open_dir(cache, dir, err) ? cache_fall_back(cache, err) : STATUS_OK;
}

void cache_release(struct build_cache *cache)
{
    if (cache->dir && cache->lock_fd >= 0)
        close(cache->lock_fd);
    *cache = (struct build_cache){.lock_fd = -1};
}

const char *cache_digest(struct build_cache *cache, const char *path)
{
    for (size_t i = 0; i < cache->digest_count; i++)
        if (strcmp(cache->digests[i].path, path) == 0)
            return cache->digests[i].hex;
    if (cache->digest_count == cache->digest_capacity) {
        const size_t capacity = cache->digest_capacity ? 2 * cache->digest_capacity : 64;
        struct file_digest *digests = arena_array(cache->arena, capacity, sizeof(*digests));
        if (cache->digest_count)
            memcpy(digests, cache->digests, cache->digest_count * sizeof(*digests));
        cache->digests = digests;
        cache->digest_capacity = capacity;
    }
    struct err err = {0};
    struct hash *hash = hash_new();
    char hex[HASH_TEXT];
    const bool readable = hash_add_file(hash, path, &err) == STATUS_OK;
    hash_hex(hash, hex);
    hash_free(hash);
    struct file_digest *digest = &cache->digests[cache->digest_count++];
    digest->path = arena_strdup(cache->arena, path);
    digest->hex = readable ? arena_strdup(cache->arena, hex) : NULL;
    return digest->hex;
}

/* The name, but not the folder: __FILE__ has it. */
static void add_source(struct hash *hash, struct build_cache *cache, const struct build_unit *unit)
{
    hash_add_string(hash, path_base(unit->source));
    hash_add_string(hash, cache_digest(cache, unit->source));
}

static void set_source_key(struct build_cache *cache, struct build_unit *unit)
{
    const struct build_request *request = unit->request;
    const uint32_t modes[] = {request->target.kind, request->target.wave, request->target.cumode};
    struct hash *hash = hash_new();
    hash_add_string(hash, "rooftile source 1");
    add_source(hash, cache, unit);
    hash_add_string(hash, request->target.arch);
    hash_add(hash, modes, sizeof(modes));
    for (size_t i = 0; i < request->flag_count; i++)
        hash_add_string(hash, request->flags[i]);
    for (size_t i = 0; i < request->define_count; i++) {
        hash_add_string(hash, request->defines[i].name);
        hash_add_string(hash, request->defines[i].value);
    }
    hash_hex(hash, unit->source_key);
    hash_free(hash);
}

void cache_key(struct build_cache *cache, struct build_unit *unit)
{
    set_source_key(cache, unit);
    if (!unit->compiler)
        return;
    struct hash *hash = hash_new();
    hash_add_string(hash, "rooftile object 1");
    hash_add_string(hash, unit->compiler->identity);
    add_source(hash, cache, unit);
    for (size_t i = 1; i < unit->fixed.count; i++)
        hash_add_string(hash, unit->fixed.items[i]);
    for (size_t i = 0; i < sizeof(key_variables) / sizeof(*key_variables); i++)
        hash_add_string(hash, getenv(key_variables[i]));
    hash_hex(hash, unit->key);
    hash_free(hash);
}

static bool set_lock(const struct build_cache *cache, const char *key, short type)
{
    /* 60 bits of the key: an offset must not be negative. */
    char digits[16];
    memcpy(digits, key, 15);
    digits[15] = '\0';
    struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_len = 1};
    range.l_start = (off_t)strtoull(digits, NULL, 16);
    return fcntl(cache->lock_fd, F_OFD_SETLK, &range) == 0 || (errno != EAGAIN && errno != EACCES);
}

bool cache_lock(struct build_cache *cache, const char *key)
{
    return set_lock(cache, key, F_WRLCK);
}

void cache_unlock(struct build_cache *cache, const char *key)
{
    set_lock(cache, key, F_UNLCK);
}

/* Everything the object was made from is as it was. */
static bool inputs_hold(struct build_cache *cache, const struct build_record *record)
{
    for (size_t i = 0; i < record->input_count; i++) {
        const struct build_input *input = &record->inputs[i];
        if (!input->digest) {
            if (file_exists(input->path))
                return false;
            continue;
        }
        const char *now = cache_digest(cache, input->path);
        if (!now || strcmp(now, input->digest) != 0)
            return false;
    }
    return true;
}

char *cache_record_path(const struct build_cache *cache, const struct build_unit *unit, bool prebuilt)
{
    return prebuilt ? arena_printf(cache->arena, "%s/%s.prebuilt", cache->dir, unit->source_key)
                    : arena_printf(cache->arena, "%s/%s.inputs", cache->dir, unit->key);
}

/* The compiler of a record: it may not be on this machine. */
static const struct compiler *absent_compiler(const struct build_record *record, struct arena *arena)
{
    struct compiler *compiler = arena_alloc(arena, sizeof(*compiler));
    *compiler = (struct compiler){
        .path = "", .version = record->compiler, .llvm = compiler_llvm(record->compiler), .identity = ""};
    return compiler;
}

bool cache_find(struct build_result *result, struct build_cache *cache, const struct build_unit *unit)
{
    struct err err = {0};
    struct build_record record = {0};
    char sha256[HASH_TEXT];
    const char *path = cache_record_path(cache, unit, !unit->compiler);
    if (record_read(&record, unit, path, cache->arena, &err) || !inputs_hold(cache, &record))
        return false;
    const char *object = path_join(cache->arena, cache->dir, record.object);
    if (hash_sha256_file(sha256, object, &err) || strcmp(sha256, record.sha256) != 0)
        return false;
    result->object = object;
    memcpy(result->sha256, sha256, sizeof(sha256));
    result->compiler = unit->compiler ? unit->compiler : absent_compiler(&record, cache->arena);
    return true;
}
