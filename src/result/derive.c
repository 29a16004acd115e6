/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rooftile/json_out.h"
#include "rooftile/result.h"

#define MAX_CHANGES 16
#define LEAST_POINTS 3 /* of a level: two points cannot tell a level from noise */

struct point {
    double x, y;
};

struct curve {
    double *x, *y;
    size_t count;
    uint64_t seed;
};

/* ---- methods: curve in, JSON members out; a string is why not ---- */

static const char *derive_change_points(struct json_out *out, const struct curve *curve)
{
    struct change_point found[MAX_CHANGES];
    if (curve->count < 2 * LEAST_POINTS)
        return "fewer than 6 points";
    for (size_t k = 0; k < curve->count; k++)
        if (curve->x[k] <= 0 || curve->y[k] <= 0)
            return "x and y must be positive";
    const size_t count =
        change_points(found, MAX_CHANGES, curve->x, curve->y, curve->count, LEAST_POINTS, curve->seed);
    json_out_array(out, "changes");
    for (size_t k = 0; k < count; k++) {
        json_out_object(out, NULL);
        json_out_number(out, "x_low", found[k].x_low);
        json_out_number(out, "x_high", found[k].x_high);
        json_out_number(out, "before", found[k].before);
        json_out_number(out, "after", found[k].after);
        json_out_number(out, "confidence", found[k].confidence);
        json_out_end(out);
    }
    json_out_end(out);
    return NULL;
}

static const char *derive_startup(struct json_out *out, const struct curve *curve)
{
    struct startup_fit fit;
    if (!startup_fit(&fit, curve->x, curve->y, curve->count))
        return "no rising line fits the points";
    json_out_number(out, "startup", fit.startup);
    json_out_number(out, "rate", fit.rate);
    json_out_number(out, "r2", fit.r2);
    return NULL;
}

static const char *derive_knee(struct json_out *out, const struct curve *curve)
{
    const double at = knee(curve->x, curve->y, curve->count);
    if (isnan(at))
        return "the curve has no knee";
    json_out_number(out, "x", at);
    return NULL;
}

static const char *derive_max(struct json_out *out, const struct curve *curve)
{
    size_t best = 0;
    for (size_t k = 1; k < curve->count; k++)
        if (curve->y[k] > curve->y[best])
            best = k;
    json_out_number(out, "x", curve->x[best]);
    json_out_number(out, "y", curve->y[best]);
    return NULL;
}

static const char *derive_min(struct json_out *out, const struct curve *curve)
{
    size_t best = 0;
    for (size_t k = 1; k < curve->count; k++)
        if (curve->y[k] < curve->y[best])
            best = k;
    json_out_number(out, "x", curve->x[best]);
    json_out_number(out, "y", curve->y[best]);
    return NULL;
}

static const struct {
    const char *name;
    const char *(*compute)(struct json_out *out, const struct curve *curve);
} methods[] = {
    {"change_points", derive_change_points},
    {"startup", derive_startup}, /* y = startup + x / rate */
    {"knee", derive_knee},
    {"max", derive_max},
    {"min", derive_min},
};

/* ---- values of a case ---- */

static double total_bytes(const struct result_case *c)
{
    return c->work.read_bytes + c->work.write_bytes;
}

static const struct result_param *param_of(const struct result_case *c, const char *name)
{
    for (size_t k = 0; k < c->param_count; k++)
        if (strcmp(c->params[k].name, name) == 0)
            return &c->params[k];
    return NULL;
}

/* A parameter first, then a metric, then what every result has. */
static double value_of(const struct result_case *c, const char *name)
{
    const struct {
        const char *name;
        double value;
    } values[] = {
        {"time_ns", c->stats.median},
        {"bytes_per_s", c->bytes_per_s},
        {"flops_per_s", c->flops_per_s},
        {"ns_per_item", c->work.items > 0 ? c->stats.median / c->work.items : NAN},
        {"bytes", total_bytes(c)},
        {"intensity", c->floor.intensity},
    };
    const struct result_param *param = param_of(c, name);
    if (param)
        return param->value.kind == PARAM_NUMBER ? param->value.number : NAN;
    for (size_t k = 0; k < c->metric_count; k++)
        if (strcmp(c->metrics[k].name, name) == 0)
            return c->metrics[k].value;
    for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); k++)
        if (strcmp(values[k].name, name) == 0)
            return values[k].value;
    return NAN;
}

/* "dtype=f32;VEC=4" of the parameters that group; "" without any. */
static const char *group_of(const struct result_case *c, const struct suite_derive *derive, struct arena *arena)
{
    const char *group = "";
    for (size_t k = 0; k < derive->group_count; k++) {
        const struct result_param *param = param_of(c, derive->group[k]);
        group = arena_printf(arena, "%s%s%s=%s", group, k ? ";" : "", derive->group[k],
                             param ? param_text(arena, &param->value) : "");
    }
    return group;
}

static bool belongs(const struct result_case *c, const struct suite_derive *derive)
{
    return c->status == CASE_OK && c->sample_count && strcmp(c->kernel, derive->kernel) == 0;
}

static int compare_points(const void *a, const void *b)
{
    const double x = ((const struct point *)a)->x, y = ((const struct point *)b)->x;
    return (x > y) - (x < y);
}

static void gather(struct curve *curve, const struct result *result, const struct suite_derive *derive, const char *group,
                   struct arena *arena)
{
    struct point *points = arena_array(arena, result->case_count + 1, sizeof(*points));
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        if (!belongs(c, derive) || strcmp(group_of(c, derive, arena), group) != 0)
            continue;
        const struct point point = {value_of(c, derive->x), value_of(c, derive->y)};
        if (isfinite(point.x) && isfinite(point.y))
            points[curve->count++] = point;
    }
    qsort(points, curve->count, sizeof(*points), compare_points);
    curve->x = arena_array(arena, curve->count + 1, sizeof(double));
    curve->y = arena_array(arena, curve->count + 1, sizeof(double));
    for (size_t k = 0; k < curve->count; k++) {
        curve->x[k] = points[k].x;
        curve->y[k] = points[k].y;
    }
}

static const char *compute(struct json_out *out, const struct suite_derive *derive, const struct curve *curve)
{
    if (!curve->count)
        return "no case of this kernel was measured with finite x and y";
    for (size_t k = 0; k < sizeof(methods) / sizeof(methods[0]); k++)
        if (strcmp(methods[k].name, derive->method) == 0)
            return methods[k].compute(out, curve);
    return "unknown method; known are change_points, startup, knee, max and min";
}

static void derive_one(struct result_derived *derived, const struct result *result, const struct suite_derive *derive,
                       const char *group, uint64_t seed, struct arena *arena)
{
    struct arena scratch = {0};
    struct text text = {0};
    struct curve curve = {.seed = seed};
    struct json_out *out = json_out_new();
    gather(&curve, result, derive, group, &scratch);
    const char *error = compute(out, derive, &curve);
    if (error)
        json_out_string(out, "error", error);
    else
        json_out_u64(out, "points", curve.count);
    json_out_finish(out, &text, false);
    json_out_free(out);
    *derived = (struct result_derived){derive->name, derive->method, derive->kernel, group, arena_strdup(arena, text.data)};
    text_release(&text);
    arena_release(&scratch);
}

static bool has_group(const char *const *groups, size_t count, const char *group)
{
    for (size_t k = 0; k < count; k++)
        if (strcmp(groups[k], group) == 0)
            return true;
    return false;
}

/* Distinct groups in the order of the cases; one empty group when nothing was measured, so that the reason is reported. */
static size_t find_groups(const char **groups, const struct result *result, const struct suite_derive *derive,
                          struct arena *arena)
{
    size_t count = 0;
    for (size_t k = 0; k < result->case_count; k++) {
        if (!belongs(&result->cases[k], derive))
            continue;
        const char *group = group_of(&result->cases[k], derive, arena);
        if (!has_group(groups, count, group))
            groups[count++] = group;
    }
    if (!count)
        groups[count++] = "";
    return count;
}

void result_derive(struct result *result, const struct plan *plan, uint64_t seed, struct arena *arena)
{
    const char **groups = arena_array(arena, result->case_count + 1, sizeof(*groups));
    struct result_derived *all = NULL;
    size_t count = 0;
    for (size_t d = 0; d < plan->derive_count; d++) {
        const size_t group_count = find_groups(groups, result, &plan->derives[d], arena);
        struct result_derived *grown = arena_array(arena, count + group_count, sizeof(*grown));
        if (count)
            memcpy(grown, all, count * sizeof(*all));
        all = grown;
        for (size_t g = 0; g < group_count; g++)
            derive_one(&all[count++], result, &plan->derives[d], groups[g], seed, arena);
    }
    result->derived = all;
    result->derived_count = count;
}
