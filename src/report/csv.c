/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report_internal.h"

/* Non-finite values are empty cells. */
static void csv_number(struct text *out, double value)
{
    if (isfinite(value))
        text_addf(out, "%.9g", value);
}

static void params_cell(struct text *out, const struct result_case *c)
{
    struct arena arena = {0};
    struct text params = {0};
    for (size_t k = 0; k < c->param_count; k++)
        text_addf(&params, "%s%s=%s", k ? ";" : "", c->params[k].name, param_text(&arena, &c->params[k].value));
    text_add_csv(out, params.data);
    text_release(&params);
    arena_release(&arena);
}

static void case_row(struct text *out, const struct result *result, const struct result_case *c)
{
    const bool measured = c->sample_count > 0;
    struct text flags = {0};
    const double numbers[] = {measured ? c->stats.median : NAN,
                              measured ? c->stats.ci95[0] : NAN,
                              measured ? c->stats.ci95[1] : NAN,
                              measured ? c->stats.min : NAN,
                              measured ? c->stats.max : NAN,
                              c->bytes_per_s,
                              c->flops_per_s,
                              c->items_per_s,
                              c->floor.intensity,
                              c->floor.time_ns > 0 ? c->floor.time_ns : NAN,
                              c->fraction,
                              c->predicted_ns,
                              c->overhead_ns};
    figure_flags(&flags, c);
    text_add_csv(out, c->id);
    text_add(out, ",");
    text_add_csv(out, c->kernel);
    text_add(out, ",");
    params_cell(out, c);
    text_addf(out, ",%s,%s,%u,%zu", measured ? timer_name(c->timer) : "", case_status_name(c->status), c->batch,
              c->sample_count);
    for (size_t k = 0; k < sizeof(numbers) / sizeof(*numbers); k++) {
        text_add(out, ",");
        csv_number(out, numbers[k]);
    }
    text_add(out, ",");
    text_add_csv(out, c->floor.bound);
    text_addf(out, ",%s,", verdict_name(c->verification.verdict));
    text_add_csv(out, c->verification.method);
    text_add(out, ",");
    text_add_csv(out, flags.data);
    text_addf(out, ",%s,", result->predicted ? "predicted" : "measured");
    text_add_csv(out, result->device.name);
    text_add(out, ",");
    text_add_csv(out, c->reason);
    text_add(out, ",,\r\n");
    text_release(&flags);
}

/* A key figure has a value and a unit, and none of what a case has. */
static void kpi_row(struct text *out, const struct result *result, const struct result_kpi *kpi)
{
    struct text id = {0};
    text_addf(&id, "kpi/%s", kpi->name);
    text_add_csv(out, id.data);
    text_addf(out, ",,,,%s", isfinite(kpi->value) ? "ok" : "none");
    text_add(out, ",,,,,,,,,,,,,,,,,,,,");
    text_addf(out, "%s,", result->predicted ? "predicted" : "measured");
    text_add_csv(out, result->device.name);
    text_add(out, ",");
    text_add_csv(out, kpi->reason);
    text_add(out, ",");
    csv_number(out, kpi->value);
    text_add(out, ",");
    text_add_csv(out, kpi->unit);
    text_add(out, "\r\n");
    text_release(&id);
}

enum status report_csv(struct text *out, const struct result *result, const struct report_options *options,
                       struct err *err)
{
    (void)options;
    (void)err;
    text_add(out, "id,kernel,params,timer,status,batch,n,median_ns,ci95_low_ns,ci95_high_ns,min_ns,max_ns,bytes_per_s,"
                  "flops_per_s,items_per_s,intensity,floor_ns,fraction_of_ceiling,predicted_ns,overhead_ns,bound,"
                  "verification,method,flags,kind,device,reason,value,unit\r\n");
    for (size_t k = 0; k < result->case_count; k++)
        case_row(out, result, &result->cases[k]);
    for (size_t k = 0; k < result->kpi_count; k++)
        kpi_row(out, result, &result->kpis[k]);
    return STATUS_OK;
}
