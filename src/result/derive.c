/* SPDX-License-Identifier: MIT
 *
 * Derived values: the methods, each of which computes a value or its error, and the groups of cases that they apply
 * to.
 */

#include "rooftile/result.h"
#include "rooftile/units.h"

/* If a larger message is slower than a smaller one by this factor, the cause is the use of the link, not the link. */
static const double dip_below = 0.95;

enum { MAX_POINTS = 4096, MAX_CHANGES = 16, MAX_GROUPS = 1024 };

struct derive {
    const struct result *result;
    const struct suite_derive *spec;
    const char *group;                /* "dtype=f32"; for shares the layer */
    const struct result_case **cases; /* of the group, without skipped ones; none for shares */
    size_t count;
    const char **finding; /* receives a sentence if a method finds a problem; initially NULL */
    uint64_t seed;
    struct arena *arena;
};

/* Adds a point with unknown values. */
static struct derived_point *derive_point(struct derived_value *out, struct arena *arena)
{
    ARENA_PUSH(arena, out->points, out->count, (struct derived_point){.words = {"", ""}});
    return &out->points[out->count - 1];
}

/* ---- curves: y over x for the cases of a group ---- */

struct pair {
    double x, y;
};

static int by_x(const void *a, const void *b)
{
    const struct pair *p = a, *q = b;
    return ORDER(p->x, q->x);
}

/* y over x for the measured cases, ordered by x. */
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
        char *group = arena_strdup(d->arena, d->group); /* in the style of case labels */
        for (char *p = group; *p; p++)
            *p = *p == ';' ? ' ' : *p;
        if (out->count == 1)
            *d->finding = arena_printf(d->arena, "%s%s%s %s=%s dips to %s, from %s one step before", d->spec->kernel,
                                       *group ? " " : "", group, d->spec->x, units_count(at, x),
                                       units_rate(to, after, "B/s"), units_rate(from, before, "B/s"));
    }
}

static const char *param_of(const struct derive *d, const struct result_case *c, const char *name, const char *none)
{
    const struct param_value *value = result_param(c, name);
    return value ? param_text(d->arena, value) : none;
}

/* ---- matrix ---- */

enum { MOST_LINES = 256 }; /* rows or columns */

struct axis {
    const char *values[MOST_LINES];
    size_t count;
};

/* Returns the value's position on the axis, to which it is added if missing; MOST_LINES if the axis is full. */
static size_t place_on(struct axis *axis, const char *value)
{
    size_t at = 0;
    while (at < axis->count && strcmp(axis->values[at], value) != 0)
        at++;
    if (at == axis->count && at < MOST_LINES)
        axis->values[axis->count++] = value;
    return at;
}

static int by_number(const void *a, const void *b)
{
    const double p = strtod(*(const char *const *)a, NULL), q = strtod(*(const char *const *)b, NULL);
    return ORDER(p, q);
}

/* Sorts an axis of numbers; words keep the order of appearance. */
static void order_axis(struct axis *axis)
{
    for (size_t k = 0; k < axis->count; k++) {
        char *end = NULL;
        (void)strtod(axis->values[k], &end);
        if (end == axis->values[k] || *end)
            return;
    }
    qsort(axis->values, axis->count, sizeof(*axis->values), by_number);
}

static bool has_cell(const struct derive *d, const struct result_case *c)
{
    return result_case_counts(c) && isfinite(result_quantity(c, d->spec->y));
}

/* y by the values of two parameters: rows, and x for the columns. Numbers are sorted, words keep their order. */
static void derive_matrix(struct derived_value *out, const struct derive *d)
{
    struct axis rows = {.count = 0}, columns = {.count = 0}, *axes[] = {&rows, &columns};
    for (size_t k = 0; k < d->count; k++)
        if (has_cell(d, d->cases[k])) {
            place_on(&rows, param_of(d, d->cases[k], d->spec->rows, ""));
            place_on(&columns, param_of(d, d->cases[k], d->spec->x, ""));
        }
    if (!rows.count) {
        out->error = "no case was measured";
        return;
    }
    for (size_t k = 0; k < 2; k++) {
        order_axis(axes[k]);
        out->texts[k].items = arena_copy(d->arena, axes[k]->values, axes[k]->count * sizeof(*axes[k]->values));
        out->texts[k].count = axes[k]->count;
    }
    double *cells = arena_array(d->arena, rows.count * columns.count, sizeof(*cells));
    for (size_t k = 0; k < rows.count * columns.count; k++)
        cells[k] = NAN;
    for (size_t k = 0; k < d->count; k++) {
        const size_t row = place_on(&rows, param_of(d, d->cases[k], d->spec->rows, ""));
        const size_t column = place_on(&columns, param_of(d, d->cases[k], d->spec->x, ""));
        if (has_cell(d, d->cases[k]) && row < rows.count && column < columns.count)
            cells[row * columns.count + column] = result_quantity(d->cases[k], d->spec->y);
    }
    out->cells = cells;
}

/* ---- three_arm ---- */

/* The host's clock and events agree within a quarter; where graphs or waits misled users, they differed by a factor. */
static const double most_apart = 0.25;
enum { MOST_FINDINGS = 64, DISAGREE = 0, ABSENT = 1 };

/* Adds each text once. */
static void add_finding(struct derived_value *out, size_t kind, const char *text, struct arena *arena)
{
    if (out->texts[kind].count < MOST_FINDINGS && !text_among(text, out->texts[kind].items, out->texts[kind].count))
        ARENA_PUSH(arena, out->texts[kind].items, out->texts[kind].count, text);
}

static const char *arm_name(const struct derive *d, const struct result_case *c)
{
    return arena_printf(d->arena, "%s %s", d->spec->x, param_of(d, c, d->spec->x, "?"));
}

static double under(const struct result_case *c, enum timer timer)
{
    return c->timer == timer ? result_case_time(c) : c->cross_timer == timer ? c->cross_ns : NAN;
}

/* Compares the same launches made in several ways (named by parameter x), timed by the host's clock and by events, with
 * a metric (y) that counts the launches that ran. The verdict is "agree", "disagree", or "incomplete": nothing
 * disagrees, but not everything could be compared. */
static void derive_arms(struct derived_value *out, const struct derive *d)
{
    struct arena *arena = d->arena;
    size_t compared = 0;
    for (size_t k = 0; k < d->count; k++) {
        const struct result_case *c = d->cases[k];
        const char *name = arm_name(d, c);
        const double host_ns = under(c, TIMED_HOST), event_ns = under(c, TIMED_EVENT);
        const double counted = result_quantity(c, d->spec->y), launches = c->work.items;
        if (c->status != CASE_OK || !result_case_timed(c)) {
            add_finding(out, DISAGREE,
                        arena_printf(arena, "%s %s: %s", name, case_status_names[c->status], text_or_empty(c->reason)),
                        arena);
            continue;
        }
        struct derived_point *point = derive_point(out, arena);
        point->words[0] = name;
        point->arm = (struct derived_arm){host_ns, event_ns, launches, counted};
        if (isnan(counted))
            add_finding(out, ABSENT, arena_printf(arena, "%s was not counted", name), arena);
        else if (counted != launches)
            add_finding(out, DISAGREE,
                        arena_printf(arena, "%s: %.15g launches, but %.15g were counted", name, launches, counted),
                        arena);
        if (isnan(host_ns) || isnan(event_ns))
            continue;
        compared++;
        if (fabs(event_ns / host_ns - 1) > most_apart)
            add_finding(out, DISAGREE,
                        arena_printf(arena, "%s: %.4g ns by the host's clock, %.4g by events (%+.0f %%)", name, host_ns,
                                     event_ns, (event_ns / host_ns - 1) * 100),
                        arena);
    }
    if (compared < out->count)
        add_finding(
            out, ABSENT,
            arena_printf(arena, "%zu of %zu ways were timed by one clock only", out->count - compared, out->count),
            arena);
    /* Groups omit skipped cases, but here the reason is part of the answer. */
    FOR_EACH(const struct result_case, c, d->result->cases, d->result->case_count)
        if (c->status == CASE_SKIPPED && !strcmp(c->kernel, d->spec->kernel))
            add_finding(out, ABSENT,
                        arena_printf(arena, "%s was skipped: %s", arm_name(d, c), text_or_empty(c->reason)), arena);
    out->word = out->texts[DISAGREE].count                ? "disagree"
                : !out->count || out->texts[ABSENT].count ? "incomplete"
                                                          : "agree";
}

/* ---- ratio ---- */

/* True if all parameters that both have are equal; strings, which name a library or units, are compared if `words`. */
static bool same_params(const struct result_case *a, const struct result_case *b, bool words)
{
    for (size_t k = 0; k < a->param_count; k++) {
        const struct param_value *other = result_param(b, a->params[k].name);
        if (other && (words || other->kind != PARAM_STRING) && !param_equal(&a->params[k].value, other))
            return false;
    }
    return true;
}

/* Returns the case of another kernel with the same work; NULL: none. */
static const struct result_case *counterpart(const struct derive *d, const struct result_case *c, const char *kernel,
                                             bool words)
{
    for (size_t k = 0; k < d->result->case_count; k++)
        if (!strcmp(d->result->cases[k].kernel, kernel) && same_params(c, &d->result->cases[k], words))
            return &d->result->cases[k];
    return NULL;
}

/* The label without the kernel's name: the part that distinguishes the case from others of its kernel. */
static const char *label_rest(const struct result_case *c)
{
    const size_t length = strlen(c->kernel);
    if (!c->label || strncmp(c->label, c->kernel, length) != 0 || c->label[length] != ' ')
        return "";
    return c->label + length + 1;
}

/* The reason why no case of that kernel could be compared, from the first case that gives one. */
static const char *why_none(const struct derive *d, const char *kernel)
{
    FOR_EACH(const struct result_case, c, d->result->cases, d->result->case_count)
        if (!strcmp(c->kernel, kernel) && !result_case_counts(c))
            return arena_printf(d->arena, "%s %s: %s", kernel, case_status_names[c->status], text_or_empty(c->reason));
    return arena_printf(d->arena, "no case of %s with the parameters of one of %s was measured", kernel,
                        d->spec->kernel);
}

/* y of each case divided by that of the case of kernel spec->to with equal common parameters; `of` is the other
 * kernel's value, and the words distinguish the case from others of its kernel. */
static void derive_ratio(struct derived_value *out, const struct derive *d)
{
    out->word = d->spec->to;
    out->number = 0;
    for (size_t k = 0; k < d->count; k++) {
        const struct result_case *c = d->cases[k], *other = counterpart(d, c, d->spec->to, true);
        const double value = result_quantity(c, d->spec->y);
        const double of = other && result_case_counts(other) ? result_quantity(other, d->spec->y) : NAN;
        if (!result_case_counts(c))
            continue;
        if (!isfinite(value / of)) {
            out->number++;
            continue;
        }
        struct derived_point *point = derive_point(out, d->arena);
        point->words[0] = label_rest(c);
        point->ratio = (struct derived_ratio){value, of, value / of};
    }
    if (!out->count)
        out->error = why_none(d, d->spec->to);
}

/* ---- overlap ---- */

/* As a share of the longest part's time: if all other parts together take less, noise determines their overlap. */
static const double least_to_hide = 0.05;

/* Returns false if some part was not measured alone; *missing names one. */
static bool add_overlap(struct derived_value *out, const struct derive *d, const struct result_case *c,
                        const char **missing)
{
    double sum_ns = 0, longest_ns = 0;
    const double whole_ns = result_case_time(c);
    for (size_t k = 0; k < d->spec->part_count; k++) {
        const struct result_case *part = counterpart(d, c, d->spec->parts[k].name, false);
        if (!part || !result_case_counts(part)) {
            *missing = d->spec->parts[k].name;
            return false;
        }
        const double time_ns = (double)d->spec->parts[k].times * result_case_time(part);
        sum_ns += time_ns;
        longest_ns = fmax(longest_ns, time_ns);
    }
    struct derived_point *point = derive_point(out, d->arena);
    point->words[0] = label_rest(c);
    point->overlap = (struct derived_overlap){.whole_ns = whole_ns,
                                              .longest_ns = longest_ns,
                                              .sum_ns = sum_ns,
                                              .speedup = sum_ns / whole_ns,
                                              .ideal_speedup = sum_ns / longest_ns,
                                              .efficiency = sum_ns - longest_ns < least_to_hide * longest_ns
                                                                ? NAN
                                                                : (sum_ns - whole_ns) / (sum_ns - longest_ns)};
    return true;
}

/* Compares several concurrent kernels with the same kernels run one by one with equal parameters (spec->parts): longest
 * and sum of the parts; speedup: sum over whole; ideal_speedup: sum over longest; efficiency: 1 if only the longest
 * part takes time, 0 if nothing overlaps, unknown if the other parts are too short to tell. */
static void derive_overlap(struct derived_value *out, const struct derive *d)
{
    const char *missing = d->spec->kernel;
    for (size_t k = 0; k < d->count; k++)
        if (result_case_counts(d->cases[k]))
            add_overlap(out, d, d->cases[k], &missing);
    if (!out->count)
        out->error = why_none(d, missing);
}

/* ---- shares ---- */

/* Returns the only measured case of a shape; otherwise NULL and the reason. */
static const struct result_case *find_part(const char **problem, const struct derive *d, const char *shape)
{
    const struct result_case *found = NULL;
    FOR_EACH(const struct result_case, c, d->result->cases, d->result->case_count) {
        if (!text_among(shape, c->tags, c->tag_count))
            continue;
        if (found) {
            *problem = arena_printf(d->arena, "%s is both %s and %s", shape, found->id, c->id);
            return NULL;
        }
        found = c;
    }
    if (found && result_case_counts(found))
        return found;
    *problem = found ? arena_printf(d->arena, "%s (%s) %s: %s", shape, found->kernel, case_status_names[found->status],
                                    text_or_empty(found->reason))
                     : arena_printf(d->arena, "no case is %s", shape);
    return NULL;
}

/* One layer, whose parts are the cases with the tags LAYER.part: the time of each part once, and its share of the sum.
 * If one part is missing, there is no sum. */
static void derive_shares(struct derived_value *out, const struct derive *d)
{
    const struct suite_derive *spec = d->spec;
    double sum_ns = 0;
    for (size_t k = 0; k < spec->part_count && !out->error; k++) {
        const char *shape = arena_printf(d->arena, "%s.%s", d->group, spec->parts[k].name);
        const struct result_case *found = find_part(&out->error, d, shape);
        struct derived_point *point = derive_point(out, d->arena);
        if (!found)
            continue;
        point->words[0] = spec->parts[k].name;
        point->words[1] = found->kernel;
        point->part = (struct derived_part){(double)spec->parts[k].times, result_case_time(found), NAN};
        sum_ns += point->part.times * point->part.time_ns;
    }
    out->count = out->error ? 0 : out->count;
    out->number = out->error ? NAN : sum_ns;
    for (size_t k = 0; k < out->count; k++)
        out->points[k].part.share = out->points[k].part.times * out->points[k].part.time_ns / sum_ns;
}

/* As a share of the way from the slowest copy alone to all copies in sequence: beyond it, something serialises them.
 * And the least ratio of the two at which that can be decided. */
static const double most_serial = 0.5, least_to_gain = 1.5;

/* Compares concurrent copies with the mean of the copies that the kernel spec->to made alone with the same x: the
 * slowest alone, the sum of as many alone, overlap: sum over whole. A whole that is closer to the sum than to the
 * slowest is a finding: something serialises the copies. */
static void derive_together(struct derived_value *out, const struct derive *d)
{
    for (size_t k = 0; k < d->count; k++) {
        const struct result_case *c = d->cases[k];
        const double x = result_quantity(c, d->spec->x), whole_ns = result_case_time(c);
        double one_by_one_ns = 0, slowest_ns = 0, bytes = 0; /* of the copies measured alone */
        size_t alone = 0;
        FOR_EACH(const struct result_case, one, d->result->cases, d->result->case_count) {
            const struct param_value *from = result_param(one, "from"), *to = result_param(one, "to");
            if (strcmp(one->kernel, d->spec->to) || !result_case_counts(one) || result_quantity(one, d->spec->x) != x ||
                (from && to && param_equal(from, to)))
                continue;
            one_by_one_ns += result_case_time(one);
            slowest_ns = fmax(slowest_ns, result_case_time(one));
            bytes = one->work.read_bytes;
            alone++;
        }
        if (!result_case_counts(c) || !alone || !(bytes > 0))
            continue;
        const double copies = c->work.items / bytes, sum_ns = one_by_one_ns / (double)alone * copies;
        char whole[UNITS_TEXT], sum[UNITS_TEXT];
        derive_point(out, d->arena)->together =
            (struct derived_together){x, copies, whole_ns, slowest_ns, sum_ns, sum_ns / whole_ns};
        if (!*d->finding && sum_ns >= least_to_gain * slowest_ns &&
            whole_ns - slowest_ns > most_serial * (sum_ns - slowest_ns))
            *d->finding = arena_printf(
                d->arena, "%s: %.0f copies at once take %s, one behind the other %s: the queues serialise them",
                c->label ? c->label : c->kernel, copies, units_time(whole, whole_ns), units_time(sum, sum_ns));
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

/* Returns the group with this name, which it adds if missing; NULL if there are too many. */
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

/* Returns the layer in a tag, the text before ".part"; NULL if the tag names no part. */
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
    if (c->status == CASE_SKIPPED || result_case_is_twin(c)) /* the cases themselves report what a device lacks */
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
