/* SPDX-License-Identifier: MIT
 *
 * Metrics for Prometheus: valid as OpenMetrics and as the older text format that node_exporter's textfile collector
 * reads, so without timestamps, and with nothing after "# EOF". Predictions have families of their own.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report_internal.h"

static void label(struct text *out, const char *name, const char *value, bool first)
{
    text_addf(out, "%s%s=\"", first ? "" : ",", name);
    text_add_escaped(out, ESCAPE_C, value);
    text_add(out, "\"");
}

struct family {
    const char *name; /* behind "rooftile_" or "rooftile_predicted_" */
    const char *unit; /* OpenMetrics: the end of the name; NULL: none */
    const char *help;
    const char *figure; /* of a case that counts; NULL: `value` */
    double scale;
    double (*value)(const struct result_case *c); /* NaN: no sample */
};

static double ok(const struct result_case *c)
{
    return c->status == CASE_SKIPPED ? NAN : result_case_counts(c);
}

static double wrong(const struct result_case *c)
{
    return c->verification.verdict == VERIFY_PASS ? 0 : c->verification.verdict == VERIFY_FAIL ? 1 : NAN;
}

static const struct family families[] = {
    {"case_time_seconds", "seconds", "Median time of one launch.", "median_ns", 1e-9, NULL},
    {"case_time_interval_ratio", "ratio", "Half of the median's 95 % interval, relative to it.", "\u00b195%", 1, NULL},
    {"case_bytes_per_second", NULL, "Bytes of the algorithm's minimum traffic per second.", "bytes_per_s", 1, NULL},
    {"case_flops_per_second", NULL, "Floating-point operations per second; integer ones of units for whole numbers.",
     "flops_per_s", 1, NULL},
    {"case_ceiling_ratio", "ratio", "Fraction of the roofline's ceiling that was reached.", "fraction_of_ceiling", 1,
     NULL},
    {"case_ok", NULL, "1: measured, nothing wrong with it; 0: failed, crashed, timed out, wrong or impossible.", NULL,
     1, ok},
    {"case_wrong", NULL, "1: the kernel's result is wrong; 0: it was verified.", NULL, 1, wrong},
};

static double value_of(const struct family *family, const struct result_case *c)
{
    if (!family->figure)
        return family->value(c);
    return result_case_counts(c) ? figure_value(family->figure, c) * family->scale : NAN;
}

static void head(struct text *out, const char *prefix, const char *name, const char *unit, const char *help)
{
    text_addf(out, "# HELP %s%s %s\n# TYPE %s%s gauge\n", prefix, name, help, prefix, name);
    if (unit)
        text_addf(out, "# UNIT %s%s %s\n", prefix, name, unit);
}

static void write_family(struct text *out, const char *prefix, const struct family *family, const struct result *result,
                         struct arena *arena)
{
    bool some = false;
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        const double value = value_of(family, c);
        if (!isfinite(value))
            continue;
        if (!some)
            head(out, prefix, family->name, family->unit, family->help);
        some = true;
        text_addf(out, "%s%s{", prefix, family->name);
        label(out, "case", plain_id(arena, c), true);
        label(out, "gpu", result->device.name, false);
        label(out, "arch", result->device.arch, false);
        label(out, "mode", cache_mode_name(c->cache), false);
        text_addf(out, "} %.9g\n", value);
    }
}

static void write_kpis(struct text *out, const char *prefix, const struct result *result)
{
    bool some = false;
    for (size_t k = 0; k < result->kpi_count; k++) {
        const struct result_kpi *kpi = &result->kpis[k];
        if (!isfinite(kpi->value))
            continue;
        if (!some)
            head(out, prefix, "kpi", NULL, "Key figures that the suite declares, in the unit that the label names.");
        some = true;
        text_addf(out, "%skpi{", prefix);
        label(out, "kpi", kpi->name, true);
        label(out, "unit", kpi->unit, false);
        label(out, "better", kpi->higher_is_better ? "higher" : "lower", false);
        label(out, "gpu", result->device.name, false);
        label(out, "arch", result->device.arch, false);
        text_addf(out, "} %.9g\n", kpi->value);
    }
}

static void write_run(struct text *out, const char *prefix, const struct result *result)
{
    struct tm tm = {0};
    head(out, prefix, "run_complete", NULL, "1: every planned case was run; 0: the run was interrupted.");
    text_addf(out, "%srun_complete{", prefix);
    label(out, "gpu", result->device.name, true);
    label(out, "arch", result->device.arch, false);
    text_addf(out, "} %d\n", !result->status || !strcmp(result->status, "complete"));
    if (!result->finished_at || !strptime(result->finished_at, "%Y-%m-%dT%H:%M:%S", &tm))
        return;
    head(out, prefix, "run_timestamp_seconds", "seconds", "When the run ended, in Unix time: alert when it gets old.");
    text_addf(out, "%srun_timestamp_seconds{", prefix);
    label(out, "gpu", result->device.name, true);
    label(out, "arch", result->device.arch, false);
    text_addf(out, "} %lld\n", (long long)timegm(&tm));
}

void report_openmetrics(struct text *out, const struct result *result)
{
    const char *prefix = result->predicted ? "rooftile_predicted_" : "rooftile_";
    struct arena arena = {0};
    for (size_t k = 0; k < sizeof(families) / sizeof(*families); k++)
        write_family(out, prefix, &families[k], result, &arena);
    write_kpis(out, prefix, result);
    write_run(out, prefix, result);
    text_add(out, "# EOF\n");
    arena_release(&arena);
}
