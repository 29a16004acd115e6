/* SPDX-License-Identifier: MIT
 *
 * Buffers, and what fills them.
 */
#include <string.h>

#include "manifest_internal.h"
#include "rooftile/file.h"
#include "rooftile/text.h"

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

/* The distributions that a generator knows; returns how many. */
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
    struct text known = {0};
    for (size_t k = 0; k < count; k++)
        text_addf(&known, "%s%s", k ? ", " : "", names[k]);
    const enum status status = err_set(err, ERR_CONFIG, "unknown dist '%s'; known are %s", name, known.data);
    text_release(&known);
    return status;
}

/* ---- fills ---- */

static enum status find_generator(const struct generator **out, const struct json *object, struct err *err)
{
    const char *names[COUNT_OF(generator_table)];
    const struct json *at = json_member(object, "gen");
    size_t choice = 0;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        names[i] = generator_table[i].name;
    const enum status status = at ? json_choose(&choice, at, "generator", names, COUNT_OF(names), err)
                                  : json_fail(object, err, "the key 'gen' is missing");
    *out = &generator_table[choice];
    return status;
}

/* Comes before the options: which of them belong depends on it. */
static enum status into_dist(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                             struct err *err)
{
    struct fill_spec *fill = field;
    const bool *varies = key->more;
    if (*varies && at->type == JSON_STRING && strchr(at->string, '{'))
        return into_template(&fill->dist_text, at, key, into, err);
    const char *names[COUNT_OF(dist_names)];
    enum fill_dist dists[COUNT_OF(dist_names)];
    const size_t count = dists_of(names, dists, generator_of(fill->kind));
    size_t choice = 0;
    const enum status status = json_choose(&choice, at, "dist", names, count, err);
    if (!status)
        fill->dist = dists[choice];
    return status;
}

static enum status into_path(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                             struct err *err)
{
    const struct manifest_parser *parser = into->context;
    const char *path = NULL;
    const enum status status = json_into_text(&path, at, key, into, err);
    if (!status)
        *(const char **)field = path_join(into->arena, parser->manifest->dir, path);
    return status;
}

static enum status check_options(const struct fill_spec *fill, const struct json *object, struct err *err)
{
    const struct generator *generator = generator_of(fill->kind);
    for (size_t i = 0; i < FILL_MAX_OPTIONS && generator->options[i].name; i++) {
        const struct fill_option *option = &generator->options[i];
        const bool belongs = !option->dists || fill->dist_text || option->dists & BIT(fill->dist);
        const struct json *member = json_member(object, option->name);
        if (member && !belongs)
            return json_fail_key(member, err, "does not belong to dist '%s'", dist_names[fill->dist]);
        if (!member && belongs && option->required)
            return json_fail(object, err, "the key '%s' is missing", option->name);
    }
    return STATUS_OK;
}

#define MAX_FILL_KEYS (FILL_MAX_OPTIONS + 8)

/* A generator's keys: its row's options and what its kind takes besides; `tolerances`: those of an expectation too. */
static enum status generator_parse(struct fill_spec *out, const struct json *object, bool tolerances,
                                   struct json_into *into, struct err *err)
{
    const bool is_buffer = !tolerances;
    const struct generator *generator = NULL;
    enum status status = find_generator(&generator, object, err);
    if (status)
        return status;
    struct json_key keys[MAX_FILL_KEYS] = {{"gen", .read = NULL},
                                           {"seed", json_into_u64, .field = offsetof(struct fill_spec, seed)}};
    size_t count = 2;
    if (generator->dists)
        keys[count++] = (struct json_key){"dist", into_dist, 0, .more = &is_buffer};
    for (size_t i = 0; i < FILL_MAX_OPTIONS && generator->options[i].name; i++)
        keys[count++] = (struct json_key){generator->options[i].name, into_expr,
                                          .field = offsetof(struct fill_spec, options) + i * sizeof(out->options[0])};
    if (generator->kind == FILL_VALUES)
        keys[count++] = (struct json_key){"values", into_range, offsetof(struct fill_spec, values), JSON_REQUIRED,
                                          .count = offsetof(struct fill_spec, value_count)};
    if (generator->kind == FILL_FILE)
        keys[count++] = (struct json_key){"path", into_path, offsetof(struct fill_spec, path), .need = JSON_REQUIRED};
    if (tolerances) {
        keys[count++] = (struct json_key){"abs", .read = NULL};
        keys[count++] = (struct json_key){"rel", .read = NULL};
    }
    struct fill_spec fill = {.kind = generator->kind, .dist = generator->dist};
    status = json_read_table(&fill, object, keys, count, into, err);
    if (!status)
        status = check_options(&fill, object, err);
    if (!status)
        *out = fill;
    return status;
}

enum status into_generator(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                           struct err *err)
{
    (void)key;
    return generator_parse(field, at, true, into, err);
}

enum status into_fill(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                      struct err *err)
{
    static const struct json_key in_index = {.more = &scope_index};
    struct fill_spec fill = {.kind = FILL_EXPR};
    (void)key;
    if (at->type == JSON_OBJECT)
        return generator_parse(field, at, false, into, err);
    if (at->type != JSON_STRING && at->type != JSON_NUMBER)
        return json_fail(at, err, "must be an expression in i or {\"gen\": ...}, not %s", json_type_name(at->type));
    const enum status status = into_expr(&fill.expr, at, &in_index, into, err);
    if (!status)
        *(struct fill_spec *)field = fill;
    return status;
}

enum status into_range(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                       struct err *err)
{
    if (at->type != JSON_ARRAY)
        return json_fail(at, err, "must be an array, not %s", json_type_name(at->type));
    if (at->count == 0)
        return json_fail(at, err, "the list is empty");
    double *numbers = arena_array(into->arena, at->count, sizeof(*numbers));
    size_t filled = 0;
    for (const struct json *item = at->first; item; item = item->next) {
        const enum status status = json_into_number(&numbers[filled++], item, key, into, err);
        if (status)
            return status;
    }
    *(const double **)field = numbers;
    *(size_t *)((char *)into->object + key->count) = filled;
    return STATUS_OK;
}

/* ---- buffers ---- */

static const char *const role_names[] = {
    [ROLE_IN] = "in", [ROLE_OUT] = "out", [ROLE_INOUT] = "inout", [ROLE_TEMP] = "temp", NULL};
static const char *const reset_names[] = {[RESET_NONE] = "none", [RESET_ZERO] = "zero", [RESET_FILL] = "fill", NULL};
const char *const buffer_space_names[BUFFER_SPACES] = {
    [BUFFER_DEVICE] = "device",
    [BUFFER_PINNED] = "pinned",
    [BUFFER_PAGEABLE] = "pageable",
    [BUFFER_MANAGED] = "managed",
    [BUFFER_FINE] = "fine",
    [BUFFER_PEER] = "peer",
    [BUFFER_PINNED_COARSE] = "pinned_coarse",
};

#define FIELD(name) offsetof(struct manifest_buffer, name)
static const struct json_key buffer_keys[] = {
    {"type", into_type, FIELD(type), .need = JSON_REQUIRED},
    {"count", into_expr, FIELD(count), .need = JSON_REQUIRED},
    {"role", json_into_choice, FIELD(role), .need = JSON_REQUIRED, .more = role_names},
    {"reset", json_into_choice, FIELD(reset), .more = reset_names},
    {"space", into_template, .field = FIELD(space)},
    {"device", into_expr, .field = FIELD(device)},
    {"align_offset", into_expr, .field = FIELD(align_offset)},
    {"fill", into_fill, .field = FIELD(fill)},
};
#undef FIELD

/* A word is checked here; what has placeholders, when its case is bound. */
static enum status check_space(const struct manifest_buffer *buffer, struct err *err)
{
    const struct json *at = json_member(buffer->at, "space");
    size_t space = BUFFER_DEVICE;
    if (at && strchr(at->string, '{'))
        return STATUS_OK;
    const enum status status =
        at ? json_choose(&space, at, "space", buffer_space_names, BUFFER_SPACES, err) : STATUS_OK;
    if (!status && buffer->device && space != BUFFER_PEER)
        return json_fail_key(json_member(buffer->at, "device"), err,
                             "only memory of the space 'peer' names its device");
    return status;
}

static enum status buffer_parse(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                                struct err *err)
{
    struct manifest_buffer *buffer = field;
    (void)key;
    *buffer = (struct manifest_buffer){.name = at->key, .at = at};
    enum status status = json_read_table(buffer, at, buffer_keys, JSON_KEYS(buffer_keys), into, err);
    if (!status)
        status = check_space(buffer, err);
    if (!status && buffer->reset == RESET_FILL && !json_member(at, "fill"))
        status = json_fail(json_member(at, "reset"), err, "there is no fill to reset to");
    return status;
}

enum status buffers_parse(struct manifest_parser *parser, const struct json *root, struct err *err)
{
    static const struct json_elements elements = {sizeof(struct manifest_buffer), buffer_parse, "buffer"};
    static const struct json_key key = {"buffers", json_into_members, offsetof(struct manifest, buffers),
                                        .count = offsetof(struct manifest, buffer_count), .more = &elements};
    struct manifest *manifest = parser->manifest;
    const enum status status = read_member(parser, root, &key, err);
    const char **names = arena_array(parser->arena, manifest->buffer_count, sizeof(*names));
    for (size_t k = 0; k < manifest->buffer_count; k++)
        names[k] = manifest->buffers[k].name;
    parser->buffer_names = names;
    return status;
}

int find_buffer(const struct manifest *manifest, const char *name)
{
    for (size_t i = 0; i < manifest->buffer_count; i++)
        if (strcmp(name, manifest->buffers[i].name) == 0)
            return (int)i;
    return -1;
}

enum status into_buffer(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                        struct err *err)
{
    const struct manifest_parser *parser = into->context;
    (void)key;
    if (at->type != JSON_STRING)
        return json_fail(at, err, "must be the name of a buffer, not %s", json_type_name(at->type));
    const int found = find_buffer(parser->manifest, at->string);
    if (found < 0)
        return json_fail_unknown(at, err, "unknown buffer", at->string, parser->buffer_names,
                                 parser->manifest->buffer_count);
    *(int *)field = found;
    return STATUS_OK;
}
