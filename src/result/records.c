/* SPDX-License-Identifier: MIT
 *
 * A run, and what is made of its cases, as tables.
 */
#include "records.h"

#include <string.h>

static void put_json(struct json_out *out, const char *key, const struct json *json)
{
    switch (json->type) {
    case JSON_NULL:
        json_out_null(out, key);
        return;
    case JSON_BOOL:
        json_out_bool(out, key, json->boolean);
        return;
    case JSON_NUMBER:
        json_out_number(out, key, json->number);
        return;
    case JSON_STRING:
        json_out_string(out, key, json->string);
        return;
    case JSON_ARRAY:
        json_out_array(out, key);
        break;
    case JSON_OBJECT:
        json_out_object(out, key);
        break;
    }
    for (const struct json *child = json->first; child; child = child->next)
        put_json(out, child->key, child);
    json_out_end(out);
}

/* A JSON text as a value. */
static void put_text(struct json_out *out, const char *key, const void *at)
{
    const char *text = *(const char *const *)at;
    struct arena scratch = {0};
    struct err err = {0};
    const struct json *json;
    if (json_parse(&json, key, text, strlen(text), &scratch, &err))
        json_out_null(out, key);
    else
        put_json(out, key, json);
    arena_release(&scratch);
}

static enum status get_text(void *at, const struct json *json, struct arena *arena, struct err *err)
{
    if (json->type != JSON_OBJECT && json->type != JSON_ARRAY)
        return json_fail(json, err, "'value' must be an object or an array");
    struct text text = {0};
    struct json_out *out = json->type == JSON_ARRAY ? json_out_new_array() : json_out_new();
    for (const struct json *child = json->first; child; child = child->next)
        put_json(out, child->key, child);
    json_out_finish(out, &text, false);
    json_out_free(out);
    *(const char **)at = arena_strdup(arena, text.data);
    text_release(&text);
    return STATUS_OK;
}

static const struct record_hook text_hook = {put_text, get_text};

#define RECORD_STRUCT struct result_derived
static const struct record_field derived_fields[] = {
    FIELD_STRING("name", name, RECORD_PLAIN),     FIELD_STRING("method", method, RECORD_PLAIN),
    FIELD_STRING("kernel", kernel, RECORD_PLAIN), FIELD_STRING("group", group, RECORD_PLAIN),
    FIELD_STRING("x", x, RECORD_PLAIN),           FIELD_STRING("y", y, RECORD_PLAIN),
    FIELD_STRING("rows", rows, RECORD_PLAIN),     FIELD_HOOK("value", json, text_hook, RECORD_REQUIRED),
};
const struct record derived_record = {RECORD_TABLE(derived_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct result_kpi
static const struct record_field kpi_fields[] = {
    FIELD_STRING("name", name, RECORD_REQUIRED),
    FIELD_STRING("method", method, RECORD_PLAIN),
    FIELD_STRING("of", of, RECORD_PLAIN),
    FIELD_STRING("unit", unit, RECORD_PLAIN),
    FIELD_BOOL("higher_is_better", higher_is_better, RECORD_PLAIN),
    FIELD_F64("value", value, RECORD_NAN | RECORD_ZERO | RECORD_SIGNED),
    FIELD_STRING("value_reason", reason, RECORD_PLAIN),
    FIELD_U32("case_count", case_count, RECORD_PLAIN),
    FIELD_LIST("filters", filters, filter_count, record_string, RECORD_PLAIN),
    FIELD_LIST("trial_values", trial_values, trial_count, record_number, RECORD_PLAIN),
};
const struct record kpi_record = {RECORD_TABLE(kpi_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct result_label
static const struct record_field label_fields[] = {FIELD_STRING(NULL, value, RECORD_SPARSE)};
static const struct record label_record = {RECORD_TABLE(label_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct result_part
static const struct record_field part_fields[] = {
    FIELD_STRING("id", run_id, RECORD_PLAIN),
    FIELD_U32("trial_index", trial_index, RECORD_PLAIN),
    FIELD_STRING("started_at", started_at, RECORD_PLAIN),
};
static const struct record part_record = {RECORD_TABLE(part_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct device_cache
static const struct record_field cache_fields[] = {
    FIELD_CHARS("name", name, RECORD_REQUIRED),
    FIELD_U64("size_bytes", size_bytes, RECORD_PLAIN),
    FIELD_U32("line_bytes", line_bytes, RECORD_PLAIN),
    FIELD_U32("instances", instances, RECORD_PLAIN),
};
static const struct record cache_record = {RECORD_TABLE(cache_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct device_info
static const struct record_field device_fields[] = {
    FIELD_CHARS("backend", backend, RECORD_PLAIN),
    FIELD_CHARS("id", id, RECORD_PLAIN),
    FIELD_CHARS("name", name, RECORD_PLAIN),
    FIELD_CHARS("arch", arch, RECORD_PLAIN),
    FIELD_CHARS("target", target, RECORD_PLAIN),
    FIELD_CHARS("pci_bdf", pci_bdf, RECORD_PLAIN),
    FIELD_CHARS("pci_id", pci_id, RECORD_PLAIN),
    FIELD_CHARS("uuid", uuid, RECORD_PLAIN),
    FIELD_CHARS("serial_hash", serial_hash, RECORD_PLAIN),
    FIELD_CHARS("driver", driver, RECORD_PLAIN),
    FIELD_CHARS("vbios", vbios, RECORD_PLAIN),
    FIELD_CHARS("firmware", firmware, RECORD_PLAIN),
    FIELD_CHARS("partition", partition, RECORD_PLAIN),
    FIELD_CHARS("perf_level", perf_level, RECORD_PLAIN),
    FIELD_F64("power_cap_w", power_cap_w, RECORD_PLAIN),
    FIELD_U32("cus", cus, RECORD_PLAIN),
    FIELD_U32("xccs", xccs, RECORD_PLAIN),
    FIELD_U32("simds_per_cu", simds_per_cu, RECORD_PLAIN),
    FIELD_U32("wave", wave, RECORD_PLAIN),
    FIELD_U32("max_block", max_block, RECORD_PLAIN),
    FIELD_U64("lds_bytes", lds_bytes, RECORD_PLAIN),
    FIELD_U64("memory_bytes", memory_bytes, RECORD_PLAIN),
    FIELD_ROOM("caches", caches, cache_count, cache_record, RECORD_PLAIN),
    FIELD_F64("core_hz", core_hz, RECORD_PLAIN),
    FIELD_F64("memory_hz", memory_hz, RECORD_PLAIN),
    FIELD_F64("timer_tick_ns", timer_tick_ns, RECORD_PLAIN),
    FIELD_F64("flops_per_clock_f32", flops_per_clock_f32, RECORD_PLAIN),
    FIELD_F64("flops_per_clock_f64", flops_per_clock_f64, RECORD_PLAIN),
    FIELD_CHARS("note", note, RECORD_PLAIN),
};
static const struct record device_record = {RECORD_TABLE(device_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct calibration
static const struct record_field calibration_fields[] = {
    FIELD_F64("timer_tick_ns", timer_tick_ns, RECORD_PLAIN),
    FIELD_F64("null_launch_ns", null_launch_ns, RECORD_PLAIN),
    FIELD_F64("null_batch_ns", null_batch_ns, RECORD_PLAIN),
    FIELD_F64("null_host_ns", null_host_ns, RECORD_PLAIN),
    FIELD_F64("null_graph_ns", null_graph_ns, RECORD_PLAIN),
    FIELD_F64("dispatch_null_ns", dispatch_null_ns, RECORD_PLAIN),
    FIELD_CHARS("dispatch_reason", dispatch_reason, RECORD_PLAIN),
    FIELD_U64("flush_bytes", flush_bytes, RECORD_PLAIN),
    FIELD_F64("flush_reread_hot_ns", flush_reread_hot_ns, RECORD_PLAIN),
    FIELD_F64("flush_reread_cold_ns", flush_reread_cold_ns, RECORD_PLAIN),
    FIELD_CHARS("flush_verdict", flush_verdict, RECORD_PLAIN),
    FIELD_F64("counter_hz", counter_hz, RECORD_PLAIN),
};
static const struct record calibration_record = {RECORD_TABLE(calibration_fields)};
#undef RECORD_STRUCT

#define RECORD_STRUCT struct result
static const struct record_field tool_fields[] = {
    FIELD_STRING("version", tool_version, RECORD_PLAIN),
    FIELD_STRING("git", tool_git, RECORD_PLAIN),
    FIELD_BOOL("dirty", tool_dirty, RECORD_PLAIN),
    FIELD_STRING("build_flags", tool_build, RECORD_PLAIN),
};
static const struct record tool_record = {RECORD_TABLE(tool_fields)};

static const struct record_field run_fields[] = {
    FIELD_STRING("id", run_id, RECORD_PLAIN),
    FIELD_STRING("started_at", started_at, RECORD_PLAIN),
    FIELD_STRING("finished_at", finished_at, RECORD_PLAIN),
    FIELD_STRING("status", status, RECORD_PLAIN),
    FIELD_LIST("argv", argv, argc, record_string, RECORD_PLAIN),
    FIELD_U64("seed", seed, RECORD_PLAIN),
    FIELD_STRING("config_sha256", config_sha256, RECORD_PLAIN),
    FIELD_U32("trial_index", trial_index, RECORD_PLAIN),
    FIELD_U32("trials", trials, RECORD_PLAIN),
    FIELD_STRING("commit", commit, RECORD_PLAIN),
    FIELD_STRING("branch", branch, RECORD_PLAIN),
    FIELD_STRING("ci_url", ci_url, RECORD_PLAIN),
    FIELD_MAP("labels", labels, label_count, label_record, RECORD_PLAIN),
    FIELD_LIST("parts", parts, part_count, part_record, RECORD_SPARSE),
};
static const struct record run_record = {RECORD_TABLE(run_fields)};

static const struct record_field host_fields[] = {
    FIELD_STRING("id_hash", host_id_hash, RECORD_PLAIN),
    FIELD_STRING("kernel", kernel_release, RECORD_PLAIN),
    FIELD_STRING("os", os, RECORD_PLAIN),
    FIELD_STRING("cpu", cpu_name, RECORD_PLAIN),
    FIELD_U32("numa_nodes", numa_nodes, RECORD_PLAIN),
    FIELD_STRING("governor", governor, RECORD_PLAIN),
    FIELD_STRING("container", container, RECORD_PLAIN),
};
static const struct record host_record = {RECORD_TABLE(host_fields)};

static const struct record_field environment_fields[] = {
    FIELD_GROUP("host", host_record, RECORD_PLAIN),
    FIELD_OBJECT("device", device, device_record, RECORD_PLAIN),
    FIELD_STRING("compiler", compiler, RECORD_PLAIN),
    FIELD_MAP("variables", env, env_count, label_record, RECORD_PLAIN),
    FIELD_CHARS("fingerprint", fingerprint, RECORD_PLAIN),
    FIELD_LIST("warnings", warnings, warning_count, record_string, RECORD_PLAIN),
};
static const struct record environment_record = {RECORD_TABLE(environment_fields)};

static const struct record_field result_fields[] = {
    FIELD_BOOL("predicted", predicted, RECORD_PLAIN),
    FIELD_GROUP("tool", tool_record, RECORD_PLAIN),
    FIELD_GROUP("run", run_record, RECORD_REQUIRED),
    FIELD_GROUP("environment", environment_record, RECORD_REQUIRED),
    FIELD_OBJECT("calibration", calibration, calibration_record, RECORD_PLAIN),
    FIELD_OBJECT("machine", machine, machine_record, RECORD_NULLABLE),
};
const struct record result_record = {RECORD_TABLE(result_fields)};
#undef RECORD_STRUCT
