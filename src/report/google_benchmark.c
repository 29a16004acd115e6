/* SPDX-License-Identifier: MIT
 *
 * google/benchmark's JSON, so that its compare.py and everything built on it can read our results: a trial is a
 * repetition; without trials the whole run is one. A case that failed stands there with error_occurred.
 */
#include <math.h>
#include <string.h>

#include "report_internal.h"
#include "rooftile/json_out.h"

static void put_context(struct json_out *out, const struct result *result, struct arena *arena)
{
    json_out_object(out, "context");
    json_out_string(out, "date", result->started_at ? result->started_at : "1970-01-01T00:00:00Z");
    json_out_string(out, "host_name",
                    result->host_id_hash && result->host_id_hash[0] ? result->host_id_hash : "unknown");
    json_out_string(out, "executable", "rooftile");
    json_out_number(out, "num_cpus", result->device.cus);
    json_out_number(out, "mhz_per_cpu", floor(result->device.core_hz / 1e6));
    json_out_bool(out, "cpu_scaling_enabled", false);
    json_out_array(out, "caches");
    for (uint32_t k = 0; k < result->device.cache_count; k++) {
        const struct device_cache *cache = &result->device.caches[k];
        json_out_object(out, NULL);
        json_out_string(out, "type", "Unified");
        json_out_number(out, "level", k + 1);
        json_out_number(out, "size", (double)cache->size_bytes);
        json_out_number(out, "num_sharing", cache->instances ? fmax(1, result->device.cus / cache->instances) : 1);
        json_out_end(out);
    }
    json_out_end(out);
    json_out_array(out, "load_avg");
    json_out_end(out);
    json_out_string(out, "library_version", result->tool_version ? result->tool_version : "");
    json_out_string(out, "library_build_type", "release");
    json_out_number(out, "json_schema_version", 1);
    json_out_string(out, "rooftile_device", result->device.name);
    json_out_string(out, "rooftile_arch", result->device.arch);
    json_out_string(out, "rooftile_kind", result->predicted ? "PREDICTED: nothing was executed" : "measured");
    for (size_t k = 0; k < result->kpi_count; k++) { /* they are no benchmarks: not all of them are times */
        const struct result_kpi *kpi = &result->kpis[k];
        json_out_object(out, arena_printf(arena, "rooftile_kpi %s", kpi->name));
        json_out_number(out, "value", kpi->value);
        json_out_string(out, "unit", kpi->unit);
        json_out_end(out);
    }
    json_out_end(out);
}

struct repetition {
    uint32_t index, count;
    double time_ns;
    double iterations;
};

static void put_names(struct json_out *out, const struct result_case *c, const struct repetition *rep, size_t family,
                      const char *run_type, struct arena *arena)
{
    const char *id = plain_id(arena, c);
    json_out_string(out, "name", id);
    json_out_number(out, "family_index", (double)family);
    json_out_number(out, "per_family_instance_index", 0);
    json_out_string(out, "run_name", id);
    json_out_string(out, "run_type", run_type);
    json_out_number(out, "repetitions", rep->count);
    json_out_number(out, "repetition_index", rep->index);
    json_out_number(out, "threads", 1);
}

/* Counters are flat members of the entry, with the names that google/benchmark gives its own. */
static void put_counters(struct json_out *out, const struct result_case *c, double time_ns)
{
    const double scale = c->stats.median / time_ns;
    const struct {
        const char *name;
        double value;
    } counters[] = {{"bytes_per_second", c->bytes_per_s * scale},
                    {"items_per_second", c->items_per_s * scale},
                    {"flops_per_second", c->flops_per_s * scale},
                    {"fraction_of_roof", c->fraction * scale}};
    for (size_t k = 0; k < sizeof(counters) / sizeof(*counters); k++)
        if (isfinite(counters[k].value) && counters[k].value > 0)
            json_out_number(out, counters[k].name, counters[k].value);
}

static void put_repetition(struct json_out *out, const struct result_case *c, const struct repetition *rep,
                           size_t family, struct arena *arena)
{
    json_out_object(out, NULL);
    put_names(out, c, rep, family, "iteration", arena);
    json_out_number(out, "iterations", rep->iterations);
    json_out_number(out, "real_time", rep->time_ns);
    json_out_number(out, "cpu_time", rep->time_ns); /* a kernel's time has no other */
    json_out_string(out, "time_unit", "ns");
    put_counters(out, c, rep->time_ns);
    json_out_end(out);
}

static void put_failure(struct json_out *out, const struct result_case *c, size_t family, struct arena *arena)
{
    const struct repetition rep = {.count = 1};
    const char *finding = result_case_finding(c);
    json_out_object(out, NULL);
    put_names(out, c, &rep, family, "iteration", arena);
    json_out_bool(out, "error_occurred", true);
    json_out_string(
        out, "error_message",
        arena_printf(arena, "%s: %s", finding[0] ? finding : case_status_name(c->status), c->reason ? c->reason : ""));
    json_out_number(out, "iterations", 0);
    json_out_number(out, "real_time", 0);
    json_out_number(out, "cpu_time", 0);
    json_out_string(out, "time_unit", "ns");
    json_out_end(out);
}

static void put_case(struct json_out *out, const struct result_case *c, size_t family, struct arena *arena)
{
    uint32_t count = 0;
    for (size_t k = 0; k < c->trial_count; k++)
        count += isfinite(c->trials[k].median_ns) && c->trials[k].median_ns > 0;
    if (!result_case_counts(c)) {
        put_failure(out, c, family, arena);
        return;
    }
    if (!count) {
        const struct repetition whole = {0, 1, c->stats.median, (double)c->sample_count * c->batch};
        put_repetition(out, c, &whole, family, arena);
        return;
    }
    struct repetition rep = {.count = count};
    for (size_t k = 0; k < c->trial_count; k++) {
        if (!isfinite(c->trials[k].median_ns) || c->trials[k].median_ns <= 0)
            continue;
        rep.time_ns = c->trials[k].median_ns;
        rep.iterations = (double)c->trials[k].n * c->batch;
        put_repetition(out, c, &rep, family, arena);
        rep.index++;
    }
}

void report_google_benchmark(struct text *out, const struct result *result)
{
    struct arena arena = {0};
    struct json_out *json = json_out_new();
    put_context(json, result, &arena);
    json_out_array(json, "benchmarks");
    for (size_t k = 0; k < result->case_count; k++)
        if (result->cases[k].status != CASE_SKIPPED)
            put_case(json, &result->cases[k], k, &arena);
    json_out_end(json);
    json_out_finish(json, out, true);
    text_add(out, "\n");
    json_out_free(json);
    arena_release(&arena);
}
