/* SPDX-License-Identifier: MIT */
#include <float.h>
#include <math.h>
#include <string.h>

#include "case_fields.h"

static enum status required_string(const char **out, const struct json *json, const char *key, struct arena *arena,
                                   struct err *err)
{
    const char *string;
    const enum status status = json_get_string(&string, json, key, JSON_REQUIRED, err);
    if (!status)
        *out = arena_strdup(arena, string);
    return status;
}

static enum status get_params(struct result_case *c, const struct json *json, struct arena *arena, struct err *err)
{
    const struct json *params = NULL;
    enum status status = json_get_object(&params, json, "params", JSON_REQUIRED, err);
    if (status)
        return status;
    struct result_param *list = arena_array(arena, params->count + 1, sizeof(*list));
    for (const struct json *param = params->first; param && !status; param = param->next) {
        list[c->param_count].name = arena_strdup(arena, param->key);
        status = param_from_json(&list[c->param_count++].value, param, arena, err);
    }
    c->params = list;
    return status;
}

static enum status get_work(struct result_case *c, const struct json *json, struct arena *arena, struct err *err)
{
    static const struct field fields[] = {
        {"flops", FIELD_F64, offsetof(struct result_case, work.flops), 0, NULL},
        {"flop_kind", FIELD_CHARS, offsetof(struct result_case, work.unit), MACHINE_NAME, NULL},
        {"bytes_read", FIELD_F64, offsetof(struct result_case, work.read_bytes), 0, NULL},
        {"bytes_written", FIELD_F64, offsetof(struct result_case, work.write_bytes), 0, NULL},
        {"items", FIELD_F64, offsetof(struct result_case, work.items), 0, NULL},
        {"item", FIELD_CHARS, offsetof(struct result_case, work.item), MACHINE_NAME, NULL},
    };
    const struct json *work = json_member(json, "work");
    if (!work || work->type == JSON_NULL)
        return STATUS_OK;
    c->has_work = true;
    return fields_read(c, fields, FIELD_COUNT(fields), work, arena, err);
}

static enum status get_measurement(struct result_case *c, const struct json *json, struct arena *arena, struct err *err)
{
    const struct json *measurement = json_member(json, "measurement");
    if (!measurement || measurement->type == JSON_NULL)
        return STATUS_OK;
    uint64_t count = 0;
    const struct json *discarded = NULL;
    enum status status = group_read(c, &group_measurement, json, arena, err);
    if (!status)
        status = json_get_u64(&count, measurement, "n", JSON_REQUIRED, err);
    if (!status)
        status = json_get_object(&discarded, measurement, "n_discarded", JSON_OPTIONAL, err);
    if (!status && count && c->timer == TIMED_NONE)
        return json_fail(measurement, err, "%.0f samples, but no timer that took them", (double)count);
    c->sample_count = (size_t)count;
    for (const struct json *item = discarded ? discarded->first : NULL; item && !status; item = item->next) {
        const int which = measurement_from_name(ENUM_DISCARD, item->key);
        uint64_t samples = 0;
        status = json_get_u64(&samples, discarded, item->key, JSON_REQUIRED, err);
        if (!status && samples > UINT32_MAX)
            return json_fail(item, err, "must be below 2^32");
        if (which >= 0)
            c->discarded[which] = (uint32_t)samples;
    }
    return status ? status : case_get_clock(c, measurement, arena, err);
}

/* Samples that are not inline stay unread here; result_read knows the folder of the sidecar. */
static enum status get_samples(struct result_case *c, const struct json *json, struct arena *arena, struct err *err)
{
    const struct json *samples = json_member(json, "samples_ns");
    if (!samples || samples->type == JSON_NULL)
        return STATUS_OK;
    if (samples->type != JSON_ARRAY || samples->count != c->sample_count)
        return json_fail(samples, err, "must be an array of measurement.n = %zu numbers", c->sample_count);
    double *values = arena_array(arena, samples->count + 1, sizeof(*values));
    const enum status status = json_numbers(values, samples, err);
    if (status)
        return status;
    for (size_t k = 0; k < samples->count; k++)
        if (!(values[k] > 0))
            return json_fail_number(samples, k, err, "must be a time above 0");
    c->samples_ns = values;
    return STATUS_OK;
}

/* A null is a probe that failed; then the array is not packed. */
static enum status get_clocks(struct result_case *c, const struct json *json, struct arena *arena, struct err *err)
{
    const struct json *clocks = json_member(json, "samples_hz"), *item;
    if (!clocks || clocks->type == JSON_NULL)
        return STATUS_OK;
    if (clocks->type != JSON_ARRAY || clocks->count != c->sample_count)
        return json_fail(clocks, err, "must be an array of measurement.n = %zu numbers", c->sample_count);
    struct arena scratch = {0};
    float *values = arena_array(arena, clocks->count + 1, sizeof(*values));
    double *numbers = arena_array(&scratch, clocks->count + 1, sizeof(*numbers));
    enum status status = clocks->packed ? json_numbers(numbers, clocks, err) : STATUS_OK;
    for (item = clocks->first; item; item = item->next)
        numbers[item->index] = item->type == JSON_NUMBER ? item->number : item->type == JSON_NULL ? NAN : -1;
    for (size_t k = 0; k < clocks->count && !status; k++) {
        if (numbers[k] <= 0 || numbers[k] > (double)FLT_MAX)
            status = json_fail_number(clocks, k, err, "must be a clock above 0, or null");
        else
            values[k] = (float)numbers[k];
    }
    arena_release(&scratch);
    if (!status)
        c->sample_hz = values;
    return status;
}

/* Unknown ones (NaN) stand anywhere; the last digit of an interpolated quantile may be off. */
static bool in_order(const double *values, size_t count)
{
    for (size_t k = 1; k < count; k++)
        if (values[k - 1] > values[k] * (1 + 1e-9))
            return false;
    return true;
}

static enum status get_stats(struct result_case *c, const struct json *json, struct arena *arena, struct err *err)
{
    const struct json *stats = json_member(json, "stats");
    if (!c->sample_count)
        return STATUS_OK;
    if (!stats || stats->type != JSON_OBJECT)
        return json_fail(stats ? stats : json, err, "%zu samples were measured, so 'stats' must be an object",
                         c->sample_count);
    const enum status status = group_read(c, &group_stats, json, arena, err);
    const struct summary *s = &c->stats;
    c->stats.n = c->sample_count;
    if (status)
        return status;
    /* Of several trials the median is that of their medians, which need not lie between the quartiles of all samples.
     */
    const double middle = c->trial_count ? NAN : s->median;
    const double rising[] = {s->min, s->p05, s->q1, middle, s->q3, s->p95, s->max};
    const double interval[] = {s->min, s->ci95[0], middle, s->ci95[1], s->max}, inside[] = {s->min, s->median, s->max};
    if (!(s->min > 0) || !(s->median > 0) || !(s->max > 0) || !in_order(rising, 7) || !in_order(interval, 5) ||
        !in_order(inside, 3))
        return json_fail(stats, err,
                         "impossible values: min, quartiles, median, ci95 and max must be positive and in order");
    return STATUS_OK;
}

static enum status get_status(struct result_case *c, const struct json *json, struct arena *arena, struct err *err)
{
    const char *name;
    enum status status = json_get_string(&name, json, "status", JSON_REQUIRED, err);
    if (!status)
        status = case_get_flags(&c->flags, json, err);
    if (status)
        return status;
    const int value = measurement_from_name(ENUM_STATUS, name);
    if (value <= CASE_NONE)
        return json_fail(json_member(json, "status"), err, "'%s' is no status of a case", name);
    c->status = (enum case_status)value;
    const struct json *reason = json_member(json, "status_reason");
    c->reason = reason && reason->type == JSON_STRING ? arena_strdup(arena, reason->string) : "";
    return STATUS_OK;
}

static enum status get_metrics(struct result_case *c, const struct json *ext, struct arena *arena, struct err *err)
{
    static const struct field fields[] = {
        {"name", FIELD_STRING, offsetof(struct result_metric, name), 0, NULL},
        {"unit", FIELD_STRING, offsetof(struct result_metric, unit), 0, NULL},
        {"value", FIELD_SIGNED, offsetof(struct result_metric, value), 0, "not available"},
    };
    const struct json *array = NULL;
    enum status status = json_get_array(&array, ext, "metrics", JSON_OPTIONAL, err);
    if (status || !array)
        return status;
    struct result_metric *metrics = arena_array(arena, array->count + 1, sizeof(*metrics));
    for (const struct json *item = array->first; item && !status; item = item->next)
        status = fields_read(&metrics[c->metric_count++], fields, FIELD_COUNT(fields), item, arena, err);
    c->metrics = metrics;
    return status;
}

static enum status get_ext(struct result_case *c, const struct json *json, struct arena *arena, struct err *err)
{
    const struct json *ext = NULL;
    enum status status = json_get_object(&ext, json, "ext", JSON_OPTIONAL, err);
    if (!status)
        status = group_read(c, &group_case_ext, ext, arena, err);
    if (!status)
        status = group_read(c, &group_verification_ext, ext, arena, err);
    if (!status)
        status = group_read(&c->before, &group_sense, json_member(ext, "before"), arena, err);
    if (!status)
        status = group_read(&c->after, &group_sense, json_member(ext, "after"), arena, err);
    if (status || !ext)
        return status;
    return get_metrics(c, ext, arena, err);
}

static enum status get_groups(struct result_case *c, const struct json *json, struct arena *arena, struct err *err)
{
    static const struct field_group *const groups[] = {&group_throughput, &group_roofline, &group_prediction,
                                                       &group_verification};
    enum status status = STATUS_OK;
    for (size_t k = 0; k < sizeof(groups) / sizeof(groups[0]) && !status; k++)
        status = group_read(c, groups[k], json, arena, err);
    return status;
}

enum status case_from_json(struct result_case *out, const struct json *json, struct arena *arena, struct arena *passing,
                           struct err *err)
{
    struct result_case c = {.class = "",
                            .reason = "",
                            .label = "",
                            .flush_method = "",
                            .clock_reason = "",
                            .blocking_reason = "",
                            .cycles = NAN,
                            .cross_ns = NAN,
                            .core_hz = NAN};
    enum status status = required_string(&c.id, json, "id", arena, err);
    if (!status)
        status = required_string(&c.kernel, json, "kernel", arena, err);
    if (!status && json_member(json, "class"))
        status = required_string(&c.class, json, "class", arena, err);
    if (!status)
        status = get_params(&c, json, arena, err);
    if (!status)
        status = strings_read(&c.tags, &c.tag_count, json, "tags", arena, err);
    if (!status)
        status = get_work(&c, json, arena, err);
    if (!status)
        status = case_get_code(&c, json, arena, err);
    if (!status)
        status = get_measurement(&c, json, arena, err);
    if (!status)
        status = get_samples(&c, json, passing ? passing : arena, err);
    if (!status && !passing)
        status = get_clocks(&c, json, arena, err);
    if (!status)
        status = case_get_trials(&c, json, arena, err);
    if (!status)
        status = get_stats(&c, json, arena, err);
    if (!status)
        status = case_get_telemetry(&c, json, arena, err);
    if (!status)
        status = get_groups(&c, json, arena, err);
    if (!status)
        status = get_status(&c, json, arena, err);
    if (!status)
        status = get_ext(&c, json, arena, err);
    if (!status)
        status = case_check(&c, json, err);
    if (passing)
        c.samples_ns = NULL;
    if (!status)
        *out = c;
    return status;
}
