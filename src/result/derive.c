/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "derive_internal.h"

enum { MAX_POINTS = 4096, MAX_CHANGES = 16, MAX_GROUPS = 1024 };

/* One curve: the cases of one kernel with equal group parameters, ordered by x. */
struct curve {
    double *x, *y;
    size_t count;
    uint64_t seed;
};

/* ---- the methods ---- */

static void derive_change_points(struct json_out *out, const struct curve *curve)
{
    struct change_point points[MAX_CHANGES];
    for (size_t k = 0; k < curve->count; k++)
        if (curve->x[k] <= 0 || curve->y[k] <= 0) {
            json_out_string(out, "error", "x and y must be positive");
            return;
        }
    const size_t count = change_points(points, MAX_CHANGES, curve->x, curve->y, curve->count, 2, curve->seed);
    json_out_array(out, "changes");
    for (size_t k = 0; k < count; k++) {
        json_out_object(out, NULL);
        json_out_number(out, "x_low", points[k].x_low);
        json_out_number(out, "x_high", points[k].x_high);
        json_out_number(out, "before", points[k].before);
        json_out_number(out, "after", points[k].after);
        json_out_number(out, "confidence", points[k].confidence);
        json_out_end(out);
    }
    json_out_end(out);
}

static void derive_startup(struct json_out *out, const struct curve *curve)
{
    struct startup_fit fit;
    if (!startup_fit(&fit, curve->x, curve->y, curve->count)) {
        json_out_string(out, "error", "the points do not fit time = a + volume / b");
        return;
    }
    json_out_number(out, "startup", fit.startup);
    json_out_number(out, "rate", fit.rate);
    json_out_number(out, "r2", fit.r2);
}

static void derive_knee(struct json_out *out, const struct curve *curve)
{
    const double x = knee(curve->x, curve->y, curve->count);
    if (isfinite(x))
        json_out_number(out, "x", x);
    else
        json_out_string(out, "error", "the curve has no knee");
}

static void derive_extreme(struct json_out *out, const struct curve *curve, bool largest)
{
    size_t best = 0;
    for (size_t k = 1; k < curve->count; k++)
        if (largest ? curve->y[k] > curve->y[best] : curve->y[k] < curve->y[best])
            best = k;
    json_out_number(out, "x", curve->x[best]);
    json_out_number(out, "y", curve->y[best]);
}

static void derive_max(struct json_out *out, const struct curve *curve)
{
    derive_extreme(out, curve, true);
}

static void derive_min(struct json_out *out, const struct curve *curve)
{
    derive_extreme(out, curve, false);
}

static const struct derive_method {
    const char *name;
    size_t least_points;
    void (*derive)(struct json_out *out, const struct curve *curve);
} methods[] = {
    {"change_points", 4, derive_change_points},
    {"startup", 2, derive_startup},
    {"knee", 3, derive_knee},
    {"max", 1, derive_max},
    {"min", 1, derive_min},
};

/* ---- the points ---- */

const struct param_value *derive_param(const struct result_case *c, const char *name)
{
    for (size_t k = 0; k < c->param_count; k++)
        if (!strcmp(c->params[k].name, name))
            return &c->params[k].value;
    return NULL;
}

double derive_quantity(const struct result_case *c, const char *name)
{
    const struct {
        const char *name;
        double value;
    } figures[] = {
        {"time_ns", c->stats.median},
        {"bytes_per_s", c->bytes_per_s},
        {"flops_per_s", c->flops_per_s},
        {"ns_per_item", c->work.items > 0 ? c->stats.median / c->work.items : NAN},
        {"bytes", c->work.read_bytes + c->work.write_bytes},
        {"footprint", c->work.footprint_bytes},
        {"intensity", c->floor.intensity},
    };
    const struct param_value *param = derive_param(c, name);
    if (param)
        return param->kind == PARAM_NUMBER ? param->number : NAN;
    for (size_t k = 0; k < c->metric_count; k++)
        if (!strcmp(c->metrics[k].name, name))
            return c->metrics[k].value;
    for (size_t k = 0; k < sizeof(figures) / sizeof(*figures); k++)
        if (!strcmp(figures[k].name, name))
            return figures[k].value;
    return NAN;
}

static char *group_of(const struct result_case *c, const struct suite_derive *spec, struct arena *arena)
{
    char *group = arena_strdup(arena, "");
    for (size_t k = 0; k < spec->group_count; k++) {
        const struct param_value *value = derive_param(c, spec->group[k]);
        group = arena_printf(arena, "%s%s%s=%s", group, k ? ";" : "", spec->group[k],
                             value ? param_text(arena, value) : "");
    }
    return group;
}

struct pair {
    double x, y;
};

static int by_x(const void *a, const void *b)
{
    const struct pair *p = a, *q = b;
    return (p->x > q->x) - (p->x < q->x);
}

static void collect(struct curve *curve, const struct result *result, const struct suite_derive *spec,
                    const struct members *members, size_t group, struct arena *arena)
{
    size_t most = 0;
    for (size_t k = 0; k < members->count; k++)
        most += members->group[k] == group;
    struct pair *pairs = arena_array(arena, most + 1, sizeof(*pairs));
    for (size_t k = 0; k < members->count && curve->count < MAX_POINTS; k++) {
        const struct result_case *c = &result->cases[members->cases[k]];
        if (members->group[k] != group || c->status != CASE_OK || !c->sample_count)
            continue;
        const struct pair pair = {derive_quantity(c, spec->x), derive_quantity(c, spec->y)};
        if (isfinite(pair.x) && isfinite(pair.y))
            pairs[curve->count++] = pair;
    }
    qsort(pairs, curve->count, sizeof(*pairs), by_x);
    curve->x = arena_array(arena, curve->count + 1, sizeof(*curve->x));
    curve->y = arena_array(arena, curve->count + 1, sizeof(*curve->y));
    for (size_t k = 0; k < curve->count; k++) {
        curve->x[k] = pairs[k].x;
        curve->y[k] = pairs[k].y;
    }
}

static const struct derive_method *method_named(const char *name)
{
    for (size_t k = 0; k < sizeof(methods) / sizeof(*methods); k++)
        if (!strcmp(methods[k].name, name))
            return &methods[k];
    return NULL;
}

static void derive_curve(struct json_out *out, const struct curve *curve, const struct suite_derive *spec,
                         struct arena *arena)
{
    const struct derive_method *method = method_named(spec->method);
    if (!method)
        json_out_string(out, "error", arena_printf(arena, "there is no method '%s'", spec->method));
    else if (curve->count < method->least_points)
        json_out_string(out, "error",
                        arena_printf(arena, "%zu points with '%s' and '%s'; %s needs %zu", curve->count, spec->x,
                                     spec->y, spec->method, method->least_points));
    else
        method->derive(out, curve);
}

static const char *value_of(const struct result *result, const struct suite_derive *spec, const struct members *members,
                            size_t group, uint64_t seed, struct arena *arena)
{
    struct json_out *out = json_out_new();
    struct text text = {0};
    struct curve curve = {.seed = seed};
    if (spec->rows) {
        derive_matrix(out, result, spec, members, group, arena);
    } else if (spec->to) {
        derive_ratio(out, result, spec, members, group, arena);
    } else if (spec->layers) {
        derive_shares(out, result, spec, members->names[group], arena);
    } else if (!strcmp(spec->method, "three_arm")) {
        derive_arms(out, result, spec, members, group, arena);
    } else {
        collect(&curve, result, spec, members, group, arena);
        derive_curve(out, &curve, spec, arena);
    }
    json_out_finish(out, &text, false);
    json_out_free(out);
    const char *json = arena_strdup(arena, text.data);
    text_release(&text);
    return json;
}

static void find_members(struct members *members, const struct result *result, const struct suite_derive *spec,
                         struct arena *arena)
{
    size_t *cases = arena_array(arena, result->case_count + 1, sizeof(*cases));
    size_t *groups = arena_array(arena, result->case_count + 1, sizeof(*groups));
    *members =
        (struct members){.cases = cases, .group = groups, .names = arena_array(arena, MAX_GROUPS, sizeof(char *))};
    for (size_t k = 0; k < result->case_count; k++) {
        size_t at = 0;
        if (spec->kernel && strcmp(result->cases[k].kernel, spec->kernel))
            continue;
        if (result->cases[k].status == CASE_SKIPPED) /* what a device lacks is said once, in its cases */
            continue;
        const char *name = group_of(&result->cases[k], spec, arena);
        while (at < members->group_count && strcmp(members->names[at], name))
            at++;
        if (at == MAX_GROUPS)
            continue;
        if (at == members->group_count)
            members->names[members->group_count++] = name;
        cases[members->count] = k;
        groups[members->count++] = at;
    }
}

void result_derive(struct result *result, const struct plan *plan, uint64_t seed, struct arena *arena)
{
    struct result_derived *derived = NULL;
    size_t count = 0;
    for (size_t d = 0; d < plan->derive_count; d++) {
        const struct suite_derive *spec = &plan->derives[d];
        struct members members;
        if (spec->layers)
            derive_layers(&members, result, spec, MAX_GROUPS, arena);
        else
            find_members(&members, result, spec, arena);
        struct result_derived *more = arena_array(arena, count + members.group_count + 1, sizeof(*more));
        if (count)
            memcpy(more, derived, count * sizeof(*more));
        derived = more;
        for (size_t g = 0; g < members.group_count; g++)
            derived[count++] = (struct result_derived){.name = spec->name,
                                                       .method = spec->method,
                                                       .kernel = spec->kernel ? spec->kernel : "",
                                                       .group = members.names[g],
                                                       .x = spec->x,
                                                       .y = spec->y,
                                                       .rows = spec->rows ? spec->rows : "",
                                                       .json = value_of(result, spec, &members, g, seed, arena)};
    }
    result->derived = derived;
    result->derived_count = count;
}
