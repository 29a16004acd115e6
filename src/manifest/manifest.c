/* SPDX-License-Identifier: MIT */

#include "rooftile/manifest.h"

#include "manifest_internal.h"
#include "rooftile/file.h"

const char *const case_class_names[] = {
    [CLASS_COMPUTE] = "compute",
    [CLASS_MEMORY] = "memory",
    [CLASS_LATENCY] = "latency",
    [CLASS_LAUNCH] = "launch",
};

#define RECORD_STRUCT struct manifest

/* ---- the head ---- */

/* Case ids are "name/parameter=value;...". Names must not need quotes in shells, globs and file names. */
static enum status into_name(void *field, const cJSON *at, UNUSED struct record_in *in, struct err *err)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    const enum status status = json_check_type(at, cJSON_String, err);
    const char *name = at->valuestring;
    *(const char **)field = name;
    if (!status && (!*name || name[strspn(name, allowed)] || *name == '-' || *name == '.'))
        return json_fail(
            at, err,
            "a kernel's name has letters, digits, '_', '-' and '.' only and starts with a letter, digit or '_'");
    return status;
}

/* ---- code ---- */

static enum status llvm_version(unsigned *out, const cJSON *at, struct err *err)
{
    const double max_llvm = 1000;
    if (!cJSON_IsNumber(at) || at->valuedouble < 0 || at->valuedouble > max_llvm ||
        at->valuedouble != floor(at->valuedouble))
        return json_fail(at, err, "is not a major version of LLVM");
    *out = (unsigned)at->valuedouble;
    return STATUS_OK;
}

static enum status llvm_need_parse(void *field, const cJSON *at, UNUSED struct record_in *in, struct err *err)
{
    struct llvm_need *need = field;
    need->arch = at->string;
    return llvm_version(&need->llvm, at, err);
}

/* Either one number for all targets, or { "gfx11*": 16 }. */
static enum status into_min_llvm(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    static const struct record need = {.size = sizeof(struct llvm_need), .get = llvm_need_parse};
    static const struct record_field needs = FIELD_MAP("min_llvm", llvm_needs, llvm_need_count, need);
    return cJSON_IsObject(at) ? record_parse_row(in->object, &needs, at, in, err) : llvm_version(field, at, err);
}

unsigned manifest_min_llvm(const struct manifest *manifest, const char *arch)
{
    unsigned most = manifest->min_llvm;
    for (size_t i = 0; i < manifest->llvm_need_count; i++)
        if (manifest->llvm_needs[i].llvm > most && text_matches(arch, manifest->llvm_needs[i].arch))
            most = manifest->llvm_needs[i].llvm;
    return most;
}

#define CODE_SOURCES 3 /* the first keys; exactly one of them gives the code's source */
static const struct record_field code_rows[] = {
    FIELD_READ("source", source, into_path),
    FIELD_READ("image", image, into_template),
    FIELD_READ("library", library, into_template),
    FIELD_COMMENT("symbol"), /* belongs to the launches */
    FIELD_READ("min_llvm", min_llvm, into_min_llvm),
    FIELD_LIST("flags", flags, flag_count, record_word),
    FIELD_MAP("defines", defines, define_count, define_element),
};
static const struct record code_record = {RECORD_TABLE(code_rows)};

static enum status check_code(const cJSON *code, struct err *err)
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

/* Copies and fills need no code; manifest_check_whole requires it for the rest. */
static enum status into_code(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    struct manifest_parser *parser = in->context;
    const cJSON *symbol = json_member(at, "symbol");
    if (record_check_keys(&code_record, at, err))
        return err->status;
    for (size_t k = 0; k < CODE_SOURCES; k++)
        if (record_parse_row(field, &code_rows[k], json_member(at, code_rows[k].key), in, err))
            return err->status;
    if (check_code(at, err) || record_parse(field, &code_record, at, in, err))
        return err->status;
    return symbol ? into_template(&parser->symbol, symbol, in, err) : STATUS_OK;
}

/* ---- variants and requirements ---- */

static enum status into_wave(void *field, const cJSON *at, UNUSED struct record_in *in, struct err *err)
{
    uint64_t wave = 0;
    const enum status status = json_whole(&wave, at, 1ull << 53, err);
    if (!status && wave != 32 && wave != 64)
        return json_fail(at, err, "waves have 32 or 64 lanes");
    *(uint32_t *)field = (uint32_t)wave;
    return status;
}

#undef RECORD_STRUCT
#define RECORD_STRUCT struct manifest_variant
static const struct record_field variant_rows[] = {
    FIELD_STRING("backend", backend),
    FIELD_STRING("arch", arch),
    FIELD_READ("wave", wave, into_wave),
    FIELD_MAP("params", params, param_count, variant_value_element),
};
static const struct record variant_record = {RECORD_TABLE(variant_rows)};
#undef RECORD_STRUCT

static enum status variant_parse(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    struct manifest_variant *variant = field, *last = json_index(at) ? variant - 1 : NULL;
    if (last && !last->backend && !last->arch && !last->wave)
        return json_fail(at, err, "never matches: the variant before it matches every device");
    const enum status status = record_parse(variant, &variant_record, at, in, err);
    return !status && variant->param_count == 0 ? json_fail(at, err, "sets no parameter") : status;
}

static const struct record variant_element = {.size = sizeof(struct manifest_variant), .get = variant_parse};

#define RECORD_STRUCT struct manifest_require
static const struct record_field require_rows[] = {
    FIELD_READ("expr", expr, into_expr, RECORD_REQUIRED),
    FIELD_READ("reason", reason, into_template, RECORD_REQUIRED),
};
static const struct record require_record = {RECORD_TABLE(require_rows)};
#undef RECORD_STRUCT

/* ---- work ---- */

#define RECORD_STRUCT struct manifest
static const struct record_field work_rows[] = {
    FIELD_READ("read", read_bytes, into_expr),
    FIELD_READ("write", write_bytes, into_expr),
    FIELD_READ("flops", flops, into_expr),
    FIELD_READ("transcendentals", transcendentals, into_expr),
    FIELD_READ("items", items, into_expr),
    FIELD_READ("footprint", footprint, into_expr),
    FIELD_READ("shared_by", shared_by, into_expr),
    FIELD_READ("unit", unit, into_template),
    FIELD_STRING("level", level),
    FIELD_STRING("item", item),
};
static const struct record work_record = {RECORD_TABLE(work_rows)};

static enum status check_work(const struct manifest *manifest, const cJSON *work, struct err *err)
{
    const cJSON *unit = json_member(work, "unit"), *item = json_member(work, "item");
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

static enum status into_work(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    struct manifest *manifest = field;
    manifest->level = "";
    const enum status status = record_parse(manifest, &work_record, at, in, err);
    return status ? status : check_work(manifest, at, err);
}

static const struct record_field occupancy_rows[] = {
    FIELD_READ("exactly", occupancy.waves, into_expr),
    FIELD_READ("least", occupancy.waves, into_expr),
};
static const struct record occupancy_record = {RECORD_TABLE(occupancy_rows)};

static enum status into_occupancy(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    struct manifest *manifest = field;
    const enum status status = record_parse(manifest, &occupancy_record, at, in, err);
    manifest->occupancy.exactly = json_member(at, "exactly") != NULL;
    return !status && manifest->occupancy.exactly == (json_member(at, "least") != NULL)
               ? json_fail(at, err, "must have one of 'exactly' and 'least'")
               : status;
}

/* ---- "extends": a manifest on top of another one in the same folder ----
 *
 * The trees are merged before anything is parsed. Every value keeps its position in its own file, so messages refer to
 * it. */

#define MAX_CHAIN 8

/* Detects a manifest that extends itself, directly or indirectly. */
struct chain {
    const char *path;
    const struct chain *below;
    size_t length;
};

/* Takes the members of `base` in their order, replaced by those with the same key in `over`, followed by those that
 * only `over` has. */
static enum status merge(const cJSON **merged, const cJSON *base, const cJSON *over, struct arena *arena,
                         struct err *err)
{
    cJSON *made = json_empty(over, arena);
    for (const cJSON *member = base->child; member; member = member->next) {
        const cJSON *own = json_member(over, member->string);
        const bool both = cJSON_IsObject(own) && cJSON_IsObject(member);
        if (both && merge(&own, member, own, arena, err))
            return err->status;
        if (!cJSON_IsNull(own))
            json_append(made, own ? own : member, arena);
    }
    for (const cJSON *own = over->child; own; own = own->next) {
        if (json_member(base, own->string))
            continue;
        if (cJSON_IsNull(own))
            return json_fail(own, err, "null takes a key away, but the manifest that is extended has no '%s' here",
                             own->string);
        json_append(made, own, arena);
    }
    *merged = made;
    return STATUS_OK;
}

/* Returns what a manifest passes on: everything but its name, its summary and the processed "extends". */
static const cJSON *without(const cJSON *root, const char *const *keys, size_t count, struct arena *arena)
{
    cJSON *made = json_empty(root, arena);
    for (const cJSON *member = root->child; member; member = member->next)
        if (!text_among(member->string, keys, count))
            json_append(made, member, arena);
    return made;
}

static enum status extend(const cJSON **merged, const cJSON *root, const char *dir, const struct chain *chain,
                          struct arena *arena, struct err *err)
{
    const char *name = NULL;
    enum status status = json_get_string(&name, root, "extends", JSON_OPTIONAL, err);
    if (status || !name) {
        *merged = root;
        return status;
    }
    const cJSON *at = json_member(root, "extends");
    const char *path = path_join(arena, dir, arena_printf(arena, "%s.json", name));
    const struct chain here = {path, chain, chain ? chain->length + 1 : 1};
    const cJSON *base = NULL;
    if (!json_is_identifier(name))
        return json_fail(at, err, "must be the name of a manifest in the same folder");
    if (!file_exists(path))
        return json_fail(at, err, "there is no file %s", path);
    for (const struct chain *below = chain; below; below = below->below)
        if (strcmp(below->path, path) == 0)
            return json_fail(at, err, "extends itself: %s", path);
    if (here.length > MAX_CHAIN)
        return json_fail(at, err, "more than %d manifests extend each other", MAX_CHAIN);
    if (json_read(&base, path, arena, err) || (!cJSON_IsObject(base) && json_fail_type(base, "an object", err)) ||
        extend(&base, base, dir, &here, arena, err))
        return err->status;
    static const char *const own_keys[] = {"extends", "name", "summary"};
    return merge(merged, without(base, own_keys, COUNT_OF(own_keys), arena), without(root, own_keys, 1, arena), arena,
                 err);
}

/* ---- the whole manifest ---- */

/* All keys, in reading order: expressions may use names from earlier keys. Parameters come first, since some are in no
 * file. */
static const struct record_field manifest_rows[] = {
    FIELD_READ("name", name, into_name, RECORD_REQUIRED),
    FIELD_STRING("summary", summary, RECORD_REQUIRED),
    FIELD_LIST("tags", tags, tag_count, record_word, RECORD_ONCE),
    FIELD_COMMENT("extends"),
    FIELD_COMMENT("params"),
    FIELD_COMMENT("doc"),
    FIELD_COMMENT("limits"),
    FIELD_WHOLE("let", into_lets),
    FIELD_WHOLE("code", into_code),
    FIELD_LIST("variants", variants, variant_count, variant_element),
    FIELD_LIST("require", require, require_count, require_record),
    FIELD_WHOLE("buffers", into_buffers),
    FIELD_WHOLE("setup", into_setup),
    FIELD_WHOLE("launch", into_short_form),
    FIELD_WHOLE("steps", into_steps),
    FIELD_WHOLE("work", into_work),
    FIELD_WHOLE("occupancy", into_occupancy),
    FIELD_MAP("metrics", metrics, metric_count, metric_element),
    FIELD_OBJECT("check", check, check_record),
    FIELD_LIST("isolate", isolate, isolate_count, record_word, RECORD_ONCE),
    FIELD_ENUM("class", class, case_class_names),
};
static const struct record manifest_record = {RECORD_TABLE(manifest_rows)};
#undef RECORD_STRUCT

static enum status parse(struct manifest_parser *parser, const cJSON *root, struct err *err)
{
    struct manifest *manifest = parser->manifest;
    const cJSON *launch = json_member(root, "launch");
    if (record_check_keys(&manifest_record, root, err) || params_parse(parser, root, err))
        return err->status;
    if (!launch == !json_member(root, "steps"))
        return json_fail(root, err,
                         launch ? "has both 'launch' and 'steps'" : "the key 'launch' (or 'steps') is missing");
    if (record_parse(manifest, &manifest_record, root, &parser->in, err))
        return err->status;
    if (!json_member(root, "class"))
        manifest->class = manifest->flops                                 ? CLASS_COMPUTE
                          : manifest->read_bytes || manifest->write_bytes ? CLASS_MEMORY
                                                                          : CLASS_LAUNCH;
    return manifest_check_whole(parser, root, err);
}

enum status manifest_parse(const struct manifest **out, const char *path, const cJSON *root, struct arena *arena,
                           struct err *err)
{
    struct manifest *manifest = arena_alloc(arena, sizeof(*manifest));
    struct manifest_parser parser = {.manifest = manifest, .arena = arena};
    parser.in = (struct record_in){.arena = arena, .context = &parser};
    manifest->path = arena_strdup(arena, path);
    manifest->dir = path_dir(arena, path);
    manifest->unit = template_empty(arena);
    if (cJSON_IsObject(root) && extend(&root, root, manifest->dir, NULL, arena, err))
        return err->status;
    manifest->at = root;
    if (parse(&parser, root, err))
        return err->status;
    *out = manifest;
    return STATUS_OK;
}

enum status manifest_read(const struct manifest **out, const char *path, const cJSON *root, struct arena *arena,
                          struct err *err)
{
    const struct manifest *manifest;
    if (manifest_parse(&manifest, path, root, arena, err))
        return err->status;
    /* Files named by the manifest must exist. Image names may contain parameters, so images are looked up when a case
     * needs one. */
    if (manifest->source && !file_exists(manifest->source))
        return json_fail(json_member(json_member(manifest->at, "code"), "source"), err, "there is no file %s",
                         manifest->source);
    FOR_EACH(const struct manifest_buffer, buffer, manifest->buffers, manifest->buffer_count)
        if (buffer->fill.path && !file_exists(buffer->fill.path))
            return json_fail(json_member(json_member(buffer->at, "fill"), "path"), err, "there is no file %s",
                             buffer->fill.path);
    *out = manifest;
    return STATUS_OK;
}
