/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "case_fields.h"
#include "rooftile/hash.h"

static void put_param(struct json_out *out, const struct result_param *param)
{
    switch (param->value.kind) {
    case PARAM_NUMBER:
        json_out_number(out, param->name, param->value.number);
        break;
    case PARAM_DTYPE:
        json_out_string(out, param->name, dtype_name(param->value.dtype));
        break;
    case PARAM_STRING:
        json_out_string(out, param->name, param->value.string);
        break;
    case PARAM_LIST:
        json_out_numbers(out, param->name, param->value.list, param->value.count);
        break;
    }
}

static void put_identity(struct json_out *out, const struct result_case *c)
{
    json_out_string(out, "id", c->id);
    json_out_string(out, "kernel", c->kernel);
    json_out_object(out, "params");
    for (size_t k = 0; k < c->param_count; k++)
        put_param(out, &c->params[k]);
    json_out_end(out);
    json_out_array(out, "tags");
    for (size_t k = 0; k < c->tag_count; k++)
        json_out_string(out, NULL, c->tags[k]);
    json_out_end(out);
    json_out_string(out, "class", c->class);
}

static void put_work(struct json_out *out, const struct result_case *c)
{
    if (!c->has_work) {
        json_out_null(out, "work");
        return;
    }
    json_out_object(out, "work");
    json_out_number(out, "flops", c->work.flops);
    json_out_string(out, "flop_kind", c->work.unit[0] ? c->work.unit : NULL);
    json_out_number(out, "bytes_read", c->work.read_bytes);
    json_out_number(out, "bytes_written", c->work.write_bytes);
    json_out_number(out, "items", c->work.items);
    if (c->work.item[0])
        json_out_string(out, "item", c->work.item);
    json_out_string(out, "source", "declared");
    json_out_end(out);
}

/* group_measurement with n and n_discarded between, in the format's order. */
static void put_measurement(struct json_out *out, const struct result_case *c)
{
    const size_t before = 5; /* timer .. warmup_converged */
    if (c->timer == TIMED_NONE) {
        json_out_null(out, "measurement");
        return;
    }
    json_out_object(out, "measurement");
    fields_write(out, group_measurement.fields, before, c);
    json_out_u64(out, "n", c->sample_count);
    json_out_object(out, "n_discarded");
    for (int k = 0; k < DISCARD_COUNT; k++)
        if (c->discarded[k])
            json_out_u64(out, discard_name((enum discard)k), c->discarded[k]);
    json_out_end(out);
    fields_write(out, group_measurement.fields + before, group_measurement.count - before, c);
    case_put_clock(out, c);
    json_out_end(out);
}

/* Long times need no fraction of a nanosecond; one launch of a batch does: 3.7 ns must not become 4. */
static double rounded(double time_ns)
{
    return time_ns >= 1e5 ? round(time_ns) : round(time_ns * 1e3) / 1e3;
}

static void put_samples_inline(struct json_out *out, const struct result_case *c)
{
    json_out_array(out, "samples_ns");
    for (size_t k = 0; k < c->sample_count; k++)
        json_out_number(out, NULL, rounded(c->samples_ns[k]));
    json_out_end(out);
    if (!c->sample_hz)
        return;
    json_out_array(out, "samples_hz");
    for (size_t k = 0; k < c->sample_count; k++)
        json_out_number(out, NULL, round((double)c->sample_hz[k] / 1e3) * 1e3);
    json_out_end(out);
}

/* Appends the values to the sidecar and says where they stand. */
static void put_beside(struct json_out *out, const char *key, const char *type, const void *values, size_t count,
                       size_t width, struct sidecar *sidecar)
{
    char hex[HASH_TEXT];
    hash_sha256(hex, values, count * width);
    json_out_object(out, key);
    json_out_string(out, "path", sidecar->name);
    json_out_string(out, "dtype", type);
    json_out_u64(out, "offset_bytes", sidecar->bytes.length);
    json_out_u64(out, "count", count);
    json_out_string(out, "sha256", hex);
    json_out_end(out);
    text_addn(&sidecar->bytes, values, count * width);
}

static void put_samples(struct json_out *out, const struct result_case *c, struct sidecar *sidecar)
{
    if (!c->sample_count || !sidecar->with_samples)
        return;
    if (c->samples_ns && c->sample_count <= sidecar->inline_max * (c->trial_count ? c->trial_count : 1)) {
        put_samples_inline(out, c);
        return;
    }
    if (!c->samples_ns || !sidecar->name) {
        json_out_null(out, "samples_ns");
        json_out_string(out, "samples_ns_reason",
                        "too many for this file; 'run --samples' keeps them in one of their own");
        return;
    }
    put_beside(out, "samples_file", "f64", c->samples_ns, c->sample_count, sizeof(double), sidecar);
    if (c->sample_hz)
        put_beside(out, "samples_hz_file", "f32", c->sample_hz, c->sample_count, sizeof(float), sidecar);
}

static void put_status(struct json_out *out, const struct result_case *c)
{
    json_out_string(out, "status", case_status_name(c->status));
    case_put_flags(out, c->flags);
    json_out_string(out, "status_reason", c->reason && c->reason[0] ? c->reason : NULL);
}

static void put_sense(struct json_out *out, const char *key, const struct device_sense *sense)
{
    json_out_object(out, key);
    for (size_t k = 0; k < group_sense.count; k++) {
        struct field field = group_sense.fields[k];
        if (field.reason && field.reason[0])
            field.reason = NULL; /* "not sensed" is said once, by the null itself */
        fields_write(out, &field, 1, sense);
    }
    json_out_end(out);
}

static void put_ext(struct json_out *out, const struct result_case *c)
{
    json_out_object(out, "ext");
    group_write(out, &group_case_ext, c);
    json_out_array(out, "metrics");
    for (size_t k = 0; k < c->metric_count; k++) {
        json_out_object(out, NULL);
        json_out_string(out, "name", c->metrics[k].name);
        json_out_string(out, "unit", c->metrics[k].unit);
        json_out_number(out, "value", c->metrics[k].value);
        if (!isfinite(c->metrics[k].value))
            json_out_string(out, "value_reason", "not available, or not a finite number");
        json_out_end(out);
    }
    json_out_end(out);
    if (c->timer != TIMED_NONE) {
        put_sense(out, "before", &c->before);
        put_sense(out, "after", &c->after);
    }
    if (c->verification.verdict == VERIFY_PASS || c->verification.verdict == VERIFY_FAIL || c->verification.reason[0])
        group_write(out, &group_verification_ext, c);
    json_out_end(out);
}

void case_json(struct json_out *out, const struct result_case *c, struct sidecar *sidecar)
{
    put_identity(out, c);
    put_work(out, c);
    case_put_code(out, c);
    put_measurement(out, c);
    put_samples(out, c, sidecar);
    if (c->sample_count)
        group_write(out, &group_stats, c);
    else
        json_out_null(out, "stats");
    case_put_trials(out, c);
    case_put_telemetry(out, c);
    group_write(out, &group_throughput, c);
    group_write(out, &group_roofline, c);
    group_write(out, &group_prediction, c);
    group_write(out, &group_verification, c);
    put_status(out, c);
    put_ext(out, c);
}

void result_case_json(struct text *out, const struct result_case *result_case)
{
    struct sidecar inlined = {.with_samples = true, .inline_max = SAMPLES_INLINE};
    struct json_out *json = json_out_new();
    case_json(json, result_case, &inlined);
    json_out_finish(json, out, false);
    json_out_free(json);
}
