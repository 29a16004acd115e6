/* SPDX-License-Identifier: MIT
 *
 * JSON formats of other tools. Dashboards show only names and numbers, so predicted results are marked in every name.
 */

#include "report_internal.h"

static const char *marked(struct arena *arena, const struct result *result, const char *prefix, const char *name)
{
    return arena_printf(arena, "%s%s%s", result->predicted ? "PREDICTED " : "", prefix, name);
}

static struct cell if_positive(double value)
{
    return value > 0 ? cell_number(value) : cell_absent();
}

/* ---- Bencher Metric Format: { benchmark: { measure: { value, lower_value, upper_value } } } ---- */

/* Omits interval ends that are unknown. */
static void bmf_measure(struct table *benchmark, const char *measure, double value, double low, double high)
{
    struct table *metric = table_record(benchmark->arena);
    if (!(value > 0) || !isfinite(value))
        return;
    table_member(metric, "value", NULL, cell_number(value));
    table_member(metric, "lower_value", NULL, if_positive(low));
    table_member(metric, "upper_value", NULL, if_positive(high));
    table_member(benchmark, measure, NULL, cell_table(metric));
}

/* Bencher slugs use hyphens; its built-in measure "latency" is in nanoseconds. */
static const char *bmf_slug(struct arena *arena, const char *of)
{
    char *slug = arena_strdup(arena, strcmp(of, "time_ns") ? of : "latency");
    for (char *c = slug; *c; c++)
        *c = *c == '_' ? '-' : *c;
    return slug;
}

void report_bmf(struct text *out, const struct result *result)
{
    static const char *const rates[] = {"bytes_per_s", "flops_per_s", "items_per_s"};
    SCOPED(arena_release) struct arena arena = {0};
    struct table *root = table_record(&arena);
    FOR_EACH(const struct result_case, c, result->cases, result->case_count) {
        const struct result_interval in = result_case_interval(c);
        const double time_ns = result_case_time(c);
        struct table *benchmark = table_record(&arena);
        if (!result_case_counts(c))
            continue; /* the format cannot express a failure: Bencher alerts on missing benchmarks */
        bmf_measure(benchmark, "latency", time_ns, in.low_ns, in.high_ns);
        for (size_t r = 0; r < 3; r++) { /* a rate's interval is that of its time, inverted */
            const double rate = figure_value(rates[r], c);
            bmf_measure(benchmark, bmf_slug(&arena, rates[r]), rate, rate * time_ns / in.high_ns,
                        rate * time_ns / in.low_ns);
        }
        table_member(root, marked(&arena, result, "", plain_id(&arena, c)), NULL, cell_table(benchmark));
    }
    FOR_EACH(const struct result_kpi, kpi, result->kpis, result->kpi_count) {
        struct table *benchmark = table_record(&arena);
        bmf_measure(benchmark, bmf_slug(&arena, kpi->of), kpi->value, NAN, NAN);
        if (benchmark->column_count)
            table_member(root, marked(&arena, result, "kpi/", kpi->name), NULL, cell_table(benchmark));
    }
    render_json_table(out, root);
}

/* ---- github-action-benchmark: [ { name, unit, value, range, extra } ] ---- */

static void gha_entry(struct table *table, const char *name, const char *unit, double value, double half_width,
                      const char *extra)
{
    const char *range = arena_printf(table->arena, "\u00b1 %.4g", half_width);
    table_add(table, (struct cell[]){cell_text(name), cell_text(unit), cell_number(value),
                                     isfinite(half_width) ? cell_text(range) : cell_absent(), cell_text(extra)});
}

static void gha(struct text *out, const struct result *result, bool bigger)
{
    static const struct table_column columns[] = {
        {.key = "name"}, {.key = "unit"}, {.key = "value"}, {.key = "range"}, {.key = "extra"}};
    SCOPED(arena_release) struct arena arena = {0};
    struct table *table = TABLE(&arena, columns);
    FOR_EACH(const struct result_kpi, kpi, result->kpis, result->kpi_count)
        if (isfinite(kpi->value) && kpi->higher_is_better == bigger)
            gha_entry(table, marked(&arena, result, "kpi/", kpi->name), kpi->unit, kpi->value, NAN,
                      arena_printf(&arena, "%s of %u case%s", kpi->method, kpi->case_count, text_s(kpi->case_count)));
    FOR_EACH(const struct result_case, c, result->cases, result->case_count) {
        const char *name = marked(&arena, result, "", plain_id(&arena, c)), *flags = figure_words("flags", c, &arena);
        const struct result_interval in = result_case_interval(c);
        const double half_ns = (in.high_ns - in.low_ns) / 2, time_ns = result_case_time(c);
        const struct {
            double rate;
            const char *unit;
        } rates[] = {{figure_value("bytes_per_s", c), "B/s"},
                     {figure_value("flops_per_s", c), machine_unit_rate(c->work.unit)}};
        const char *how = result->predicted
                              ? "predicted"
                              : arena_printf(&arena, "timer %s, %zu samples", timer_names[c->timer], c->sample_count);
        const char *ceiling = c->fraction > 0
                                  ? arena_printf(&arena, "\n%s of the ceiling (%s)", percent_words(c->fraction, &arena),
                                                 c->lower_bound.ceiling_name)
                                  : "";
        const char *extra =
            arena_printf(&arena, "%s, %s%s%s%s", how, result->device.name, ceiling, *flags ? "\n" : "", flags);
        if (!result_case_counts(c))
            continue;
        if (!bigger)
            gha_entry(table, name, "ns", time_ns, half_ns, extra);
        for (size_t k = 0; bigger && k < COUNT_OF(rates); k++)
            if (isfinite(rates[k].rate))
                gha_entry(table, arena_printf(&arena, "%s [%s]", name, rates[k].unit), rates[k].unit, rates[k].rate,
                          rates[k].rate * half_ns / time_ns, extra);
    }
    render_json_table(out, table);
}

void report_gha_smaller(struct text *out, const struct result *result)
{
    gha(out, result, false);
}

void report_gha_bigger(struct text *out, const struct result *result)
{
    gha(out, result, true);
}

/* ---- google/benchmark, so that its compare.py and tools built on it can read our results: a trial is a repetition;
 * a run without trials is one repetition. A failed case is listed with error_occurred ---- */

static struct table *context_of(const struct result *result, struct arena *arena)
{
    const struct device_info *device = &result->device;
    static const struct table_column columns[] = {
        {.key = "type"}, {.key = "level"}, {.key = "size"}, {.key = "num_sharing"}};
    struct table *context = table_record(arena), *caches = TABLE(arena, columns);
    for (uint32_t k = 0; k < device->cache_count; k++) {
        const struct device_cache *cache = &device->caches[k];
        table_add(caches,
                  (struct cell[]){cell_text("Unified"), cell_number(k + 1), cell_number((double)cache->size_bytes),
                                  cell_number(cache->instances ? fmax(1, device->cus / cache->instances) : 1)});
    }
    const char *host = result->host_id_hash && result->host_id_hash[0] ? result->host_id_hash : "unknown";
    const struct {
        const char *key;
        struct cell cell;
    } members[] = {
        {"date", cell_text(result->started_at ? result->started_at : "1970-01-01T00:00:00Z")},
        {"host_name", cell_text(host)},
        {"executable", cell_text("rooftile")},
        {"num_cpus", cell_number(device->cus)},
        {"mhz_per_cpu", cell_number(floor(device->core_hz / 1e6))},
        {"cpu_scaling_enabled", cell_bool(false)},
        {"caches", cell_table(caches)},
        {"load_avg", cell_table(table_list(arena))},
        {"library_version", cell_text(text_or_empty(result->tool_version))},
        {"library_build_type", cell_text("release")},
        {"json_schema_version", cell_number(1)},
        {"rooftile_device", cell_text(device->name)},
        {"rooftile_arch", cell_text(device->arch)},
        {"rooftile_kind", cell_text(result_kind_words(result))},
    };
    for (size_t k = 0; k < COUNT_OF(members); k++)
        table_member(context, members[k].key, NULL, members[k].cell);
    for (size_t k = 0; k < result->kpi_count; k++) { /* KPIs are not benchmarks: not all of them are times */
        const struct result_kpi *kpi = &result->kpis[k];
        struct table *figure = table_record(arena);
        table_member(figure, "value", NULL, cell_number(kpi->value));
        table_member(figure, "unit", NULL, cell_text(kpi->unit));
        table_member(context, arena_printf(arena, "rooftile_kpi %s", kpi->name), NULL, cell_table(figure));
    }
    return context;
}

/* Counters are flat members of the entry, under the names that google/benchmark uses. */
static const struct table_column entry_columns[] = {
    {.key = "name"},
    {.key = "family_index"},
    {.key = "per_family_instance_index"},
    {.key = "run_name"},
    {.key = "run_type"},
    {.key = "repetitions"},
    {.key = "repetition_index"},
    {.key = "threads"},
    {.key = "error_occurred"},
    {.key = "error_message"},
    {.key = "iterations"},
    {.key = "real_time"},
    {.key = "cpu_time"}, /* a kernel has only one time */
    {.key = "time_unit"},
    {.key = "bytes_per_second"},
    {.key = "items_per_second"},
    {.key = "flops_per_second"},
    {.key = "fraction_of_ceiling"},
};

static void add_case(struct table *entries, const struct result_case *c, size_t family)
{
    struct arena *arena = entries->arena;
    const struct cell id = cell_text(plain_id(arena, c));
    const bool counts = result_case_counts(c);
    const struct result_trial whole = {.median_ns = result_case_time(c), .n = (uint32_t)c->sample_count};
    const size_t measured = counts ? COUNT_WHERE(one, c->trials, c->trial_count, one->median_ns > 0) : 0;
    const char *error = arena_printf(arena, "%s: %s", result_case_trouble(c), text_or_empty(c->reason));
    for (size_t k = 0, index = 0; k < (measured ? c->trial_count : 1); k++) {
        const struct result_trial *trial = measured ? &c->trials[k] : &whole;
        const double time_ns = counts ? trial->median_ns : 0, scale = counts ? result_case_time(c) / time_ns : 0;
        if (measured && !(trial->median_ns > 0))
            continue;
        table_add(entries, (struct cell[]){id, cell_number((double)family), cell_number(0), id, cell_text("iteration"),
                                           cell_number(measured ? (double)measured : 1), cell_number((double)index++),
                                           cell_number(1), counts ? cell_absent() : cell_bool(true),
                                           counts ? cell_absent() : cell_text(error),
                                           cell_number(counts ? (double)trial->n * c->batch : 0), cell_number(time_ns),
                                           cell_number(time_ns), cell_text("ns"), if_positive(c->bytes_per_s * scale),
                                           if_positive(c->items_per_s * scale), if_positive(c->flops_per_s * scale),
                                           if_positive(c->fraction * scale)});
    }
}

void report_google_benchmark(struct text *out, const struct result *result)
{
    SCOPED(arena_release) struct arena arena = {0};
    struct table *root = table_record(&arena), *entries = TABLE(&arena, entry_columns);
    for (size_t k = 0; k < result->case_count; k++)
        if (result->cases[k].status != CASE_SKIPPED)
            add_case(entries, &result->cases[k], k);
    table_member(root, "context", NULL, cell_table(context_of(result, &arena)));
    table_member(root, "benchmarks", NULL, cell_table(entries));
    render_json_table(out, root);
}
