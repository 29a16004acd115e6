/* SPDX-License-Identifier: MIT
 *
 * The folder of compiled objects: keys, locks, and contents.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build_internal.h"
#include "rooftile/file.h"
#include "rooftile/log.h"

/* Environment variables that affect a compiler's output. */
static const char *const key_variables[] = {
    "CPATH",        "C_INCLUDE_PATH",       "CPLUS_INCLUDE_PATH",         "COMPILER_PATH", "GCC_EXEC_PREFIX",
    "LIBRARY_PATH", "CCC_OVERRIDE_OPTIONS", "HIPCC_COMPILE_FLAGS_APPEND", "HIP_PATH",      "HIP_CLANG_PATH",
    "ROCM_PATH",    "HIP_DEVICE_LIB_PATH",
};

/* Range locks of one open file: they need no file per key, and end with the process, so a crash leaves no lock
 * behind. */
static enum status open_lock(struct build_cache *cache, const char *dir, struct err *err)
{
    const char *path = path_join(cache->arena, dir, "lock");
    cache->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (cache->lock_fd < 0)
        return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    cache->dir = dir;
    return STATUS_OK;
}

/* Switches to the private folder after a write failed for the reason in *err, and logs a warning. Locks in the old
 * folder end here; its objects stay valid. Fails if this was tried before, or if the private folder does not work
 * either. */
static enum status fall_back(struct build_cache *cache, struct err *err)
{
    const struct err cause = *err;
    if (cache->is_fallback)
        return err_within(err, "the cache and its substitute cannot be written");
    if (cache->lock_fd >= 0)
        close(cache->lock_fd);
    cache->lock_fd = -1;
    cache->is_fallback = true;
    /* A fixed name, so that runs reuse it; in a public place, the folder must belong to this user alone. */
    const char *parent = getenv("TMPDIR");
    const char *dir = arena_printf(cache->arena, "%s/rooftile-%lu-objects", parent && *parent ? parent : "/tmp",
                                   (unsigned long)geteuid());
    if (file_make_own_dir(dir, err) || open_lock(cache, dir, err))
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
    clock_gettime(CLOCK_REALTIME, &cache->opened); /* the clock of file timestamps */
    char *own = NULL;
    if (!dir && !path_cache_dir(&own, true, arena, err))
        dir = path_join(arena, own, "objects");
    if (!dir || file_make_dirs(dir, err))
        return fall_back(cache, err);
    const char *real = path_real(arena, dir);
    return open_lock(cache, real ? real : dir, err) ? fall_back(cache, err) : STATUS_OK;
}

void cache_release(struct build_cache *cache)
{
    if (cache->dir && cache->lock_fd >= 0)
        close(cache->lock_fd);
    *cache = (struct build_cache){.lock_fd = -1};
}

/* Returns NULL if the file cannot be read. */
static const char *digest_of(struct build_cache *cache, const char *path)
{
    for (const struct file_digest *known = cache->digests; known; known = known->next)
        if (strcmp(known->path, path) == 0)
            return known->hex;
    struct err err = {0};
    struct hash *hash = hash_new();
    char hex[HASH_TEXT];
    const bool readable = hash_add_file(hash, path, &err) == STATUS_OK;
    hash_hex(hash, hex);
    hash_free(hash);
    struct file_digest *digest = arena_alloc(cache->arena, sizeof(*digest));
    *digest = (struct file_digest){cache->digests, arena_strdup(cache->arena, path),
                                   readable ? arena_strdup(cache->arena, hex) : NULL};
    cache->digests = digest;
    return digest->hex;
}

/* ---- keys ---- */

/* Starts a key with what is compiled: the file's name without its folder, as in __FILE__. */
static struct hash *hash_source(struct build_cache *cache, const struct build_unit *unit, const char *kind,
                                const char *compiler)
{
    struct hash *hash = hash_new();
    hash_add_string(hash, kind);
    if (compiler)
        hash_add_string(hash, compiler);
    hash_add_string(hash, path_base(unit->source));
    hash_add_string(hash, digest_of(cache, unit->source));
    return hash;
}

void cache_key(struct build_cache *cache, struct build_unit *unit)
{
    const struct build_request *request = unit->request;
    const uint32_t modes[] = {request->target.kind, request->target.wave, request->target.cumode};
    struct hash *hash = hash_source(cache, unit, "rooftile source 1", NULL);
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
    if (!unit->compiler)
        return;
    hash = hash_source(cache, unit, "rooftile object 1", unit->compiler->identity);
    for (size_t i = 1; i < unit->fixed.count; i++)
        hash_add_string(hash, unit->fixed.items[i]);
    for (size_t i = 0; i < COUNT_OF(key_variables); i++)
        hash_add_string(hash, getenv(key_variables[i]));
    hash_hex(hash, unit->key);
    hash_free(hash);
}

/* ---- locks ---- */

bool cache_lock(struct build_cache *cache, const char *key, bool on)
{
    /* 60 bits of the key, because an offset must not be negative. */
    char digits[16] = "";
    memcpy(digits, key, sizeof(digits) - 1);
    struct flock range = {.l_type = on ? F_WRLCK : F_UNLCK, .l_whence = SEEK_SET, .l_len = 1};
    range.l_start = (off_t)strtoull(digits, NULL, 16);
    return fcntl(cache->lock_fd, F_OFD_SETLK, &range) == 0 || (errno != EAGAIN && errno != EACCES);
}

/* ---- lookup ---- */

/* Tells whether everything the object was made from is unchanged. */
static bool inputs_hold(struct build_cache *cache, const struct build_record *record)
{
    FOR_EACH(const struct build_input, input, record->inputs, record->input_count) {
        const char *now = input->digest ? digest_of(cache, input->path) : NULL;
        if (input->digest ? !now || strcmp(now, input->digest) != 0 : file_exists(input->path))
            return false;
    }
    return true;
}

/* `prebuilt`: the record for machines without the compiler. */
static char *record_path(const struct build_cache *cache, const struct build_unit *unit, bool prebuilt)
{
    return prebuilt ? arena_printf(cache->arena, "%s/%s.prebuilt", cache->dir, unit->source_key)
                    : arena_printf(cache->arena, "%s/%s.inputs", cache->dir, unit->key);
}

bool cache_find(struct build_result *result, struct build_cache *cache, const struct build_unit *unit)
{
    struct err err = {0};
    struct build_record record = {0};
    char sha256[HASH_TEXT];
    const char *path = record_path(cache, unit, !unit->compiler);
    if (record_read(&record, unit, path, cache->arena, &err) || !inputs_hold(cache, &record))
        return false;
    const char *object = path_join(cache->arena, cache->dir, record.object);
    if (hash_sha256_file(sha256, object, &err) || strcmp(sha256, record.sha256) != 0)
        return false;
    result->object = object;
    memcpy(result->sha256, sha256, sizeof(sha256));
    result->compiler = unit->compiler;
    if (!unit->compiler) /* the compiler may be missing on this machine */
        result->compiler = arena_copy(
            cache->arena,
            &(struct compiler){
                .path = "", .version = record.compiler, .llvm = compiler_llvm(record.compiler), .identity = ""},
            sizeof(struct compiler));
    return true;
}

/* ---- storing ---- */

/* Tells whether the file changed during this build; the compiled content may then differ from the hashed one. Unlike
 * the modification time, the change time cannot be set back. */
static bool changed_meanwhile(const struct build_cache *cache, const char *path)
{
    struct stat info;
    if (stat(path, &info))
        return true;
    return info.st_ctim.tv_sec > cache->opened.tv_sec ||
           (info.st_ctim.tv_sec == cache->opened.tv_sec && info.st_ctim.tv_nsec > cache->opened.tv_nsec);
}

/* Returns false if something changed in the meantime or cannot be read; such an object is used but never found
 * again. */
static bool list_inputs(struct build_record *record, struct build_cache *cache, const struct build_unit *unit,
                        const char *depfile)
{
    struct err err = {0};
    const char **paths = NULL;
    size_t count = 0;
    if (depfile_read(&paths, &count, depfile, cache->arena, &err) || count == 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (changed_meanwhile(cache, paths[i]))
            return false;
        if (strcmp(paths[i], unit->source) == 0)
            continue; /* part of the key */
        if (unit->compiler->is_nvcc && !text_starts(paths[i], unit->include_dir) &&
            !text_starts(paths[i], unit->source_dir))
            continue; /* CUDA's headers, which belong to the compiler, and the libc headers that they include */
        const struct build_input input = {.path = paths[i], .digest = digest_of(cache, paths[i])};
        if (!input.digest)
            return false;
        ARENA_PUSH(cache->arena, record->inputs, record->input_count, input);
        const struct build_input shadow = {.path = record_shadow(unit, paths[i], cache->arena)};
        if (shadow.path && !file_exists(shadow.path))
            ARENA_PUSH(cache->arena, record->inputs, record->input_count, shadow);
    }
    return true;
}

enum status cache_keep(const char **path, const struct build_cache *cache, const char *source, const char *suffix,
                       const char *sha256, const void *data, size_t length, struct err *err)
{
    struct err unread = {0};
    char present[HASH_TEXT];
    const char *base = path_base(source);
    *path = arena_printf(cache->arena, "%s/%.*s-%.32s.%s", cache->dir, (int)strcspn(base, "."), base, sha256, suffix);
    /* Another key may have produced the same bytes, which a process may be using. */
    if (!hash_sha256_file(present, *path, &unread) && strcmp(present, sha256) == 0)
        return STATUS_OK;
    /* Readers check what they find, and waiting for the disk would take long for each object. */
    return file_write_unsynced(*path, data, length, err);
}

enum status cache_store(struct build_result *result, struct build_cache *cache, const struct build_unit *unit,
                        const char *object, const char *depfile, struct err *err)
{
    static const char *const suffixes[] = {[BUILD_CPU] = "so", [BUILD_AMD] = "hsaco", [BUILD_NVIDIA] = "ptx"};
    const char *suffix = unit->compiler->is_nvcc ? "cubin" : suffixes[unit->request->target.kind];
    SCOPED(arena_release) struct arena arena = {0};
    SCOPED(text_release) struct text printed = {0};
    char *data = NULL;
    size_t length = 0;
    char sha256[HASH_TEXT];
    struct build_record record = {.sha256 = sha256, .compiler = unit->compiler->version};
    enum status status = file_read(&data, &length, object, FILE_LIMIT_BYTES, &arena, err);
    if (status)
        return err_set(err, ERR_BUILD, "the compiler ended well but its object cannot be read: %s", err->text);
    hash_sha256(sha256, data, length);
    const bool is_known = list_inputs(&record, cache, unit, depfile);
    do {
        status = cache_keep(&result->object, cache, unit->source, suffix, sha256, data, length, err);
        record.object = path_base(result->object);
        text_clear(&printed);
        if (!status && is_known && record_print(&printed, &record, unit) &&
            !(status = file_write_unsynced(record_path(cache, unit, false), printed.data, printed.length, err)))
            status = file_write_unsynced(record_path(cache, unit, true), printed.data, printed.length, err);
    } while (status && !(status = fall_back(cache, err)));
    memcpy(result->sha256, sha256, sizeof(sha256));
    result->compiler = unit->compiler;
    return status;
}
