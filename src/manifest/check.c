/* SPDX-License-Identifier: MIT
 *
 * How results are verified: metrics, expectations, references; and what only the whole manifest shows.
 */
#include <string.h>

#include "manifest_internal.h"

static bool is_output(const struct manifest_buffer *buffer)
{
    return buffer->role == ROLE_OUT || buffer->role == ROLE_INOUT;
}

/* ---- metrics ---- */

static const char *const reductions[] = {
    [REDUCE_FIRST] = "first", [REDUCE_MIN] = "min",       [REDUCE_MAX] = "max",       [REDUCE_SUM] = "sum",
    [REDUCE_MEAN] = "mean",   [REDUCE_MEDIAN] = "median", [REDUCE_MEDIAN + 1] = NULL,
};

#define FIELD(name) offsetof(struct manifest_metric, name)
static const struct json_key metric_keys[] = {
    {"buffer", into_buffer, FIELD(buffer), .need = JSON_REQUIRED},
    {"reduce", json_into_choice, FIELD(reduce), .more = reductions},
    {"expr", into_expr, FIELD(expr), .more = &scope_metric},
    {"unit", json_into_string, .field = FIELD(unit)},
    {"expect", into_expr, .field = FIELD(expect)},
};
#undef FIELD

static enum status metric_parse(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                                struct err *err)
{
    const struct manifest_parser *parser = into->context;
    struct manifest_metric *metric = field;
    (void)key;
    *metric = (struct manifest_metric){.name = at->key, .unit = ""};
    const enum status status = json_read_table(metric, at, metric_keys, JSON_KEYS(metric_keys), into, err);
    if (!status && parser->manifest->buffers[metric->buffer].role == ROLE_IN)
        return json_fail(json_member(at, "buffer"), err, "nothing writes this buffer: its role is in");
    return status;
}

enum status metrics_parse(struct manifest_parser *parser, const struct json *root, struct err *err)
{
    static const struct json_elements elements = {sizeof(struct manifest_metric), metric_parse, "metric"};
    static const struct json_key key = {"metrics", json_into_members, offsetof(struct manifest, metrics),
                                        .count = offsetof(struct manifest, metric_count), .more = &elements};
    return read_member(parser, root, &key, err);
}

/* ---- expectations ---- */

#define FIELD(name) offsetof(struct expectation, name)
static const struct json_key tolerance_keys[] = {
    {"abs", into_expr, .field = FIELD(abs)},
    {"rel", into_expr, .field = FIELD(rel)},
    {"expr", into_expr, FIELD(want.expr), .need = JSON_REQUIRED, .more = &scope_index},
};
#undef FIELD

/* "expression", { "expr": ..., "abs": ..., "rel": ... } or { "gen": ..., "abs": ..., "rel": ... } */
static enum status want_parse(struct expectation *expect, const struct json *at, const struct json_key *key,
                              struct json_into *into, struct err *err)
{
    if (at->type != JSON_OBJECT)
        return into_fill(&expect->want, at, key, into, err);
    if (!json_member(at, "gen")) {
        expect->want.kind = FILL_EXPR;
        return json_read_table(expect, at, tolerance_keys, JSON_KEYS(tolerance_keys), into, err);
    }
    enum status status = into_generator(&expect->want, at, key, into, err);
    for (size_t k = 0; k < 2 && !status; k++) {
        const struct json *member = json_member(at, tolerance_keys[k].key);
        if (member)
            status = into_expr((char *)expect + tolerance_keys[k].field, member, &tolerance_keys[k], into, err);
    }
    return status;
}

static enum status expect_parse(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                                struct err *err)
{
    const struct manifest_parser *parser = into->context;
    const struct manifest *manifest = parser->manifest;
    struct expectation *expect = field;
    *expect = (struct expectation){.buffer = find_buffer(manifest, at->key)};
    if (expect->buffer < 0)
        return json_fail_unknown_key(at, err, "unknown buffer", parser->buffer_names, manifest->buffer_count);
    if (!is_output(&manifest->buffers[expect->buffer]))
        return json_fail_key(at, err, "buffer '%s' is no output: its role is neither out nor inout", at->key);
    return want_parse(expect, at, key, into, err);
}

/* ---- references ---- */

static enum status map_parse(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                             struct err *err)
{
    struct reference_map *map = field;
    map->theirs = at->key;
    return into_buffer(&map->ours, at, key, into, err);
}

static const struct json_elements map_elements = {sizeof(struct reference_map), map_parse, NULL};
#define FIELD(name) offsetof(struct reference_spec, name)
static const struct json_key reference_keys[] = {
    {"kernel", json_into_string, FIELD(kernel), .need = JSON_REQUIRED},
    {"output", into_buffer, FIELD(output), .need = JSON_REQUIRED},
    {"samples", json_into_u64, .field = FIELD(samples)},
    {"abs", into_expr, .field = FIELD(abs)},
    {"rel", into_expr, .field = FIELD(rel)},
    {"params", into_foreign, FIELD(params), .count = FIELD(param_count)},
    {"buffers", json_into_members, FIELD(map), .count = FIELD(map_count), .more = &map_elements},
};
#undef FIELD

/* Parameters that are templates: their text has a placeholder. */
static enum status templates_parse(struct reference_spec *reference, struct json_into *into, struct err *err)
{
    const struct text_template **templates = arena_array(into->arena, reference->param_count + 1, sizeof(*templates));
    enum status status = STATUS_OK;
    for (size_t k = 0; k < reference->param_count && !status; k++) {
        const struct json *at = reference->params[k].at;
        if (at->type == JSON_STRING && strchr(at->string, '{'))
            status = into_any_template(&templates[k], at, NULL, into, err);
    }
    reference->templates = templates;
    return status;
}

static enum status into_reference(void *field, const struct json *at, const struct json_key *key,
                                  struct json_into *into, struct err *err)
{
    const struct manifest_parser *parser = into->context;
    struct reference_spec *reference = field;
    (void)key;
    *reference = (struct reference_spec){.samples = 256};
    const enum status status = json_read_table(reference, at, reference_keys, JSON_KEYS(reference_keys), into, err);
    if (status)
        return status;
    if (strcmp(reference->kernel, parser->manifest->name) == 0)
        return json_fail(json_member(at, "kernel"), err, "a kernel cannot be its own reference");
    if (!is_output(&parser->manifest->buffers[reference->output]))
        return json_fail(json_member(at, "output"), err, "is no output: its role is neither out nor inout");
    if (reference->samples == 0)
        return json_fail(json_member(at, "samples"), err, "must be at least 1");
    return templates_parse(reference, into, err);
}

/* ---- the check ---- */

static const struct json_elements expect_elements = {sizeof(struct expectation), expect_parse, NULL};
#define FIELD(name) offsetof(struct manifest_check, name)
static const struct json_key check_keys[] = {
    {"params", into_overrides, FIELD(params), .count = FIELD(param_count)},
    {"expect", json_into_members, FIELD(expect), .count = FIELD(expect_count), .more = &expect_elements},
    {"reference", into_reference, .field = FIELD(reference)},
};
#undef FIELD

enum status check_parse(struct manifest_parser *parser, const struct json *root, struct err *err)
{
    const struct json *at = json_member(root, "check");
    return at ? json_read_table(&parser->manifest->check, at, check_keys, JSON_KEYS(check_keys), &parser->into, err)
              : STATUS_OK;
}

/* ---- the whole ---- */

static void note_steps(bool *seen, const struct manifest_step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct manifest_step *step = &steps[i];
        if (step->to >= 0)
            seen[step->to] = true;
        if (step->from >= 0)
            seen[step->from] = true;
        for (size_t k = 0; k < step->launch.arg_count; k++)
            if (step->launch.args[k].buffer >= 0)
                seen[step->launch.args[k].buffer] = true;
        note_steps(seen, step->steps, step->step_count);
    }
}

static bool is_verified(const struct manifest *manifest, int buffer)
{
    for (size_t i = 0; i < manifest->check.expect_count; i++)
        if (manifest->check.expect[i].buffer == buffer)
            return true;
    for (size_t i = 0; i < manifest->metric_count; i++)
        if (manifest->metrics[i].buffer == buffer)
            return true;
    return manifest->check.reference.kernel && manifest->check.reference.output == buffer;
}

static bool needs_code(const struct manifest_step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (steps[i].kind == STEP_LAUNCH || steps[i].kind == STEP_LOAD ||
            needs_code(steps[i].steps, steps[i].step_count))
            return true;
    return false;
}

/* A clock that a metric reads cannot be known beforehand, but some output must be. */
static enum status check_outputs(const struct manifest *manifest, const struct json *root, struct err *err)
{
    const bool none = !manifest->check.expect_count && !manifest->check.reference.kernel;
    const struct json *check = json_member(root, "check");
    for (size_t i = 0; i < manifest->buffer_count; i++) {
        const struct manifest_buffer *buffer = &manifest->buffers[i];
        if (!is_output(buffer))
            continue;
        if (none)
            return json_fail(check ? check : root, err,
                             "nothing verifies this kernel: output '%s' needs an expect or a reference in /check",
                             buffer->name);
        if (!is_verified(manifest, (int)i))
            return json_fail_key(
                buffer->at, err,
                "nothing verifies this output: give it an expect, make it the reference's output or a metric's "
                "buffer, or call it temp");
    }
    return STATUS_OK;
}

enum status manifest_check_whole(const struct manifest_parser *parser, const struct json *root, struct err *err)
{
    const struct manifest *manifest = parser->manifest;
    if (!manifest->source && !manifest->image && !manifest->library &&
        (needs_code(manifest->steps, manifest->step_count) || needs_code(manifest->setup, manifest->setup_count)))
        return json_fail(root, err, "the key 'code' is missing");
    bool *set_up = arena_array(parser->arena, manifest->buffer_count, sizeof(*set_up));
    bool *used = arena_array(parser->arena, manifest->buffer_count, sizeof(*used));
    note_steps(set_up, manifest->setup, manifest->setup_count);
    note_steps(used, manifest->setup, manifest->setup_count);
    note_steps(used, manifest->steps, manifest->step_count);
    for (size_t i = 0; i < manifest->buffer_count; i++) {
        const struct manifest_buffer *buffer = &manifest->buffers[i];
        const bool is_read = buffer->role == ROLE_IN || buffer->role == ROLE_INOUT;
        if (is_read && buffer->fill.kind == FILL_NONE && !set_up[i])
            return json_fail_key(buffer->at, err, "nothing fills this input: the key 'fill' is missing");
        /* A reference may read buffers that the kernel itself does not. */
        if (!used[i] && !manifest->check.reference.kernel)
            return json_fail_key(buffer->at, err, "no step uses this buffer");
    }
    return check_outputs(manifest, root, err);
}
