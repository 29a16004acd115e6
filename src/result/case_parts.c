/* SPDX-License-Identifier: MIT
 *
 * The parts of a case that are neither plain tables nor samples, each with its writer beside its reader: code,
 * telemetry, clock and trials.
 */
#include <math.h>

#include "case_fields.h"

/* ---- code ---- */

#define CODE(member) offsetof(struct result_case, code.member)

/* Known together or not at all. */
static const struct field code_facts[] = {
    {"vgpr", FIELD_U32, CODE(vgprs), 0, NULL},
    {"agpr", FIELD_U32, CODE(agprs), 0, NULL},
    {"sgpr", FIELD_U32, CODE(sgprs), 0, NULL},
    {"lds_bytes", FIELD_U32, CODE(lds_bytes), 0, NULL},
    {"scratch_bytes", FIELD_U32, CODE(scratch_bytes), 0, NULL},
    {"vgpr_spills", FIELD_U32, CODE(vgpr_spills), 0, NULL},
    {"sgpr_spills", FIELD_U32, CODE(sgpr_spills), 0, NULL},
    {"kernarg_bytes", FIELD_U32, CODE(kernarg_bytes), 0, NULL},
    {"wave", FIELD_U32, CODE(wave), 0, NULL},
    {"waves_per_simd", FIELD_F64, CODE(waves_per_simd), 0, ""},
    {"occupancy_limit", FIELD_STRING, CODE(occupancy_limit), 0, NULL},
    {"isa_sha256", FIELD_STRING, CODE(isa_sha256), 0, NULL},
    {"loop_instruction", FIELD_STRING, CODE(loop_instruction), 0, NULL},
    {"loop_share", FIELD_F64, CODE(loop_share), 0, ""},
};

static void put_fact(struct json_out *out, const struct result_case *c, const char *key, uint32_t value)
{
    if (c->code.known)
        json_out_u64(out, key, value);
    else
        json_out_null(out, key);
}

void case_put_code(struct json_out *out, const struct result_case *c)
{
    const struct result_code *code = &c->code;
    json_out_object(out, "code");
    json_out_string(out, "object_sha256", c->object_sha256[0] ? c->object_sha256 : NULL);
    json_out_string(out, "isa_sha256", code->isa_sha256 && code->isa_sha256[0] ? code->isa_sha256 : NULL);
    put_fact(out, c, "vgpr", code->vgprs);
    put_fact(out, c, "agpr", code->agprs);
    put_fact(out, c, "sgpr", code->sgprs);
    json_out_u64(out, "lds_bytes", code->known ? code->lds_bytes : c->lds_bytes);
    json_out_u64(out, "dynamic_lds_bytes", c->lds_bytes);
    put_fact(out, c, "scratch_bytes", code->scratch_bytes);
    put_fact(out, c, "spills", code->vgpr_spills + code->sgpr_spills);
    put_fact(out, c, "vgpr_spills", code->vgpr_spills);
    put_fact(out, c, "sgpr_spills", code->sgpr_spills);
    json_out_number(out, "waves_per_simd", code->known ? code->waves_per_simd : NAN);
    json_out_u64(out, "wg_size", (uint64_t)c->block[0] * c->block[1] * c->block[2]);
    json_out_array(out, "grid");
    for (size_t k = 0; k < 3; k++)
        json_out_u64(out, NULL, c->grid[k]);
    json_out_end(out);
    put_fact(out, c, "kernarg_bytes", code->kernarg_bytes);
    put_fact(out, c, "wave", code->wave);
    json_out_string(out, "occupancy_limit",
                    code->occupancy_limit && code->occupancy_limit[0] ? code->occupancy_limit : NULL);
    if (code->loop_instruction && code->loop_instruction[0]) {
        json_out_string(out, "loop_instruction", code->loop_instruction);
        json_out_number(out, "loop_share", code->loop_share);
    }
    if (c->library && *c->library)
        json_out_string(out, "library", c->library);
    json_out_end(out);
}

enum status case_get_code(struct result_case *c, const struct json *json, struct arena *arena, struct err *err)
{
    static const struct field fields[] = {
        {"object_sha256", FIELD_CHARS, offsetof(struct result_case, object_sha256), sizeof(c->object_sha256), NULL},
        {"grid", FIELD_U32S, offsetof(struct result_case, grid), 3, NULL},
        {"library", FIELD_STRING, offsetof(struct result_case, library), 0, NULL},
    };
    /* 1.0 had one size of LDS, the launch's. */
    const struct json *object = json_member(json, "code"), *vgpr = json_member(object, "vgpr");
    const char *lds_key = json_member(object, "dynamic_lds_bytes") ? "dynamic_lds_bytes" : "lds_bytes";
    const struct field lds = {lds_key, FIELD_U32, offsetof(struct result_case, lds_bytes), 0, NULL};
    enum status status = fields_read(c, fields, FIELD_COUNT(fields), object, arena, err);
    if (!status)
        status = fields_read(c, &lds, 1, object, arena, err);
    if (!status)
        status = fields_read(c, code_facts, FIELD_COUNT(code_facts), object, arena, err);
    c->code.known = vgpr && vgpr->type == JSON_NUMBER;
    if (!c->code.known)
        c->code.lds_bytes = 0;
    return status;
}

/* ---- telemetry: from the readings before and after, which stand in ext ---- */

/* Negative when the driver was reloaded between: unknown too. */
static double growth(double before, double after)
{
    const double grown = after - before;
    return grown >= 0 ? grown : NAN;
}

static double mean_of(double before, double after)
{
    return before > 0 && after > 0 ? (before + after) / 2 : NAN;
}

static void put_power(struct json_out *out, double before, double after)
{
    if (!isfinite(mean_of(before, after))) {
        json_out_null(out, "power_w");
        return;
    }
    json_out_object(out, "power_w");
    json_out_number(out, "mean", mean_of(before, after));
    json_out_number(out, "max", fmax(before, after));
    json_out_end(out);
}

static void put_violations(struct json_out *out, const struct device_sense *before, const struct device_sense *after)
{
    const struct {
        const char *key;
        double grown;
    } causes[] = {
        {"ppt", growth(before->violation_power, after->violation_power)},
        {"thermal", growth(before->violation_thermal, after->violation_thermal)},
        {"hbm", growth(before->violation_hbm, after->violation_hbm)},
        {"vr", growth(before->violation_vr, after->violation_vr)},
        {"prochot", growth(before->violation_prochot, after->violation_prochot)},
    };
    bool known = false;
    for (size_t k = 0; k < FIELD_COUNT(causes); k++)
        known |= isfinite(causes[k].grown);
    if (!known) {
        json_out_null(out, "violations");
        return;
    }
    json_out_object(out, "violations");
    for (size_t k = 0; k < FIELD_COUNT(causes); k++)
        json_out_number(out, causes[k].key, causes[k].grown);
    json_out_end(out);
}

void case_put_telemetry(struct json_out *out, const struct result_case *c)
{
    /* A case that was not measured was not sensed either: its zeros are no readings. */
    static const struct device_sense none = {.violation_power = NAN,
                                             .violation_thermal = NAN,
                                             .violation_hbm = NAN,
                                             .violation_vr = NAN,
                                             .violation_prochot = NAN};
    const struct device_sense *before = c->timer != TIMED_NONE ? &c->before : &none;
    const struct device_sense *after = c->timer != TIMED_NONE ? &c->after : &none;
    json_out_object(out, "telemetry");
    json_out_object(out, "sclk_hz");
    json_out_number(out, "before", before->core_hz > 0 ? before->core_hz : NAN);
    json_out_number(out, "after", after->core_hz > 0 ? after->core_hz : NAN);
    json_out_number(out, "mean", c->core_hz > 0 ? c->core_hz : mean_of(before->core_hz, after->core_hz));
    json_out_end(out);
    json_out_number(out, "mclk_hz", after->memory_hz > 0 ? after->memory_hz : NAN);
    put_power(out, before->power_w, after->power_w);
    json_out_number(out, "temp_c", after->temp_c != 0 ? after->temp_c : NAN);
    put_violations(out, before, after);
    json_out_end(out);
}

enum status case_get_telemetry(struct result_case *c, const struct json *json, struct arena *arena, struct err *err)
{
    static const struct field mean = {"mean", FIELD_F64, offsetof(struct result_case, core_hz), 0, ""};
    const struct json *clock = json_member(json_member(json, "telemetry"), "sclk_hz");
    return fields_read(c, &mean, 1, clock && clock->type == JSON_OBJECT ? clock : NULL, arena, err);
}

/* ---- the clock and the second timer, at the end of "measurement" ---- */

static const struct field clock_fields[] = {
    {"cycles", FIELD_F64, offsetof(struct result_case, cycles), 0, ""},
    {"cycles_reason", FIELD_STRING, offsetof(struct result_case, clock_reason), 0, NULL},
    {"blocking_start", FIELD_BOOL, offsetof(struct result_case, blocking_start), 0, NULL},
    {"blocking_start_reason", FIELD_STRING, offsetof(struct result_case, blocking_reason), 0, NULL},
    {"clock_unsteady", FIELD_U32, offsetof(struct result_case, clock_unsteady), 0, NULL},
};
static const struct field cross_fields[] = {
    {"timer", FIELD_ENUM, offsetof(struct result_case, cross_timer), ENUM_TIMER, NULL},
    {"time_ns", FIELD_F64, offsetof(struct result_case, cross_ns), 0, ""},
};

void case_put_clock(struct json_out *out, const struct result_case *c)
{
    json_out_number(out, "cycles", c->cycles > 0 ? c->cycles : NAN);
    if (c->clock_reason && c->clock_reason[0])
        json_out_string(out, "cycles_reason", c->clock_reason);
    json_out_bool(out, "blocking_start", c->blocking_start);
    if (c->blocking_reason && c->blocking_reason[0])
        json_out_string(out, "blocking_start_reason", c->blocking_reason);
    if (c->clock_unsteady)
        json_out_u64(out, "clock_unsteady", c->clock_unsteady);
    if (c->cross_timer == TIMED_NONE) {
        json_out_null(out, "cross");
        return;
    }
    json_out_object(out, "cross");
    fields_write(out, cross_fields, FIELD_COUNT(cross_fields), c);
    json_out_end(out);
}

enum status case_get_clock(struct result_case *c, const struct json *measurement, struct arena *arena, struct err *err)
{
    const struct json *cross = json_member(measurement, "cross");
    const enum status status = fields_read(c, clock_fields, FIELD_COUNT(clock_fields), measurement, arena, err);
    if (status || !cross || cross->type == JSON_NULL)
        return status;
    return fields_read(c, cross_fields, FIELD_COUNT(cross_fields), cross, arena, err);
}

/* ---- trials ---- */

#define TRIAL(member) offsetof(struct result_trial, member)
static const struct field trial_fields[] = {
    {"index", FIELD_U32, TRIAL(index), 0, NULL},
    {"status", FIELD_ENUM, TRIAL(status), ENUM_STATUS, NULL},
    {"median_ns", FIELD_F64, TRIAL(median_ns), 0, ""},
    {"min_ns", FIELD_F64, TRIAL(min_ns), 0, ""},
    {"n", FIELD_U32, TRIAL(n), 0, NULL},
    {"cycles", FIELD_F64, TRIAL(cycles), 0, ""},
    {"core_hz", FIELD_F64, TRIAL(core_hz), 0, ""},
    {"order_index", FIELD_U32, TRIAL(order_index), 0, NULL},
};

void case_put_flags(struct json_out *out, uint32_t flags)
{
    json_out_array(out, "flags");
    for (unsigned bit = 0; case_flag_name(bit); bit++)
        if (flags & 1u << bit)
            json_out_string(out, NULL, case_flag_name(bit));
    json_out_end(out);
}

enum status case_get_flags(uint32_t *flags, const struct json *object, struct err *err)
{
    const struct json *array = NULL;
    const enum status status = json_get_array(&array, object, "flags", JSON_OPTIONAL, err);
    for (const struct json *item = array ? array->first : NULL; item && !status; item = item->next) {
        if (item->type != JSON_STRING)
            return json_fail(item, err, "must be a string");
        const int bit = measurement_from_name(ENUM_FLAG, item->string);
        if (bit >= 0) /* a newer minor version may know more */
            *flags |= 1u << bit;
    }
    return status;
}

void case_put_trials(struct json_out *out, const struct result_case *c)
{
    if (!c->trial_count)
        return;
    json_out_array(out, "trials");
    for (size_t k = 0; k < c->trial_count; k++) {
        json_out_object(out, NULL);
        fields_write(out, trial_fields, FIELD_COUNT(trial_fields), &c->trials[k]);
        case_put_flags(out, c->trials[k].flags);
        json_out_end(out);
    }
    json_out_end(out);
}

static enum status get_trial(struct result_trial *trial, const struct json *json, struct arena *arena, struct err *err)
{
    enum status status = fields_read(trial, trial_fields, FIELD_COUNT(trial_fields), json, arena, err);
    if (!status)
        status = case_get_flags(&trial->flags, json, err);
    if (status)
        return status;
    if (trial->status == CASE_NONE)
        return json_fail(json, err, "the key 'status' is missing");
    if (trial->n ? !(trial->min_ns > 0) || !(trial->median_ns >= trial->min_ns) : !isnan(trial->median_ns))
        return json_fail(json, err,
                         "impossible values: a trial with samples has 0 < min_ns <= median_ns, one without has none");
    return STATUS_OK;
}

enum status case_get_trials(struct result_case *c, const struct json *json, struct arena *arena, struct err *err)
{
    const struct json *array = NULL;
    enum status status = json_get_array(&array, json, "trials", JSON_OPTIONAL, err);
    if (status || !array || !array->count)
        return status;
    struct result_trial *trials = arena_array(arena, array->count, sizeof(*trials));
    for (const struct json *item = array->first; item && !status; item = item->next) {
        status = get_trial(&trials[item->index], item, arena, err);
        if (!status && item->index && trials[item->index].index <= trials[item->index - 1].index)
            return json_fail(item, err, "trials must stand in the order of their index, each once");
    }
    c->trials = trials;
    c->trial_count = array->count;
    return status;
}
