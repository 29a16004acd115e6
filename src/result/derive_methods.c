/* SPDX-License-Identifier: MIT
 *
 * The methods that are not about one curve.
 */

#include "derive_internal.h"

static const char *param_of(const struct derive *d, const struct result_case *c, const char *name, const char *none)
{
    const struct param_value *value = result_param(c, name);
    return value ? param_text(d->arena, value) : none;
}

static const char *reason_of(const struct result_case *c)
{
    return c->reason ? c->reason : "";
}

/* ---- matrix ---- */

enum { MOST_LINES = 256 }; /* rows or columns */

struct axis {
    const char *values[MOST_LINES];
    size_t count;
};

/* The value's place on the axis, which grows; MOST_LINES when it is full. */
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

/* Numbers in their order, words as they came. */
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

void derive_matrix(struct derived_value *out, const struct derive *d)
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

/* Two clocks agree within a quarter: where users found graphs or waits to mislead, they were apart by a factor. */
static const double most_apart = 0.25;
enum { MOST_FINDINGS = 64, DISAGREE = 0, ABSENT = 1 };

/* Each text once. */
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

void derive_arms(struct derived_value *out, const struct derive *d)
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
                        arena_printf(arena, "%s %s: %s", name, case_status_names[c->status], reason_of(c)), arena);
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
    /* Groups have nothing of what was skipped; here the reason is part of the answer. */
    FOR_EACH(const struct result_case, c, d->result->cases, d->result->case_count)
        if (c->status == CASE_SKIPPED && !strcmp(c->kernel, d->spec->kernel))
            add_finding(out, ABSENT, arena_printf(arena, "%s was skipped: %s", arm_name(d, c), reason_of(c)), arena);
    out->word = out->texts[DISAGREE].count                ? "disagree"
                : !out->count || out->texts[ABSENT].count ? "incomplete"
                                                          : "agree";
}

/* ---- ratio ---- */

/* Equal in each parameter that both have; words, which name a library or units, only where they count. */
static bool same_params(const struct result_case *a, const struct result_case *b, bool words)
{
    for (size_t k = 0; k < a->param_count; k++) {
        const struct param_value *other = result_param(b, a->params[k].name);
        if (other && (words || other->kind != PARAM_STRING) && !param_equal(&a->params[k].value, other))
            return false;
    }
    return true;
}

/* The case of another kernel with the same work, NULL: there is none. */
static const struct result_case *counterpart(const struct derive *d, const struct result_case *c, const char *kernel,
                                             bool words)
{
    for (size_t k = 0; k < d->result->case_count; k++)
        if (!strcmp(d->result->cases[k].kernel, kernel) && same_params(c, &d->result->cases[k], words))
            return &d->result->cases[k];
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

/* Why there was nothing of that kernel to set a case against, from the first case that says so. */
static const char *why_none(const struct derive *d, const char *kernel)
{
    FOR_EACH(const struct result_case, c, d->result->cases, d->result->case_count)
        if (!strcmp(c->kernel, kernel) && !result_case_counts(c))
            return arena_printf(d->arena, "%s %s: %s", kernel, case_status_names[c->status], reason_of(c));
    return arena_printf(d->arena, "no case of %s with the parameters of one of %s was measured", kernel,
                        d->spec->kernel);
}

void derive_ratio(struct derived_value *out, const struct derive *d)
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

/* Of the time of the longest part: where all others together take less, noise decides how much of it overlaps. */
static const double least_to_hide = 0.05;

/* False: some part was not measured alone; *missing is one of them. */
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

void derive_overlap(struct derived_value *out, const struct derive *d)
{
    const char *missing = d->spec->kernel;
    for (size_t k = 0; k < d->count; k++)
        if (result_case_counts(d->cases[k]))
            add_overlap(out, d, d->cases[k], &missing);
    if (!out->count)
        out->error = why_none(d, missing);
}

/* ---- shares ---- */

/* The one measured case of a shape; NULL with the reason. */
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
                                    reason_of(found))
                     : arena_printf(d->arena, "no case is %s", shape);
    return NULL;
}

void derive_shares(struct derived_value *out, const struct derive *d)
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
