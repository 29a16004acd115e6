/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "rooftile/manifest.h"

#include <string.h>

#include "manifest_internal.h"
#include "rooftile/file.h"
#include "rooftile/text.h"

static const char *const class_names[] = {
    [CLASS_COMPUTE] = "compute", [CLASS_MEMORY] = "memory", [CLASS_LATENCY] = "latency",
    [CLASS_LAUNCH] = "launch",   [CLASS_LAUNCH + 1] = NULL,
};

const char *case_class_name(enum case_class class)
{
    return class_names[class];
}

enum status read_member(struct manifest_parser *parser, const struct json *root, const struct json_key *key,
                        struct err *err)
{
    const struct json *at = json_member(root, key->key);
    parser->into.object = parser->manifest;
    return at ? key->read((char *)parser->manifest + key->field, at, key, &parser->into, err) : STATUS_OK;
}

#define FIELD(name) offsetof(struct manifest, name)

/* ---- the head ---- */

/* Case ids are "name/parameter=value;...", and shells, globs and file names should need no quotes. */
static enum status into_name(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                             struct err *err)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    const enum status status = json_into_string(field, at, key, into, err);
    const char *name = at->string;
    if (!status && (!*name || name[strspn(name, allowed)] || *name == '-' || *name == '.'))
        return json_fail(
            at, err,
            "a kernel's name has letters, digits, '_', '-' and '.' only and starts with a letter, digit or '_'");
    return status;
}

/* Every key; those without a function are read by the parts below, in an order of their own. */
static const struct json_key head_keys[] = {
    {"name", into_name, FIELD(name), .need = JSON_REQUIRED},
    {"summary", json_into_string, FIELD(summary), .need = JSON_REQUIRED},
    {"tags", json_into_strings, FIELD(tags), .count = FIELD(tag_count), .more = "each once"},
    {"extends", .read = NULL},
    {"class", .read = NULL},
    {"params", .read = NULL},
    {"limits", .read = NULL},
    {"let", .read = NULL},
    {"code", .read = NULL},
    {"variants", .read = NULL},
    {"require", .read = NULL},
    {"buffers", .read = NULL},
    {"launch", .read = NULL},
    {"steps", .read = NULL},
    {"setup", .read = NULL},
    {"work", .read = NULL},
    {"occupancy", .read = NULL},
    {"metrics", .read = NULL},
    {"check", .read = NULL},
};

static enum status head_parse(struct manifest_parser *parser, const struct json *root, struct err *err)
{
    return json_read_table(parser->manifest, root, head_keys, JSON_KEYS(head_keys), &parser->into, err);
}

/* ---- code ---- */

static enum status into_source(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                               struct err *err)
{
    const struct manifest_parser *parser = into->context;
    const char *source = NULL;
    const enum status status = json_into_text(&source, at, key, into, err);
    if (!status)
        *(const char **)field = path_join(into->arena, parser->manifest->dir, source);
    return status;
}

static enum status llvm_version(unsigned *out, const struct json *at, struct err *err)
{
    const double max_llvm = 1000;
    if (at->type != JSON_NUMBER || at->number < 0 || at->number > max_llvm || at->number != floor(at->number))
        return json_fail(at, err, "is not a major version of LLVM");
    *out = (unsigned)at->number;
    return STATUS_OK;
}

static enum status llvm_need_parse(void *field, const struct json *at, const struct json_key *key,
                                   struct json_into *into, struct err *err)
{
    struct llvm_need *need = field;
    (void)key;
    (void)into;
    need->arch = at->key;
    return llvm_version(&need->llvm, at, err);
}

/* For all targets, or { "gfx11*": 16 }. */
static enum status into_min_llvm(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                                 struct err *err)
{
    static const struct json_elements elements = {sizeof(struct llvm_need), llvm_need_parse, NULL};
    static const struct json_key members = {.count = FIELD(llvm_need_count), .more = &elements};
    struct manifest *manifest = into->object;
    (void)key;
    return at->type == JSON_OBJECT ? json_into_members(&manifest->llvm_needs, at, &members, into, err)
                                   : llvm_version(field, at, err);
}

unsigned manifest_min_llvm(const struct manifest *manifest, const char *arch)
{
    unsigned most = manifest->min_llvm;
    for (size_t i = 0; i < manifest->llvm_need_count; i++)
        if (manifest->llvm_needs[i].llvm > most && text_matches(arch, manifest->llvm_needs[i].arch))
            most = manifest->llvm_needs[i].llvm;
    return most;
}

#define CODE_SOURCES 3 /* of the keys: one of them says where the code is from */
static const struct json_key code_keys[] = {
    {"source", into_source, .field = FIELD(source)},
    {"image", into_template, .field = FIELD(image)},
    {"library", into_template, .field = FIELD(library)},
    {"symbol", .read = NULL}, /* belongs to the launches */
    {"min_llvm", into_min_llvm, .field = FIELD(min_llvm)},
    {"flags", json_into_strings, FIELD(flags), .count = FIELD(flag_count), .more = "each once"},
    {"defines", into_defines, FIELD(defines), .count = FIELD(define_count)},
};

static enum status check_code(const struct json *code, struct err *err)
{
    static const char *const source_keys[] = {"min_llvm", "defines", "flags"};
    const bool source = json_member(code, "source"), image = json_member(code, "image");
    const int given = source + image + (json_member(code, "library") != NULL);
    if (given > 1)
        return json_fail(code, err, "has more than one of 'source', 'image' and 'library'");
    if (!given)
        return json_fail(code, err, "the key 'source' (or 'image' or 'library') is missing");
    for (size_t i = 0; !source && i < COUNT_OF(source_keys); i++)
        if (json_member(code, source_keys[i]))
            return json_fail_key(json_member(code, source_keys[i]), err, "%s is not compiled: this has no effect",
                                 image ? "an image" : "a library");
    return STATUS_OK;
}

/* Copies and fills need none; manifest_check_whole asks for it. */
static enum status code_parse(struct manifest_parser *parser, const struct json *root, struct err *err)
{
    const struct json *code = json_member(root, "code"), *symbol = json_member(code, "symbol");
    if (!code)
        return STATUS_OK;
    enum status status = json_check_table(code, code_keys, JSON_KEYS(code_keys), err);
    parser->into.object = parser->manifest;
    for (size_t k = 0; k < CODE_SOURCES && !status; k++) {
        const struct json *at = json_member(code, code_keys[k].key);
        if (at)
            status =
                code_keys[k].read((char *)parser->manifest + code_keys[k].field, at, &code_keys[k], &parser->into, err);
    }
    if (!status)
        status = check_code(code, err);
    if (!status)
        status = json_read_table(parser->manifest, code, code_keys, JSON_KEYS(code_keys), &parser->into, err);
    if (!status && symbol)
        status = into_template(&parser->symbol, symbol, NULL, &parser->into, err);
    return status;
}

/* ---- variants and requirements ---- */

static enum status into_wave(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                             struct err *err)
{
    uint64_t wave = 0;
    const enum status status = json_into_u64(&wave, at, key, into, err);
    if (!status && wave != 32 && wave != 64)
        return json_fail(at, err, "waves have 32 or 64 lanes");
    *(uint32_t *)field = (uint32_t)wave;
    return status;
}

static const struct json_key variant_keys[] = {
    {"backend", json_into_string, .field = offsetof(struct manifest_variant, backend)},
    {"arch", json_into_string, .field = offsetof(struct manifest_variant, arch)},
    {"wave", into_wave, .field = offsetof(struct manifest_variant, wave)},
    {"params", into_overrides, offsetof(struct manifest_variant, params),
     .count = offsetof(struct manifest_variant, param_count)},
};

static enum status variant_parse(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                                 struct err *err)
{
    struct manifest_variant *variant = field, *last = at->index ? variant - 1 : NULL;
    (void)key;
    if (last && !last->backend && !last->arch && !last->wave)
        return json_fail(at, err, "never matches: the variant before it matches every device");
    const enum status status = json_read_table(variant, at, variant_keys, JSON_KEYS(variant_keys), into, err);
    return !status && variant->param_count == 0 ? json_fail(at, err, "sets no parameter") : status;
}

static enum status variants_parse(struct manifest_parser *parser, const struct json *root, struct err *err)
{
    static const struct json_elements elements = {sizeof(struct manifest_variant), variant_parse, NULL};
    static const struct json_key key = {"variants", json_into_items, FIELD(variants), .count = FIELD(variant_count),
                                        .more = &elements};
    return read_member(parser, root, &key, err);
}

static const struct json_key require_keys[] = {
    {"expr", into_expr, offsetof(struct manifest_require, expr), .need = JSON_REQUIRED},
    {"reason", into_template, offsetof(struct manifest_require, reason), .need = JSON_REQUIRED},
};

static enum status requirement_parse(void *field, const struct json *at, const struct json_key *key,
                                     struct json_into *into, struct err *err)
{
    (void)key;
    return json_read_table(field, at, require_keys, JSON_KEYS(require_keys), into, err);
}

static enum status require_parse(struct manifest_parser *parser, const struct json *root, struct err *err)
{
    static const struct json_elements elements = {sizeof(struct manifest_require), requirement_parse, NULL};
    static const struct json_key key = {"require", json_into_items, FIELD(require), .count = FIELD(require_count),
                                        .more = &elements};
    return read_member(parser, root, &key, err);
}

/* ---- work ---- */

static const struct json_key work_keys[] = {
    {"read", into_expr, .field = FIELD(read_bytes)},     {"write", into_expr, .field = FIELD(write_bytes)},
    {"flops", into_expr, .field = FIELD(flops)},         {"items", into_expr, .field = FIELD(items)},
    {"footprint", into_expr, .field = FIELD(footprint)}, {"unit", into_template, .field = FIELD(unit)},
    {"level", json_into_string, .field = FIELD(level)},  {"item", json_into_string, .field = FIELD(item)},
};

static enum status check_work(const struct manifest *manifest, const struct json *work, struct err *err)
{
    const struct json *unit = json_member(work, "unit"), *item = json_member(work, "item");
    if (manifest->flops && !unit)
        return json_fail(work, err, "the key 'unit' is missing");
    if (!manifest->flops && unit)
        return json_fail_key(unit, err, "a unit without flops has no effect");
    if (strlen(manifest->level) > MANIFEST_LEVEL_NAME)
        return json_fail(json_member(work, "level"), err, "has more than %d characters", MANIFEST_LEVEL_NAME);
    if (item && !manifest->items)
        return json_fail_key(item, err, "a name for items where there are none");
    if (item && (strlen(manifest->item) > MANIFEST_ITEM_NAME || !*manifest->item))
        return json_fail(item, err, "must have 1 to %d characters", MANIFEST_ITEM_NAME);
    return STATUS_OK;
}

static enum status work_parse(struct manifest_parser *parser, const struct json *root, struct err *err)
{
    struct manifest *manifest = parser->manifest;
    const struct json *work = json_member(root, "work");
    manifest->unit = template_empty(parser->arena);
    if (!work)
        return STATUS_OK;
    manifest->level = "";
    const enum status status = json_read_table(manifest, work, work_keys, JSON_KEYS(work_keys), &parser->into, err);
    return status ? status : check_work(manifest, work, err);
}

static enum status occupancy_parse(struct manifest_parser *parser, const struct json *root, struct err *err)
{
    static const struct json_key keys[] = {
        {"exactly", into_expr, .field = FIELD(occupancy.waves)},
        {"least", into_expr, .field = FIELD(occupancy.waves)},
    };
    const struct json *object = json_member(root, "occupancy"), *exactly = json_member(object, "exactly");
    enum status status =
        object ? json_read_table(parser->manifest, object, keys, JSON_KEYS(keys), &parser->into, err) : STATUS_OK;
    if (!status && object && !exactly == !json_member(object, "least"))
        status = json_fail(object, err, "must have one of 'exactly' and 'least'");
    parser->manifest->occupancy.exactly = exactly != NULL;
    return status;
}

static enum status class_parse(struct manifest_parser *parser, const struct json *root, struct err *err)
{
    static const struct json_key key = {"class", json_into_choice, FIELD(class), .more = class_names};
    struct manifest *manifest = parser->manifest;
    manifest->class = manifest->flops                                 ? CLASS_COMPUTE
                      : manifest->read_bytes || manifest->write_bytes ? CLASS_MEMORY
                                                                      : CLASS_LAUNCH;
    return read_member(parser, root, &key, err);
}
#undef FIELD

/* ---- the whole ---- */

enum status manifest_parse(const struct manifest **out, const char *path, const struct json *root, struct arena *arena,
                           struct err *err)
{
    struct manifest *manifest = arena_alloc(arena, sizeof(*manifest));
    struct manifest_parser parser = {.manifest = manifest, .arena = arena};
    parser.into = (struct json_into){.arena = arena, .context = &parser};
    manifest->path = arena_strdup(arena, path);
    manifest->dir = path_dir(arena, path);
    enum status (*const parts[])(struct manifest_parser *, const struct json *, struct err *) = {
        head_parse,  params_parse, lets_parse,      code_parse,    variants_parse, require_parse, buffers_parse,
        steps_parse, work_parse,   occupancy_parse, metrics_parse, check_parse,    class_parse,
    };
    enum status status = manifest_extend(&root, root, manifest->dir, arena, err);
    manifest->at = root;
    for (size_t i = 0; i < COUNT_OF(parts) && !status; i++)
        status = parts[i](&parser, root, err);
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
