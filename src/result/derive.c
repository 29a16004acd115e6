/* SPDX-License-Identifier: MIT
 *
 * Derived values: which cases make one, the table of methods, and those that work on a curve.
 */

#include "derive_internal.h"
#include "rooftile/units.h"

/* A larger message that goes this much slower than a smaller one is no property of a link, but of how it is used. */
static const double dip_below = 0.95;

enum { MAX_POINTS = 4096, MAX_CHANGES = 16, MAX_GROUPS = 1024 };

/* ---- curves: y over x of the cases of a group ---- */

struct pair {
    double x, y;
};

static int by_x(const void *a, const void *b)
{
    const struct pair *p = a, *q = b;
    return ORDER(p->x, q->x);
}

/* y over x of the cases that were measured, in the order of x. */
struct curve {
    double *x, *y;
    size_t count;
};

static struct curve curve_of(const struct derive *d)
{
    struct pair *pairs = arena_array(d->arena, d->count + 1, sizeof(*pairs));
    struct curve curve = {.count = 0};
    for (size_t k = 0; k < d->count && curve.count < MAX_POINTS; k++) {
        const struct result_case *c = d->cases[k];
        const struct pair pair = {result_quantity(c, d->spec->x), result_quantity(c, d->spec->y)};
        if (c->status == CASE_OK && result_case_timed(c) && isfinite(pair.x) && isfinite(pair.y))
            pairs[curve.count++] = pair;
    }
    qsort(pairs, curve.count, sizeof(*pairs), by_x);
    curve.x = arena_array(d->arena, curve.count + 1, sizeof(*curve.x));
    curve.y = arena_array(d->arena, curve.count + 1, sizeof(*curve.y));
    for (size_t k = 0; k < curve.count; k++) {
        curve.x[k] = pairs[k].x;
        curve.y[k] = pairs[k].y;
    }
    return curve;
}

struct derived_point *derive_point(struct derived_value *out, struct arena *arena)
{
    ARENA_PUSH(arena, out->points, out->count, (struct derived_point){.words = {"", ""}});
    return &out->points[out->count - 1];
}

static void derive_change_points(struct derived_value *out, const struct curve *curve, const struct derive *d)
{
    struct change_point points[MAX_CHANGES];
    for (size_t k = 0; k < curve->count; k++)
        if (curve->x[k] <= 0 || curve->y[k] <= 0) {
            out->error = "x and y must be positive";
            return;
        }
    const size_t count = change_points(points, MAX_CHANGES, curve->x, curve->y, curve->count, 2, d->seed);
    FOR_EACH(const struct change_point, p, points, count)
        derive_point(out, d->arena)->change =
            (struct derived_change){p->x_low, p->x_high, p->before, p->after, p->confidence};
}

static void derive_startup(struct derived_value *out, const struct curve *curve, const struct derive *d)
{
    struct startup_fit fit;
    if (startup_fit(&fit, curve->x, curve->y, curve->count))
        derive_point(out, d->arena)->fit = (struct derived_fit){fit.startup, fit.rate, fit.r2};
    else
        out->error = "the points do not fit time = a + volume / b";
}

static void derive_knee(struct derived_value *out, const struct curve *curve, const struct derive *d)
{
    const double x = knee(curve->x, curve->y, curve->count);
    if (isfinite(x))
        derive_point(out, d->arena)->extreme.x = x;
    else
        out->error = "the curve has no knee";
}

static void derive_extreme(struct derived_value *out, const struct curve *curve, const struct derive *d)
{
    const double sign = strcmp(d->spec->method, "min") ? 1 : -1;
    size_t best = 0;
    for (size_t k = 1; k < curve->count; k++)
        if (sign * curve->y[k] > sign * curve->y[best])
            best = k;
    derive_point(out, d->arena)->extreme = (struct derived_extreme){curve->x[best], curve->y[best]};
}

static void derive_dips(struct derived_value *out, const struct curve *curve, const struct derive *d)
{
    for (size_t k = 1; k < curve->count; k++) {
        const double x = curve->x[k], before = curve->y[k - 1], after = curve->y[k];
        char from[UNITS_TEXT], to[UNITS_TEXT], at[UNITS_TEXT];
        if (!(after < dip_below * before))
            continue;
        derive_point(out, d->arena)->dip = (struct derived_dip){x, before, after};
        char *group = arena_strdup(d->arena, d->group); /* as labels of cases have it */
        for (char *p = group; *p; p++)
            *p = *p == ';' ? ' ' : *p;
        if (out->count == 1)
            *d->finding = arena_printf(d->arena, "%s%s%s %s=%s dips to %s, from %s one step before", d->spec->kernel,
                                       *group ? " " : "", group, d->spec->x, units_count(at, x),
                                       units_rate(to, after, "B/s"), units_rate(from, before, "B/s"));
    }
}

/* ---- methods ---- */

static const struct method {
    const char *name;
    void (*of_group)(struct derived_value *out, const struct derive *d);
    void (*of_curve)(struct derived_value *out, const struct curve *curve, const struct derive *d);
    size_t least_points; /* of a curve */
} methods[] = {
    {"change_points", NULL, derive_change_points, 4},
    {"startup", NULL, derive_startup, 2},
    {"knee", NULL, derive_knee, 3},
    {"max", NULL, derive_extreme, 1},
    {"min", NULL, derive_extreme, 1},
    {"matrix", derive_matrix, NULL, 0},
    {"three_arm", derive_arms, NULL, 0},
    {"ratio", derive_ratio, NULL, 0},
    {"shares", derive_shares, NULL, 0},
    {"dips", NULL, derive_dips, 2},
    {"together", derive_together, NULL, 0},
    {"overlap", derive_overlap, NULL, 0},
};

static struct derived_value value_of(const struct derive *d)
{
    struct derived_value value = {.number = NAN};
    const struct method *method = FIND_ROW(methods, COUNT_OF(methods), name, d->spec->method);
    if (!method) {
        value.error = arena_printf(d->arena, "there is no method '%s'", d->spec->method);
    } else if (method->of_group) {
        method->of_group(&value, d);
    } else {
        const struct curve curve = curve_of(d);
        if (curve.count >= method->least_points)
            method->of_curve(&value, &curve, d);
        else
            value.error = arena_printf(d->arena, "%zu points with '%s' and '%s'; %s needs %zu", curve.count, d->spec->x,
                                       d->spec->y, method->name, method->least_points);
    }
    return value;
}

/* ---- groups ---- */

struct groups {
    struct derive *list;
    size_t count;
};

/* The group of that name, which is made when it is new; NULL: there are too many. */
static struct derive *group_named(struct groups *groups, const struct derive *model, const char *name)
{
    struct derive *group = FIND_ROW(groups->list, groups->count, group, name);
    if (group || groups->count == MAX_GROUPS)
        return group;
    group = &groups->list[groups->count++];
    *group = *model;
    group->group = name;
    return group;
}

/* The layer that a tag names: what stands before ".part". NULL: it names no part. */
static const char *layer_of(const char *tag, const struct derive *d)
{
    const char *dot = strrchr(tag, '.');
    for (size_t k = 0; dot && k < d->spec->part_count; k++)
        if (!strcmp(dot + 1, d->spec->parts[k].name)) {
            const char *layer = arena_strndup(d->arena, tag, (size_t)(dot - tag));
            return text_matches(layer, d->spec->layers) ? layer : NULL;
        }
    return NULL;
}

static const char *group_of(const struct result_case *c, const struct derive *d)
{
    char *group = arena_strdup(d->arena, "");
    for (size_t k = 0; k < d->spec->group_count; k++) {
        const struct param_value *value = result_param(c, d->spec->group[k]);
        group = arena_printf(d->arena, "%s%s%s=%s", group, k ? ";" : "", d->spec->group[k],
                             value ? param_text(d->arena, value) : "");
    }
    return group;
}

static void add_case(struct groups *groups, const struct derive *model, const struct result_case *c)
{
    if (c->status == CASE_SKIPPED || result_case_is_twin(c)) /* what a device lacks is said once, in its cases */
        return;
    for (size_t t = 0; model->spec->layers && t < c->tag_count; t++) {
        const char *layer = layer_of(c->tags[t], model);
        if (layer)
            group_named(groups, model, layer);
    }
    if (model->spec->layers || (model->spec->kernel && strcmp(c->kernel, model->spec->kernel)))
        return;
    struct derive *group = group_named(groups, model, group_of(c, model));
    if (group)
        ARENA_PUSH(model->arena, group->cases, group->count, c);
}

void result_derive(struct result *result, const struct plan *plan, uint64_t seed, struct arena *arena)
{
    struct result_derived *derived = NULL;
    size_t count = 0;
    FOR_EACH(const struct suite_derive, spec, plan->derives, plan->derive_count) {
        const struct derive model = {.result = result, .spec = spec, .seed = seed, .arena = arena};
        struct groups groups = {.list = arena_array(arena, MAX_GROUPS, sizeof(*groups.list))};
        for (size_t k = 0; k < result->case_count; k++)
            add_case(&groups, &model, &result->cases[k]);
        for (size_t g = 0; g < groups.count; g++) {
            struct result_derived one = {.name = spec->name,
                                         .method = spec->method,
                                         .kernel = spec->kernel ? spec->kernel : "",
                                         .group = groups.list[g].group,
                                         .x = spec->x,
                                         .y = spec->y,
                                         .rows = spec->rows ? spec->rows : ""};
            groups.list[g].finding = &one.finding;
            one.value = value_of(&groups.list[g]);
            ARENA_PUSH(arena, derived, count, one);
        }
    }
    result->derived = derived;
    result->derived_count = count;
}
