/* SPDX-License-Identifier: MIT
 *
 * What a suite makes of its cases' results: derived quantities and key figures.
 */
#include <string.h>

#include "rooftile/text.h"
#include "suite_internal.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

/* ---- derived quantities ---- */

/* What a derive may have besides name and method, and which methods have it. */
static const struct derive_key {
    const char *key;
    const char *methods[4]; /* that need it; NULL-terminated */
    bool others;            /* not these methods but all others */
} derive_needs[] = {
    {"kernel", {"shares"}, true}, {"x", {"shares", "ratio"}, true}, {"y", {"shares"}, true},
    {"rows", {"matrix"}, false},  {"to", {"ratio"}, false},         {"layers", {"shares"}, false},
    {"parts", {"shares"}, false},
};

static bool needs(const struct derive_key *key, const char *method)
{
    bool named = false;
    for (size_t k = 0; k < COUNT_OF(key->methods) && key->methods[k]; k++)
        named = named || strcmp(key->methods[k], method) == 0;
    return named != key->others;
}

static enum status check_needs(const struct json *json, const char *method, struct err *err)
{
    for (size_t k = 0; k < COUNT_OF(derive_needs); k++) {
        const struct json *member = json_member(json, derive_needs[k].key);
        const bool needed = needs(&derive_needs[k], method);
        if (needed && !member)
            return json_fail(json, err, "the key '%s' is missing: the method '%s' has it", derive_needs[k].key, method);
        if (!needed && member)
            return json_fail_key(member, err, "the method '%s' has no '%s'", method, derive_needs[k].key);
    }
    return STATUS_OK;
}

static enum status part_parse(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                              struct err *err)
{
    struct suite_part *part = field;
    part->name = at->key;
    const enum status status = json_into_u64(&part->times, at, key, into, err);
    return !status && !part->times ? json_fail(at, err, "a part that is there 0 times is no part") : status;
}

static const struct json_elements part_elements = {sizeof(struct suite_part), part_parse, NULL};
#define FIELD(name) offsetof(struct suite_derive, name)
static const struct json_key derive_keys[] = {
    {"name", json_into_string, FIELD(name), .need = JSON_REQUIRED},
    {"method", json_into_string, FIELD(method), .need = JSON_REQUIRED},
    {"kernel", json_into_string, .field = FIELD(kernel)},
    {"x", json_into_string, .field = FIELD(x)},
    {"y", json_into_string, .field = FIELD(y)},
    {"rows", json_into_string, .field = FIELD(rows)},
    {"to", json_into_string, .field = FIELD(to)},
    {"layers", json_into_string, .field = FIELD(layers)},
    {"group", json_into_strings, FIELD(group), .count = FIELD(group_count)},
    {"parts", json_into_members, FIELD(parts), .count = FIELD(part_count), .more = &part_elements},
};
#undef FIELD

/* The name of item `at` of a list of structs that begin with their names must be a new one. */
static enum status check_unique(const struct json *at, const void *item, size_t size, const char *problem,
                                struct err *err)
{
    const char *own = *(const char *const *)item;
    for (size_t k = 1; k <= at->index; k++)
        if (strcmp(*(const char *const *)((const char *)item - k * size), own) == 0)
            return json_fail(json_member(at, "name"), err, problem, own);
    return STATUS_OK;
}

static enum status derive_parse(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                                struct err *err)
{
    struct suite_derive *derive = field;
    (void)key;
    *derive = (struct suite_derive){.at = at, .x = "", .y = "time_ns"};
    enum status status = json_read_table(derive, at, derive_keys, JSON_KEYS(derive_keys), into, err);
    if (!status)
        status = check_needs(at, derive->method, err);
    if (!status && derive->layers && derive->group_count)
        status = json_fail_key(json_member(at, "group"), err, "the method 'shares' has no 'group'");
    if (!status && derive->layers && !derive->part_count)
        status = json_fail(json_member(at, "parts"), err, "has no parts");
    return status ? status : check_unique(at, derive, sizeof(*derive), "'%s' is derived twice", err);
}
const struct json_elements suite_derives = {sizeof(struct suite_derive), derive_parse, NULL};

/* ---- key figures ---- */

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

#define FIELD(name) offsetof(struct suite_kpi, name)
static const struct json_key kpi_keys[] = {
    {"name", json_into_string, FIELD(name), .need = JSON_REQUIRED},
    {"method", json_into_string, FIELD(method), .need = JSON_REQUIRED},
    {"of", json_into_string, FIELD(of), .need = JSON_REQUIRED},
    {"unit", json_into_string, .field = FIELD(unit)},
    {"cases", json_into_strings, FIELD(filters), .count = FIELD(filter_count)},
    {"better", .read = NULL}, /* its default depends on the others */
};
#undef FIELD

static enum status kpi_parse(void *field, const struct json *at, const struct json_key *key, struct json_into *into,
                             struct err *err)
{
    struct suite_kpi *kpi = field;
    (void)key;
    *kpi = (struct suite_kpi){.at = at};
    enum status status = json_read_table(kpi, at, kpi_keys, JSON_KEYS(kpi_keys), into, err);
    if (!status && !kpi->name[0])
        status = json_fail(json_member(at, "name"), err, "must not be empty");
    if (!status && !kpi->filter_count)
        status = json_fail(at, err, "\"cases\" must name at least one kernel, case id or pattern");
    if (!status)
        status = check_method(kpi, err);
    if (!status)
        status = read_quantity(kpi, err);
    return status ? status : check_unique(at, kpi, sizeof(*kpi), "the key figure '%s' is declared twice", err);
}
const struct json_elements suite_kpis = {sizeof(struct suite_kpi), kpi_parse, NULL};
