/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "manifest_internal.h"
#include "rooftile/file.h"
#include "rooftile/text.h"

#define BIT(dist) (1u << (dist))

static const struct generator generator_table[] = {
    {.name = "zeros", .kind = FILL_ZEROS},
    {.name = "uniform",
     .kind = FILL_UNIFORM,
     .options = {[FILL_LOW] = {"low", false, 0, 0}, [FILL_HIGH] = {"high", false, 1, 0}, [FILL_PAIRS] = {"pairs", false, 0, 0}}},
    {.name = "normal",
     .kind = FILL_NORMAL,
     .options = {[FILL_MEAN] = {"mean", false, 0, 0}, [FILL_SD] = {"sd", false, 1, 0}, [FILL_PAIRS] = {"pairs", false, 0, 0}}},
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

static enum status find_generator(const struct generator **out, const struct json *object, struct err *err)
{
    const char *names[COUNT_OF(generator_table)];
    for (size_t i = 0; i < COUNT_OF(names); i++)
        names[i] = generator_table[i].name;
    const char *word = NULL;
    const enum status status = json_get_string(&word, object, "gen", JSON_REQUIRED, err);
    if (status)
        return status;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (strcmp(word, names[i]) == 0) {
            *out = &generator_table[i];
            return STATUS_OK;
        }
    }
    return fail_unknown(json_member(object, "gen"), err, "unknown generator", word, names, COUNT_OF(names));
}

#define MAX_OTHER_KEYS 4

static enum status check_keys(const struct generator *generator, const struct json *object,
                              const char *const *other_keys, size_t other_count, struct err *err)
{
    const char *keys[FILL_MAX_OPTIONS + MAX_OTHER_KEYS + 4] = {"gen", "seed"};
    size_t count = 2;
    for (size_t i = 0; i < FILL_MAX_OPTIONS && generator->options[i].name; i++)
        keys[count++] = generator->options[i].name;
    if (generator->dists)
        keys[count++] = "dist";
    if (generator->kind == FILL_VALUES)
        keys[count++] = "values";
    if (generator->kind == FILL_FILE)
        keys[count++] = "path";
    for (size_t i = 0; i < other_count; i++)
        keys[count++] = other_keys[i];
    return json_check_keys(object, keys, count, err);
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

static enum status dist_parse(struct fill_spec *fill, const struct manifest_parser *parser,
                              const struct generator *generator, const struct json *object, bool is_buffer,
                              struct err *err)
{
    if (!generator->dists)
        return STATUS_OK;
    const struct json *at = json_member(object, "dist");
    fill->dist = generator->dist;
    if (is_buffer && at && at->type == JSON_STRING && strchr(at->string, '{'))
        return get_template(&fill->dist_text, parser, object, "dist", JSON_REQUIRED, err);
    const char *names[COUNT_OF(dist_names)];
    enum fill_dist dists[COUNT_OF(dist_names)];
    const size_t count = dists_of(names, dists, generator);
    int choice = -1;
    const enum status status = get_choice(&choice, object, "dist", JSON_OPTIONAL, names, count, err);
    if (!status && choice >= 0)
        fill->dist = dists[choice];
    return status;
}

static enum status options_parse(struct fill_spec *fill, const struct manifest_parser *parser,
                                 const struct generator *generator, const struct json *object, struct err *err)
{
    for (size_t i = 0; i < FILL_MAX_OPTIONS && generator->options[i].name; i++) {
        const struct fill_option *option = &generator->options[i];
        const bool belongs = !option->dists || fill->dist_text || option->dists & BIT(fill->dist);
        const struct json *member = json_member(object, option->name);
        if (member && !belongs)
            return json_fail_key(member, err, "does not belong to dist '%s'", dist_names[fill->dist]);
        const enum json_need need = belongs && option->required ? JSON_REQUIRED : JSON_OPTIONAL;
        const enum status status = get_expr(&fill->options[i], parser, object, option->name, need, SCOPE_PLAIN, err);
        if (status)
            return status;
    }
    return STATUS_OK;
}

static enum status data_parse(struct fill_spec *fill, const struct manifest_parser *parser, const struct json *object,
                              struct err *err)
{
    if (fill->kind == FILL_VALUES) {
        const struct json *values = NULL;
        const enum status status = json_get_array(&values, object, "values", JSON_REQUIRED, err);
        return status ? status : get_numbers(&fill->values, &fill->value_count, values, parser->arena, err);
    }
    if (fill->kind == FILL_FILE) {
        const char *path = NULL;
        const enum status status = json_get_string(&path, object, "path", JSON_REQUIRED, err);
        if (status)
            return status;
        if (!*path)
            return json_fail(json_member(object, "path"), err, "is empty");
        fill->path = path_join(parser->arena, parser->manifest->dir, path);
    }
    return STATUS_OK;
}

enum status generator_parse(struct fill_spec *out, const struct manifest_parser *parser, const struct json *object,
                            const char *const *other_keys, size_t other_count, struct err *err)
{
    const struct generator *generator = NULL;
    enum status status = find_generator(&generator, object, err);
    if (!status)
        status = check_keys(generator, object, other_keys, other_count, err);
    if (status)
        return status;
    struct fill_spec fill = {.kind = generator->kind};
    status = dist_parse(&fill, parser, generator, object, other_count == 0, err);
    if (!status)
        status = options_parse(&fill, parser, generator, object, err);
    if (!status)
        status = data_parse(&fill, parser, object, err);
    if (!status)
        status = json_get_u64(&fill.seed, object, "seed", JSON_OPTIONAL, err);
    if (!status)
        *out = fill;
    return status;
}

enum status fill_parse(struct fill_spec *out, const struct manifest_parser *parser, const struct json *at,
                       struct err *err)
{
    if (at->type == JSON_OBJECT)
        return generator_parse(out, parser, at, NULL, 0, err);
    if (at->type != JSON_STRING && at->type != JSON_NUMBER)
        return json_fail(at, err, "must be an expression in i or {\"gen\": ...}, not %s", json_type_name(at->type));
    const struct expr *expr;
    const enum status status = get_expr_value(&expr, parser, at, SCOPE_INDEX, err);
    if (!status)
        *out = (struct fill_spec){.kind = FILL_EXPR, .expr = expr};
    return status;
}
