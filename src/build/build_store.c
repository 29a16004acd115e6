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

/* Whole or not at all. Not flushed to the disk: readers check what they find, and a flush per object is slow. */
static enum status write_whole(const struct build_cache *cache, const char *path, const char *data, size_t length,
                               struct err *err)
{
    char *made = arena_printf(cache->arena, "%s.XXXXXX", path);
    const int fd = mkostemp(made, O_CLOEXEC);
    if (fd < 0)
        return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    size_t written = 0;
    while (written < length) {
        const ssize_t put = write(fd, data + written, length - written);
        if (put < 0 && errno != EINTR)
            break;
        written += put > 0 ? (size_t)put : 0;
    }
    int cause = written < length || fchmod(fd, 0644) ? errno : 0;
    if (close(fd) && !cause)
        cause = errno;
    if (!cause && rename(made, path))
        cause = errno;
    if (!cause)
        return STATUS_OK;
    unlink(made);
    return err_set(err, ERR_IO, "%s: %s", path, strerror(cause));
}

/* Changed while this build runs: what was hashed may not be what was compiled. The change time, unlike the modification
 * time, cannot be set back. */
static bool changed_meanwhile(const struct build_cache *cache, const char *path)
{
    struct stat info;
    if (stat(path, &info))
        return true;
    return info.st_ctim.tv_sec > cache->opened.tv_sec ||
           (info.st_ctim.tv_sec == cache->opened.tv_sec && info.st_ctim.tv_nsec > cache->opened.tv_nsec);
}

/* False when something changed meanwhile or is not to be read: such an object is used, but not found again. */
static bool list_inputs(struct build_record *record, struct build_cache *cache, const struct build_unit *unit,
                        const char *depfile)
{
    struct err err = {0};
    const char **paths = NULL;
    size_t count = 0;
    if (depfile_read(&paths, &count, depfile, cache->arena, &err) || count == 0)
        return false;
    record->inputs = arena_array(cache->arena, 2 * count, sizeof(*record->inputs));
    for (size_t i = 0; i < count; i++) {
        if (changed_meanwhile(cache, paths[i]))
            return false;
        if (strcmp(paths[i], unit->source) == 0)
            continue; /* in the key */
        if (unit->compiler->is_nvcc && !text_starts(paths[i], unit->include_dir) &&
            !text_starts(paths[i], unit->source_dir))
            continue; /* CUDA's headers, which go with the compiler, and those of libc that they include */
        struct build_input *input = &record->inputs[record->input_count++];
        *input = (struct build_input){.path = paths[i], .digest = cache_digest(cache, paths[i])};
        if (!input->digest)
            return false;
        const char *shadow = record_shadow(unit, paths[i], cache->arena);
        if (shadow && !file_exists(shadow))
            record->inputs[record->input_count++] = (struct build_input){.path = shadow};
    }
    return true;
}

static enum status write_object(const struct build_record *record, const struct build_cache *cache, const char *data,
                                size_t length, struct err *err)
{
    struct err unread = {0};
    char sha256[HASH_TEXT];
    const char *path = path_join(cache->arena, cache->dir, record->object);
    /* Another key may have led to the same bytes; a process may be using them. */
    if (!hash_sha256_file(sha256, path, &unread) && strcmp(sha256, record->sha256) == 0)
        return STATUS_OK;
    return write_whole(cache, path, data, length, err);
}

static enum status write_records(const struct build_record *record, const struct build_cache *cache,
                                 const struct build_unit *unit, struct err *err)
{
    struct text text = {0};
    enum status status = STATUS_OK;
    if (record_print(&text, record, unit)) {
        status = write_whole(cache, cache_record_path(cache, unit, false), text.data, text.length, err);
        if (!status)
            status = write_whole(cache, cache_record_path(cache, unit, true), text.data, text.length, err);
    }
    text_release(&text);
    return status;
}

/* "stream-0123456789abcdef0123456789abcdef.so": the source's name for people who see it in a profile. */
static char *object_name(const struct build_cache *cache, const struct build_unit *unit, const char *sha256)
{
    const char *base = path_base(unit->source);
    static const char *const suffixes[] = {[BUILD_CPU] = "so", [BUILD_AMD] = "hsaco", [BUILD_NVIDIA] = "ptx"};
    return arena_printf(cache->arena, "%.*s-%.32s.%s", (int)strcspn(base, "."), base, sha256,
                        unit->compiler->is_nvcc ? "cubin" : suffixes[unit->request->target.kind]);
}

enum status cache_store(struct build_result *result, struct build_cache *cache, const struct build_unit *unit,
                        const char *object, const char *depfile, struct err *err)
{
    struct arena arena = {0};
    char *data = NULL;
    size_t length = 0;
    char sha256[HASH_TEXT];
    struct build_record record = {.sha256 = sha256, .compiler = unit->compiler->version};
    enum status status = file_read(&data, &length, object, FILE_LIMIT_BYTES, &arena, err);
    if (status) {
        status = err_set(err, ERR_BUILD, "the compiler ended well but its object cannot be read: %s", err->text);
        goto out;
    }
    hash_sha256(sha256, data, length);
    record.object = object_name(cache, unit, sha256);
    const bool is_known = list_inputs(&record, cache, unit, depfile);
    do {
        status = write_object(&record, cache, data, length, err);
        if (!status && is_known)
            status = write_records(&record, cache, unit, err);
    } while (status && !(status = cache_fall_back(cache, err)));
    if (status)
        goto out;
    result->object = path_join(cache->arena, cache->dir, record.object);
    memcpy(result->sha256, sha256, sizeof(sha256));
    result->compiler = unit->compiler;
out:
    arena_release(&arena);
    return status;
}
