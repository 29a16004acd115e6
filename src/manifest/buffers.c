/* SPDX-License-Identifier: MIT
 *
 * Buffers and their contents.
 */

#include "manifest_internal.h"
#include "rooftile/file.h"

/* ---- generators ---- */

#define BIT(dist) (1u << (dist))

static const struct generator generator_table[] = {
    {.name = "zeros", .kind = FILL_ZEROS},
    {.name = "uniform",
     .kind = FILL_UNIFORM,
     .options = {[FILL_LOW] = {"low", false, 0, 0},
                 [FILL_HIGH] = {"high", false, 1, 0},
                 [FILL_PAIRS] = {"pairs", false, 0, 0}}},
    {.name = "normal",
     .kind = FILL_NORMAL,
     .options =
         {[FILL_MEAN] = {"mean", false, 0, 0}, [FILL_SD] = {"sd", false, 1, 0}, [FILL_PAIRS] = {"pairs", false, 0, 0}}},
    {.name = "ring", .kind = FILL_RING, .options = {[FILL_STRIDE] = {"stride", true, 0, 0}}},
    {.name = "permutation", .kind = FILL_PERMUTATION},
    {.name = "index",
     .kind = FILL_INDEX,
     .options = {[FILL_BOUND] = {"bound", true, 0, 0},
                 [FILL_S] = {"s", false, 1, BIT(DIST_ZIPF)},
                 [FILL_BLOCK] = {"block", true, 0, BIT(DIST_BLOCKED)}},
     .dists = BIT(DIST_UNIFORM) | BIT(DIST_ZIPF) | BIT(DIST_BLOCKED) | BIT(DIST_PERMUTATION),
     .dist = DIST_UNIFORM},
    {.name = "offsets",
     .kind = FILL_OFFSETS,
     .options = {[FILL_TOTAL] = {"total", true, 0, 0}, [FILL_SKEW] = {"skew", false, 1, BIT(DIST_SKEWED)}},
     .dists = BIT(DIST_UNIFORM) | BIT(DIST_EQUAL) | BIT(DIST_SKEWED),
     .dist = DIST_EQUAL},
    {.name = "values", .kind = FILL_VALUES},
    {.name = "file", .kind = FILL_FILE},
};

static const char *const dist_names[] = {
    [DIST_UNIFORM] = "uniform", [DIST_ZIPF] = "zipf",     [DIST_BLOCKED] = "blocked",
    [DIST_EQUAL] = "equal",     [DIST_SKEWED] = "skewed", [DIST_PERMUTATION] = "permutation",
};

const struct generator *generator_of(enum fill_kind kind)
{
    for (size_t i = 0; i < COUNT_OF(generator_table); i++)
        if (generator_table[i].kind == kind)
            return &generator_table[i];
    return NULL;
}

/* Lists the distributions that a generator supports; returns their number. */
static size_t dists_of(const char *names[static COUNT_OF(dist_names)],
                       enum fill_dist dists[static COUNT_OF(dist_names)], const struct generator *generator)
{
    size_t count = 0;
    for (enum fill_dist dist = DIST_UNIFORM; dist < COUNT_OF(dist_names); dist++) {
        if (!(generator->dists & BIT(dist)))
            continue;
        names[count] = dist_names[dist];
        dists[count++] = dist;
    }
    return count;
}

enum status generator_dist(enum fill_dist *dist, const struct generator *generator, const char *name, struct err *err)
{
    const char *names[COUNT_OF(dist_names)];
    enum fill_dist dists[COUNT_OF(dist_names)];
    const size_t count = dists_of(names, dists, generator);
    for (size_t k = 0; k < count; k++) {
        if (strcmp(names[k], name) == 0) {
            *dist = dists[k];
            return STATUS_OK;
        }
    }
    err_set(err, ERR_CONFIG, "unknown dist '%s'; known are ", name);
    for (size_t k = 0; k < count; k++)
        err_set(err, ERR_CONFIG, "%s%s%s", err->text, k ? ", " : "", names[k]);
    return ERR_CONFIG;
}

/* ---- fills ---- */

/* Must be read before the options, because it decides which options are allowed. */
static enum status into_dist(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    struct fill_spec *fill = field;
    const bool *varies = in->row->more;
    if (*varies && cJSON_IsString(at) && strchr(at->valuestring, '{'))
        return into_template(&fill->dist_text, at, in, err);
    const char *names[COUNT_OF(dist_names)];
    enum fill_dist dists[COUNT_OF(dist_names)];
    const size_t count = dists_of(names, dists, generator_of(fill->kind));
    size_t choice = 0;
    const enum status status = json_choose(&choice, at, "dist", names, count, err);
    if (!status)
        fill->dist = dists[choice];
    return status;
}

enum status into_path(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    const struct manifest_parser *parser = in->context;
    const enum status status = json_check_type(at, cJSON_String, err);
    if (!status && !*at->valuestring)
        return json_fail(at, err, "is empty");
    if (!status)
        *(const char **)field = path_join(in->arena, parser->manifest->dir, at->valuestring);
    return status;
}

static enum status check_options(const struct fill_spec *fill, const cJSON *object, struct err *err)
{
    const struct generator *generator = generator_of(fill->kind);
    for (size_t i = 0; i < FILL_MAX_OPTIONS && generator->options[i].name; i++) {
        const struct fill_option *option = &generator->options[i];
        const bool belongs = !option->dists || fill->dist_text || option->dists & BIT(fill->dist);
        const cJSON *member = json_member(object, option->name);
        if (member && !belongs)
            return json_fail_key(member, err, "does not belong to dist '%s'", dist_names[fill->dist]);
        if (!member && belongs && option->required)
            return json_fail(object, err, "the key '%s' is missing", option->name);
    }
    return STATUS_OK;
}

#define MAX_FILL_ROWS (FILL_MAX_OPTIONS + 8)
#define RECORD_STRUCT struct fill_spec

/* Parses a generator's keys: the options of its row and those specific to its kind; with `tolerances`, also those of an
 * expectation. */
static enum status generator_parse(struct fill_spec *out, const cJSON *object, bool tolerances, struct record_in *in,
                                   struct err *err)
{
    const bool is_buffer = !tolerances;
    const char *generators[COUNT_OF(generator_table)];
    size_t choice = 0;
    for (size_t i = 0; i < COUNT_OF(generator_table); i++)
        generators[i] = generator_table[i].name;
    const cJSON *at = json_member(object, "gen");
    if (!at)
        return json_fail(object, err, "the key 'gen' is missing");
    if (json_choose(&choice, at, "generator", generators, COUNT_OF(generators), err))
        return err->status;
    const struct generator *generator = &generator_table[choice];
    const struct record_field dist = {.key = "dist", .kind = RECORD_HOOK, .get = into_dist, .more = &is_buffer};
    struct record_field rows[MAX_FILL_ROWS] = {FIELD_COMMENT("gen"), FIELD_U64("seed", seed)};
    size_t count = 2;
    if (generator->dists)
        rows[count++] = dist;
    for (size_t i = 0; i < FILL_MAX_OPTIONS && generator->options[i].name; i++) {
        rows[count] = (struct record_field)FIELD_READ(generator->options[i].name, options, into_expr);
        rows[count++].offset += i * sizeof(out->options[0]);
    }
    if (generator->kind == FILL_VALUES)
        rows[count++] = (struct record_field)FIELD_LIST("values", values, value_count, record_number,
                                                        RECORD_REQUIRED | RECORD_FILLED);
    if (generator->kind == FILL_FILE)
        rows[count++] = (struct record_field)FIELD_READ("path", path, into_path, RECORD_REQUIRED);
    if (tolerances) {
        rows[count++] = (struct record_field)FIELD_COMMENT("abs");
        rows[count++] = (struct record_field)FIELD_COMMENT("rel");
    }
    const struct record record = {.fields = rows, .count = count};
    struct fill_spec fill = {.kind = generator->kind, .dist = generator->dist};
    if (record_parse(&fill, &record, object, in, err) || check_options(&fill, object, err))
        return err->status;
    *out = fill;
    return STATUS_OK;
}
#undef RECORD_STRUCT

enum status into_generator(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    return generator_parse(field, at, true, in, err);
}

enum status into_fill(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    struct fill_spec fill = {.kind = FILL_EXPR};
    if (cJSON_IsObject(at))
        return generator_parse(field, at, false, in, err);
    if (!cJSON_IsString(at) && !cJSON_IsNumber(at))
        return json_fail(at, err, "must be an expression in i or {\"gen\": ...}, not %s", json_type_name(at));
    if (read_expr(&fill.expr, at, SCOPE_INDEX, in, err))
        return err->status;
    *(struct fill_spec *)field = fill;
    return STATUS_OK;
}

/* ---- buffers ---- */

static const char *const role_names[] = {
    [ROLE_IN] = "in", [ROLE_OUT] = "out", [ROLE_INOUT] = "inout", [ROLE_TEMP] = "temp"};
static const char *const reset_names[] = {[RESET_NONE] = "none", [RESET_ZERO] = "zero", [RESET_FILL] = "fill"};
const char *const buffer_space_names[BUFFER_SPACES] = {
    [BUFFER_DEVICE] = "device",
    [BUFFER_PINNED] = "pinned",
    [BUFFER_PAGEABLE] = "pageable",
    [BUFFER_MANAGED] = "managed",
    [BUFFER_FINE] = "fine",
    [BUFFER_PEER] = "peer",
    [BUFFER_PINNED_COARSE] = "pinned_coarse",
    [BUFFER_PINNED_FAR] = "pinned_far",
};

#define RECORD_STRUCT struct manifest_buffer
static const struct record_field buffer_rows[] = {
    FIELD_READ("type", type, into_type, RECORD_REQUIRED),
    FIELD_READ("count", count, into_expr, RECORD_REQUIRED),
    FIELD_ENUM("role", role, role_names, RECORD_REQUIRED),
    FIELD_ENUM("reset", reset, reset_names),
    FIELD_READ("space", space, into_template),
    FIELD_READ("device", device, into_expr),
    FIELD_READ("devices", devices, into_expr),
    FIELD_BOOL("varies", varies),
    FIELD_READ("align_offset", align_offset, into_expr),
    FIELD_READ("fill", fill, into_fill),
};
static const struct record buffer_record = {RECORD_TABLE(buffer_rows)};
#undef RECORD_STRUCT

/* A literal word is checked here; a template, when its case is resolved. */
static enum status check_space(const struct manifest_buffer *buffer, struct err *err)
{
    const cJSON *at = json_member(buffer->at, "space");
    size_t space = BUFFER_DEVICE;
    if (at && strchr(at->valuestring, '{'))
        return STATUS_OK;
    const enum status status =
        at ? json_choose(&space, at, "space", buffer_space_names, BUFFER_SPACES, err) : STATUS_OK;
    if (!status && buffer->device && space != BUFFER_PEER)
        return json_fail_key(json_member(buffer->at, "device"), err,
                             "only memory of the space 'peer' names its device");
    if (!status && buffer->devices && space != BUFFER_PEER)
        return json_fail_key(json_member(buffer->at, "devices"), err,
                             "only memory of the space 'peer' has parts on several devices");
    return status;
}

static enum status buffer_parse(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    struct manifest_buffer *buffer = field;
    *buffer = (struct manifest_buffer){.name = at->string, .at = at};
    if (record_parse(buffer, &buffer_record, at, in, err) || check_space(buffer, err))
        return err->status;
    /* Each part is filled on its own, so contents that are constructed as a whole cannot be split. */
    static const bool cuts[] = {[FILL_NONE] = true,    [FILL_ZEROS] = true,  [FILL_EXPR] = true,
                                [FILL_UNIFORM] = true, [FILL_NORMAL] = true, [FILL_VALUES] = true};
    const cJSON *devices = json_member(at, "devices");
    if (buffer->devices && buffer->device)
        return json_fail_key(devices, err,
                             "stands beside \"device\": a buffer is on one device, or has parts on several");
    if (buffer->devices && !(buffer->fill.kind < COUNT_OF(cuts) && cuts[buffer->fill.kind]))
        return json_fail_key(devices, err, "a fill of this kind is one whole: it has no parts on several devices");
    if (buffer->reset == RESET_FILL && !json_member(at, "fill"))
        return json_fail(json_member(at, "reset"), err, "there is no fill to reset to");
    return STATUS_OK;
}

void buffers_announce(struct manifest_parser *parser, const cJSON *root)
{
    const cJSON *buffers = json_member(root, "buffers");
    const char **names = NULL;
    size_t count = 0;
    for (const cJSON *member = cJSON_IsObject(buffers) ? buffers->child : NULL; member; member = member->next)
        if (!json_is_comment(member))
            ARENA_PUSH(parser->arena, names, count, member->string);
    parser->buffer_names = names;
    parser->names.arrays = names;
    parser->names.array_count = count;
}

enum status check_elements(const struct manifest_parser *parser, const struct expr *expr, const cJSON *at, size_t below,
                           struct err *err)
{
    const struct manifest *manifest = parser->manifest;
    for (size_t k = 0; expr && k < manifest->buffer_count; k++) {
        if (!expr_uses_array(expr, k))
            continue;
        if (k >= below)
            return json_fail(at, err, "reads elements of '%s', which must stand before this buffer",
                             manifest->buffers[k].name);
        if (manifest->buffers[k].fill.kind == FILL_NONE)
            return json_fail(at, err, "reads elements of '%s', which has no fill", manifest->buffers[k].name);
        if (manifest->buffers[k].devices)
            return json_fail(at, err, "reads elements of '%s', which has parts on several devices",
                             manifest->buffers[k].name);
    }
    return STATUS_OK;
}

/* Bounds the number of fills that depend on each other, and thereby the stack depth. */
static enum status check_reads(const struct manifest_parser *parser, struct err *err)
{
    const struct manifest *manifest = parser->manifest;
    unsigned *depth = arena_array(parser->arena, manifest->buffer_count, sizeof(*depth));
    for (size_t k = 0; k < manifest->buffer_count; k++) {
        const struct manifest_buffer *buffer = &manifest->buffers[k];
        const cJSON *at = json_member(buffer->at, "fill");
        if (check_elements(parser, buffer->fill.expr, at, k, err))
            return err->status;
        for (size_t j = 0; buffer->fill.expr && j < k; j++)
            if (expr_uses_array(buffer->fill.expr, j) && depth[j] + 1 > depth[k])
                depth[k] = depth[j] + 1;
        if (depth[k] > MANIFEST_MAX_NESTING)
            return json_fail(at, err, "more than %d fills that read each other's elements", MANIFEST_MAX_NESTING);
    }
    return STATUS_OK;
}

#define RECORD_STRUCT struct manifest
enum status into_buffers(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    static const struct record element = {
        .size = sizeof(struct manifest_buffer), .get = buffer_parse, .named = "buffer"};
    static const struct record_field buffers = FIELD_MAP("buffers", buffers, buffer_count, element);
    const enum status status = record_parse_row(field, &buffers, at, in, err);
    return status ? status : check_reads(in->context, err);
}
#undef RECORD_STRUCT

int find_buffer(const struct manifest *manifest, const char *name)
{
    for (size_t i = 0; i < manifest->buffer_count; i++)
        if (strcmp(name, manifest->buffers[i].name) == 0)
            return (int)i;
    return -1;
}

enum status into_buffer(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    const struct manifest_parser *parser = in->context;
    if (!cJSON_IsString(at))
        return json_fail_type(at, "the name of a buffer", err);
    const int found = find_buffer(parser->manifest, at->valuestring);
    if (found < 0)
        return json_fail_unknown(at, err, "unknown buffer", at->valuestring, parser->buffer_names,
                                 parser->manifest->buffer_count);
    *(int *)field = found;
    return STATUS_OK;
}
