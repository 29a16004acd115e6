/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "rooftile/result.h"
#include "rooftile/text.h"

static double metric_of(const struct result_case *c, const char *name)
{
    for (size_t k = 0; k < c->metric_count; k++)
        if (!strcmp(c->metrics[k].name, name))
            return c->metrics[k].value;
    return NAN;
}

/* The quantity when one launch takes `time_ns`. A metric does not depend on the trial: it is taken once per case. */
static double quantity(const struct result_case *c, const char *of, double time_ns)
{
    const double scale = 1e9 / time_ns;
    if (!strcmp(of, "time_ns"))
        return time_ns;
    if (!strcmp(of, "bytes_per_s"))
        return (c->work.read_bytes + c->work.write_bytes) * scale;
    if (!strcmp(of, "flops_per_s"))
        return c->work.flops * scale;
    if (!strcmp(of, "items_per_s"))
        return c->work.items * scale;
    if (!strcmp(of, "ns_per_item"))
        return time_ns / c->work.items;
    if (!strcmp(of, "fraction"))
        return floor_fraction(&c->floor, time_ns);
    return metric_of(c, of);
}

/* Median time in a trial; of the whole run for SIZE_MAX. NaN: there is none. */
static double time_in(const struct result_case *c, size_t trial)
{
    if (c->status != CASE_OK || !c->sample_count)
        return NAN;
    if (trial == SIZE_MAX || (!c->trial_count && trial == 0))
        return c->stats.median;
    for (size_t k = 0; k < c->trial_count; k++)
        if (c->trials[k].index == trial)
            return c->trials[k].status == CASE_OK ? c->trials[k].median_ns : NAN;
    return NAN;
}

struct sum {
    double log_sum, least, most, last;
    uint32_t count;
    const struct result_case *bad; /* the first that has no value */
    uint32_t bad_count;
};

static struct sum add_up(const struct result *result, const struct result_kpi *kpi, size_t trial)
{
    struct sum sum = {.least = INFINITY, .most = -INFINITY, .last = NAN};
    struct text id = {0};
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        text_clear(&id);
        text_addn(&id, c->id, result_id_length(c->id));
        if (c->status == CASE_SKIPPED || !text_filtered(kpi->filters, kpi->filter_count, id.data, c->kernel))
            continue; /* what the device cannot run is no part of its figure; case_count shows a change */
        const double value = quantity(c, kpi->of, time_in(c, trial));
        sum.count++;
        if (!isfinite(value) || value <= 0) {
            sum.bad = sum.bad ? sum.bad : c;
            sum.bad_count++;
            continue;
        }
        sum.log_sum += log(value);
        sum.least = fmin(sum.least, value);
        sum.most = fmax(sum.most, value);
        sum.last = value;
    }
    text_release(&id);
    return sum;
}

static double value_of(const struct result_kpi *kpi, const struct sum *sum)
{
    if (sum->bad || !sum->count || (!strcmp(kpi->method, "value") && sum->count != 1))
        return NAN;
    if (!strcmp(kpi->method, "min"))
        return sum->least;
    if (!strcmp(kpi->method, "max"))
        return sum->most;
    if (!strcmp(kpi->method, "value"))
        return sum->last;
    return exp(sum->log_sum / sum->count);
}

static const char *reason_of(const struct result_kpi *kpi, const struct sum *sum, struct arena *arena)
{
    struct text text = {0};
    text_add(&text, "");
    if (!sum->count)
        text_add(&text, "no case matches");
    else if (sum->bad && sum->bad->status != CASE_OK)
        text_addf(&text, "%u of %u cases have no value; the first, %s: %s", sum->bad_count, sum->count, sum->bad->id,
                  case_status_name(sum->bad->status));
    else if (sum->bad)
        text_addf(&text, "%u of %u cases have no %s; the first is %s", sum->bad_count, sum->count, kpi->of,
                  sum->bad->id);
    else if (!strcmp(kpi->method, "value") && sum->count != 1)
        text_addf(&text, "%u cases match, where one was meant", sum->count);
    const char *reason = arena_strdup(arena, text.data);
    text_release(&text);
    return reason;
}

void result_kpis_evaluate(struct result *result, struct arena *arena)
{
    struct result_kpi *kpis = arena_array(arena, result->kpi_count + 1, sizeof(*kpis));
    const size_t trials = result->trials > 1 ? result->trials : 0;
    for (size_t k = 0; k < result->kpi_count; k++) {
        struct result_kpi *kpi = &kpis[k];
        *kpi = result->kpis[k];
        const struct sum sum = add_up(result, kpi, SIZE_MAX);
        kpi->value = value_of(kpi, &sum);
        kpi->case_count = sum.count;
        kpi->reason = reason_of(kpi, &sum, arena);
        double *values = arena_array(arena, trials + 1, sizeof(*values));
        for (size_t trial = 0; trial < trials; trial++) {
            const struct sum part = add_up(result, kpi, trial);
            values[trial] = value_of(kpi, &part);
        }
        kpi->trial_values = values;
        kpi->trial_count = trials;
    }
    result->kpis = kpis;
}
