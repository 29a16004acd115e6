/* SPDX-License-Identifier: MIT
 *
 * Quantities that a suite computes from its cases' results: derived quantities and key figures.
 */

#include "plan_internal.h"

/* Figures that every result has for any kernel (suite.h). For key figures: the unit, and whether more is better; also
 * whether it can be an axis of a derived quantity. */
static const struct {
    const char *name, *unit; /* NULL: not available as key figure */
    bool higher_is_better, axis;
} quantities[] = {
    {"time_ns", "ns", false, true},
    {"bytes_per_s", "B/s", true, true},
    {"flops_per_s", "FLOP/s", true, true},
    {"items_per_s", "1/s", true, false},
    {"ns_per_item", "ns", false, true},
    {"fraction", "1", true, false},
    {"bytes", NULL, false, true},
    {"intensity", NULL, false, true},
    {"transcendentals_per_s", "OP/s", true, true},
};

/* ---- derived quantities ---- */

/* The members that a derive may have in addition to name and method, and which methods require them. */
static const struct derive_key {
    const char *key;
    const char *methods[4]; /* NULL-terminated */
    bool others;            /* inverts: all methods but these */
} derive_needs[] = {
    {"kernel", {"shares"}, true},
    {"x", {"shares", "ratio", "overlap"}, true},
    {"y", {"shares", "together", "overlap"}, true},
    {"rows", {"matrix"}, false},
    {"to", {"ratio", "together"}, false},
    {"layers", {"shares"}, false},
    {"parts", {"shares", "overlap"}, false},
};

static bool needs(const struct derive_key *key, const char *method)
{
    bool named = false;
    for (size_t k = 0; k < COUNT_OF(key->methods) && key->methods[k]; k++)
        named = named || strcmp(key->methods[k], method) == 0;
    return named != key->others;
}

static enum status part_parse(void *field, const cJSON *at, UNUSED struct record_in *in, struct err *err)
{
    struct suite_part *part = field;
    part->name = at->string;
    const enum status status = json_whole(&part->times, at, 1ull << 53, err);
    return !status && !part->times ? json_fail(at, err, "a part that is there 0 times is no part") : status;
}

static const struct record part_elements = {.size = sizeof(struct suite_part), .get = part_parse};
#define RECORD_STRUCT struct suite_derive
static const struct record_field derive_rows[] = {
    FIELD_STRING("name", name, RECORD_REQUIRED),
    FIELD_STRING("method", method, RECORD_REQUIRED),
    FIELD_STRING("kernel", kernel),
    FIELD_STRING("x", x),
    FIELD_STRING("y", y),
    FIELD_STRING("rows", rows),
    FIELD_STRING("to", to),
    FIELD_STRING("layers", layers),
    FIELD_LIST("group", group, group_count, record_word),
    FIELD_MAP("parts", parts, part_count, part_elements),
};
static const struct record derive_record = {RECORD_TABLE(derive_rows)};
#undef RECORD_STRUCT

/* Checks that the name of item `at` is new in a list of structs that begin with their names. */
static enum status check_unique(const cJSON *at, const void *item, size_t size, const char *problem, struct err *err)
{
    const char *own = *(const char *const *)item;
    for (size_t k = 1; k <= json_index(at); k++)
        if (strcmp(*(const char *const *)((const char *)item - k * size), own) == 0)
            return json_fail(json_member(at, "name"), err, problem, own);
    return STATUS_OK;
}

static enum status derive_parse(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    struct suite_derive *derive = field;
    *derive = (struct suite_derive){.at = at, .x = "", .y = "time_ns"};
    if (record_parse(derive, &derive_record, at, in, err))
        return err->status;
    FOR_EACH(const struct derive_key, key, derive_needs, COUNT_OF(derive_needs)) {
        const cJSON *member = json_member(at, key->key);
        const bool needed = needs(key, derive->method);
        if (needed && !member)
            return json_fail(at, err, "the key '%s' is missing: the method '%s' has it", key->key, derive->method);
        if (!needed && member)
            return json_fail_key(member, err, "the method '%s' has no '%s'", derive->method, key->key);
    }
    if (derive->layers && derive->group_count)
        return json_fail_key(json_member(at, "group"), err, "the method 'shares' has no 'group'");
    if (json_member(at, "parts") && !derive->part_count)
        return json_fail(json_member(at, "parts"), err, "has no parts");
    return check_unique(at, derive, sizeof(*derive), "'%s' is derived twice", err);
}
const struct record suite_derives = {.size = sizeof(struct suite_derive), .get = derive_parse};

/* ---- derived quantities checked against the catalog ---- */

#define MAX_DERIVE_NAMES 64

static enum status check_name(const struct manifest *manifest, const char *name, bool params_only, const cJSON *at,
                              struct err *err)
{
    /* Names allowed for x and y; only parameters can group. */
    const char *names[MAX_DERIVE_NAMES] = {NULL};
    size_t count = 0;
    for (size_t k = 0; k < manifest->param_count && count < MAX_DERIVE_NAMES; k++)
        names[count++] = manifest->params[k].name;
    for (size_t k = 0; !params_only && k < COUNT_OF(quantities) && count < MAX_DERIVE_NAMES; k++)
        if (quantities[k].axis)
            names[count++] = quantities[k].name;
    for (size_t k = 0; !params_only && k < manifest->metric_count && count < MAX_DERIVE_NAMES; k++)
        names[count++] = manifest->metrics[k].name;
    if (text_among(name, names, count))
        return STATUS_OK;
    json_fail(at, err, "kernel '%s' has no %s '%s'", manifest->name, params_only ? "parameter" : "parameter or metric",
              name);
    return err_nearest(err, name, names, count, NULL);
}

static enum status check_derive(const struct suite_derive *derive, const struct catalog *catalog, struct err *err)
{
    const struct manifest *manifest = NULL, *to = NULL, *part = NULL;
    struct err inner;
    if (!derive->kernel) /* shares: of shapes, over all kernels */
        return STATUS_OK;
    if (catalog_get(&manifest, catalog, derive->kernel, &inner))
        return json_fail(json_member(derive->at, "kernel"), err, "%s", inner.text);
    if (derive->to && catalog_get(&to, catalog, derive->to, &inner))
        return json_fail(json_member(derive->at, "to"), err, "%s", inner.text);
    for (size_t k = 0; k < derive->part_count; k++)
        if (catalog_get(&part, catalog, derive->parts[k].name, &inner))
            return json_fail_key(json_member(json_member(derive->at, "parts"), derive->parts[k].name), err, "%s",
                                 inner.text);
    enum status status =
        *derive->x ? check_name(manifest, derive->x, false, json_member(derive->at, "x"), err) : STATUS_OK;
    if (!status && derive->to)
        status = check_name(to, derive->y, false, json_member(derive->at, "y"), err);
    if (!status)
        status = check_name(manifest, derive->y, false, json_member(derive->at, "y"), err);
    if (!status && derive->rows)
        status = check_name(manifest, derive->x, true, json_member(derive->at, "x"), err);
    if (!status && derive->rows)
        status = check_name(manifest, derive->rows, true, json_member(derive->at, "rows"), err);
    for (size_t k = 0; k < derive->group_count && !status; k++)
        status = check_name(manifest, derive->group[k], true, json_at(json_member(derive->at, "group"), k), err);
    return status;
}

enum status derives_check(const struct suite *suite, const struct catalog *catalog, struct err *err)
{
    for (size_t k = 0; k < suite->derive_count; k++) {
        if (check_derive(&suite->derives[k], catalog, err))
            return err->status;
    }
    return STATUS_OK;
}

/* ---- key figures ---- */

static const char *const methods[] = {"geomean", "value", "min", "max", "weighted_sum"};

static enum status read_better(struct suite_kpi *kpi, bool required, struct err *err)
{
    const char *better = NULL;
    if (json_get_string(&better, kpi->at, "better", JSON_OPTIONAL, err))
        return err->status;
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
        if (quantities[k].unit && !strcmp(kpi->of, quantities[k].name)) {
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

#define RECORD_STRUCT struct suite_kpi
static const struct record_field kpi_rows[] = {
    FIELD_STRING("name", name, RECORD_REQUIRED),
    FIELD_STRING("method", method, RECORD_REQUIRED),
    FIELD_STRING("of", of, RECORD_REQUIRED),
    FIELD_STRING("unit", unit),
    FIELD_LIST("cases", filters, filter_count, record_word),
    FIELD_COMMENT("better"), /* its default depends on the others */
};
static const struct record kpi_record = {RECORD_TABLE(kpi_rows)};
#undef RECORD_STRUCT

static enum status kpi_parse(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    struct suite_kpi *kpi = field;
    *kpi = (struct suite_kpi){.at = at};
    if (record_parse(kpi, &kpi_record, at, in, err) ||
        (!kpi->name[0] && json_fail(json_member(at, "name"), err, "must not be empty")) ||
        (!kpi->filter_count && json_fail(at, err, "\"cases\" must name at least one kernel, case id or pattern")) ||
        (!text_among(kpi->method, methods, COUNT_OF(methods)) &&
         json_fail(json_member(at, "method"), err, "'%s' is none of geomean, value, min, max, weighted_sum",
                   kpi->method) &&
         err_nearest(err, kpi->method, methods, COUNT_OF(methods), NULL)) ||
        read_quantity(kpi, err))
        return err->status;
    return check_unique(at, kpi, sizeof(*kpi), "the key figure '%s' is declared twice", err);
}
const struct record suite_kpis = {.size = sizeof(struct suite_kpi), .get = kpi_parse};
