/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "rooftile/result.h"

struct figure {
    const char *name;
    double value;
};

static double find(const struct figure *figures, size_t count, const char *name)
{
    for (size_t k = 0; k < count; k++)
        if (!strcmp(figures[k].name, name))
            return figures[k].value;
    return NAN;
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
        {"items_per_s", per_second(work->items, time_ns)},
        {"ns_per_item", work->items > 0 ? time_ns / work->items : NAN},
        {"fraction", lower_bound_fraction(&c->lower_bound, time_ns)},
    };
    return find(figures, sizeof(figures) / sizeof(*figures), name);
}

const struct param_value *result_param(const struct result_case *c, const char *name)
{
    for (size_t k = 0; k < c->param_count; k++)
        if (!strcmp(c->params[k].name, name))
            return &c->params[k].value;
    return NULL;
}

double result_metric(const struct result_case *c, const char *name)
{
    for (size_t k = 0; k < c->metric_count; k++)
        if (!strcmp(c->metrics[k].name, name))
            return c->metrics[k].value;
    return NAN;
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
    return isnan(value) ? result_at_time(c, name, c->stats.median) : value;
}

void result_take_median(struct result_case *c, double median_ns)
{
    c->stats.median = median_ns;
    c->flops_per_s = per_second(c->work.flops, median_ns);
    c->bytes_per_s = per_second(c->work.read_bytes + c->work.write_bytes, median_ns);
    c->items_per_s = per_second(c->work.items, median_ns);
    c->fraction = lower_bound_fraction(&c->lower_bound, median_ns);
}
