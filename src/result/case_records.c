/* SPDX-License-Identifier: MIT
 *
 * A case as tables. What is no table, its samples, is in case_json.c.
 */
#include "records.h"

#include <math.h>

static void put_param(struct json_out *out, const char *key, const void *at)
{
    const struct param_value *value = at;
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

static enum status get_param(void *at, const struct json *json, struct arena *arena, struct err *err)
{
    return param_from_json(at, json, arena, err);
}

static const struct record_hook param_hook = {put_param, get_param};

#define RECORD_STRUCT struct result_param
static const struct record_field param_fields[] = {FIELD_HOOK(NULL, value, param_hook, RECORD_PLAIN)};
static const struct record param_record = {RECORD_TABLE(param_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct work
static bool work_known(const void *base)
{
    return result_work_known(base);
}

static const struct record_field work_fields[] = {
    FIELD_F64("flops", flops, RECORD_ZERO),
    FIELD_CHARS("flop_kind", unit, RECORD_PLAIN),
    FIELD_F64("bytes_read", read_bytes, RECORD_ZERO),
    FIELD_F64("bytes_written", write_bytes, RECORD_ZERO),
    FIELD_F64("footprint_bytes", footprint_bytes, RECORD_PLAIN),
    FIELD_F64("items", items, RECORD_ZERO),
    FIELD_CHARS("item", item, RECORD_SPARSE),
};
static const struct record work_record = {RECORD_TABLE(work_fields), .known = work_known};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct result_code
static bool code_known(const void *base)
{
    return ((const struct result_code *)base)->known;
}

static enum status know_code(void *base, const struct json *json, struct err *err)
{
    (void)json;
    (void)err;
    ((struct result_code *)base)->known = true;
    return STATUS_OK;
}

static const struct record_field compiled_fields[] = {
    FIELD_U32("vgpr", vgprs, RECORD_PLAIN),
    FIELD_U32("agpr", agprs, RECORD_PLAIN),
    FIELD_U32("sgpr", sgprs, RECORD_PLAIN),
    FIELD_U32("vgpr_spills", vgpr_spills, RECORD_PLAIN),
    FIELD_U32("sgpr_spills", sgpr_spills, RECORD_PLAIN),
    FIELD_U32("scratch_bytes", scratch_bytes, RECORD_PLAIN),
    FIELD_U32("lds_bytes", lds_bytes, RECORD_PLAIN),
    FIELD_U32("kernarg_bytes", kernarg_bytes, RECORD_PLAIN),
    FIELD_U32("wave", wave, RECORD_PLAIN),
    FIELD_F64("waves_per_simd", waves_per_simd, RECORD_NAN),
    FIELD_STRING("occupancy_limit", occupancy_limit, RECORD_PLAIN),
    FIELD_STRING("loop_instruction", loop_instruction, RECORD_PLAIN),
    FIELD_F64("loop_share", loop_share, RECORD_NAN),
};
static const struct record compiled_record = {RECORD_TABLE(compiled_fields), .known = code_known, .check = know_code};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct result_trial
static enum status check_trial(void *base, const struct json *json, struct err *err)
{
    const struct result_trial *trial = base;
    if (trial->n ? !(trial->min_ns > 0) || !(trial->median_ns >= trial->min_ns) : !isnan(trial->median_ns))
        return json_fail(json, err,
                         "impossible values: a trial with samples has 0 < min_ns <= median_ns, one without has none");
    return STATUS_OK;
}

#define FLAGS(member) FIELD_NAMED(RECORD_BITS, "flags", member, case_flag_names, CASE_FLAGS, RECORD_PLAIN)
#define STATUS(member)                                                                                                 \
    FIELD_NAMED(RECORD_ENUM, "status", member, case_status_names, CASE_ERROR + 1, RECORD_REQUIRED | RECORD_FROM_ONE)
#define TIMER(member)                                                                                                  \
    FIELD_NAMED(RECORD_ENUM, "timer", member, timer_names, TIMED_GRAPH + 1, RECORD_REQUIRED | RECORD_FROM_ONE)

static const struct record_field trial_fields[] = {
    FIELD_U32("index", index, RECORD_PLAIN),
    STATUS(status),
    FIELD_F64("median_ns", median_ns, RECORD_NAN),
    FIELD_F64("min_ns", min_ns, RECORD_NAN),
    FIELD_U32("n", n, RECORD_PLAIN),
    FIELD_F64("cycles", cycles, RECORD_NAN),
    FIELD_F64("core_hz", core_hz, RECORD_NAN),
    FIELD_U32("order_index", order_index, RECORD_PLAIN),
    FLAGS(flags),
};
static const struct record trial_record = {RECORD_TABLE(trial_fields), .check = check_trial};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct result_metric
static const struct record_field metric_fields[] = {
    FIELD_STRING("name", name, RECORD_REQUIRED),
    FIELD_STRING("unit", unit, RECORD_REQUIRED),
    FIELD_REASON("value", value, RECORD_NAN | RECORD_ZERO | RECORD_SIGNED, "not available, or not a finite number"),
};
static const struct record metric_record = {RECORD_TABLE(metric_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct device_sense
static const struct record_field sense_fields[] = {
    FIELD_F64("stream_bytes_per_s", stream_bps, RECORD_NAN),
    FIELD_F64("fma_flops_per_s", fma_flops, RECORD_NAN),
    FIELD_F64("core_hz", core_hz, RECORD_NAN),
    FIELD_F64("memory_hz", memory_hz, RECORD_NAN),
    FIELD_F64("power_w", power_w, RECORD_NAN),
    FIELD_F64("temp_c", temp_c, RECORD_NAN | RECORD_SIGNED),
    FIELD_F64("steal_fraction", steal_fraction, RECORD_NAN | RECORD_SIGNED),
    FIELD_F64("load_1min", load_1min, RECORD_NAN),
    FIELD_U64("involuntary_switches", involuntary_switches, RECORD_PLAIN),
    FIELD_F64("vram_used_bytes", vram_used_bytes, RECORD_NAN),
    FIELD_F64("vram_own_bytes", vram_own_bytes, RECORD_NAN),
    FIELD_F64("other_processes", other_processes, RECORD_NAN | RECORD_ZERO),
    FIELD_F64("violation_power", violation_power, RECORD_NAN | RECORD_ZERO),
    FIELD_F64("violation_thermal", violation_thermal, RECORD_NAN | RECORD_ZERO),
    FIELD_F64("violation_hbm", violation_hbm, RECORD_NAN | RECORD_ZERO),
    FIELD_F64("violation_vr", violation_vr, RECORD_NAN | RECORD_ZERO),
    FIELD_F64("violation_prochot", violation_prochot, RECORD_NAN | RECORD_ZERO),
    FIELD_U64("throttle_bits", throttle_bits, RECORD_PLAIN),
};
static const struct record sense_record = {RECORD_TABLE(sense_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct verification
static const struct record_field wrong_fields[] = {
    FIELD_CHARS("buffer", buffer, RECORD_PLAIN),
    FIELD_U64("index", index, RECORD_PLAIN),
    FIELD_F64("got", got, RECORD_NAN | RECORD_ZERO | RECORD_SIGNED),
    FIELD_F64("want", want, RECORD_NAN | RECORD_ZERO | RECORD_SIGNED),
};
static const struct record wrong_record = {RECORD_TABLE(wrong_fields)};

#define NOT_FINITE "not a finite number"
static const struct record_field verification_fields[] = {
    FIELD_NAMED(RECORD_ENUM, "status", verdict, verdict_names, VERIFY_SKIPPED + 1, RECORD_PLAIN),
    FIELD_CHARS("method", method, RECORD_PLAIN),
    FIELD_U64("checked", checked, RECORD_PLAIN),
    FIELD_U64("wrong", wrong, RECORD_PLAIN),
    FIELD_REASON("max_abs", max_abs, RECORD_NAN | RECORD_ZERO, NOT_FINITE),
    FIELD_REASON("max_rel", max_rel, RECORD_NAN | RECORD_ZERO, NOT_FINITE),
    FIELD_REASON("max_ulp", max_ulp, RECORD_NAN | RECORD_ZERO, NOT_FINITE),
    FIELD_GROUP("first_wrong", wrong_record, RECORD_NULLABLE),
    FIELD_CHARS("reason", reason, RECORD_PLAIN),
};
static const struct record verification_record = {RECORD_TABLE(verification_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT double
static const struct record_field time_fields[] = {{NULL, RECORD_F64, RECORD_SPARSE | RECORD_POSITIVE, 0, 0, 0, {NULL}}};
static const struct record time_record = {RECORD_TABLE(time_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct result_case
static bool was_timed(const void *base)
{
    return ((const struct result_case *)base)->timer != TIMED_NONE;
}

static const struct record_field code_fields[] = {
    FIELD_CHARS("object_sha256", object_sha256, RECORD_PLAIN),
    FIELD_STRING("library", library, RECORD_PLAIN),
    FIELD_STRING("isa_sha256", code.isa_sha256, RECORD_PLAIN),
    FIELD_FIXED("grid", grid, record_u32, RECORD_PLAIN),
    FIELD_FIXED("block", block, record_u32, RECORD_PLAIN),
    FIELD_U32("dynamic_lds_bytes", lds_bytes, RECORD_PLAIN),
    FIELD_OBJECT("compiled", code, compiled_record, RECORD_NULLABLE),
};
static const struct record code_record = {RECORD_TABLE(code_fields)};

static const struct record_field discarded_fields[] = {
    FIELD_U32("zero", discarded[DISCARD_ZERO], RECORD_SPARSE),
    FIELD_U32("negative", discarded[DISCARD_NEGATIVE], RECORD_SPARSE),
    FIELD_U32("clock", discarded[DISCARD_CLOCK], RECORD_SPARSE),
};
static const struct record discarded_record = {RECORD_TABLE(discarded_fields)};

static const struct record_field cross_fields[] = {
    TIMER(cross_timer),
    FIELD_F64("time_ns", cross_ns, RECORD_NAN),
};
static const struct record cross_record = {RECORD_TABLE(cross_fields)};

static const struct record_field measurement_fields[] = {
    TIMER(timer),
    FIELD_NAMED(RECORD_ENUM, "cache_mode", cache, cache_mode_names, CACHE_ROTATE + 1, RECORD_PLAIN),
    FIELD_U32("batch", batch, RECORD_PLAIN),
    FIELD_REASON("warmup_ns", warmup_ns, RECORD_NAN | RECORD_ZERO, "not measured"),
    FIELD_BOOL("warmup_converged", warmup_converged, RECORD_PLAIN),
    FIELD_U64("n", sample_count, RECORD_REQUIRED),
    FIELD_GROUP("n_discarded", discarded_record, RECORD_PLAIN),
    FIELD_NAMED(RECORD_ENUM, "stop_reason", stop, stop_reason_names, STOP_MAX_SAMPLES + 1, RECORD_FROM_ONE),
    FIELD_REASON("wall_ns", wall_ns, RECORD_NAN | RECORD_ZERO, "not measured"),
    FIELD_REASON("overhead_ns", overhead_ns, RECORD_NAN | RECORD_ZERO, "not measured"),
    FIELD_U32("order_index", order_index, RECORD_PLAIN),
    FIELD_U64("flush_bytes", flush_bytes, RECORD_PLAIN),
    FIELD_STRING("flush_method", flush_method, RECORD_PLAIN),
    FIELD_F64("core_hz", core_hz, RECORD_NAN),
    FIELD_F64("cycles", cycles, RECORD_NAN),
    FIELD_STRING("cycles_reason", clock_reason, RECORD_SPARSE),
    FIELD_U32("clock_unsteady", clock_unsteady, RECORD_SPARSE),
    FIELD_BOOL("blocking_start", blocking_start, RECORD_PLAIN),
    FIELD_STRING("blocking_start_reason", blocking_reason, RECORD_SPARSE),
    FIELD_GROUP("cross", cross_record, RECORD_NULLABLE),
};
static const struct record measurement_record = {RECORD_TABLE(measurement_fields)};

static const struct record_field telemetry_fields[] = {
    FIELD_OBJECT("before", before, sense_record, RECORD_PLAIN),
    FIELD_OBJECT("after", after, sense_record, RECORD_PLAIN),
};
static const struct record telemetry_record = {RECORD_TABLE(telemetry_fields), .known = was_timed};

#define TOO_FEW "too few samples"
static const struct record_field stats_fields[] = {
    FIELD_F64("median_ns", stats.median, RECORD_PLAIN),
    FIELD_FIXED("ci95_ns", stats.ci95, time_record, RECORD_REQUIRED),
    FIELD_F64("min_ns", stats.min, RECORD_PLAIN),
    FIELD_F64("p05_ns", stats.p05, RECORD_NAN),
    FIELD_F64("q1_ns", stats.q1, RECORD_NAN),
    FIELD_F64("q3_ns", stats.q3, RECORD_NAN),
    FIELD_F64("p95_ns", stats.p95, RECORD_NAN),
    FIELD_F64("max_ns", stats.max, RECORD_PLAIN),
    FIELD_F64("mean_ns", stats.mean, RECORD_NAN),
    FIELD_REASON("sd_ns", stats.sd, RECORD_NAN | RECORD_ZERO, TOO_FEW),
    FIELD_REASON("mad_ns", stats.mad, RECORD_NAN | RECORD_ZERO, TOO_FEW),
    FIELD_REASON("rel_noise", stats.rel_noise, RECORD_NAN | RECORD_ZERO, TOO_FEW),
    FIELD_REASON("lag1", stats.lag1, RECORD_NAN | RECORD_ZERO | RECORD_SIGNED, "too few samples, or all are equal"),
    FIELD_REASON("drift", stats.drift, RECORD_NAN | RECORD_ZERO | RECORD_SIGNED, TOO_FEW),
    FIELD_U32("modes", stats.modes, RECORD_PLAIN),
};
static const struct record stats_record = {RECORD_TABLE(stats_fields)};

static const struct record_field throughput_fields[] = {
    FIELD_REASON("flops_per_s", flops_per_s, RECORD_NAN, "no flops declared, or no samples"),
    FIELD_REASON("bytes_per_s", bytes_per_s, RECORD_NAN, "no bytes declared, or no samples"),
    FIELD_REASON("items_per_s", items_per_s, RECORD_NAN, "no items declared, or no samples"),
};
static const struct record throughput_record = {RECORD_TABLE(throughput_fields)};

static const struct record_field roofline_fields[] = {
    FIELD_REASON("intensity", lower_bound.intensity, RECORD_NAN | RECORD_ZERO, "no bytes declared"),
    FIELD_CHARS("bound", lower_bound.bound, RECORD_PLAIN),
    FIELD_CHARS("ceiling_name", lower_bound.ceiling_name, RECORD_PLAIN),
    FIELD_F64("ceiling_value", lower_bound.ceiling_value, RECORD_PLAIN),
    FIELD_BOOL("ceiling_measured", lower_bound.ceiling_measured, RECORD_PLAIN),
    FIELD_BOOL("bound_is_memory", lower_bound.bound_is_memory, RECORD_PLAIN),
    FIELD_REASON("fraction_of_ceiling", fraction, RECORD_NAN, "no ceiling known, or no samples"),
    FIELD_REASON("ridge", lower_bound.ridge, RECORD_NAN, "no bandwidth or no peak known"),
    FIELD_F64("lower_bound_ns", lower_bound.time_ns, RECORD_PLAIN),
    FIELD_F64("memory_lower_bound_ns", lower_bound.memory_ns, RECORD_PLAIN),
    FIELD_F64("compute_lower_bound_ns", lower_bound.compute_ns, RECORD_PLAIN),
    FIELD_F64("launch_ns", lower_bound.launch_ns, RECORD_PLAIN),
};
static const struct record roofline_record = {RECORD_TABLE(roofline_fields)};

static const struct record_field prediction_fields[] = {
    FIELD_STRING("model", model, RECORD_PLAIN),
    FIELD_F64("time_ns", predicted_ns, RECORD_PLAIN),
    FIELD_REASON("error_rel", predicted_error, RECORD_NAN | RECORD_ZERO | RECORD_SIGNED,
                 "nothing was measured to compare with"),
};
static const struct record prediction_record = {RECORD_TABLE(prediction_fields)};

static const struct record_field case_fields[] = {
    FIELD_STRING("id", id, RECORD_REQUIRED),
    FIELD_STRING("label", label, RECORD_PLAIN),
    FIELD_STRING("kernel", kernel, RECORD_REQUIRED),
    FIELD_STRING("class", class, RECORD_PLAIN),
    FIELD_MAP("params", params, param_count, param_record, RECORD_REQUIRED),
    FIELD_LIST("tags", tags, tag_count, record_string, RECORD_PLAIN),
    FIELD_OBJECT("work", work, work_record, RECORD_NULLABLE),
    FIELD_GROUP("code", code_record, RECORD_PLAIN),
    FIELD_GROUP("measurement", measurement_record, RECORD_NULLABLE),
    FIELD_GROUP("stats", stats_record, RECORD_NULLABLE),
    FIELD_LIST("trials", trials, trial_count, trial_record, RECORD_SPARSE),
    FIELD_LIST("metrics", metrics, metric_count, metric_record, RECORD_PLAIN),
    FIELD_GROUP("telemetry", telemetry_record, RECORD_NULLABLE),
    FIELD_GROUP("throughput", throughput_record, RECORD_PLAIN),
    FIELD_GROUP("roofline", roofline_record, RECORD_PLAIN),
    FIELD_GROUP("prediction", prediction_record, RECORD_PLAIN),
    FIELD_OBJECT("verification", verification, verification_record, RECORD_PLAIN),
    STATUS(status),
    FLAGS(flags),
    FIELD_STRING("status_reason", reason, RECORD_PLAIN),
};
const struct record case_record = {RECORD_TABLE(case_fields)};
#undef RECORD_STRUCT
