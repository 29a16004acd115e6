/* SPDX-License-Identifier: MIT
 *
 * Triton's cache has a folder for each compiled variant: KERNEL.hsaco (or .cubin) next to KERNEL.json with its warps
 * and stages. PyTorch's compiler writes HASH.best_config, which names the fastest variant. kerncap's folder of one
 * launch has kernel.hsaco, metadata.json with grid and block, kernarg_raw.bin, and memory_regions.json with the memory
 * that its pointers refer to. Only a unique answer counts: if two variants fit, neither is used.
 */
#include "import_code.h"

#include "cli.h"
#include "rooftile/codeobj.h"
#include "rooftile/file.h"
#include "rooftile/hash.h"
#include "rooftile/json.h"
#include "rooftile/log.h"
#include "rooftile/skeleton.h"

struct code_search {
    struct arena *arena;
    char **images, **configs; /* code objects; .best_config */
    size_t image_count, config_count;
    const char *folder, *made; /* folder of the manifests; set once it exists */
    const char **names;        /* names of the manifests so far */
    size_t name_count;
};

static const char *beside(const char *path, const char *name, struct arena *arena)
{
    return path_join(arena, path_dir(arena, path), name);
}

static const cJSON *read_beside(const char *path, const char *name, struct arena *arena)
{
    const char *file = beside(path, name, arena);
    const cJSON *root = NULL;
    struct err ignored = {0};
    return file_exists(file) && !json_read(&root, file, arena, &ignored) ? root : NULL;
}

/* ---- one kernel of a code object ---- */

static const struct codeobj_kernel *kernel_of(const char *path, const char *name, struct arena *arena)
{
    const struct codeobj_file *file = NULL;
    const struct codeobj *object = NULL;
    struct err ignored = {0};
    return codeobj_read(&file, path, arena, &ignored) ? NULL : codeobj_find_kernel(&object, file, name);
}

/* Returns a short, unused name for the manifest. */
static const char *manifest_name(struct code_search *s, const char *kernel)
{
    char *base = arena_printf(s->arena, "%.80s", kernel);
    for (char *at = base; *at; at++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", *at))
            *at = '_';
    const char *name = base;
    for (size_t k = 0, number = 2; k < s->name_count; k++)
        if (strcmp(s->names[k], name) == 0) {
            name = arena_printf(s->arena, "%s_%zu", base, number++);
            k = (size_t)-1;
        }
    ARENA_PUSH(s->arena, s->names, s->name_count, name);
    return name;
}

/* Caches get deleted, so the suite's folder has its own copy of the image. */
static enum status write_manifest(struct code_search *s, struct import_row *row, const char *image,
                                  const struct codeobj_kernel *kernel, struct seen_launch *seen, struct err *err)
{
    char *data = NULL;
    size_t length = 0;
    seen->name = manifest_name(s, kernel->name);
    seen->summary = arena_printf(s->arena, "%.200s as it was launched in a trace", kernel->name);
    const char *copy = arena_printf(s->arena, "%s%s", seen->name, strrchr(path_base(image), '.'));
    if (file_make_dirs(s->folder, err) || file_read(&data, &length, image, CODEOBJ_LIMIT_BYTES, s->arena, err) ||
        file_write(path_join(s->arena, s->folder, copy), data, length, err))
        return err->status;
    const char *text = skeleton_of_launch(copy, image, kernel, seen, s->arena);
    const char *path = path_join(s->arena, s->folder, arena_printf(s->arena, "%s.json", seen->name));
    if (file_write(path, text, strlen(text), err))
        return err->status;
    s->made = s->folder;
    if (*row->kernel && !*row->cpu_kernel) { /* the CPU device cannot run it */
        row->cpu_kernel = row->kernel;
        row->cpu_params = row->params;
    }
    row->kernel = seen->name;
    row->params = "{}";
    row->other_params = row->library = row->cpu_library = "";
    row->why = "";
    return STATUS_OK;
}

/* ---- Triton ---- */

/* Whether the variant's compile-time values equal those that the trace also has. */
static bool is_variant(const char *path, const struct import_launch *launch, struct arena *arena)
{
    const char *base = path_base(path);
    const size_t length = strcspn(base, ".");
    double value = 0;
    struct err ignored = {0};
    if (strlen(launch->kernel) != length || memcmp(base, launch->kernel, length) != 0)
        return false;
    const cJSON *json = read_beside(path, arena_printf(arena, "%.*s.json", (int)length, base), arena);
    if (!json)
        return false;
    if (launch->warps > 0 && !json_get_number(&value, json, "num_warps", JSON_REQUIRED, &ignored) &&
        value != launch->warps)
        return false;
    return !(launch->stages > 0) || json_get_number(&value, json, "num_stages", JSON_REQUIRED, &ignored) ||
           value == launch->stages;
}

/* Returns the only variant that fits, counting copies of the same code once. *count: number of different ones. */
static const char *find_variant(const struct code_search *s, const struct import_launch *launch, size_t *count)
{
    const char *found = NULL, *folder = NULL; /* of the variant that PyTorch's compiler chose for this source */
    uint64_t hash = 0;
    *count = 0;
    for (size_t k = 0; *launch->hash && k < s->config_count && !folder; k++) {
        const cJSON *root = NULL;
        struct err ignored = {0};
        if (!text_starts(path_base(s->configs[k]), launch->hash) || json_read(&root, s->configs[k], s->arena, &ignored))
            continue;
        const cJSON *chosen = json_member(root, "triton_cache_hash");
        folder = cJSON_IsString(chosen) ? chosen->valuestring : NULL;
    }
    for (size_t k = 0; k < s->image_count; k++) {
        if (!is_variant(s->images[k], launch, s->arena))
            continue;
        if (folder && !strcmp(path_base(path_dir(s->arena, s->images[k])), folder)) {
            *count = 1;
            return s->images[k];
        }
        char *data = NULL;
        size_t length = 0;
        struct err ignored = {0};
        const uint64_t own = file_read(&data, &length, s->images[k], CODEOBJ_LIMIT_BYTES, s->arena, &ignored)
                                 ? 0
                                 : hash_u64(data, length);
        *count += !found || own != hash;
        found = found ? found : s->images[k];
        hash = hash ? hash : own;
    }
    return found;
}

/* Assigns tensors to pointers and values to values, in order. A value of 1 may have been compiled in; remaining
 * pointers are Triton's own. Returns false if they do not match. */
static bool match_arguments(struct seen_argument *args, const struct codeobj_kernel *kernel,
                            const struct import_launch *launch)
{
    size_t at = 0, values = COUNT_WHERE(arg, launch->args, launch->arg_count, !(arg->elements > 0));
    const size_t places = COUNT_WHERE(arg, kernel->args, kernel->explicit_count, !arg->is_pointer);
    FOR_EACH(const struct import_argument, seen, launch->args, launch->arg_count) {
        const bool tensor = seen->elements > 0;
        if (!tensor && values > places && !strcmp(seen->value, "1")) {
            values--;
            continue;
        }
        if (at == kernel->explicit_count || kernel->args[at].is_pointer != tensor)
            return false;
        const char *value = !strcmp(seen->value, "True") ? "1" : !strcmp(seen->value, "False") ? "0" : seen->value;
        args[at++] = tensor ? (struct seen_argument){.dtype = seen->dtype, .elements = (uint64_t)seen->elements}
                            : (struct seen_argument){.value = value};
        if (!tensor && !*seen->value)
            return false;
    }
    while (at < kernel->explicit_count && kernel->args[at].is_pointer)
        at++;
    return at == kernel->explicit_count;
}

static enum status try_triton(struct code_search *s, struct import_row *row, struct err *err)
{
    const struct import_launch *launch = &row->launch;
    size_t count = 0;
    const char *image = find_variant(s, launch, &count);
    if (count != 1) {
        if (count)
            log_warn("W009", "%zu variants of %s have its warps and stages, so none is taken", count, launch->kernel);
        return STATUS_OK;
    }
    const struct codeobj_kernel *kernel = kernel_of(image, launch->kernel, s->arena);
    struct seen_argument *args = arena_array(s->arena, (kernel ? kernel->explicit_count : 0) + 1, sizeof(*args));
    if (!kernel || !(launch->grid[0] > 0) || !match_arguments(args, kernel, launch)) {
        log_warn("W009", "%s: the arguments of %s are not those of the trace", image, launch->kernel);
        return STATUS_OK;
    }
    struct seen_launch seen = {.args = args};
    for (size_t k = 0; k < 3; k++) {
        seen.grid[k] = (uint64_t)fmax(1, launch->grid[k]);
        seen.block[k] = (uint64_t)fmax(1, launch->block[k]);
    }
    return write_manifest(s, row, image, kernel, &seen, err);
}

/* ---- kerncap ---- */

struct capture {
    const cJSON *meta, *regions;
    const unsigned char *kernarg;
    size_t kernarg_bytes;
};

static void axes(uint64_t out[3], const cJSON *of)
{
    static const char *const names[] = {"x", "y", "z"};
    struct err ignored = {0};
    for (size_t k = 0; k < 3; k++) {
        out[k] = 1;
        json_get_u64(&out[k], of, names[k], JSON_OPTIONAL, &ignored);
    }
}

/* A pointer refers to what is behind it in its memory region. */
static bool captured_arguments(struct seen_argument *args, const struct codeobj_kernel *kernel, const struct capture *c)
{
    for (size_t k = 0; k < kernel->explicit_count; k++) {
        const struct codeobj_arg *arg = &kernel->args[k];
        uint64_t address = 0;
        if (arg->offset_bytes + (size_t)arg->size_bytes > c->kernarg_bytes)
            return false;
        args[k].bytes = c->kernarg + arg->offset_bytes;
        if (!arg->is_pointer || arg->size_bytes != sizeof(address))
            continue;
        memcpy(&address, args[k].bytes, sizeof(address));
        args[k] = (struct seen_argument){.dtype = ""};
        for (const cJSON *at = c->regions ? c->regions->child : NULL; at && !args[k].elements; at = at->next) {
            struct err ignored = {0};
            uint64_t base = 0, size = 0;
            if (!json_get_u64(&base, at, "base", JSON_REQUIRED, &ignored) &&
                !json_get_u64(&size, at, "size", JSON_REQUIRED, &ignored) && address >= base && address - base < size)
                args[k].elements = size - (address - base);
        }
        if (address && !args[k].elements)
            return false;
    }
    return true;
}

static bool read_capture(struct capture *c, const char *image, struct arena *arena)
{
    const char *kernarg = beside(image, "kernarg_raw.bin", arena);
    char *data = NULL;
    struct err ignored = {0};
    const cJSON *regions = read_beside(image, "memory_regions.json", arena);
    *c = (struct capture){.meta = read_beside(image, "metadata.json", arena),
                          .regions = json_member(regions, "regions")};
    if (!c->meta || !file_exists(kernarg) || file_read(&data, &c->kernarg_bytes, kernarg, 1u << 20, arena, &ignored))
        return false;
    c->kernarg = (const unsigned char *)data;
    return true;
}

/* Whether the launch's kernel has this name, mangled or as printed. */
static bool has_kernel(const struct import_row *row, const char *name)
{
    return strcmp(row->operator, name) == 0 || strcmp(row->kernels, name) == 0;
}

static enum status try_captures(struct code_search *s, struct import_row *row, struct err *err)
{
    for (size_t k = 0; k < s->image_count; k++) {
        struct capture c;
        if (strcmp(path_base(s->images[k]), "kernel.hsaco") != 0 || !read_capture(&c, s->images[k], s->arena))
            continue;
        const cJSON *printed = json_member(c.meta, "kernel_name"), *own = json_member(c.meta, "kernel_symbol");
        const char *symbol = cJSON_IsString(own) ? path_stem(own->valuestring, ".kd", s->arena) : "";
        if (!has_kernel(row, symbol) && !(cJSON_IsString(printed) && has_kernel(row, printed->valuestring)))
            continue;
        const struct codeobj_kernel *kernel = kernel_of(s->images[k], symbol, s->arena);
        struct seen_argument *args = arena_array(s->arena, (kernel ? kernel->explicit_count : 0) + 1, sizeof(*args));
        if (!kernel || !captured_arguments(args, kernel, &c)) {
            log_warn("W009", "%s: the capture has not all arguments of %s", s->images[k], symbol);
            continue;
        }
        struct seen_launch seen = {.args = args};
        struct err ignored = {0};
        axes(seen.grid, json_member(c.meta, "grid"));
        axes(seen.block, json_member(c.meta, "block"));
        json_get_u64(&seen.shared_bytes, c.meta, "lds_size", JSON_OPTIONAL, &ignored);
        seen.shared_bytes -=
            seen.shared_bytes < kernel->group_segment_bytes ? seen.shared_bytes : kernel->group_segment_bytes;
        for (size_t axis = 0; axis < 3; axis++) /* its grid counts work-items */
            seen.grid[axis] = (seen.grid[axis] + seen.block[axis] - 1) / (seen.block[axis] ? seen.block[axis] : 1);
        return write_manifest(s, row, s->images[k], kernel, &seen, err);
    }
    return STATUS_OK;
}

/* ---- all rows ---- */

static enum status list(struct code_search *s, const char *folder, struct err *err)
{
    static const char *const suffixes[] = {".hsaco", ".cubin", ".best_config"};
    const size_t before = s->image_count + s->config_count;
    for (size_t suffix = 0; suffix < COUNT_OF(suffixes); suffix++) {
        char **found = NULL;
        size_t count = 0;
        if (file_list(&found, &count, folder, suffixes[suffix], s->arena, err))
            return err->status;
        for (size_t k = 0; k < count; k++) {
            if (suffix < 2)
                ARENA_PUSH(s->arena, s->images, s->image_count, found[k]);
            else
                ARENA_PUSH(s->arena, s->configs, s->config_count, found[k]);
        }
    }
    if (s->image_count + s->config_count == before)
        log_warn("W021", "%s has no code of kernels: no .hsaco, no .cubin", folder);
    return STATUS_OK;
}

enum status import_code(struct import *import, const char *const *folders, size_t count, const char *out,
                        const char **manifests, struct arena *arena, struct err *err)
{
    struct code_search search = {.arena = arena,
                                 .folder = arena_printf(arena, "%s.kernels", path_stem(out, ".json", arena))};
    enum status status = STATUS_OK;
    for (size_t k = 0; k < count && !status; k++)
        status = list(&search, folders[k], err);
    for (size_t k = 0; k < import->row_count && !status; k++) {
        const char *before = import->rows[k].params;
        status = try_captures(&search, &import->rows[k], err);
        if (!status && *import->rows[k].launch.kernel && import->rows[k].params == before)
            status = try_triton(&search, &import->rows[k], err);
    }
    *manifests = search.made;
    return status;
}
