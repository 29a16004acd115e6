/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "plan_internal.h"
#include "rooftile/text.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))
#define MAX_NAMES 64

/* What every result has, whatever the kernel (suite.h). */
static const char *const result_values[] = {"time_ns",     "bytes_per_s", "flops_per_s",
                                            "ns_per_item", "bytes",       "intensity"};

/* The names that x and y may have; only parameters can group. */
static size_t collect(const char *names[static MAX_NAMES], const struct manifest *manifest, bool params_only)
{
    size_t count = 0;
    for (size_t k = 0; k < manifest->param_count && count < MAX_NAMES; k++)
        names[count++] = manifest->params[k].name;
    for (size_t k = 0; !params_only && k < COUNT_OF(result_values) && count < MAX_NAMES; k++)
        names[count++] = result_values[k];
    for (size_t k = 0; !params_only && k < manifest->metric_count && count < MAX_NAMES; k++)
        names[count++] = manifest->metrics[k].name;
    return count;
}

static enum status check_name(const struct manifest *manifest, const char *name, bool params_only,
                              const struct json *at, struct err *err)
{
    const char *names[MAX_NAMES] = {NULL};
    const size_t count = collect(names, manifest, params_only);
    for (size_t k = 0; k < count; k++)
        if (strcmp(names[k], name) == 0)
            return STATUS_OK;
    const char *near = text_nearest(name, names, count);
    return json_fail(at, err, "kernel '%s' has no %s '%s'%s%s%s", manifest->name,
                     params_only ? "parameter" : "parameter or metric", name, near ? "; did you mean '" : "",
                     near ? near : "", near ? "'?" : "");
}

static enum status check_derive(const struct suite_derive *derive, const struct catalog *catalog, struct err *err)
{
    const struct manifest *manifest = NULL, *to = NULL;
    struct err inner;
    if (!derive->kernel) /* shares: of shapes, whatever the kernels */
        return STATUS_OK;
    if (catalog_get(&manifest, catalog, derive->kernel, &inner))
        return json_fail(json_member(derive->at, "kernel"), err, "%s", inner.text);
    if (derive->to && catalog_get(&to, catalog, derive->to, &inner))
        return json_fail(json_member(derive->at, "to"), err, "%s", inner.text);
    enum status status =
        derive->to ? STATUS_OK : check_name(manifest, derive->x, false, json_member(derive->at, "x"), err);
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
        enum status status = check_derive(&suite->derives[k], catalog, err);
        if (status)
            return status;
    }
    return STATUS_OK;
}
