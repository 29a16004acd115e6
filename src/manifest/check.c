/* SPDX-License-Identifier: MIT
 *
 * Verification of results: metrics, expectations, references; and checks that need the whole manifest.
 */

#include "manifest_internal.h"

static bool is_output(const struct manifest_buffer *buffer)
{
    return buffer->role == ROLE_OUT || buffer->role == ROLE_INOUT;
}

/* ---- metrics ---- */

static const char *const reductions[] = {
    [REDUCE_FIRST] = "first", [REDUCE_MIN] = "min",   [REDUCE_MAX] = "max",
    [REDUCE_SUM] = "sum",     [REDUCE_MEAN] = "mean", [REDUCE_MEDIAN] = "median",
};

#define RECORD_STRUCT struct manifest_metric
static const struct record_field metric_rows[] = {
    FIELD_READ("buffer", buffer, into_buffer, RECORD_REQUIRED),
    FIELD_ENUM("reduce", reduce, reductions),
    FIELD_READ_AS("expr", expr, into_expr, &scope_metric),
    FIELD_STRING("unit", unit),
    FIELD_READ("expect", expect, into_expr),
};
static const struct record metric_record = {RECORD_TABLE(metric_rows)};
#undef RECORD_STRUCT

static enum status metric_parse(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    const struct manifest_parser *parser = in->context;
    struct manifest_metric *metric = field;
    *metric = (struct manifest_metric){.name = at->string, .unit = ""};
    const enum status status = record_parse(metric, &metric_record, at, in, err);
    if (!status && parser->manifest->buffers[metric->buffer].role == ROLE_IN)
        return json_fail(json_member(at, "buffer"), err, "nothing writes this buffer: its role is in");
    return status;
}

const struct record metric_element = {.size = sizeof(struct manifest_metric), .get = metric_parse, .named = "metric"};

/* ---- expectations ---- */

#define RECORD_STRUCT struct expectation
static const struct record_field tolerance_rows[] = {
    FIELD_READ("abs", abs, into_expr),
    FIELD_READ("rel", rel, into_expr),
    FIELD_READ_AS("expr", want.expr, into_expr, &scope_index, RECORD_REQUIRED),
};
static const struct record tolerance_record = {RECORD_TABLE(tolerance_rows)};
#undef RECORD_STRUCT

static enum status expect_parse(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    const struct manifest_parser *parser = in->context;
    const struct manifest *manifest = parser->manifest;
    struct expectation *expect = field;
    *expect = (struct expectation){.buffer = find_buffer(manifest, at->string)};
    if (expect->buffer < 0)
        return json_fail_unknown_key(at, err, "unknown buffer", parser->buffer_names, manifest->buffer_count);
    if (!is_output(&manifest->buffers[expect->buffer]))
        return json_fail_key(at, err, "buffer '%s' is not an output: its role must be out or inout", at->string);
    /* "expression", { "expr": ..., "abs": ..., "rel": ... } or { "gen": ..., "abs": ..., "rel": ... } */
    const bool is_generator = json_member(at, "gen");
    expect->want.kind = FILL_EXPR;
    if (!cJSON_IsObject(at) ? into_fill(&expect->want, at, in, err)
        : is_generator      ? into_generator(&expect->want, at, in, err)
                            : record_parse(expect, &tolerance_record, at, in, err))
        return err->status;
    FOR_EACH(const struct record_field, tolerance, tolerance_rows, is_generator ? 2 : 0)
        if (record_parse_row(expect, tolerance, json_member(at, tolerance->key), in, err))
            return err->status;
    return check_elements(parser, expect->want.expr, at, manifest->buffer_count, err);
}

/* ---- references ---- */

static enum status map_parse(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    struct reference_map *map = field;
    map->theirs = at->string;
    return into_buffer(&map->ours, at, in, err);
}

static const struct record map_elements = {.size = sizeof(struct reference_map), .get = map_parse};
#define RECORD_STRUCT struct reference_spec
static const struct record_field reference_rows[] = {
    FIELD_STRING("kernel", kernel, RECORD_REQUIRED),
    FIELD_READ("output", output, into_buffer, RECORD_REQUIRED),
    FIELD_U64("samples", samples),
    FIELD_READ("abs", abs, into_expr),
    FIELD_READ("rel", rel, into_expr),
    FIELD_MAP("params", params, param_count, foreign_element),
    FIELD_MAP("buffers", map, map_count, map_elements),
};
static const struct record reference_record = {RECORD_TABLE(reference_rows)};
#undef RECORD_STRUCT

static enum status into_reference(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    const struct manifest_parser *parser = in->context;
    struct reference_spec *reference = field;
    *reference = (struct reference_spec){.samples = 256};
    if (record_parse(reference, &reference_record, at, in, err))
        return err->status;
    if (strcmp(reference->kernel, parser->manifest->name) == 0)
        return json_fail(json_member(at, "kernel"), err, "a kernel cannot be its own reference");
    if (!is_output(&parser->manifest->buffers[reference->output]))
        return json_fail(json_member(at, "output"), err, "must name an output, a buffer of role out or inout");
    if (reference->samples == 0)
        return json_fail(json_member(at, "samples"), err, "must be at least 1");
    /* Parameters whose text has a placeholder are templates. */
    const struct text_template **templates = arena_array(in->arena, reference->param_count + 1, sizeof(*templates));
    for (size_t k = 0; k < reference->param_count; k++) {
        const cJSON *text = reference->params[k].at;
        if (cJSON_IsString(text) && strchr(text->valuestring, '{') && into_any_template(&templates[k], text, in, err))
            return err->status;
    }
    reference->templates = templates;
    return STATUS_OK;
}

/* ---- the check ---- */

static const struct record expect_elements = {.size = sizeof(struct expectation), .get = expect_parse};
#define RECORD_STRUCT struct manifest_check
static const struct record_field check_rows[] = {
    FIELD_MAP("params", params, param_count, override_element),
    FIELD_MAP("expect", expect, expect_count, expect_elements),
    FIELD_READ("reference", reference, into_reference),
};
const struct record check_record = {RECORD_TABLE(check_rows)};
#undef RECORD_STRUCT

/* ---- the whole manifest ---- */

static void note_args(bool *seen, const struct manifest_arg *args, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        if (args[k].buffer >= 0)
            seen[args[k].buffer] = true;
        note_args(seen, args[k].members, args[k].member_count);
    }
}

static void note_steps(bool *seen, const struct manifest_step *steps, size_t count)
{
    FOR_EACH(const struct manifest_step, step, steps, count) {
        if (step->to >= 0)
            seen[step->to] = true;
        if (step->from >= 0)
            seen[step->from] = true;
        note_args(seen, step->launch.args, step->launch.arg_count);
        note_steps(seen, step->steps, step->step_count);
    }
}

/* Tells whether a fill or an expectation reads the buffer's elements. Such a buffer may affect the kernel only through
 * them. */
static bool is_read_by_others(const struct manifest *manifest, size_t buffer)
{
    for (size_t k = 0; k < manifest->buffer_count; k++)
        if (manifest->buffers[k].fill.expr && expr_uses_array(manifest->buffers[k].fill.expr, buffer))
            return true;
    return COUNT_WHERE(one, manifest->check.expect, manifest->check.expect_count,
                       one->want.expr && expr_uses_array(one->want.expr, buffer)) > 0;
}

static bool needs_code(const struct manifest_step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (steps[i].kind == STEP_LAUNCH || steps[i].kind == STEP_LOAD ||
            needs_code(steps[i].steps, steps[i].step_count))
            return true;
    return false;
}

/* A clock read by a metric cannot be known beforehand, but some output must be verified. For code compiled elsewhere,
 * possibly no output is known. */
static enum status check_outputs(const struct manifest *manifest, const cJSON *root, struct err *err)
{
    const bool none = !manifest->check.expect_count && !manifest->check.reference.kernel;
    const cJSON *check = json_member(root, "check");
    for (size_t i = 0; i < manifest->buffer_count; i++) {
        const struct manifest_buffer *buffer = &manifest->buffers[i];
        if (!is_output(buffer) || (none && manifest->image))
            continue;
        if (none)
            return json_fail(check ? check : root, err,
                             "nothing verifies this kernel: output '%s' needs an expect or a reference in /check",
                             buffer->name);
        const int number = (int)i;
        if (!COUNT_WHERE(expect, manifest->check.expect, manifest->check.expect_count, expect->buffer == number) &&
            !COUNT_WHERE(metric, manifest->metrics, manifest->metric_count, metric->buffer == number) &&
            !(manifest->check.reference.kernel && manifest->check.reference.output == number))
            return json_fail_key(
                buffer->at, err,
                "nothing verifies this output: give it an expect, make it the reference's output or a metric's "
                "buffer, or call it temp, or in where it is only read");
    }
    return STATUS_OK;
}

const struct manifest_twin manifest_twins[] = {
    {.name = "loads", .define = 1}, {.name = "math", .define = 2}, {.name = "one_workgroup", .one_group = true}, {0}};

static enum status check_twins(const struct manifest *manifest, const cJSON *root, struct err *err)
{
    for (size_t k = 0; k < manifest->isolate_count; k++) {
        const struct manifest_twin *twin = manifest_twins;
        while (twin->name && strcmp(twin->name, manifest->isolate[k]) != 0)
            twin++;
        if (!twin->name)
            return json_fail(json_member(root, "isolate"), err,
                             "there is no '%s': a kernel can be isolated to loads, math and one_workgroup",
                             manifest->isolate[k]);
        if (twin->define && !manifest->source)
            return json_fail(json_member(root, "isolate"), err, "'%s' needs a source, which this kernel has not",
                             twin->name);
    }
    return STATUS_OK;
}

enum status manifest_check_whole(const struct manifest_parser *parser, const cJSON *root, struct err *err)
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
        /* A reference may read buffers that the kernel does not. */
        if (!used[i] && !manifest->check.reference.kernel && !is_read_by_others(manifest, i))
            return json_fail_key(buffer->at, err, "no step uses this buffer");
    }
    return check_twins(manifest, root, err) ? err->status : check_outputs(manifest, root, err);
}
