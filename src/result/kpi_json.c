/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "case_fields.h"

#define KPI(member) offsetof(struct result_kpi, member)
static const struct field fields[] = {
    {"name", FIELD_STRING, KPI(name), 0, NULL},
    {"method", FIELD_STRING, KPI(method), 0, NULL},
    {"of", FIELD_STRING, KPI(of), 0, NULL},
    {"unit", FIELD_STRING, KPI(unit), 0, NULL},
    {"higher_is_better", FIELD_BOOL, KPI(higher_is_better), 0, NULL},
    {"value", FIELD_SIGNED, KPI(value), 0, ""},
    {"value_reason", FIELD_STRING, KPI(reason), 0, NULL},
    {"case_count", FIELD_U32, KPI(case_count), 0, NULL},
};

static struct json_out *kpi_json(const struct result_kpi *kpi)
{
    struct json_out *out = json_out_new();
    fields_write(out, fields, FIELD_COUNT(fields), kpi);
    json_out_array(out, "filters");
    for (size_t k = 0; k < kpi->filter_count; k++)
        json_out_string(out, NULL, kpi->filters[k]);
    json_out_end(out);
    json_out_numbers(out, "trial_values", kpi->trial_values, kpi->trial_count);
    return out;
}

void result_kpi_json(struct text *text, const struct result_kpi *kpi)
{
    struct json_out *out = kpi_json(kpi);
    json_out_finish(out, text, false);
    json_out_free(out);
}

void kpis_add(struct text *text, const struct result *result)
{
    text_add(text, "  \"kpis\": [");
    for (size_t k = 0; k < result->kpi_count; k++) {
        text_add(text, k ? ",\n    " : "\n    ");
        result_kpi_json(text, &result->kpis[k]);
    }
    text_add(text, result->kpi_count ? "\n  ],\n" : "],\n");
}

static enum status get_values(struct result_kpi *kpi, const struct json *json, struct arena *arena, struct err *err)
{
    const struct json *array = NULL;
    const enum status status = json_get_array(&array, json, "trial_values", JSON_OPTIONAL, err);
    if (status || !array)
        return status;
    double *values = arena_array(arena, array->count + 1, sizeof(*values));
    for (const struct json *item = array->first; item; item = item->next) {
        if (item->type != JSON_NUMBER && item->type != JSON_NULL)
            return json_fail(item, err, "must be a number or null");
        values[item->index] = item->type == JSON_NUMBER ? item->number : NAN;
    }
    kpi->trial_values = values;
    kpi->trial_count = array->count;
    return STATUS_OK;
}

enum status kpis_read(struct result *result, const struct json *root, struct arena *arena, struct err *err)
{
    const struct json *array = NULL;
    enum status status = json_get_array(&array, root, "kpis", JSON_OPTIONAL, err);
    if (status || !array)
        return status;
    struct result_kpi *kpis = arena_array(arena, array->count + 1, sizeof(*kpis));
    for (const struct json *item = array->first; item && !status; item = item->next) {
        struct result_kpi *kpi = &kpis[result->kpi_count++];
        status = fields_read(kpi, fields, FIELD_COUNT(fields), item, arena, err);
        if (!status && !kpi->name[0])
            return json_fail(item, err, "the key 'name' is missing");
        if (!status)
            status = strings_read(&kpi->filters, &kpi->filter_count, item, "filters", arena, err);
        if (!status)
            status = get_values(kpi, item, arena, err);
    }
    result->kpis = kpis;
    return status;
}
