/* SPDX-License-Identifier: MIT
 *
 * The quantities of a case by name, and a suite's key figures computed from them.
 */

#include "rooftile/result.h"

struct figure {
    const char *name;
    double value;
};

static double find(const struct figure *figures, size_t count, const char *name)
{
    const struct figure *figure = FIND_ROW(figures, count, name, name);
    return figure ? figure->value : NAN;
}

static double per_second(double amount, double time_ns)
{
    return amount > 0 && time_ns > 0 ? amount / time_ns * 1e9 : NAN;
}

double result_at_time(const struct result_case *c, const char *name, double time_ns)
{
    const struct work *work = &c->work;
    const struct figure figures[] = {
        {"time_ns", time_ns},
        {"bytes_per_s", per_second(work->read_bytes + work->write_bytes, time_ns)},
        {"flops_per_s", per_second(work->flops, time_ns)},
        {"transcendentals_per_s", per_second(work->transcendentals, time_ns)},
        {"items_per_s", per_second(work->items, time_ns)},
        {"ns_per_item", work->items > 0 ? time_ns / work->items : NAN},
        {"fraction", lower_bound_fraction(&c->lower_bound, &c->work, time_ns)},
    };
    return find(figures, sizeof(figures) / sizeof(*figures), name);
}

const struct param_value *result_param(const struct result_case *c, const char *name)
{
    const struct result_param *param = FIND_ROW(c->params, c->param_count, name, name);
    return param ? &param->value : NULL;
}

double result_metric(const struct result_case *c, const char *name)
{
    const struct result_metric *metric = FIND_ROW(c->metrics, c->metric_count, name, name);
    return metric ? metric->value : NAN;
}

double result_quantity(const struct result_case *c, const char *name)
{
    const struct figure figures[] = {{"bytes", c->work.read_bytes + c->work.write_bytes},
                                     {"footprint", c->work.footprint_bytes},
                                     {"intensity", c->lower_bound.intensity},
                                     {"bytes_per_s", c->bytes_per_s},
                                     {"flops_per_s", c->flops_per_s},
                                     {"items_per_s", c->items_per_s}};
    const struct param_value *param = result_param(c, name);
    if (param)
        return param->kind == PARAM_NUMBER ? param->number : NAN;
    double value = result_metric(c, name);
    if (isnan(value))
        value = find(figures, sizeof(figures) / sizeof(*figures), name);
    return isnan(value) ? result_at_time(c, name, result_case_time(c)) : value;
}

double result_amount(const struct work *work)
{
    const double bytes = work->read_bytes + work->write_bytes;
    return work->flops > 0 ? work->flops : bytes > 0 ? bytes : work->items;
}

double result_time_each(const struct result_case *c)
{
    const double amount = result_amount(&c->work);
    return result_case_time(c) / (amount > 0 ? amount : 1);
}

bool result_is_latency(const struct result_case *c)
{
    return c->class && (!strcmp(c->class, "latency") || !strcmp(c->class, "launch"));
}

void result_take_time(struct result_case *c)
{
    const double time_ns = result_case_time(c);
    c->flops_per_s = per_second(c->work.flops, time_ns);
    c->bytes_per_s = per_second(c->work.read_bytes + c->work.write_bytes, time_ns);
    c->items_per_s = per_second(c->work.items, time_ns);
    c->fraction = c->flags & FLAG_EMULATED ? NAN : lower_bound_fraction(&c->lower_bound, &c->work, time_ns);
}

void result_take_median(struct result_case *c, double median_ns)
{
    c->stats.median = median_ns;
    result_take_time(c);
}

/* ---- key figures ---- */

#define WHOLE_RUN UINT32_MAX

/* Median time in a trial; NaN: none. */
static double time_in(const struct result_case *c, uint32_t trial)
{
    if (!c->trial_count && trial == 0)
        return result_case_time(c);
    for (size_t k = 0; k < c->trial_count; k++)
        if (c->trials[k].index == trial)
            return c->trials[k].status == CASE_OK ? c->trials[k].median_ns : NAN;
    return NAN;
}

/* Finds the cases that a figure is made from. Cases that the device cannot run are left out (`skipped` receives the
 * first), which shows in case_count. */
static size_t find_cases(const struct result_case **found, const struct result_case **skipped,
                         const struct result *result, const struct result_kpi *kpi)
{
    SCOPED(text_release) struct text id = {0};
    SCOPED(arena_release) struct arena scratch = {0};
    size_t count = 0;
    *skipped = NULL;
    FOR_EACH(const struct result_case, c, result->cases, result->case_count) {
        text_clear(&id);
        text_addn(&id, c->id, result_id_length(c->id));
        const char **names = arena_array(&scratch, c->tag_count + 2, sizeof(*names));
        names[0] = id.data;
        names[1] = c->kernel;
        for (size_t k = 0; k < c->tag_count; k++)
            names[k + 2] = c->tags[k];
        if (result_case_is_twin(c) || !text_filtered_any(kpi->filters, kpi->filter_count, names, c->tag_count + 2))
            continue;
        if (c->status != CASE_SKIPPED)
            found[count++] = c;
        else if (!*skipped)
            *skipped = c;
    }
    return count;
}

struct sum {
    double log_sum, weighted_sum, least, most, last;
    uint32_t count;
    const struct result_case *bad; /* the first without a value */
    uint32_t bad_count;
};

static struct sum add_up(const struct result_case *const *cases, size_t count, const char *of, uint32_t trial)
{
    struct sum sum = {.least = INFINITY, .most = -INFINITY, .last = NAN, .count = (uint32_t)count};
    for (size_t k = 0; k < count; k++) {
        const struct result_case *c = cases[k];
        /* Metrics are known for the whole run only. */
        const double value = !result_case_counts(c) ? NAN
                             : trial == WHOLE_RUN   ? result_quantity(c, of)
                                                    : result_at_time(c, of, time_in(c, trial));
        if (!isfinite(value) || value <= 0) {
            sum.bad = sum.bad ? sum.bad : c;
            sum.bad_count++;
            continue;
        }
        sum.log_sum += log(value);
        sum.weighted_sum += value * (c->weight > 0 ? c->weight : 1);
        sum.least = fmin(sum.least, value);
        sum.most = fmax(sum.most, value);
        sum.last = value;
    }
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
    if (!strcmp(kpi->method, "weighted_sum"))
        return sum->weighted_sum;
    return exp(sum->log_sum / sum->count);
}

static const char *reason_of(const struct result_kpi *kpi, const struct sum *sum, const struct result_case *skipped,
                             struct arena *arena)
{
    if (!sum->count && skipped)
        return arena_printf(arena, "all of its cases were skipped: %s", skipped->reason ? skipped->reason : "");
    if (!sum->count)
        return "no case matches";
    if (sum->bad && !result_case_counts(sum->bad))
        return arena_printf(arena, "%u of %u cases have no value; the first, %s: %s", sum->bad_count, sum->count,
                            case_name(sum->bad), result_case_trouble(sum->bad));
    if (sum->bad)
        return arena_printf(arena, "%u of %u cases have no %s; the first is %s", sum->bad_count, sum->count, kpi->of,
                            case_name(sum->bad));
    if (!strcmp(kpi->method, "value") && sum->count != 1)
        return arena_printf(arena, "%u cases match, where one was meant", sum->count);
    return "";
}

/* A rate of integer operations is OP/s, not FLOP/s; a mixture keeps the suite's unit. */
static const char *unit_of(const struct result_kpi *kpi, const struct result_case *const *cases, size_t count)
{
    bool whole = count > 0 && !strcmp(kpi->of, "flops_per_s");
    for (size_t k = 0; k < count && whole; k++)
        whole = !strcmp(machine_unit_rate(cases[k]->work.unit), "OP/s");
    return whole ? "OP/s" : kpi->unit;
}

void result_kpis_evaluate(struct result *result, struct arena *arena)
{
    struct result_kpi *kpis = arena_array(arena, result->kpi_count + 1, sizeof(*kpis));
    const uint32_t trials = result->trials > 1 ? result->trials : 0;
    SCOPED(arena_release) struct arena scratch = {0};
    const struct result_case **cases =
        arena_array(&scratch, result->case_count + 1, sizeof(const struct result_case *));
    for (size_t k = 0; k < result->kpi_count; k++) {
        struct result_kpi *kpi = &kpis[k];
        *kpi = result->kpis[k];
        const struct result_case *skipped;
        const size_t count = find_cases(cases, &skipped, result, kpi);
        const struct sum sum = add_up(cases, count, kpi->of, WHOLE_RUN);
        kpi->value = value_of(kpi, &sum);
        kpi->case_count = sum.count;
        kpi->unit = unit_of(kpi, cases, count);
        kpi->reason = reason_of(kpi, &sum, skipped, arena);
        double *values = arena_array(arena, trials + 1u, sizeof(*values));
        for (uint32_t trial = 0; trial < trials; trial++) {
            const struct sum part = add_up(cases, count, kpi->of, trial);
            values[trial] = value_of(kpi, &part);
        }
        kpi->trial_values = values;
        kpi->trial_count = trials;
    }
    result->kpis = kpis;
}
