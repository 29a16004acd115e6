/* SPDX-License-Identifier: MIT
 *
 * JSON for other tools' dashboards. What no tool of theirs can express stands beside it: predicted results are marked
 * in every name, because a dashboard shows names and numbers only.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report_internal.h"
#include "rooftile/json_out.h"

static const char *shown_id(struct arena *arena, const struct result *result, const struct result_case *c)
{
    const char *id = plain_id(arena, c);
    return result->predicted ? arena_printf(arena, "PREDICTED %s", id) : id;
}

/* ---- Bencher Metric Format: { benchmark: { measure: { value, lower_value, upper_value } } } ---- */

static void bmf_measure(struct json_out *out, const char *measure, double value, double low, double high)
{
    if (!isfinite(value))
        return;
    json_out_object(out, measure);
    json_out_number(out, "value", value);
    if (isfinite(low) && isfinite(high)) {
        json_out_number(out, "lower_value", low);
        json_out_number(out, "upper_value", high);
    }
    json_out_end(out);
}

/* A rate is as uncertain as its time, the other way round. */
static void bmf_rate(struct json_out *out, const char *measure, double rate, const struct summary *stats)
{
    bmf_measure(out, measure, rate > 0 ? rate : NAN, rate * stats->median / stats->ci95[1],
                rate * stats->median / stats->ci95[0]);
}

/* Bencher's slugs have hyphens; "latency" is its own measure, in nanoseconds. */
static const char *bmf_slug(struct arena *arena, const char *of)
{
    if (!strcmp(of, "time_ns"))
        return "latency";
    char *slug = arena_strdup(arena, of);
    for (char *c = slug; *c; c++)
        *c = *c == '_' ? '-' : *c;
    return slug;
}

void report_bmf(struct text *out, const struct result *result)
{
    struct arena arena = {0};
    struct json_out *json = json_out_new();
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        if (!result_case_counts(c))
            continue; /* the format has no word for a failure: a missing benchmark is what Bencher alerts on */
        json_out_object(json, shown_id(&arena, result, c));
        bmf_measure(json, "latency", c->stats.median, c->stats.ci95[0], c->stats.ci95[1]);
        bmf_rate(json, "bytes-per-s", c->bytes_per_s, &c->stats);
        bmf_rate(json, "flops-per-s", c->flops_per_s, &c->stats);
        bmf_rate(json, "items-per-s", c->items_per_s, &c->stats);
        json_out_end(json);
    }
    for (size_t k = 0; k < result->kpi_count; k++) {
        const struct result_kpi *kpi = &result->kpis[k];
        if (!isfinite(kpi->value))
            continue;
        json_out_object(json, arena_printf(&arena, "%skpi/%s", result->predicted ? "PREDICTED " : "", kpi->name));
        bmf_measure(json, bmf_slug(&arena, kpi->of), kpi->value, NAN, NAN);
        json_out_end(json);
    }
    json_out_finish(json, out, true);
    text_add(out, "\n");
    json_out_free(json);
    arena_release(&arena);
}

/* ---- github-action-benchmark: [ { name, unit, value, range, extra } ] ---- */

static void gha_entry(struct json_out *out, const char *name, const char *unit, double value, double half_width,
                      const char *extra)
{
    char range[48];
    json_out_object(out, NULL);
    json_out_string(out, "name", name);
    json_out_string(out, "unit", unit);
    json_out_number(out, "value", value);
    if (isfinite(half_width)) {
        snprintf(range, sizeof(range), "\u00b1 %.4g", half_width);
        json_out_string(out, "range", range);
    }
    if (extra)
        json_out_string(out, "extra", extra);
    json_out_end(out);
}

static const char *gha_extra(struct arena *arena, const struct result *result, const struct result_case *c)
{
    const char *flags = figure_words("flags", c, arena);
    const char *roof = c->fraction > 0
                           ? arena_printf(arena, "\n%.1f %% of the roof (%s)", c->fraction * 100, c->floor.ceiling_name)
                           : "";
    return arena_printf(arena, "timer %s, %zu samples, %s%s%s%s", timer_name(c->timer), c->sample_count,
                        result->device.name, roof, *flags ? "\n" : "", flags);
}

static void gha_case(struct json_out *out, const struct result *result, const struct result_case *c, bool bigger,
                     struct arena *arena)
{
    const char *name = shown_id(arena, result, c), *extra = gha_extra(arena, result, c);
    const double half_ns = (c->stats.ci95[1] - c->stats.ci95[0]) / 2;
    const struct {
        double rate;
        const char *unit;
    } rates[] = {{c->bytes_per_s, "B/s"}, {c->flops_per_s, machine_unit_rate(c->work.unit)}};
    if (!bigger) {
        gha_entry(out, name, "ns", c->stats.median, half_ns, extra);
        return;
    }
    for (size_t k = 0; k < sizeof(rates) / sizeof(*rates); k++)
        if (isfinite(rates[k].rate) && rates[k].rate > 0)
            gha_entry(out, arena_printf(arena, "%s [%s]", name, rates[k].unit), rates[k].unit, rates[k].rate,
                      rates[k].rate * half_ns / c->stats.median, extra);
}

static void gha(struct text *text, const struct result *result, bool bigger)
{
    struct arena arena = {0};
    struct json_out *json = json_out_new_array();
    for (size_t k = 0; k < result->kpi_count; k++) {
        const struct result_kpi *kpi = &result->kpis[k];
        if (isfinite(kpi->value) && kpi->higher_is_better == bigger)
            gha_entry(json, arena_printf(&arena, "%skpi/%s", result->predicted ? "PREDICTED " : "", kpi->name),
                      kpi->unit, kpi->value, NAN, arena_printf(&arena, "%s of %u cases", kpi->method, kpi->case_count));
    }
    for (size_t k = 0; k < result->case_count; k++)
        if (result_case_counts(&result->cases[k]))
            gha_case(json, result, &result->cases[k], bigger, &arena);
    json_out_finish(json, text, true);
    text_add(text, "\n");
    json_out_free(json);
    arena_release(&arena);
}

void report_gha_smaller(struct text *out, const struct result *result)
{
    gha(out, result, false);
}

void report_gha_bigger(struct text *out, const struct result *result)
{
    gha(out, result, true);
}
