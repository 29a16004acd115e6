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
    json_out_string(out, "source", "declared");
    json_out_end(out);
}

/* What a disassembly or a code object's metadata will say later. */
static void put_code(struct json_out *out, const struct result_case *c)
{
    static const char *const unknown[] = {"isa_sha256", "vgpr", "agpr", "sgpr"};
    static const char *const unknown_too[] = {"scratch_bytes", "spills", "waves_per_simd"};
    json_out_object(out, "code");
    json_out_string(out, "object_sha256", c->object_sha256[0] ? c->object_sha256 : NULL);
    for (size_t k = 0; k < sizeof(unknown) / sizeof(unknown[0]); k++)
        json_out_null(out, unknown[k]);
    json_out_u64(out, "lds_bytes", c->lds_bytes);
    for (size_t k = 0; k < sizeof(unknown_too) / sizeof(unknown_too[0]); k++)
        json_out_null(out, unknown_too[k]);
    json_out_u64(out, "wg_size", (uint64_t)c->block[0] * c->block[1] * c->block[2]);
    json_out_array(out, "grid");
    for (size_t k = 0; k < 3; k++)
        json_out_u64(out, NULL, c->grid[k]);
    json_out_end(out);
    json_out_null(out, "kernarg_bytes");
    json_out_null(out, "occupancy_limit");
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
}

static void put_samples(struct json_out *out, const struct result_case *c, struct sidecar *sidecar)
{
    const size_t size_bytes = c->sample_count * sizeof(double);
    char hex[HASH_TEXT];
    if (!c->sample_count || !sidecar->with_samples)
        return;
    if (c->samples_ns && c->sample_count <= sidecar->inline_max) {
        put_samples_inline(out, c);
        return;
    }
    if (!c->samples_ns || !sidecar->name) {
        json_out_null(out, "samples_ns");
        json_out_string(out, "samples_ns_reason",
                        "too many for this file; 'run --samples' keeps them in one of their own");
        return;
    }
    hash_sha256(hex, c->samples_ns, size_bytes);
    json_out_object(out, "samples_file");
    json_out_string(out, "path", sidecar->name);
    json_out_string(out, "dtype", "f64");
    json_out_u64(out, "offset_bytes", sidecar->bytes.length);
    json_out_u64(out, "count", c->sample_count);
    json_out_string(out, "sha256", hex);
    json_out_end(out);
    text_addn(&sidecar->bytes, (const char *)c->samples_ns, size_bytes);
}

static void put_hz(struct json_out *out, const char *key, double before, double after)
{
    json_out_object(out, key);
    json_out_number(out, "before", before > 0 ? before : NAN);
    json_out_number(out, "after", after > 0 ? after : NAN);
    json_out_number(out, "mean", before > 0 && after > 0 ? (before + after) / 2 : NAN);
    json_out_end(out);
}

static void put_telemetry(struct json_out *out, const struct result_case *c)
{
    json_out_object(out, "telemetry");
    put_hz(out, "sclk_hz", c->before.core_hz, c->after.core_hz);
    json_out_null(out, "mclk_hz");
    json_out_null(out, "power_w");
    json_out_number(out, "temp_c", c->after.temp_c != 0 ? c->after.temp_c : NAN);
    json_out_null(out, "violations");
    json_out_end(out);
}

static void put_status(struct json_out *out, const struct result_case *c)
{
    json_out_string(out, "status", case_status_name(c->status));
    json_out_array(out, "flags");
    for (unsigned bit = 0; case_flag_name(bit); bit++)
        if (c->flags & 1u << bit)
            json_out_string(out, NULL, case_flag_name(bit));
    json_out_end(out);
    json_out_string(out, "status_reason", c->reason && c->reason[0] ? c->reason : NULL);
}

static void put_sense(struct json_out *out, const char *key, const struct device_sense *sense)
{
    json_out_object(out, key);
    for (size_t k = 0; k < group_sense.count; k++) {
        struct field field = group_sense.fields[k];
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
    put_code(out, c);
    put_measurement(out, c);
    put_samples(out, c, sidecar);
    if (c->sample_count)
        group_write(out, &group_stats, c);
    else
        json_out_null(out, "stats");
    put_telemetry(out, c);
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
