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

static void put_cells(struct json_out *out, const double *cells, size_t rows, size_t columns)
{
    json_out_array(out, "cells");
    for (size_t row = 0; row < rows; row++)
        json_out_numbers(out, NULL, cells + row * columns, columns);
    json_out_end(out);
}

void derive_matrix(struct json_out *out, const struct derive *d)
{
    struct axis rows = {.count = 0}, columns = {.count = 0};
    for (size_t k = 0; k < d->count; k++)
        if (has_cell(d, d->cases[k])) {
            place_on(&rows, param_of(d, d->cases[k], d->spec->rows, ""));
            place_on(&columns, param_of(d, d->cases[k], d->spec->x, ""));
        }
    if (!rows.count) {
        json_out_string(out, "error", "no case was measured");
        return;
    }
    order_axis(&rows);
    order_axis(&columns);
    double *cells = arena_array(d->arena, rows.count * columns.count, sizeof(*cells));
    for (size_t k = 0; k < rows.count * columns.count; k++)
        cells[k] = NAN;
    for (size_t k = 0; k < d->count; k++) {
        const size_t row = place_on(&rows, param_of(d, d->cases[k], d->spec->rows, ""));
        const size_t column = place_on(&columns, param_of(d, d->cases[k], d->spec->x, ""));
        if (has_cell(d, d->cases[k]) && row < rows.count && column < columns.count)
            cells[row * columns.count + column] = result_quantity(d->cases[k], d->spec->y);
    }
    json_out_strings(out, "rows", rows.values, rows.count);
    json_out_strings(out, "columns", columns.values, columns.count);
    put_cells(out, cells, rows.count, columns.count);
}

/* ---- three_arm ---- */

/* Two clocks agree within a quarter: where users found graphs or waits to mislead, they were apart by a factor. */
static const double most_apart = 0.25;
enum { MOST_FINDINGS = 64 };

struct findings {
    const char *texts[MOST_FINDINGS];
    size_t count;
};

struct arms {
    const struct derive *d;
    struct findings disagree, absent; /* what does not agree; what could not be compared, and why */
    size_t measured, compared;        /* arms; those with two clocks */
};

/* Each text once. */
static void add_finding(struct findings *findings, const char *text)
{
    if (findings->count < MOST_FINDINGS && !text_among(text, findings->texts, findings->count))
        findings->texts[findings->count++] = text;
}

static const char *arm_name(const struct derive *d, const struct result_case *c)
{
    return arena_printf(d->arena, "%s %s", d->spec->x, param_of(d, c, d->spec->x, "?"));
}

static double under(const struct result_case *c, enum timer timer)
{
    return c->timer == timer ? result_case_time(c) : c->cross_timer == timer ? c->cross_ns : NAN;
}

static void compare_clocks(struct arms *arms, const char *name, double host_ns, double event_ns)
{
    if (isnan(host_ns) || isnan(event_ns))
        return;
    arms->compared++;
    if (fabs(event_ns / host_ns - 1) > most_apart)
        add_finding(&arms->disagree,
                    arena_printf(arms->d->arena, "%s: %.4g ns by the host's clock, %.4g by events (%+.0f %%)", name,
                                 host_ns, event_ns, (event_ns / host_ns - 1) * 100));
}

static void add_arm(struct json_out *out, struct arms *arms, const struct result_case *c)
{
    struct arena *arena = arms->d->arena;
    const char *name = arm_name(arms->d, c);
    if (c->status != CASE_OK || !result_case_timed(c)) {
        add_finding(&arms->disagree,
                    arena_printf(arena, "%s %s: %s", name, case_status_names[c->status], reason_of(c)));
        return;
    }
    const double host_ns = under(c, TIMED_HOST), event_ns = under(c, TIMED_EVENT);
    const double counted = result_quantity(c, arms->d->spec->y);
    arms->measured++;
    json_out_object(out, NULL);
    json_out_string(out, "arm", name);
    json_out_number(out, "host_ns", host_ns);
    json_out_number(out, "event_ns", event_ns);
    json_out_number(out, "launches", c->work.items);
    json_out_number(out, "counted", counted);
    json_out_end(out);
    if (isnan(counted))
        add_finding(&arms->absent, arena_printf(arena, "%s was not counted", name));
    else if (counted != c->work.items)
        add_finding(&arms->disagree,
                    arena_printf(arena, "%s: %.15g launches, but %.15g were counted", name, c->work.items, counted));
    compare_clocks(arms, name, host_ns, event_ns);
}

/* Groups have nothing of what was skipped; here the reason is part of the answer. */
static void add_skipped(struct arms *arms)
{
    const struct result *result = arms->d->result;
    FOR_EACH(const struct result_case, c, result->cases, result->case_count)
        if (c->status == CASE_SKIPPED && !strcmp(c->kernel, arms->d->spec->kernel))
            add_finding(&arms->absent,
                        arena_printf(arms->d->arena, "%s was skipped: %s", arm_name(arms->d, c), reason_of(c)));
}

void derive_arms(struct json_out *out, const struct derive *d)
{
    struct arms arms = {.d = d};
    json_out_array(out, "arms");
    for (size_t k = 0; k < d->count; k++)
        add_arm(out, &arms, d->cases[k]);
    json_out_end(out);
    if (arms.compared < arms.measured)
        add_finding(&arms.absent, arena_printf(d->arena, "%zu of %zu ways were timed by one clock only",
                                               arms.measured - arms.compared, arms.measured));
    add_skipped(&arms);
    json_out_string(out, "verdict",
                    arms.disagree.count                   ? "disagree"
                    : !arms.measured || arms.absent.count ? "incomplete"
                                                          : "agree");
    json_out_strings(out, "disagree", arms.disagree.texts, arms.disagree.count);
    json_out_strings(out, "not_compared", arms.absent.texts, arms.absent.count);
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

/* False: the case has no counterpart. */
static bool put_ratio(struct json_out *out, const struct derive *d, const struct result_case *c)
{
    const struct result_case *other = counterpart(d, c, d->spec->to, true);
    const double value = result_quantity(c, d->spec->y);
    const double of = other && result_case_counts(other) ? result_quantity(other, d->spec->y) : NAN;
    if (!isfinite(value / of))
        return false;
    json_out_object(out, NULL);
    json_out_string(out, "at", label_rest(c));
    json_out_number(out, "value", value);
    json_out_number(out, "of", of);
    json_out_number(out, "ratio", value / of);
    json_out_end(out);
    return true;
}

void derive_ratio(struct json_out *out, const struct derive *d)
{
    size_t matched = 0, unmatched = 0;
    json_out_string(out, "to", d->spec->to);
    json_out_array(out, "points");
    for (size_t k = 0; k < d->count; k++)
        if (result_case_counts(d->cases[k]))
            *(put_ratio(out, d, d->cases[k]) ? &matched : &unmatched) += 1;
    json_out_end(out);
    json_out_u64(out, "unmatched", unmatched);
    if (!matched)
        json_out_string(out, "error", why_none(d, d->spec->to));
}

/* ---- overlap ---- */

/* Of the time of the longest part: where all others together take less, noise decides how much of it overlaps. */
static const double least_to_hide = 0.05;

/* False: some part was not measured alone; *missing is one of them. */
static bool put_parts(struct json_out *out, const struct derive *d, const struct result_case *c, const char **missing)
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
    json_out_object(out, NULL);
    json_out_string(out, "at", label_rest(c));
    json_out_number(out, "whole_ns", whole_ns);
    json_out_number(out, "longest_ns", longest_ns);
    json_out_number(out, "sum_ns", sum_ns);
    json_out_number(out, "speedup", sum_ns / whole_ns);
    json_out_number(out, "ideal_speedup", sum_ns / longest_ns);
    json_out_number(out, "efficiency",
                    sum_ns - longest_ns < least_to_hide * longest_ns ? NAN
                                                                     : (sum_ns - whole_ns) / (sum_ns - longest_ns));
    json_out_end(out);
    return true;
}

void derive_overlap(struct json_out *out, const struct derive *d)
{
    const char *missing = NULL;
    size_t points = 0;
    json_out_array(out, "points");
    for (size_t k = 0; k < d->count; k++)
        points += result_case_counts(d->cases[k]) && put_parts(out, d, d->cases[k], &missing);
    json_out_end(out);
    if (!points)
        json_out_string(out, "error", why_none(d, missing ? missing : d->spec->kernel));
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

void derive_shares(struct json_out *out, const struct derive *d)
{
    const struct suite_derive *spec = d->spec;
    const struct result_case **found = arena_array(d->arena, spec->part_count, sizeof(*found));
    const char *problem = NULL;
    double sum_ns = 0;
    for (size_t k = 0; k < spec->part_count && !problem; k++) {
        found[k] = find_part(&problem, d, arena_printf(d->arena, "%s.%s", d->group, spec->parts[k].name));
        if (found[k])
            sum_ns += (double)spec->parts[k].times * result_case_time(found[k]);
    }
    if (problem) {
        json_out_string(out, "error", problem);
        return;
    }
    json_out_number(out, "sum_ns", sum_ns);
    json_out_array(out, "parts");
    for (size_t k = 0; k < spec->part_count; k++) {
        const double time_ns = result_case_time(found[k]);
        json_out_object(out, NULL);
        json_out_string(out, "part", spec->parts[k].name);
        json_out_string(out, "kernel", found[k]->kernel);
        json_out_u64(out, "times", spec->parts[k].times);
        json_out_number(out, "time_ns", time_ns);
        json_out_number(out, "share", (double)spec->parts[k].times * time_ns / sum_ns);
        json_out_end(out);
    }
    json_out_end(out);
}
