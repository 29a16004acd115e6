/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "manifest_internal.h"

static bool is_output(const struct manifest_buffer *buffer)
{
    return buffer->role == ROLE_OUT || buffer->role == ROLE_INOUT;
}

static enum status metric_parse(struct manifest_metric *metric, const struct manifest_parser *parser,
                                const struct json *object, struct err *err)
{
    static const char *const keys[] = {"buffer", "reduce", "expr", "unit", "expect"};
    static const char *const reductions[] = {
        [REDUCE_FIRST] = "first", [REDUCE_MIN] = "min",   [REDUCE_MAX] = "max",
        [REDUCE_SUM] = "sum",     [REDUCE_MEAN] = "mean", [REDUCE_MEDIAN] = "median",
    };
    int reduce = REDUCE_FIRST;
    *metric = (struct manifest_metric){.name = object->key, .unit = ""};
    enum status status = json_check_keys(object, keys, COUNT_OF(keys), err);
    if (!status)
        status = get_buffer(&metric->buffer, parser, object, "buffer", err);
    if (!status && parser->manifest->buffers[metric->buffer].role == ROLE_IN)
        status = json_fail(json_member(object, "buffer"), err, "nothing writes this buffer: its role is in");
    if (!status)
        status = get_choice(&reduce, object, "reduce", JSON_OPTIONAL, reductions, COUNT_OF(reductions), err);
    if (!status)
        status = get_expr(&metric->expr, parser, object, "expr", JSON_OPTIONAL, SCOPE_METRIC, err);
    if (!status)
        status = json_get_string(&metric->unit, object, "unit", JSON_OPTIONAL, err);
    if (!status)
        status = get_expr(&metric->expect, parser, object, "expect", JSON_OPTIONAL, SCOPE_PLAIN, err);
    metric->reduce = (enum metric_reduce)reduce;
    return status;
}

enum status metrics_parse(struct manifest_parser *parser, const struct json *root, struct err *err)
{
    const struct json *object = NULL;
    enum status status = json_get_object(&object, root, "metrics", JSON_OPTIONAL, err);
    if (status || !object)
        return status;
    status = check_entry_names(object, "metric", err);
    struct manifest_metric *metrics = arena_array(parser->arena, entry_count(object), sizeof(*metrics));
    size_t count = 0;
    for (const struct json *member = entry_first(object); member && !status; member = entry_next(member))
        status = metric_parse(&metrics[count++], parser, member, err);
    parser->manifest->metrics = metrics;
    parser->manifest->metric_count = count;
    return status;
}

static enum status tolerances_parse(const struct expr **abs, const struct expr **rel,
                                    const struct manifest_parser *parser, const struct json *object, struct err *err)
{
    const enum status status = get_expr(abs, parser, object, "abs", JSON_OPTIONAL, SCOPE_PLAIN, err);
    return status ? status : get_expr(rel, parser, object, "rel", JSON_OPTIONAL, SCOPE_PLAIN, err);
}

/* "expression", { "expr": ..., "abs": ..., "rel": ... } or { "gen": ..., "abs": ..., "rel": ... } */
static enum status want_parse(struct expectation *expect, const struct manifest_parser *parser, const struct json *at,
                              struct err *err)
{
    static const char *const expr_keys[] = {"expr", "abs", "rel"};
    static const char *const tolerance_keys[] = {"abs", "rel"};
    if (at->type != JSON_OBJECT)
        return fill_parse(&expect->want, parser, at, err);
    enum status status;
    if (json_member(at, "gen")) {
        status = generator_parse(&expect->want, parser, at, tolerance_keys, COUNT_OF(tolerance_keys), err);
    } else {
        expect->want.kind = FILL_EXPR;
        status = json_check_keys(at, expr_keys, COUNT_OF(expr_keys), err);
        if (!status)
            status = get_expr(&expect->want.expr, parser, at, "expr", JSON_REQUIRED, SCOPE_INDEX, err);
    }
    return status ? status : tolerances_parse(&expect->abs, &expect->rel, parser, at, err);
}

static enum status expect_parse(struct expectation *expect, const struct manifest_parser *parser,
                                const struct json *member, struct err *err)
{
    const struct manifest *manifest = parser->manifest;
    *expect = (struct expectation){.buffer = find_buffer(manifest, member->key)};
    if (expect->buffer < 0)
        return fail_unknown_key(member, err, "unknown buffer", parser->buffer_names, manifest->buffer_count);
    if (!is_output(&manifest->buffers[expect->buffer]))
        return json_fail_key(member, err, "buffer '%s' is no output: its role is neither out nor inout", member->key);
    return want_parse(expect, parser, member, err);
}

static enum status expects_parse(struct manifest_check *check, const struct manifest_parser *parser,
                                 const struct json *object, struct err *err)
{
    const struct json *members = NULL;
    enum status status = json_get_object(&members, object, "expect", JSON_OPTIONAL, err);
    if (status || !members)
        return status;
    struct expectation *expect = arena_array(parser->arena, entry_count(members), sizeof(*expect));
    size_t count = 0;
    for (const struct json *member = entry_first(members); member && !status; member = entry_next(member))
        status = expect_parse(&expect[count++], parser, member, err);
    check->expect = expect;
    check->expect_count = count;
    return status;
}

static enum status map_parse(struct oracle_spec *oracle, const struct manifest_parser *parser,
                             const struct json *object, struct err *err)
{
    const struct json *members = NULL;
    enum status status = json_get_object(&members, object, "buffers", JSON_OPTIONAL, err);
    if (status || !members)
        return status;
    struct oracle_map *map = arena_array(parser->arena, entry_count(members), sizeof(*map));
    size_t count = 0;
    for (const struct json *member = entry_first(members); member && !status; member = entry_next(member)) {
        map[count].theirs = member->key;
        status = get_buffer_value(&map[count++].ours, parser, member, err);
    }
    oracle->map = map;
    oracle->map_count = count;
    return status;
}

/* Parameters that are templates: their text has a placeholder. */
static enum status templates_parse(struct oracle_spec *oracle, const struct manifest_parser *parser, struct err *err)
{
    const struct text_template **templates = arena_array(parser->arena, oracle->param_count + 1, sizeof(*templates));
    enum status status = STATUS_OK;
    for (size_t k = 0; k < oracle->param_count && !status; k++)
        if (oracle->params[k].at->type == JSON_STRING && strchr(oracle->params[k].at->string, '{'))
            status = get_template_value(&templates[k], parser, oracle->params[k].at, err);
    oracle->templates = templates;
    return status;
}

static enum status oracle_parse(struct oracle_spec *oracle, const struct manifest_parser *parser,
                                const struct json *object, struct err *err)
{
    static const char *const keys[] = {"kernel", "output", "samples", "abs", "rel", "params", "buffers"};
    const uint64_t default_samples = 256;
    oracle->samples = default_samples;
    enum status status = json_check_keys(object, keys, COUNT_OF(keys), err);
    if (!status)
        status = json_get_string(&oracle->kernel, object, "kernel", JSON_REQUIRED, err);
    if (!status && strcmp(oracle->kernel, parser->manifest->name) == 0)
        status = json_fail(json_member(object, "kernel"), err, "a kernel cannot be its own oracle");
    if (!status)
        status = get_buffer(&oracle->output, parser, object, "output", err);
    if (!status && !is_output(&parser->manifest->buffers[oracle->output]))
        status = json_fail(json_member(object, "output"), err, "is no output: its role is neither out nor inout");
    if (!status)
        status = json_get_u64(&oracle->samples, object, "samples", JSON_OPTIONAL, err);
    if (!status && oracle->samples == 0)
        status = json_fail(json_member(object, "samples"), err, "must be at least 1");
    if (!status)
        status = tolerances_parse(&oracle->abs, &oracle->rel, parser, object, err);
    if (!status)
        status = get_overrides(&oracle->params, &oracle->param_count, parser, object, "params", true, err);
    if (!status)
        status = templates_parse(oracle, parser, err);
    return status ? status : map_parse(oracle, parser, object, err);
}

enum status check_parse(struct manifest_parser *parser, const struct json *root, struct err *err)
{
    static const char *const keys[] = {"params", "expect", "oracle"};
    struct manifest_check *check = &parser->manifest->check;
    const struct json *object = NULL;
    const struct json *oracle = NULL;
    enum status status = json_get_object(&object, root, "check", JSON_OPTIONAL, err);
    if (status || !object)
        return status;
    status = json_check_keys(object, keys, COUNT_OF(keys), err);
    if (!status)
        status = get_overrides(&check->params, &check->param_count, parser, object, "params", false, err);
    if (!status)
        status = expects_parse(check, parser, object, err);
    if (!status)
        status = json_get_object(&oracle, object, "oracle", JSON_OPTIONAL, err);
    return status || !oracle ? status : oracle_parse(&check->oracle, parser, oracle, err);
}
