/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "list.h"
#include "rooftile/json_out.h"

static void param_json(struct json_out *out, const char *key, const struct param_value *value)
{
    switch (value->kind) {
    case PARAM_NUMBER:
        json_out_number(out, key, value->number);
        break;
    case PARAM_DTYPE:
        json_out_string(out, key, dtype_name(value->dtype));
        break;
    case PARAM_STRING:
        json_out_string(out, key, value->string);
        break;
    case PARAM_LIST:
        json_out_numbers(out, key, value->list, value->count);
        break;
    }
}

static void params_json(struct json_out *out, const struct manifest *manifest)
{
    json_out_array(out, "params");
    for (size_t k = 0; k < manifest->param_count; k++) {
        const struct param *param = &manifest->params[k];
        if (param->implied)
            continue;
        json_out_object(out, NULL);
        json_out_string(out, "name", param->name);
        param_json(out, "default", &param->value);
        if (param->limits) {
            json_out_array(out, "limits");
            for (size_t limit = 0; limit < param->limit_count; limit++)
                param_json(out, NULL, &param->limits[limit]);
            json_out_end(out);
        }
        json_out_end(out);
    }
    json_out_end(out);
}

static void buffers_json(struct json_out *out, const struct manifest *manifest)
{
    json_out_array(out, "buffers");
    for (size_t k = 0; k < manifest->buffer_count; k++) {
        const struct manifest_buffer *buffer = &manifest->buffers[k];
        json_out_object(out, NULL);
        json_out_string(out, "name", buffer->name);
        json_out_string(out, "type", template_source(buffer->type));
        json_out_string(out, "count", expr_source(buffer->count));
        json_out_string(out, "role", list_role_name(buffer->role));
        json_out_end(out);
    }
    json_out_end(out);
}

static void work_json(struct json_out *out, const struct manifest *manifest)
{
    const struct {
        const char *key;
        const struct expr *expr;
    } work[] = {{"read", manifest->read_bytes},
                {"write", manifest->write_bytes},
                {"flops", manifest->flops},
                {"items", manifest->items}};
    json_out_object(out, "work");
    for (size_t k = 0; k < sizeof(work) / sizeof(work[0]); k++)
        if (work[k].expr)
            json_out_string(out, work[k].key, expr_source(work[k].expr));
    if (manifest->unit)
        json_out_string(out, "unit", template_source(manifest->unit));
    json_out_end(out);
}

static void lets_json(struct json_out *out, const struct manifest *manifest)
{
    json_out_object(out, "let");
    for (size_t k = 0; k < manifest->let_count; k++)
        json_out_string(out, manifest->lets[k].name, manifest->lets[k].text);
    json_out_end(out);
}

static void check_json(struct json_out *out, const struct manifest *manifest)
{
    const struct manifest_check *check = &manifest->check;
    json_out_object(out, "check");
    json_out_object(out, "params");
    for (size_t k = 0; k < check->param_count; k++)
        param_json(out, check->params[k].name, &check->params[k].value);
    json_out_end(out);
    json_out_array(out, "expect");
    for (size_t k = 0; k < check->expect_count; k++)
        json_out_string(out, NULL, manifest->buffers[check->expect[k].buffer].name);
    json_out_end(out);
    if (check->oracle.kernel)
        json_out_string(out, "oracle", check->oracle.kernel);
    json_out_end(out);
}

static void kernel_json(struct json_out *out, const struct manifest *manifest)
{
    json_out_object(out, NULL);
    json_out_string(out, "name", manifest->name);
    json_out_string(out, "summary", manifest->summary);
    json_out_string(out, "family", list_family(manifest));
    json_out_string(out, "class", case_class_name(manifest->class));
    json_out_bool(out, "oracle", list_is_oracle(manifest));
    json_out_string(out, "path", manifest->path);
    json_out_array(out, "tags");
    for (size_t k = 0; k < manifest->tag_count; k++)
        json_out_string(out, NULL, manifest->tags[k]);
    json_out_end(out);
    params_json(out, manifest);
    buffers_json(out, manifest);
    lets_json(out, manifest);
    work_json(out, manifest);
    check_json(out, manifest);
    json_out_end(out);
}

static void suite_json(struct json_out *out, const struct listed_suite *listed)
{
    const struct suite *suite = listed->suite;
    json_out_object(out, NULL);
    json_out_string(out, "name", listed->name);
    json_out_string(out, "path", listed->path);
    json_out_string(out, "summary", suite ? suite->summary : NULL);
    if (listed->problem)
        json_out_string(out, "problem", listed->problem);
    json_out_array(out, "kernels");
    for (size_t k = 0; suite && k < suite->case_count; k++) {
        bool seen = false;
        for (size_t before = 0; before < k && !seen; before++)
            seen = !strcmp(suite->cases[before].kernel, suite->cases[k].kernel);
        if (!seen)
            json_out_string(out, NULL, suite->cases[k].kernel);
    }
    json_out_end(out);
    json_out_end(out);
}

void list_json(struct text *out, const struct listing *listing)
{
    struct json_out *json = json_out_new();
    json_out_array(json, "kernels");
    for (size_t k = 0; k < listing->kernel_count; k++)
        kernel_json(json, listing->kernels[k]);
    json_out_end(json);
    json_out_array(json, "suites");
    for (size_t k = 0; k < listing->suite_count; k++)
        suite_json(json, &listing->suites[k]);
    json_out_end(json);
    json_out_array(json, "problems");
    for (size_t k = 0; k < listing->catalog.problem_count; k++) {
        json_out_object(json, NULL);
        json_out_string(json, "name", listing->catalog.problems[k].name);
        json_out_string(json, "path", listing->catalog.problems[k].path);
        json_out_string(json, "text", listing->catalog.problems[k].text);
        json_out_end(json);
    }
    json_out_end(json);
    json_out_finish(json, out, true);
    text_add(out, "\n");
    json_out_free(json);
}
