/* SPDX-License-Identifier: MIT
 *
 * Code that others compiled: what the target can load of it. A plain code object is used where it lies; what is inside
 * a bundle or an executable is taken out into the cache folder, because not every runtime opens every kind of bundle.
 */
#include <string.h>

#include "build_internal.h"
#include "rooftile/codeobj.h"
#include "rooftile/file.h"

/* How a message names the target. */
static const char *device_words(const struct build_target *target)
{
    return target->kind == BUILD_CPU ? "the CPU" : target->arch;
}

static enum status refuse_target(const struct build_request *request, const struct codeobj_file *file,
                                 struct arena *arena, struct err *err)
{
    return err_set(err, ERR_UNSUPPORTED, "%s is for %s, this device is %s", request->image,
                   codeobj_targets(file, arena), device_words(&request->target));
}

/* Named after its bytes, so that it needs no record: the same bytes are the same file. */
static enum status extract(struct build_result *result, struct build_cache *cache, const char *image,
                           const struct codeobj *object, struct err *err)
{
    char present[HASH_TEXT];
    struct err absent = {0};
    hash_sha256(result->sha256, object->bytes, object->size_bytes);
    const char *base = path_base(image);
    const char *name = arena_printf(cache->arena, "%.*s-%.32s.hsaco", (int)strcspn(base, "."), base, result->sha256);
    char *path = path_join(cache->arena, cache->dir, name);
    result->object = path;
    if (!hash_sha256_file(present, path, &absent) && strcmp(present, result->sha256) == 0)
        return STATUS_OK;
    return file_write(path, (const char *)object->bytes, object->size_bytes, err);
}

static enum status use_code(struct build_result *result, struct build_cache *cache, const struct build_request *request,
                            struct arena *arena, struct err *err)
{
    const struct codeobj_file *file = NULL;
    enum status status = codeobj_read(&file, request->image, arena, err);
    if (status)
        return status;
    const struct codeobj *object = codeobj_for_target(file, request->target.arch);
    if (!object)
        return refuse_target(request, file, arena, err);
    if (file->container != CODEOBJ_PLAIN && file->container != CODEOBJ_PTX)
        return extract(result, cache, request->image, object, err);
    result->object = request->image;
    hash_sha256(result->sha256, object->bytes, object->size_bytes);
    return STATUS_OK;
}

/* A shared library for the CPU may hold GPU kernels as well; a code object alone is no library. */
static enum status use_library(struct build_result *result, const struct build_request *request, struct arena *arena,
                               struct err *err)
{
    const struct codeobj_file *file = NULL;
    struct err none = {0};
    if (!codeobj_read(&file, request->image, arena, &none) && file->container != CODEOBJ_EXECUTABLE)
        return refuse_target(request, file, arena, err);
    result->object = request->image;
    return hash_sha256_file(result->sha256, request->image, err);
}

enum status image_use(struct build_result *result, struct build_cache *cache, const struct build_request *request,
                      struct err *err)
{
    struct arena scratch = {0};
    struct build_result found = {.state = BUILD_CACHED};
    const enum status status = request->target.kind == BUILD_CPU ? use_library(&found, request, &scratch, err)
                                                                 : use_code(&found, cache, request, &scratch, err);
    if (!status)
        *result = found;
    arena_release(&scratch);
    return status;
}
