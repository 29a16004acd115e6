/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "rooftile/manifest.h"

#include <string.h>

#include "manifest_internal.h"
#include "rooftile/file.h"
#include "rooftile/text.h"

static const char *const class_names[] = {
    [CLASS_COMPUTE] = "compute",
    [CLASS_MEMORY] = "memory",
    [CLASS_LATENCY] = "latency",
    [CLASS_LAUNCH] = "launch",
};

const char *case_class_name(enum case_class class)
{
    return class_names[class];
}

/* Case ids are "name/parameter=value;...", and shells, globs and file names should need no quotes. */
static enum status name_parse(struct manifest *manifest, const struct json *root, struct err *err)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    const enum status status = json_get_string(&manifest->name, root, "name", JSON_REQUIRED, err);
    if (status)
        return status;
    const char *name = manifest->name;
    if (!*name || name[strspn(name, allowed)] || *name == '-' || *name == '.')
        return json_fail(
            json_member(root, "name"), err,
            "a kernel's name has letters, digits, '_', '-' and '.' only and starts with a letter, digit or '_'");
    return STATUS_OK;
}

static enum status head_parse(struct manifest_parser *parser, const struct json *root, struct err *err)
{
    static const char *const keys[] = {"name",  "summary", "tags",     "class",     "params",  "limits",
                                       "let",   "code",    "variants", "require",   "buffers", "launch",
                                       "steps", "setup",   "work",     "occupancy", "metrics", "check"};
    struct manifest *manifest = parser->manifest;
    enum status status = json_check_keys(root, keys, COUNT_OF(keys), err);
    if (!status)
        status = name_parse(manifest, root, err);
    if (!status)
        status = json_get_string(&manifest->summary, root, "summary", JSON_REQUIRED, err);
    return status ? status : get_strings(&manifest->tags, &manifest->tag_count, root, "tags", parser->arena, err);
}

static enum status source_parse(struct manifest_parser *parser, const struct json *code, struct err *err)
{
    struct manifest *manifest = parser->manifest;
    const char *source = NULL;
    enum status status = json_get_string(&source, code, "source", JSON_OPTIONAL, err);
    if (!status)
        status = get_template(&manifest->image, parser, code, "image", JSON_OPTIONAL, err);
    if (!status)
        status = get_template(&manifest->library, parser, code, "library", JSON_OPTIONAL, err);
    if (status)
        return status;
    const int given = !!source + !!manifest->image + !!manifest->library;
    if (given > 1)
        return json_fail(code, err, "has more than one of 'source', 'image' and 'library'");
    if (!given)
        return json_fail(code, err, "the key 'source' (or 'image' or 'library') is missing");
    if (!source)
        return STATUS_OK;
    if (!*source)
        return json_fail(json_member(code, "source"), err, "is empty");
    manifest->source = path_join(parser->arena, manifest->dir, source);
    return STATUS_OK;
}

static enum status llvm_version(unsigned *out, const struct json *at, struct err *err)
{
    const double max_llvm = 1000;
    if (at->type != JSON_NUMBER || at->number < 0 || at->number > max_llvm || at->number != floor(at->number))
        return json_fail(at, err, "is not a major version of LLVM");
    *out = (unsigned)at->number;
    return STATUS_OK;
}

static enum status min_llvm_parse(struct manifest_parser *parser, const struct json *code, struct err *err)
{
    struct manifest *manifest = parser->manifest;
    const struct json *at = json_member(code, "min_llvm");
    if (!at)
        return STATUS_OK;
    if (at->type != JSON_OBJECT)
        return llvm_version(&manifest->min_llvm, at, err);
    struct llvm_need *needs = arena_array(parser->arena, entry_count(at), sizeof(*needs));
    size_t count = 0;
    enum status status = STATUS_OK;
    for (const struct json *member = entry_first(at); member && !status; member = entry_next(member)) {
        needs[count].arch = member->key;
        status = llvm_version(&needs[count++].llvm, member, err);
    }
    manifest->llvm_needs = needs;
    manifest->llvm_need_count = count;
    return status;
}

unsigned manifest_min_llvm(const struct manifest *manifest, const char *arch)
{
    unsigned most = manifest->min_llvm;
    for (size_t i = 0; i < manifest->llvm_need_count; i++)
        if (manifest->llvm_needs[i].llvm > most && text_matches(arch, manifest->llvm_needs[i].arch))
            most = manifest->llvm_needs[i].llvm;
    return most;
}

static enum status code_parse(struct manifest_parser *parser, const struct json *root, struct err *err)
{
    static const char *const keys[] = {"source", "image", "library", "symbol", "min_llvm", "defines", "flags"};
    static const char *const source_keys[] = {"min_llvm", "defines", "flags"};
    struct manifest *manifest = parser->manifest;
    const struct json *code = NULL;
    enum status status = json_get_object(&code, root, "code", JSON_OPTIONAL, err);
    if (status || !code) /* copies and fills need none; launch_parse asks for it */
        return status;
    status = json_check_keys(code, keys, COUNT_OF(keys), err);
    if (!status)
        status = source_parse(parser, code, err);
    for (size_t i = 0; !status && !manifest->source && i < COUNT_OF(source_keys); i++)
        if (json_member(code, source_keys[i]))
            status = json_fail_key(json_member(code, source_keys[i]), err, "%s is not compiled: this has no effect",
                                   manifest->image ? "an image" : "a library");
    if (!status)
        status = get_template(&parser->symbol, parser, code, "symbol", JSON_OPTIONAL, err);
    if (!status)
        status = min_llvm_parse(parser, code, err);
    if (!status)
        status = get_strings(&manifest->flags, &manifest->flag_count, code, "flags", parser->arena, err);
    return status ? status : defines_parse(&manifest->defines, &manifest->define_count, parser, code, err);
}

static enum status variant_parse(struct manifest_variant *variant, const struct manifest_parser *parser,
                                 const struct json *object, struct err *err)
{
    static const char *const keys[] = {"backend", "arch", "wave", "params"};
    uint64_t wave = 0;
    enum status status = json_check_keys(object, keys, COUNT_OF(keys), err);
    if (!status)
        status = json_get_string(&variant->backend, object, "backend", JSON_OPTIONAL, err);
    if (!status)
        status = json_get_string(&variant->arch, object, "arch", JSON_OPTIONAL, err);
    if (!status)
        status = json_get_u64(&wave, object, "wave", JSON_OPTIONAL, err);
    if (!status && json_member(object, "wave") && wave != 32 && wave != 64)
        status = json_fail(json_member(object, "wave"), err, "waves have 32 or 64 lanes");
    variant->wave = (uint32_t)wave;
    if (!status)
        status = get_overrides(&variant->params, &variant->param_count, parser, object, "params", false, err);
    if (!status && variant->param_count == 0)
        status = json_fail(object, err, "sets no parameter");
    return status;
}

static enum status variants_parse(struct manifest_parser *parser, const struct json *root, struct err *err)
{
    const struct json *array = NULL;
    enum status status = json_get_array(&array, root, "variants", JSON_OPTIONAL, err);
    if (status || !array)
        return status;
    struct manifest_variant *variants = arena_array(parser->arena, array->count, sizeof(*variants));
    size_t count = 0;
    for (const struct json *item = array->first; item; item = item->next) {
        const struct manifest_variant *last = count ? &variants[count - 1] : NULL;
        if (last && !last->backend && !last->arch && !last->wave)
            return json_fail(item, err, "never matches: the variant before it matches every device");
        status = variant_parse(&variants[count++], parser, item, err);
        if (status)
            return status;
    }
    parser->manifest->variants = variants;
    parser->manifest->variant_count = count;
    return STATUS_OK;
}

static enum status require_parse(struct manifest_parser *parser, const struct json *root, struct err *err)
{
    static const char *const keys[] = {"expr", "reason"};
    const struct json *array = NULL;
    enum status status = json_get_array(&array, root, "require", JSON_OPTIONAL, err);
    if (status || !array)
        return status;
    struct manifest_require *require = arena_array(parser->arena, array->count, sizeof(*require));
    size_t count = 0;
    for (const struct json *item = array->first; item && !status; item = item->next) {
        struct manifest_require *one = &require[count++];
        status = json_check_keys(item, keys, COUNT_OF(keys), err);
        if (!status)
            status = get_expr(&one->expr, parser, item, "expr", JSON_REQUIRED, SCOPE_PLAIN, err);
        if (!status)
            status = get_template(&one->reason, parser, item, "reason", JSON_REQUIRED, err);
    }
    parser->manifest->require = require;
    parser->manifest->require_count = count;
    return status;
}

static enum status item_parse(struct manifest *manifest, const struct json *work, struct err *err)
{
    const struct json *at = json_member(work, "item");
    const enum status status = json_get_string(&manifest->item, work, "item", JSON_OPTIONAL, err);
    if (status || !at)
        return status;
    if (!manifest->items)
        return json_fail_key(at, err, "a name for items where there are none");
    if (strlen(manifest->item) > MANIFEST_ITEM_NAME || !*manifest->item)
        return json_fail(at, err, "must have 1 to %d characters", MANIFEST_ITEM_NAME);
    return STATUS_OK;
}

static enum status work_parse(struct manifest_parser *parser, const struct json *root, struct err *err)
{
    static const char *const keys[] = {"read", "write", "flops", "items", "footprint", "unit", "item", "level"};
    struct manifest *manifest = parser->manifest;
    const struct expr **const exprs[] = {&manifest->read_bytes, &manifest->write_bytes, &manifest->flops,
                                         &manifest->items, &manifest->footprint}; /* as the first keys */
    const struct json *work = NULL;
    manifest->unit = template_empty(parser->arena);
    enum status status = json_get_object(&work, root, "work", JSON_OPTIONAL, err);
    if (status || !work)
        return status;
    status = json_check_keys(work, keys, COUNT_OF(keys), err);
    for (size_t i = 0; i < COUNT_OF(exprs) && !status; i++)
        status = get_expr(exprs[i], parser, work, keys[i], JSON_OPTIONAL, SCOPE_PLAIN, err);
    if (!status)
        status =
            get_template(&manifest->unit, parser, work, "unit", manifest->flops ? JSON_REQUIRED : JSON_OPTIONAL, err);
    if (!status && !manifest->flops && json_member(work, "unit"))
        status = json_fail_key(json_member(work, "unit"), err, "a unit without flops has no effect");
    manifest->level = "";
    if (!status)
        status = json_get_string(&manifest->level, work, "level", JSON_OPTIONAL, err);
    if (!status && strlen(manifest->level) > MANIFEST_LEVEL_NAME)
        status = json_fail(json_member(work, "level"), err, "has more than %d characters", MANIFEST_LEVEL_NAME);
    return status ? status : item_parse(manifest, work, err);
}

static enum status occupancy_parse(struct manifest_parser *parser, const struct json *root, struct err *err)
{
    static const char *const keys[] = {"exactly", "least"};
    struct manifest_occupancy *occupancy = &parser->manifest->occupancy;
    const struct json *object = NULL;
    enum status status = json_get_object(&object, root, "occupancy", JSON_OPTIONAL, err);
    if (status || !object)
        return status;
    status = json_check_keys(object, keys, COUNT_OF(keys), err);
    occupancy->exactly = json_member(object, "exactly") != NULL;
    if (!status && occupancy->exactly == (json_member(object, "least") != NULL))
        status = json_fail(object, err, "must have one of 'exactly' and 'least'");
    return status ? status
                  : get_expr(&occupancy->waves, parser, object, keys[!occupancy->exactly], JSON_REQUIRED, SCOPE_PLAIN,
                             err);
}

static enum status class_parse(struct manifest *manifest, const struct json *root, struct err *err)
{
    int class = manifest->flops                                 ? CLASS_COMPUTE
                : manifest->read_bytes || manifest->write_bytes ? CLASS_MEMORY
                                                                : CLASS_LAUNCH;
    const enum status status =
        get_choice(&class, root, "class", JSON_OPTIONAL, class_names, COUNT_OF(class_names), err);
    manifest->class = (enum case_class) class;
    return status;
}

enum status manifest_parse(const struct manifest **out, const char *path, const struct json *root, struct arena *arena,
                           struct err *err)
{
    struct manifest *manifest = arena_alloc(arena, sizeof(*manifest));
    struct manifest_parser parser = {.manifest = manifest, .arena = arena};
    manifest->path = arena_strdup(arena, path);
    manifest->dir = path_dir(arena, path);
    enum status (*const parts[])(struct manifest_parser *, const struct json *, struct err *) = {
        head_parse,    params_parse, lets_parse, code_parse,      variants_parse, require_parse,
        buffers_parse, steps_parse,  work_parse, occupancy_parse, metrics_parse,  check_parse,
    };
    enum status status = manifest_extend(&root, root, manifest->dir, arena, err);
    manifest->at = root;
    for (size_t i = 0; i < COUNT_OF(parts) && !status; i++)
        status = parts[i](&parser, root, err);
    if (!status)
        status = class_parse(manifest, root, err);
    if (!status)
        status = manifest_check_whole(&parser, root, err);
    if (!status)
        *out = manifest;
    return status;
}

/* Files that the manifest names must be there; images may be named by parameters and are found when a case needs one.
 */
static enum status check_files(const struct manifest *manifest, struct err *err)
{
    if (manifest->source && !file_exists(manifest->source))
        return json_fail(json_member(json_member(manifest->at, "code"), "source"), err, "there is no file %s",
                         manifest->source);
    for (size_t i = 0; i < manifest->buffer_count; i++) {
        const struct manifest_buffer *buffer = &manifest->buffers[i];
        if (buffer->fill.path && !file_exists(buffer->fill.path))
            return json_fail(json_member(json_member(buffer->at, "fill"), "path"), err, "there is no file %s",
                             buffer->fill.path);
    }
    return STATUS_OK;
}

enum status manifest_read(const struct manifest **out, const char *path, struct arena *arena, struct err *err)
{
    const struct json *root;
    const struct manifest *manifest;
    enum status status = json_read(&root, path, arena, err);
    if (!status)
        status = manifest_parse(&manifest, path, root, arena, err);
    if (!status)
        status = check_files(manifest, err);
    if (!status)
        *out = manifest;
    return status;
}
