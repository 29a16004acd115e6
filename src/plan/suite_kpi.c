/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "rooftile/text.h"
#include "suite_internal.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

static const char *const methods[] = {"geomean", "value", "min", "max"};

/* What every result has, with its unit and whether more is better. */
static const struct {
    const char *of, *unit;
    bool higher_is_better;
} quantities[] = {
    {"time_ns", "ns", false},     {"bytes_per_s", "B/s", true}, {"flops_per_s", "FLOP/s", true},
    {"items_per_s", "1/s", true}, {"ns_per_item", "ns", false}, {"fraction", "1", true},
};

static enum status check_method(const struct suite_kpi *kpi, struct err *err)
{
    for (size_t k = 0; k < COUNT_OF(methods); k++)
        if (!strcmp(kpi->method, methods[k]))
            return STATUS_OK;
    const char *near = text_nearest(kpi->method, methods, COUNT_OF(methods));
    return json_fail(json_member(kpi->at, "method"), err, "'%s' is none of geomean, value, min, max%s%s%s", kpi->method,
                     near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static enum status read_better(struct suite_kpi *kpi, bool required, struct err *err)
{
    const char *better = NULL;
    enum status status = json_get_string(&better, kpi->at, "better", JSON_OPTIONAL, err);
    if (status)
        return status;
    if (!better && required)
        return json_fail(kpi->at, err, "'%s' is a metric of a kernel: say \"better\": \"higher\" or \"lower\"",
                         kpi->of);
    if (better && strcmp(better, "higher") != 0 && strcmp(better, "lower") != 0)
        return json_fail(json_member(kpi->at, "better"), err, "'%s' is neither 'higher' nor 'lower'", better);
    if (better)
        kpi->higher_is_better = !strcmp(better, "higher");
    return STATUS_OK;
}

static enum status read_quantity(struct suite_kpi *kpi, struct err *err)
{
    for (size_t k = 0; k < COUNT_OF(quantities); k++)
        if (!strcmp(kpi->of, quantities[k].of)) {
            if (kpi->unit)
                return json_fail(json_member(kpi->at, "unit"), err, "'%s' is always in %s", kpi->of,
                                 quantities[k].unit);
            kpi->unit = quantities[k].unit;
            kpi->higher_is_better = quantities[k].higher_is_better;
            return read_better(kpi, false, err);
        }
    kpi->unit = kpi->unit ? kpi->unit : "1";
    return read_better(kpi, true, err);
}

static enum status read_kpi(struct suite_kpi *kpi, const struct json *json, struct arena *arena, struct err *err)
{
    static const char *const keys[] = {"name", "method", "of", "cases", "unit", "better"};
    struct suite_kpi read = {.at = json};
    enum status status = json_check_keys(json, keys, COUNT_OF(keys), err);
    if (!status)
        status = json_get_string(&read.name, json, "name", JSON_REQUIRED, err);
    if (!status && !read.name[0])
        status = json_fail(json_member(json, "name"), err, "must not be empty");
    if (!status)
        status = json_get_string(&read.method, json, "method", JSON_REQUIRED, err);
    if (!status)
        status = json_get_string(&read.of, json, "of", JSON_REQUIRED, err);
    if (!status)
        status = json_get_string(&read.unit, json, "unit", JSON_OPTIONAL, err);
    if (!status)
        status = suite_read_strings(&read.filters, &read.filter_count, json, "cases", arena, err);
    if (!status && !read.filter_count)
        status = json_fail(json, err, "\"cases\" must name at least one kernel, case id or pattern");
    if (!status)
        status = check_method(&read, err);
    if (!status)
        status = read_quantity(&read, err);
    if (!status)
        *kpi = read;
    return status;
}

enum status suite_read_kpis(struct suite *suite, const struct json *root, struct arena *arena, struct err *err)
{
    const struct json *array = NULL;
    enum status status = json_get_array(&array, root, "kpis", JSON_OPTIONAL, err);
    if (status || !array)
        return status;
    struct suite_kpi *kpis = arena_array(arena, array->count + 1, sizeof(*kpis));
    size_t count = 0;
    for (const struct json *child = array->first; child; child = child->next, count++) {
        status = read_kpi(&kpis[count], child, arena, err);
        if (status)
            return status;
        for (size_t k = 0; k < count; k++)
            if (!strcmp(kpis[k].name, kpis[count].name))
                return json_fail(json_member(child, "name"), err, "the key figure '%s' is declared twice",
                                 kpis[k].name);
    }
    suite->kpis = kpis;
    suite->kpi_count = count;
    return STATUS_OK;
}
