/* SPDX-License-Identifier: MIT
 *
 * Writes and reads one case: its tables, followed by its samples.
 */
#include <float.h>

#include "records.h"

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

static enum status get_param(void *at, const cJSON *json, struct record_in *in, struct err *err)
{
    return param_from_json(at, json, in->arena, err);
}

#define RECORD_STRUCT struct result_param
static const struct record_field param_fields[] = {FIELD_HOOK(NULL, value, put_param, get_param)};
static const struct record param_record = {RECORD_TABLE(param_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct work
static bool work_known(const void *base)
{
    return result_work_known(base);
}

static const struct record_field work_fields[] = {
    FIELD_F64("flops", flops, RECORD_ZERO),
    FIELD_CHARS("flop_kind", unit),
    FIELD_F64("transcendentals", transcendentals, RECORD_SPARSE),
    FIELD_F64("bytes_read", read_bytes, RECORD_ZERO),
    FIELD_F64("bytes_written", write_bytes, RECORD_ZERO),
    FIELD_F64("footprint_bytes", footprint_bytes),
    FIELD_F64("shared_by", shared_by, RECORD_SPARSE),
    FIELD_F64("items", items, RECORD_ZERO),
    FIELD_CHARS("item", item, RECORD_SPARSE),
};
static const struct record work_record = {RECORD_TABLE(work_fields), .known = work_known};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct identity
static const struct record_field identity_fields[] = {
    FIELD_CHARS("code", parts[IDENTITY_CODE]),     FIELD_CHARS("launch", parts[IDENTITY_LAUNCH]),
    FIELD_CHARS("inputs", parts[IDENTITY_INPUTS]), FIELD_CHARS("check", parts[IDENTITY_CHECK]),
    FIELD_CHARS("work", parts[IDENTITY_WORK]),     FIELD_CHARS("device", parts[IDENTITY_DEVICE]),
};
static const struct record identity_record = {RECORD_TABLE(identity_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct result_code
static bool code_known(const void *base)
{
    return ((const struct result_code *)base)->known;
}

static enum status know_code(void *base, UNUSED const cJSON *json, UNUSED struct err *err)
{
    ((struct result_code *)base)->known = true;
    return STATUS_OK;
}

static const struct record_field compiled_fields[] = {
    FIELD_U32("vgpr", vgprs),
    FIELD_U32("agpr", agprs),
    FIELD_U32("sgpr", sgprs),
    FIELD_U32("vgpr_spills", vgpr_spills),
    FIELD_U32("sgpr_spills", sgpr_spills),
    FIELD_U32("scratch_bytes", scratch_bytes),
    FIELD_U32("lds_bytes", lds_bytes),
    FIELD_U32("kernarg_bytes", kernarg_bytes),
    FIELD_U32("wave", wave),
    FIELD_F64("waves_per_simd", waves_per_simd, RECORD_NAN),
    FIELD_STRING("occupancy_limit", occupancy_limit),
    FIELD_STRING("loop_instruction", loop_instruction),
    FIELD_F64("loop_share", loop_share, RECORD_NAN),
    FIELD_F64("loop_scratch_bytes", loop_scratch_bytes, RECORD_NAN | RECORD_ZERO),
    FIELD_U32("scratch_loop", scratch_loop, RECORD_SPARSE),
    FIELD_U32("loop_valu", loop_issues[ISSUE_VALU], RECORD_SPARSE),
    FIELD_U32("loop_matrix", loop_issues[ISSUE_MATRIX], RECORD_SPARSE),
    FIELD_U32("loop_vmem", loop_issues[ISSUE_VMEM], RECORD_SPARSE),
    FIELD_U32("loop_lds", loop_issues[ISSUE_LDS], RECORD_SPARSE),
    FIELD_U32("loop_salu", loop_issues[ISSUE_SALU], RECORD_SPARSE),
    FIELD_U32("loop_smem", loop_issues[ISSUE_SMEM], RECORD_SPARSE),
    FIELD_U32("loop_waits", loop_issues[ISSUE_WAITS], RECORD_SPARSE),
};
static const struct record compiled_record = {RECORD_TABLE(compiled_fields), .known = code_known, .check = know_code};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct result_trial
static enum status check_trial(void *base, const cJSON *json, struct err *err)
{
    const struct result_trial *trial = base;
    if (trial->n ? !(trial->min_ns > 0) || !(trial->median_ns >= trial->min_ns) : !isnan(trial->median_ns))
        return json_fail(json, err,
                         "impossible values: a trial with samples has 0 < min_ns <= median_ns, one without has none");
    return STATUS_OK;
}

#define FLAGS(member) FIELD_NAMED(RECORD_BITS, "flags", member, case_flag_names, CASE_FLAGS)
#define STATUS(member)                                                                                                 \
    FIELD_NAMED(RECORD_ENUM, "status", member, case_status_names, CASE_ERROR + 1, RECORD_REQUIRED | RECORD_FROM_ONE)
#define TIMER(member)                                                                                                  \
    FIELD_NAMED(RECORD_ENUM, "timer", member, timer_names, TIMED_GRAPH + 1, RECORD_REQUIRED | RECORD_FROM_ONE)

static const struct record_field trial_fields[] = {
    FIELD_U32("index", index),
    STATUS(status),
    FIELD_F64("median_ns", median_ns, RECORD_NAN),
    FIELD_F64("min_ns", min_ns, RECORD_NAN),
    FIELD_U32("n", n),
    FIELD_F64("cycles", cycles, RECORD_NAN),
    FIELD_F64("core_hz", core_hz, RECORD_NAN),
    FIELD_U32("order_index", order_index),
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
    FIELD_F64("stream_bytes_per_s", stream_bps, RECORD_NAN | RECORD_ROUNDED),
    FIELD_F64("fma_flops_per_s", fma_flops, RECORD_NAN | RECORD_ROUNDED),
    FIELD_F64("core_hz", core_hz, RECORD_NAN | RECORD_ROUNDED),
    FIELD_F64("memory_hz", memory_hz, RECORD_NAN),
    FIELD_F64("power_w", power_w, RECORD_NAN),
    FIELD_F64("temp_c", temp_c, RECORD_NAN | RECORD_SIGNED),
    FIELD_F64("steal_fraction", steal_fraction, RECORD_NAN | RECORD_SIGNED),
    FIELD_F64("load_1min", load_1min, RECORD_NAN),
    FIELD_U64("involuntary_switches", involuntary_switches, RECORD_NAN),
    FIELD_F64("vram_used_bytes", vram_used_bytes, RECORD_NAN),
    FIELD_F64("vram_own_bytes", vram_own_bytes, RECORD_NAN),
    FIELD_F64("other_processes", other_processes, RECORD_NAN | RECORD_ZERO),
    FIELD_F64("violation_power", violation_power, RECORD_NAN | RECORD_ZERO),
    FIELD_F64("violation_thermal", violation_thermal, RECORD_NAN | RECORD_ZERO),
    FIELD_F64("violation_hbm", violation_hbm, RECORD_NAN | RECORD_ZERO),
    FIELD_F64("violation_vr", violation_vr, RECORD_NAN | RECORD_ZERO),
    FIELD_F64("violation_prochot", violation_prochot, RECORD_NAN | RECORD_ZERO),
    FIELD_U64("throttle_bits", throttle_bits, RECORD_NAN),
};
static const struct record sense_record = {RECORD_TABLE(sense_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct verification
static const struct record_field wrong_fields[] = {
    FIELD_CHARS("buffer", buffer),
    FIELD_U64("index", index),
    FIELD_F64("got", got, RECORD_NAN | RECORD_ZERO | RECORD_SIGNED),
    FIELD_F64("want", want, RECORD_NAN | RECORD_ZERO | RECORD_SIGNED),
};
static const struct record wrong_record = {RECORD_TABLE(wrong_fields)};

#define NOT_FINITE "not a finite number"
static const struct record_field verification_fields[] = {
    FIELD_NAMED(RECORD_ENUM, "status", verdict, verdict_names, VERIFY_SKIPPED + 1),
    FIELD_CHARS("method", method),
    FIELD_U64("checked", checked),
    FIELD_U64("wrong", wrong),
    FIELD_REASON("max_abs", max_abs, RECORD_NAN | RECORD_ZERO, NOT_FINITE),
    FIELD_REASON("max_rel", max_rel, RECORD_NAN | RECORD_ZERO, NOT_FINITE),
    FIELD_F64("tolerance", tolerance, RECORD_NAN | RECORD_ZERO | RECORD_SPARSE),
    FIELD_REASON("tolerance_used", tolerance_used, RECORD_NAN | RECORD_ZERO, NOT_FINITE),
    FIELD_U32("launches", launches),
    FIELD_F64("wrong_below", wrong_below, RECORD_SPARSE),
    FIELD_U64("sample_seed", sample_seed, RECORD_SPARSE),
    FIELD_GROUP("first_wrong", wrong_record, RECORD_NULLABLE),
    FIELD_CHARS("reason", reason),
    FIELD_CHARS("not_checked", not_checked),
};
static const struct record verification_record = {RECORD_TABLE(verification_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT double
static const struct record_field time_fields[] = {{.kind = RECORD_F64, .rules = RECORD_SPARSE | RECORD_POSITIVE}};
static const struct record time_record = {RECORD_TABLE(time_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct result_case
static bool was_measured(const void *base)
{
    const enum timer timer = ((const struct result_case *)base)->timer;
    return timer != TIMED_NONE && timer != TIMED_SIM;
}

static const struct record_field code_fields[] = {
    FIELD_CHARS("object_sha256", object_sha256),
    FIELD_STRING("library", library),
    FIELD_STRING("isa_sha256", code.isa_sha256),
    FIELD_FIXED("grid", grid, record_u32),
    FIELD_FIXED("block", block, record_u32),
    FIELD_U32("dynamic_lds_bytes", lds_bytes),
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
    FIELD_NAMED(RECORD_ENUM, "cache_mode", cache, cache_mode_names, CACHE_ROTATE + 1),
    FIELD_U32("batch", batch),
    FIELD_REASON("warmup_ns", warmup_ns, RECORD_NAN | RECORD_ZERO, "not measured"),
    FIELD_BOOL("warmup_converged", warmup_converged),
    FIELD_U64("n", sample_count, RECORD_REQUIRED),
    FIELD_GROUP("n_discarded", discarded_record),
    FIELD_NAMED(RECORD_ENUM, "stop_reason", stop, stop_reason_names, STOP_MAX_SAMPLES + 1, RECORD_FROM_ONE),
    FIELD_REASON("wall_ns", wall_ns, RECORD_NAN | RECORD_ZERO, "not measured"),
    FIELD_REASON("overhead_ns", overhead_ns, RECORD_NAN | RECORD_ZERO, "not measured"),
    FIELD_U32("order_index", order_index),
    FIELD_U64("flush_bytes", flush_bytes),
    FIELD_STRING("flush_method", flush_method),
    FIELD_F64("core_hz", core_hz, RECORD_NAN),
    FIELD_F64("cycles", cycles, RECORD_NAN),
    FIELD_STRING("cycles_reason", clock_reason, RECORD_SPARSE),
    FIELD_U32("clock_unsteady", clock_unsteady, RECORD_SPARSE),
    FIELD_BOOL("blocking_start", blocking_start),
    FIELD_STRING("blocking_start_reason", blocking_reason, RECORD_SPARSE),
    FIELD_GROUP("cross", cross_record, RECORD_NULLABLE),
};
static const struct record measurement_record = {RECORD_TABLE(measurement_fields)};

static const struct record_field telemetry_fields[] = {
    FIELD_OBJECT("before", before, sense_record),
    FIELD_OBJECT("after", after, sense_record),
};
static const struct record telemetry_record = {RECORD_TABLE(telemetry_fields), .known = was_measured};

#define TOO_FEW "too few samples"
static const struct record_field stats_fields[] = {
    FIELD_F64("median_ns", stats.median),
    FIELD_FIXED("ci95_ns", stats.ci95, time_record, RECORD_REQUIRED),
    FIELD_F64("min_ns", stats.min),
    FIELD_F64("p05_ns", stats.p05, RECORD_NAN),
    FIELD_F64("q1_ns", stats.q1, RECORD_NAN),
    FIELD_F64("q3_ns", stats.q3, RECORD_NAN),
    FIELD_F64("p95_ns", stats.p95, RECORD_NAN),
    FIELD_F64("max_ns", stats.max),
    FIELD_F64("mean_ns", stats.mean, RECORD_NAN),
    FIELD_REASON("sd_ns", stats.sd, RECORD_NAN | RECORD_ZERO, TOO_FEW),
    FIELD_REASON("mad_ns", stats.mad, RECORD_NAN | RECORD_ZERO, TOO_FEW),
    FIELD_REASON("rel_noise", stats.rel_noise, RECORD_NAN | RECORD_ZERO, TOO_FEW),
    FIELD_REASON("lag1", stats.lag1, RECORD_NAN | RECORD_ZERO | RECORD_SIGNED, "too few samples, or all are equal"),
    FIELD_REASON("drift", stats.drift, RECORD_NAN | RECORD_ZERO | RECORD_SIGNED, TOO_FEW),
    FIELD_U32("modes", stats.modes),
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
    FIELD_CHARS("bound", lower_bound.bound),
    FIELD_CHARS("ceiling_name", lower_bound.ceiling_name),
    FIELD_F64("ceiling_value", lower_bound.ceiling_value),
    FIELD_BOOL("ceiling_measured", lower_bound.ceiling_measured),
    FIELD_BOOL("bound_is_memory", lower_bound.bound_is_memory),
    FIELD_REASON("fraction_of_ceiling", fraction, RECORD_NAN, "no ceiling known, or no samples"),
    FIELD_REASON("ridge", lower_bound.ridge, RECORD_NAN, "no bandwidth or no peak known"),
    FIELD_F64("lower_bound_ns", lower_bound.time_ns),
    FIELD_F64("memory_lower_bound_ns", lower_bound.memory_ns),
    FIELD_F64("compute_lower_bound_ns", lower_bound.compute_ns),
    FIELD_F64("launch_ns", lower_bound.launch_ns),
};
static const struct record roofline_record = {RECORD_TABLE(roofline_fields)};

#define TERM(name, term) FIELD_F64(name "_ns", prediction.term_ns[term], RECORD_SPARSE | RECORD_ROUNDED)
static const struct record_field term_fields[] = {
    TERM("matrix", TERM_MATRIX),
    TERM("vector", TERM_VECTOR),
    TERM("scalar", TERM_SCALAR),
    TERM("LDS", TERM_LDS),
    TERM("L1", TERM_L1),
    TERM("L2", TERM_L2),
    TERM("MALL", TERM_MALL),
    TERM("memory", TERM_MEMORY),
    TERM("latency", TERM_LATENCY),
    TERM("atomics", TERM_ATOMICS),
    TERM("dispatch", TERM_DISPATCH),
    TERM("launch", TERM_LAUNCH),
};
static const struct record term_record = {RECORD_TABLE(term_fields)};
_Static_assert(COUNT_OF(term_fields) == TERM_COUNT, "every term is written");

static const struct record_field prediction_fields[] = {
    FIELD_F64("time_ns", prediction.time_ns),
    FIELD_F64("low_ns", prediction.low_ns),
    FIELD_F64("high_ns", prediction.high_ns),
    FIELD_STRING("method", prediction.method),
    FIELD_STRING("bound", prediction.bound),
    FIELD_STRING("limiter", prediction.limiter),
    FIELD_GROUP("terms", term_record),
    FIELD_LIST("notes", prediction.notes, prediction.note_count, record_string),
    FIELD_REASON("error_rel", predicted_error, RECORD_NAN | RECORD_ZERO | RECORD_SIGNED,
                 "nothing was measured to compare with"),
};
static const struct record prediction_record = {RECORD_TABLE(prediction_fields)};

static const struct record_field case_fields[] = {
    FIELD_STRING("id", id, RECORD_REQUIRED),
    FIELD_STRING("label", label),
    FIELD_STRING("kernel", kernel, RECORD_REQUIRED),
    FIELD_STRING("class", class),
    FIELD_MAP("params", params, param_count, param_record, RECORD_REQUIRED),
    FIELD_LIST("tags", tags, tag_count, record_string),
    FIELD_F64("weight", weight, RECORD_SPARSE),
    FIELD_F64("traced_ns", traced_ns, RECORD_NAN | RECORD_SPARSE),
    FIELD_STRING("sized_by", sized_by, RECORD_SPARSE),
    FIELD_OBJECT("work", work, work_record, RECORD_NULLABLE),
    FIELD_OBJECT("identity", identity, identity_record),
    FIELD_GROUP("code", code_record),
    FIELD_GROUP("measurement", measurement_record, RECORD_NULLABLE),
    FIELD_GROUP("stats", stats_record, RECORD_NULLABLE),
    FIELD_LIST("trials", trials, trial_count, trial_record, RECORD_SPARSE),
    FIELD_LIST("metrics", metrics, metric_count, metric_record),
    FIELD_GROUP("telemetry", telemetry_record, RECORD_NULLABLE),
    FIELD_GROUP("throughput", throughput_record),
    FIELD_GROUP("roofline", roofline_record),
    FIELD_GROUP("prediction", prediction_record),
    FIELD_OBJECT("verification", verification, verification_record),
    STATUS(status),
    FLAGS(flags),
    FIELD_STRING("status_reason", reason),
};
static const struct record case_record = {RECORD_TABLE(case_fields)};
#undef RECORD_STRUCT

/* ---- writing samples ---- */

void case_json(struct json_out *out, const struct result_case *c, struct sidecar *sidecar)
{
    record_put(out, &case_record, c);
    if (!c->sample_count)
        return;
    if (c->samples_ns && c->sample_count <= sidecar->inline_max * (c->trial_count ? c->trial_count : 1)) {
        /* Long times need no fraction of a nanosecond, but one launch of a batch does: 3.7 ns must not become 4. */
        json_out_array(out, "samples_ns");
        for (size_t k = 0; k < c->sample_count; k++)
            json_out_number(out, NULL,
                            c->samples_ns[k] >= 1e5 ? round(c->samples_ns[k]) : round(c->samples_ns[k] * 1e3) / 1e3);
        json_out_end(out);
        if (!c->sample_hz)
            return;
        json_out_array(out, "samples_hz");
        for (size_t k = 0; k < c->sample_count; k++)
            json_out_number(out, NULL, round((double)c->sample_hz[k] / 1e3) * 1e3);
        json_out_end(out);
    } else if (c->samples_ns && sidecar->name) {
        samples_file_add(sidecar, c, out);
    } else {
        json_out_null(out, "samples_ns");
        json_out_string(out, "samples_ns_reason",
                        "too many for this file; 'run --samples' keeps them in one of their own");
    }
}

/* ---- reading samples ---- */

/* Reads inline samples only; result_read knows the folder of the sidecar. */
static enum status get_samples(struct result_case *c, const cJSON *json, struct arena *arena, struct err *err)
{
    const cJSON *samples = json_member(json, "samples_ns");
    if (!samples || cJSON_IsNull(samples))
        return STATUS_OK;
    if (!cJSON_IsArray(samples) || json_count(samples) != c->sample_count)
        return json_fail(samples, err, "must be an array of measurement.n = %zu numbers", c->sample_count);
    double *values = arena_array(arena, json_count(samples) + 1, sizeof(*values));
    for (const cJSON *item = samples->child; item; item = item->next) {
        if (json_check_type(item, cJSON_Number, err))
            return err->status;
        if (!(item->valuedouble > 0))
            return json_fail(item, err, "must be a time above 0");
        values[json_index(item)] = item->valuedouble;
    }
    c->samples_ns = values;
    return STATUS_OK;
}

/* A null is a clock probe that failed. */
static enum status get_clocks(struct result_case *c, const cJSON *json, struct arena *arena, struct err *err)
{
    const cJSON *clocks = json_member(json, "samples_hz"), *item;
    if (!clocks || cJSON_IsNull(clocks))
        return STATUS_OK;
    if (!cJSON_IsArray(clocks) || json_count(clocks) != c->sample_count)
        return json_fail(clocks, err, "must be an array of measurement.n = %zu numbers", c->sample_count);
    float *values = arena_array(arena, json_count(clocks) + 1, sizeof(*values));
    for (item = clocks->child; item; item = item->next) {
        const double hz = cJSON_IsNumber(item) ? item->valuedouble : cJSON_IsNull(item) ? NAN : -1;
        if (hz <= 0 || hz > (double)FLT_MAX)
            return json_fail(item, err, "must be a clock above 0, or null");
        values[json_index(item)] = (float)hz;
    }
    c->sample_hz = values;
    return STATUS_OK;
}

enum status case_from_json(struct result_case *out, const cJSON *json, struct arena *arena, struct arena *passing,
                           struct err *err)
{
    struct result_case c = {0};
    if (record_get(&c, &case_record, json, false, arena, err))
        return err->status;
    if (!c.sample_count)
        c.stats = (struct summary){0};
    c.stats.n = c.sample_count;
    if (get_samples(&c, json, passing ? passing : arena, err) || (!passing && get_clocks(&c, json, arena, err)) ||
        case_check(&c, json, err))
        return err->status;
    if (passing || c.timer == TIMED_SIM)
        c.samples_ns = NULL;
    if (c.timer == TIMED_SIM) /* older versions stored the prediction as a sample */
        c.sample_count = 0, c.stats = (struct summary){0};
    *out = c;
    return STATUS_OK;
}
