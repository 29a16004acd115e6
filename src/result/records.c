/* SPDX-License-Identifier: MIT
 *
 * JSON tables of a run, its derived values and its key figures.
 */
#include "records.h"

#define RECORD_STRUCT struct result_derived
static const struct record_field derived_fields[] = {
    FIELD_STRING("name", name),
    FIELD_STRING("method", method),
    FIELD_STRING("kernel", kernel),
    FIELD_STRING("group", group),
    FIELD_STRING("x", x),
    FIELD_STRING("y", y),
    FIELD_STRING("rows", rows),
    FIELD_HOOK("value", value, derived_value_put, derived_value_get, RECORD_REQUIRED),
    FIELD_STRING("finding", finding, RECORD_SPARSE),
};
const struct record derived_record = {RECORD_TABLE(derived_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct result_kpi
static const struct record_field kpi_fields[] = {
    FIELD_STRING("name", name, RECORD_REQUIRED),
    FIELD_STRING("method", method),
    FIELD_STRING("of", of),
    FIELD_STRING("unit", unit),
    FIELD_BOOL("higher_is_better", higher_is_better),
    FIELD_F64("value", value, RECORD_NAN | RECORD_ZERO | RECORD_SIGNED),
    FIELD_STRING("value_reason", reason),
    FIELD_U32("case_count", case_count),
    FIELD_LIST("filters", filters, filter_count, record_string),
    FIELD_LIST("trial_values", trial_values, trial_count, record_number),
};
const struct record kpi_record = {RECORD_TABLE(kpi_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct result_label
static const struct record_field label_fields[] = {FIELD_STRING(NULL, value, RECORD_SPARSE)};
static const struct record label_record = {RECORD_TABLE(label_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct result_part
static const struct record_field part_fields[] = {
    FIELD_STRING("id", run_id),
    FIELD_U32("trial_index", trial_index),
    FIELD_STRING("started_at", started_at),
};
static const struct record part_record = {RECORD_TABLE(part_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct result_job
static bool job_known(const void *base)
{
    const struct result_job *job = base;
    return job->node && job->node[0];
}

static const struct record_field job_fields[] = {
    FIELD_STRING("engine", engine),
    FIELD_STRING("id", id),
    FIELD_U32("rank", rank),
    FIELD_U32("world", world),
    FIELD_STRING("node", node, RECORD_REQUIRED),
    FIELD_U32("local_rank", local_rank),
    FIELD_U32("devices", devices),
    FIELD_F64("started_together_ns", started_together_ns),
};
static const struct record job_record = {RECORD_TABLE(job_fields), .known = job_known};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct device_cache
static const struct record_field cache_fields[] = {
    FIELD_CHARS("name", name, RECORD_REQUIRED),
    FIELD_U64("size_bytes", size_bytes),
    FIELD_U32("line_bytes", line_bytes),
    FIELD_U32("instances", instances),
};
static const struct record cache_record = {RECORD_TABLE(cache_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct device_link
static const struct record_field link_fields[] = {
    FIELD_CHARS("peer", peer, RECORD_REQUIRED),
    FIELD_CHARS("type", type),
    FIELD_U32("count", count),
    FIELD_U32("weight", weight, RECORD_SPARSE),
    FIELD_F64("max_bytes_per_s", max_bytes_per_s, RECORD_SPARSE),
};
static const struct record link_record = {RECORD_TABLE(link_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct device_nic
static const struct record_field nic_fields[] = {
    FIELD_CHARS("name", name, RECORD_REQUIRED),       FIELD_CHARS("state", state, RECORD_SPARSE),
    FIELD_CHARS("distance", distance, RECORD_SPARSE), FIELD_U32("width", width, RECORD_SPARSE),
    FIELD_U32("max_width", max_width, RECORD_SPARSE), FIELD_F64("max_bytes_per_s", max_bytes_per_s, RECORD_SPARSE),
};
static const struct record nic_record = {RECORD_TABLE(nic_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct device_info
static const struct record_field pcie_fields[] = {
    FIELD_U32("width", pcie.width, RECORD_SPARSE),
    FIELD_U32("max_width", pcie.max_width, RECORD_SPARSE),
    FIELD_U32("generation", pcie.generation, RECORD_SPARSE),
    FIELD_U32("max_generation", pcie.max_generation, RECORD_SPARSE),
    FIELD_CHARS("cpus", pcie.cpus, RECORD_SPARSE),
};
static const struct record pcie_record = {RECORD_TABLE(pcie_fields)};
static const struct record_field device_fields[] = {
    FIELD_CHARS("backend", backend),
    FIELD_CHARS("id", id),
    FIELD_CHARS("name", name),
    FIELD_CHARS("arch", arch),
    FIELD_CHARS("target", target),
    FIELD_CHARS("pci_bdf", pci_bdf),
    FIELD_CHARS("pci_id", pci_id),
    FIELD_CHARS("uuid", uuid),
    FIELD_CHARS("serial_hash", serial_hash),
    FIELD_CHARS("driver", driver),
    FIELD_CHARS("emulated", emulated, RECORD_SPARSE),
    FIELD_CHARS("vbios", vbios),
    FIELD_CHARS("firmware", firmware),
    FIELD_CHARS("partition", partition),
    FIELD_CHARS("perf_level", perf_level),
    FIELD_F64("power_cap_w", power_cap_w),
    FIELD_U32("cus", cus),
    FIELD_U32("xccs", xccs),
    FIELD_U32("simds_per_cu", simds_per_cu),
    FIELD_U32("wave", wave),
    FIELD_U32("max_block", max_block),
    FIELD_U64("lds_bytes", lds_bytes),
    FIELD_U64("memory_bytes", memory_bytes),
    FIELD_ROOM("caches", caches, cache_count, cache_record),
    FIELD_GROUP("pcie", pcie_record, RECORD_SPARSE),
    FIELD_ROOM("links", links, link_count, link_record, RECORD_SPARSE),
    FIELD_ROOM("nics", nics, nic_count, nic_record, RECORD_SPARSE),
    FIELD_F64("core_hz", core_hz),
    FIELD_F64("memory_hz", memory_hz),
    FIELD_F64("timer_tick_ns", timer_tick_ns),
    FIELD_F64("flops_per_clock_f32", flops_per_clock_f32),
    FIELD_F64("flops_per_clock_f64", flops_per_clock_f64),
    FIELD_CHARS("note", note),
};
static const struct record device_record = {RECORD_TABLE(device_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct calibration
static const struct record_field calibration_fields[] = {
    FIELD_F64("timer_tick_ns", timer_tick_ns),
    FIELD_F64("null_launch_ns", null_launch_ns),
    FIELD_F64("null_batch_ns", null_batch_ns),
    FIELD_F64("null_host_ns", null_host_ns),
    FIELD_F64("null_graph_ns", null_graph_ns),
    FIELD_F64("dispatch_null_ns", dispatch_null_ns),
    FIELD_CHARS("dispatch_reason", dispatch_reason),
    FIELD_U64("flush_bytes", flush_bytes),
    FIELD_F64("flush_reread_hot_ns", flush_reread_hot_ns),
    FIELD_F64("flush_reread_cold_ns", flush_reread_cold_ns),
    FIELD_CHARS("flush_verdict", flush_verdict),
    FIELD_F64("counter_hz", counter_hz),
};
static const struct record calibration_record = {RECORD_TABLE(calibration_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct result
static const struct record_field tool_fields[] = {
    FIELD_STRING("version", tool_version),
    FIELD_STRING("git", tool_git),
    FIELD_BOOL("dirty", tool_dirty),
    FIELD_STRING("build_flags", tool_build),
};
static const struct record tool_record = {RECORD_TABLE(tool_fields)};

static const struct record_field run_fields[] = {
    FIELD_STRING("id", run_id),
    FIELD_STRING("started_at", started_at),
    FIELD_STRING("finished_at", finished_at),
    FIELD_STRING("status", status),
    FIELD_LIST("argv", argv, argc, record_string),
    FIELD_U64("seed", seed),
    FIELD_STRING("config_sha256", config_sha256),
    FIELD_U32("trial_index", trial_index),
    FIELD_U32("trials", trials),
    FIELD_STRING("commit", commit),
    FIELD_STRING("branch", branch),
    FIELD_STRING("ci_url", ci_url),
    FIELD_MAP("labels", labels, label_count, label_record),
    FIELD_LIST("parts", parts, part_count, part_record, RECORD_SPARSE),
    FIELD_OBJECT("job", job, job_record, RECORD_SPARSE),
};
static const struct record run_record = {RECORD_TABLE(run_fields)};

static const struct record_field host_fields[] = {
    FIELD_STRING("id_hash", host_id_hash), FIELD_STRING("kernel", kernel_release), FIELD_STRING("os", os),
    FIELD_STRING("cpu", cpu_name),         FIELD_U32("numa_nodes", numa_nodes),    FIELD_STRING("governor", governor),
    FIELD_STRING("container", container),
};
static const struct record host_record = {RECORD_TABLE(host_fields)};

static const struct record_field environment_fields[] = {
    FIELD_GROUP("host", host_record),        FIELD_OBJECT("device", device, device_record),
    FIELD_STRING("compiler", compiler),      FIELD_MAP("variables", env, env_count, label_record),
    FIELD_CHARS("fingerprint", fingerprint), FIELD_LIST("warnings", warnings, warning_count, record_string),
};
static const struct record environment_record = {RECORD_TABLE(environment_fields)};

static const struct record_field result_fields[] = {
    FIELD_BOOL("predicted", predicted),
    FIELD_GROUP("tool", tool_record),
    FIELD_GROUP("run", run_record, RECORD_REQUIRED),
    FIELD_GROUP("environment", environment_record, RECORD_REQUIRED),
    FIELD_OBJECT("calibration", calibration, calibration_record),
    FIELD_OBJECT("machine", machine, machine_record, RECORD_NULLABLE),
};
const struct record result_record = {RECORD_TABLE(result_fields)};
#undef RECORD_STRUCT
