/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "derive_internal.h"

/* Equal in each parameter that both have. */
static bool same_params(const struct result_case *a, const struct result_case *b)
{
    for (size_t k = 0; k < a->param_count; k++) {
        const struct param_value *other = derive_param(b, a->params[k].name);
        if (other && !param_equal(&a->params[k].value, other))
            return false;
    }
    return true;
}

/* The other kernel's case of the same work, NULL: there is none. */
static const struct result_case *counterpart(const struct result *result, const struct suite_derive *spec,
                                             const struct result_case *c)
{
    for (size_t k = 0; k < result->case_count; k++)
        if (!strcmp(result->cases[k].kernel, spec->to) && same_params(c, &result->cases[k]))
            return &result->cases[k];
    return NULL;
}

/* A label is the kernel's name and what tells the case from the others of its kernel. */
static const char *label_rest(const struct result_case *c)
{
    const size_t length = strlen(c->kernel);
    if (!c->label || strncmp(c->label, c->kernel, length) != 0 || c->label[length] != ' ')
        return "";
    return c->label + length + 1;
}

/* Why there was nothing to divide by, from the first case that says so. */
static const char *why_none(const struct result *result, const struct suite_derive *spec, struct arena *arena)
{
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        if (!strcmp(c->kernel, spec->to) && !result_case_counts(c))
            return arena_printf(arena, "%s %s: %s", spec->to, case_status_name(c->status), c->reason ? c->reason : "");
    }
    return arena_printf(arena, "no case of %s with the parameters of one of %s was measured", spec->to, spec->kernel);
}

void derive_ratio(struct json_out *out, const struct result *result, const struct suite_derive *spec,
                  const struct members *members, size_t group, struct arena *arena)
{
    size_t matched = 0, unmatched = 0;
    json_out_string(out, "to", spec->to);
    json_out_array(out, "points");
    for (size_t k = 0; k < members->count; k++) {
        const struct result_case *c = &result->cases[members->cases[k]];
        if (members->group[k] != group || !result_case_counts(c))
            continue;
        const struct result_case *other = counterpart(result, spec, c);
        const double value = derive_quantity(c, spec->y);
        const double of = other && result_case_counts(other) ? derive_quantity(other, spec->y) : NAN;
        if (!isfinite(value / of)) {
            unmatched++;
            continue;
        }
        matched++;
        json_out_object(out, NULL);
        json_out_string(out, "at", label_rest(c));
        json_out_number(out, "value", value);
        json_out_number(out, "of", of);
        json_out_number(out, "ratio", value / of);
        json_out_end(out);
    }
    json_out_end(out);
    json_out_u64(out, "unmatched", unmatched);
    if (!matched)
        json_out_string(out, "error", why_none(result, spec, arena));
}
