/* SPDX-License-Identifier: MIT */
#include "case_fields.h"

#define AT(member) offsetof(struct result_case, member)
#define OF(member) offsetof(struct result, member)
#define DEVICE(member) offsetof(struct device_info, member), sizeof(((struct device_info *)0)->member)
#define GROUP(name, key, fields) const struct field_group name = {key, fields, FIELD_COUNT(fields)}

#define NO_SAMPLES "no samples"
#define FEW_SAMPLES "too few samples"

/* n_discarded stands between n and stop_reason; it is written by hand after these. */
static const struct field measurement[] = {
    {"timer", FIELD_ENUM, AT(timer), ENUM_TIMER, NULL},
    {"cache_mode", FIELD_CACHE, AT(cache), 0, NULL},
    {"batch", FIELD_U32, AT(batch), 0, NULL},
    {"warmup_ns", FIELD_F64, AT(warmup_ns), 0, "not measured"},
    {"warmup_converged", FIELD_BOOL, AT(warmup_converged), 0, NULL},
    {"stop_reason", FIELD_ENUM, AT(stop), ENUM_STOP, NULL},
    {"wall_ns", FIELD_F64, AT(wall_ns), 0, "not measured"},
    {"order_index", FIELD_U32, AT(order_index), 0, NULL},
};
GROUP(group_measurement, "measurement", measurement);

static const struct field stats[] = {
    {"median", FIELD_F64, AT(stats.median), 0, NO_SAMPLES},
    {"ci95", FIELD_F64S, AT(stats.ci95), 2, NULL},
    {"min", FIELD_F64, AT(stats.min), 0, NO_SAMPLES},
    {"p05", FIELD_F64, AT(stats.p05), 0, NO_SAMPLES},
    {"q1", FIELD_F64, AT(stats.q1), 0, NO_SAMPLES},
    {"q3", FIELD_F64, AT(stats.q3), 0, NO_SAMPLES},
    {"p95", FIELD_F64, AT(stats.p95), 0, NO_SAMPLES},
    {"max", FIELD_F64, AT(stats.max), 0, NO_SAMPLES},
    {"mean", FIELD_F64, AT(stats.mean), 0, NO_SAMPLES},
    {"sd", FIELD_F64, AT(stats.sd), 0, FEW_SAMPLES},
    {"mad", FIELD_F64, AT(stats.mad), 0, FEW_SAMPLES},
    {"rel_noise", FIELD_F64, AT(stats.rel_noise), 0, FEW_SAMPLES},
    {"lag1", FIELD_SIGNED, AT(stats.lag1), 0, "too few samples, or all are equal"},
    {"drift", FIELD_SIGNED, AT(stats.drift), 0, FEW_SAMPLES},
    {"modes", FIELD_U32, AT(stats.modes), 0, NULL},
};
GROUP(group_stats, "stats", stats);

static const struct field throughput[] = {
    {"flops_per_s", FIELD_F64, AT(flops_per_s), 0, "no flops declared, or no samples"},
    {"bytes_per_s", FIELD_F64, AT(bytes_per_s), 0, "no bytes declared, or no samples"},
    {"items_per_s", FIELD_F64, AT(items_per_s), 0, "no items declared, or no samples"},
};
GROUP(group_throughput, "throughput", throughput);

static const struct field roofline[] = {
    {"intensity", FIELD_F64, AT(floor.intensity), 0, "no bytes declared"},
    {"bound", FIELD_CHARS, AT(floor.bound), MACHINE_NAME, NULL},
    {"ceiling_name", FIELD_CHARS, AT(floor.ceiling_name), MACHINE_NAME, NULL},
    {"ceiling_value", FIELD_F64, AT(floor.ceiling_value), 0, NULL},
    {"fraction_of_ceiling", FIELD_F64, AT(fraction), 0, "no roof known, or no samples"},
    {"fraction_at_held_clock", FIELD_NULL, 0, 0, NULL},
};
GROUP(group_roofline, "roofline", roofline);

static const struct field prediction[] = {
    {"model", FIELD_STRING, AT(model), 0, NULL},
    {"time_ns", FIELD_F64, AT(predicted_ns), 0, NULL},
    {"lower_ns", FIELD_F64, AT(floor.time_ns), 0, NULL},
    {"upper_ns", FIELD_NULL, 0, 0, NULL},
    {"error_rel", FIELD_SIGNED, AT(predicted_error), 0, "nothing was measured to compare with"},
};
GROUP(group_prediction, "prediction", prediction);

static const struct field verification[] = {
    {"status", FIELD_ENUM, AT(verification.verdict), ENUM_VERDICT, NULL},
    {"method", FIELD_CHARS, AT(verification.method), sizeof(((struct verification *)0)->method), NULL},
    {"max_abs", FIELD_F64, AT(verification.max_abs), 0, "not a finite number"},
    {"max_rel", FIELD_F64, AT(verification.max_rel), 0, "not a finite number"},
    {"ulp", FIELD_F64, AT(verification.max_ulp), 0, "not a finite number"},
    {"reference_sha256", FIELD_NULL, 0, 0, NULL},
};
GROUP(group_verification, "verification", verification);

static const struct field verification_ext[] = {
    {"checked", FIELD_U64, AT(verification.checked), 0, NULL},
    {"wrong", FIELD_U64, AT(verification.wrong), 0, NULL},
    {"buffer", FIELD_CHARS, AT(verification.buffer), sizeof(((struct verification *)0)->buffer), NULL},
    {"index", FIELD_U64, AT(verification.index), 0, NULL},
    {"got", FIELD_SIGNED, AT(verification.got), 0, "not a finite number"},
    {"want", FIELD_SIGNED, AT(verification.want), 0, "not a finite number"},
    {"reason", FIELD_CHARS, AT(verification.reason), sizeof(((struct verification *)0)->reason), NULL},
};
GROUP(group_verification_ext, "verification", verification_ext);

static const struct field case_ext[] = {
    {"label", FIELD_STRING, AT(label), 0, NULL},
    {"overhead_ns", FIELD_F64, AT(overhead_ns), 0, "not measured"},
    {"flush_bytes", FIELD_U64, AT(flush_bytes), 0, NULL},
    {"flush_method", FIELD_STRING, AT(flush_method), 0, NULL},
    {"footprint_bytes", FIELD_F64, AT(work.footprint_bytes), 0, NULL},
    {"block", FIELD_U32S, AT(block), 3, NULL},
    {"floor_ns", FIELD_F64, AT(floor.time_ns), 0, NULL},
    {"memory_floor_ns", FIELD_F64, AT(floor.memory_ns), 0, NULL},
    {"compute_floor_ns", FIELD_F64, AT(floor.compute_ns), 0, NULL},
    {"launch_ns", FIELD_F64, AT(floor.launch_ns), 0, NULL},
    {"ridge", FIELD_F64, AT(floor.ridge), 0, "no bandwidth or no peak known"},
    {"bound_is_memory", FIELD_BOOL, AT(floor.bound_is_memory), 0, NULL},
    {"ceiling_measured", FIELD_BOOL, AT(floor.ceiling_measured), 0, NULL},
};
GROUP(group_case_ext, NULL, case_ext);

#define SENSE(member) offsetof(struct device_sense, member)
static const struct field sense[] = {
    {"stream_bytes_per_s", FIELD_F64, SENSE(stream_bps), 0, "not sensed"},
    {"fma_flops_per_s", FIELD_F64, SENSE(fma_flops), 0, "not sensed"},
    {"core_hz", FIELD_F64, SENSE(core_hz), 0, "not sensed"},
    {"steal_fraction", FIELD_SIGNED, SENSE(steal_fraction), 0, "not sensed"},
    {"load_1min", FIELD_F64, SENSE(load_1min), 0, "not sensed"},
    {"involuntary_switches", FIELD_U64, SENSE(involuntary_switches), 0, NULL},
    {"power_w", FIELD_F64, SENSE(power_w), 0, "not sensed"},
    {"temp_c", FIELD_SIGNED, SENSE(temp_c), 0, "not sensed"},
    {"memory_hz", FIELD_F64, SENSE(memory_hz), 0, "not sensed"},
    {"vram_used_bytes", FIELD_F64, SENSE(vram_used_bytes), 0, "not sensed"},
    {"vram_own_bytes", FIELD_F64, SENSE(vram_own_bytes), 0, "not sensed"},
    /* 0 is a reading here. */
    {"other_processes", FIELD_F64, SENSE(other_processes), 0, ""},
    {"violation_power", FIELD_F64, SENSE(violation_power), 0, ""},
    {"violation_thermal", FIELD_F64, SENSE(violation_thermal), 0, ""},
    {"violation_hbm", FIELD_F64, SENSE(violation_hbm), 0, ""},
    {"violation_vr", FIELD_F64, SENSE(violation_vr), 0, ""},
    {"violation_prochot", FIELD_F64, SENSE(violation_prochot), 0, ""},
    {"throttle_bits", FIELD_U64, SENSE(throttle_bits), 0, NULL},
};
GROUP(group_sense, NULL, sense);

static const struct field tool[] = {
    {"version", FIELD_STRING, OF(tool_version), 0, NULL},
    {"git", FIELD_STRING, OF(tool_git), 0, NULL},
    {"dirty", FIELD_BOOL, OF(tool_dirty), 0, NULL},
    {"build_flags", FIELD_STRING, OF(tool_build), 0, NULL},
};
GROUP(group_tool, NULL, tool);

static const struct field run[] = {
    {"id", FIELD_STRING, OF(run_id), 0, NULL},
    {"started_at", FIELD_STRING, OF(started_at), 0, NULL},
    {"finished_at", FIELD_STRING, OF(finished_at), 0, NULL},
    {"status", FIELD_STRING, OF(status), 0, NULL},
};
GROUP(group_run, NULL, run);

static const struct field run_end[] = {
    {"trial_index", FIELD_U32, OF(trial_index), 0, NULL}, {"trials", FIELD_U32, OF(trials), 0, NULL},
    {"commit", FIELD_STRING, OF(commit), 0, NULL},        {"branch", FIELD_STRING, OF(branch), 0, NULL},
    {"ci_url", FIELD_STRING, OF(ci_url), 0, NULL},        {"config_sha256", FIELD_STRING, OF(config_sha256), 0, NULL},
};
GROUP(group_run_end, NULL, run_end);

static const struct field part[] = {
    {"id", FIELD_STRING, offsetof(struct result_part, run_id), 0, NULL},
    {"trial_index", FIELD_U32, offsetof(struct result_part, trial_index), 0, NULL},
    {"started_at", FIELD_STRING, offsetof(struct result_part, started_at), 0, NULL},
};
GROUP(group_part, NULL, part);

static const struct field host[] = {
    {"id_hash", FIELD_STRING, OF(host_id_hash), 0, NULL},
    {"kernel", FIELD_STRING, OF(kernel_release), 0, NULL},
    {"os", FIELD_STRING, OF(os), 0, NULL},
    {"cpu", FIELD_STRING, OF(cpu_name), 0, NULL},
    {"numa", FIELD_U32, OF(numa_nodes), 0, NULL},
    {"governor", FIELD_STRING, OF(governor), 0, NULL},
    {"container", FIELD_STRING, OF(container), 0, NULL},
};
GROUP(group_host, "host", host);

/* l2_bytes and mall_bytes are sums over the caches: written by hand after these. */
static const struct field gpu[] = {
    {"name", FIELD_CHARS, DEVICE(name), NULL},
    {"arch", FIELD_CHARS, DEVICE(arch), NULL},
    {"pci_bdf", FIELD_CHARS, DEVICE(pci_bdf), NULL},
    {"uuid", FIELD_CHARS, DEVICE(uuid), NULL},
    {"serial_hash", FIELD_CHARS, DEVICE(serial_hash), NULL},
    {"vbios", FIELD_CHARS, DEVICE(vbios), NULL},
    {"cus", FIELD_U32, DEVICE(cus), NULL},
    {"xccs", FIELD_U32, DEVICE(xccs), NULL},
    {"wavefront", FIELD_U32, DEVICE(wave), NULL},
    {"vram_bytes", FIELD_U64, DEVICE(memory_bytes), NULL},
    {"wallclock_hz", FIELD_NULL, 0, 0, NULL},
    {"partition_mode", FIELD_CHARS, DEVICE(partition), NULL},
    {"power_cap_w", FIELD_F64, DEVICE(power_cap_w), NULL},
    {"ecc", FIELD_NULL, 0, 0, NULL},
    {"perf_level", FIELD_CHARS, DEVICE(perf_level), NULL},
    {"clocks_locked", FIELD_NULL, 0, 0, NULL},
    {"requested_sclk_hz", FIELD_NULL, 0, 0, NULL},
};
GROUP(group_gpu, "gpu", gpu);

static const struct field software[] = {
    {"driver", FIELD_CHARS, offsetof(struct result, device.driver), sizeof(((struct device_info *)0)->driver), NULL},
    {"rocm", FIELD_NULL, 0, 0, NULL},
    {"hip_runtime", FIELD_NULL, 0, 0, NULL},
    {"hip_compiler", FIELD_STRING, OF(compiler), 0, NULL},
    {"compiler_cmdline_sha256", FIELD_STRING, OF(compiler_cmdline_sha256), 0, NULL},
    {"firmware", FIELD_NULL, 0, 0, NULL},
};
GROUP(group_software, NULL, software);

#define CALIBRATION(member) offsetof(struct calibration, member)
static const struct field calibration[] = {
    {"timer_tick_ns", FIELD_F64, CALIBRATION(timer_tick_ns), 0, NULL},
    {"null_dispatch_ns", FIELD_F64, CALIBRATION(null_launch_ns), 0, NULL},
    {"null_batch_ns", FIELD_F64, CALIBRATION(null_batch_ns), 0, NULL},
    {"flush_bytes", FIELD_U64, CALIBRATION(flush_bytes), 0, NULL},
    {"dispatch_null_ns", FIELD_F64, CALIBRATION(dispatch_null_ns), 0, NULL},
    {"flush_reread_hot_ns", FIELD_F64, CALIBRATION(flush_reread_hot_ns), 0, NULL},
    {"flush_reread_cold_ns", FIELD_F64, CALIBRATION(flush_reread_cold_ns), 0, NULL},
    {"flush_verdict", FIELD_CHARS, CALIBRATION(flush_verdict), sizeof(((struct calibration *)0)->flush_verdict), NULL},
    {"dispatch_reason", FIELD_CHARS, CALIBRATION(dispatch_reason), sizeof(((struct calibration *)0)->dispatch_reason),
     NULL},
    {"null_host_ns", FIELD_F64, CALIBRATION(null_host_ns), 0, NULL},
    {"null_graph_ns", FIELD_F64, CALIBRATION(null_graph_ns), 0, NULL},
    {"counter_hz", FIELD_F64, CALIBRATION(counter_hz), 0, NULL},
};
GROUP(group_calibration, NULL, calibration);

static const struct field device[] = {
    {"backend", FIELD_CHARS, DEVICE(backend), NULL},
    {"id", FIELD_CHARS, DEVICE(id), NULL},
    {"target", FIELD_CHARS, DEVICE(target), NULL},
    {"pci_id", FIELD_CHARS, DEVICE(pci_id), NULL},
    {"driver", FIELD_CHARS, DEVICE(driver), NULL},
    {"predicted", FIELD_BOOL, DEVICE(predicted), NULL},
    {"simds_per_cu", FIELD_U32, DEVICE(simds_per_cu), NULL},
    {"max_block", FIELD_U32, DEVICE(max_block), NULL},
    {"lds_bytes", FIELD_U64, DEVICE(lds_bytes), NULL},
    {"core_hz", FIELD_F64, DEVICE(core_hz), NULL},
    {"memory_hz", FIELD_F64, DEVICE(memory_hz), NULL},
    {"timer_tick_ns", FIELD_F64, DEVICE(timer_tick_ns), NULL},
    {"flops_per_clock_f32", FIELD_F64, DEVICE(flops_per_clock_f32), NULL},
    {"flops_per_clock_f64", FIELD_F64, DEVICE(flops_per_clock_f64), NULL},
    {"note", FIELD_CHARS, DEVICE(note), NULL},
};
GROUP(group_device, NULL, device);

void group_write(struct json_out *out, const struct field_group *group, const void *base)
{
    if (group->key)
        json_out_object(out, group->key);
    fields_write(out, group->fields, group->count, base);
    if (group->key)
        json_out_end(out);
}

enum status group_read(void *base, const struct field_group *group, const struct json *parent, struct arena *arena,
                       struct err *err)
{
    const struct json *object = group->key ? json_member(parent, group->key) : parent;
    if (object && object->type == JSON_NULL)
        object = NULL;
    return fields_read(base, group->fields, group->count, object, arena, err);
}
