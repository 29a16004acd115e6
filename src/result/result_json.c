/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "case_fields.h"
#include "rooftile/file.h"

/* Appends `"key": value` of a finished builder, indented as a member of the top-level object. */
static void add_section(struct text *text, const char *key, struct json_out *out, const char *after)
{
    struct text value = {0};
    json_out_finish(out, &value, true);
    json_out_free(out);
    text_addf(text, "  \"%s\": ", key);
    for (const char *p = value.data; *p;) {
        const size_t line = strcspn(p, "\n");
        text_addn(text, p, line);
        p += line;
        if (!*p)
            break;
        text_add(text, "\n  ");
        p++;
    }
    text_add(text, after);
    text_release(&value);
}

static void put_labels(struct json_out *out, const char *key, const struct result_label *labels, size_t count)
{
    json_out_object(out, key);
    for (size_t k = 0; k < count; k++)
        json_out_string(out, labels[k].key, labels[k].value);
    json_out_end(out);
}

static struct json_out *tool_section(const struct result *result)
{
    struct json_out *out = json_out_new();
    json_out_string(out, "name", "rooftile");
    group_write(out, &group_tool, result);
    return out;
}

static struct json_out *run_section(const struct result *result)
{
    struct json_out *out = json_out_new();
    group_write(out, &group_run, result);
    json_out_array(out, "argv");
    for (size_t k = 0; k < result->argc; k++)
        json_out_string(out, NULL, result->argv[k]);
    json_out_end(out);
    json_out_u64(out, "seed", result->seed);
    group_write(out, &group_run_end, result);
    put_labels(out, "labels", result->labels, result->label_count);
    if (!result->part_count)
        return out;
    json_out_array(out, "parts");
    for (size_t k = 0; k < result->part_count; k++) {
        json_out_object(out, NULL);
        group_write(out, &group_part, &result->parts[k]);
        json_out_end(out);
    }
    json_out_end(out);
    return out;
}

static void put_cache(struct json_out *out, const struct device_info *device, const char *key, const char *name)
{
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < device->cache_count && k < DEVICE_MAX_CACHES; k++)
        if (strcmp(device->caches[k].name, name) == 0)
            bytes += device->caches[k].size_bytes * (device->caches[k].instances ? device->caches[k].instances : 1);
    if (bytes)
        json_out_u64(out, key, bytes);
    else
        json_out_null(out, key);
}

static struct json_out *environment_section(const struct result *result)
{
    struct json_out *out = json_out_new();
    group_write(out, &group_host, result);
    json_out_object(out, "gpu");
    fields_write(out, group_gpu.fields, group_gpu.count, &result->device);
    put_cache(out, &result->device, "l2_bytes", "L2");
    put_cache(out, &result->device, "mall_bytes", "MALL");
    json_out_end(out);
    json_out_object(out, "software");
    group_write(out, &group_software, result);
    put_labels(out, "env", result->env, result->env_count);
    json_out_end(out);
    json_out_string(out, "fingerprint", result->fingerprint[0] ? result->fingerprint : NULL);
    json_out_array(out, "warnings");
    for (size_t k = 0; k < result->warning_count; k++)
        json_out_string(out, NULL, result->warnings[k]);
    json_out_end(out);
    return out;
}

static void put_peak(struct json_out *out, const char *name, const char *unit, double value, const char *method,
                     double clock_hz)
{
    if (value <= 0)
        return;
    json_out_object(out, NULL);
    json_out_string(out, "name", name);
    json_out_string(out, "unit", unit);
    json_out_number(out, "value", value);
    json_out_string(out, "method", method);
    json_out_number(out, "clock_hz", clock_hz > 0 ? clock_hz : NAN);
    json_out_end(out);
}

static struct json_out *calibration_section(const struct result *result)
{
    struct json_out *out = json_out_new();
    const struct machine *machine = &result->machine;
    group_write(out, &group_calibration, &result->calibration);
    json_out_array(out, "peaks");
    for (uint32_t k = 0; k < machine->level_count; k++) {
        const struct machine_level *level = &machine->levels[k];
        put_peak(out, level->name, "B/s", level->bandwidth.measured, "measured", 0);
        put_peak(out, level->name, "B/s", level->bandwidth.claimed, "spec", 0);
    }
    for (uint32_t k = 0; k < machine->unit_count; k++) {
        const struct machine_unit *unit = &machine->units[k];
        put_peak(out, unit->name, machine_unit_rate(unit->name), unit->peak.measured, "measured", unit->clock_hz);
        put_peak(out, unit->name, machine_unit_rate(unit->name), unit->peak.claimed, "spec", unit->clock_hz);
    }
    json_out_end(out);
    return out;
}

static struct json_out *ext_section(const struct result *result)
{
    struct json_out *out = json_out_new();
    json_out_object(out, "device");
    fields_write(out, group_device.fields, group_device.count, &result->device);
    json_out_end(out);
    if (result->machine.level_count) {
        json_out_object(out, "machine");
        machine_json(out, &result->machine);
        json_out_end(out);
    }
    return out;
}

static void add_cases(struct text *text, const struct result *result, struct sidecar *sidecar)
{
    text_add(text, "  \"cases\": [");
    for (size_t k = 0; k < result->case_count; k++) {
        struct json_out *out = json_out_new();
        text_add(text, k ? ",\n    " : "\n    ");
        case_json(out, &result->cases[k], sidecar);
        json_out_finish(out, text, false);
        json_out_free(out);
    }
    text_add(text, result->case_count ? "\n  ],\n" : "],\n");
}

static void put_known(struct json_out *out, const char *key, const char *text)
{
    json_out_string(out, key, text && *text ? text : NULL);
}

static void add_derived(struct text *text, const struct result *result)
{
    text_add(text, "  \"derived\": [");
    for (size_t k = 0; k < result->derived_count; k++) {
        const struct result_derived *derived = &result->derived[k];
        struct json_out *out = json_out_new();
        text_add(text, k ? ",\n    " : "\n    ");
        json_out_string(out, "name", derived->name);
        json_out_string(out, "method", derived->method);
        json_out_string(out, "kernel", derived->kernel);
        json_out_string(out, "group", derived->group);
        put_known(out, "x", derived->x);
        put_known(out, "y", derived->y);
        put_known(out, "rows", derived->rows);
        json_out_finish(out, text, false);
        json_out_free(out);
        text->length--; /* the closing brace: the value is JSON text already */
        text_addf(text, ",\"value\":%s}", derived->json);
    }
    text_add(text, result->derived_count ? "\n  ],\n" : "],\n");
}

void result_json(struct text *text, const struct result *result, struct sidecar *sidecar)
{
    text_add(text,
             "{\n  \"schema\": \"" RESULT_SCHEMA_ID "\",\n  \"schema_version\": \"" RESULT_SCHEMA_VERSION "\",\n");
    text_addf(text, "  \"predicted\": %s,\n", result->predicted ? "true" : "false");
    add_section(text, "tool", tool_section(result), ",\n");
    add_section(text, "run", run_section(result), ",\n");
    add_section(text, "environment", environment_section(result), ",\n");
    add_section(text, "calibration", calibration_section(result), ",\n");
    add_cases(text, result, sidecar);
    add_derived(text, result);
    kpis_add(text, result);
    add_section(text, "ext", ext_section(result), "\n}\n");
}

enum status result_write(const struct result *result, const char *path, struct err *err)
{
    struct arena arena = {0};
    struct text text = {0};
    enum status status = STATUS_OK;
    const bool is_stream = strcmp(path, "-") == 0;
    const char *side = arena_printf(&arena, "%s.samples.bin", path);
    struct sidecar sidecar = {.name = is_stream || !result->raw_samples ? NULL : path_base(side),
                              .with_samples = true,
                              .inline_max = is_stream ? MEASUREMENT_MAX_SAMPLES : SAMPLES_INLINE};
    result_json(&text, result, &sidecar);
    /* The sidecar first: a result must never point at samples that are not there. */
    if (sidecar.bytes.length)
        status = file_write(side, sidecar.bytes.data, sidecar.bytes.length, err);
    if (!status)
        status = file_write(path, text.data, text.length, err);
    text_release(&sidecar.bytes);
    text_release(&text);
    arena_release(&arena);
    return status;
}
