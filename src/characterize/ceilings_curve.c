/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ceilings_internal.h"

/* Neighbouring plateaus closer than this are one level (Empirical Roofline Toolkit, band gap). */
static const double same_level_ratio = 1.25;
static const double least_confidence = 0.9;
/* A plateau must show at this many footprints: the slope between two levels has two or three. */
enum { MIN_POINTS = 4, MAX_CHANGES = 16 };

bool ceilings_usable(const struct result_case *c)
{
    return c->status == CASE_OK && c->sample_count && c->stats.median > 0 && c->verification.verdict == VERIFY_PASS;
}

double ceilings_ci(const struct result_case *c)
{
    return fmin(1, (c->stats.ci95[1] - c->stats.ci95[0]) / 2 / c->stats.median); /* 1: nothing is sure about it */
}

/* How much faster the fastest twentieth was than the median. */
static double speed_up(const struct result_case *c)
{
    return c->stats.p05 > 0 ? c->stats.median / c->stats.p05 : 1;
}

static int by_footprint(const void *a, const void *b)
{
    const struct curve_point *p = a, *q = b;
    return (p->footprint > q->footprint) - (p->footprint < q->footprint);
}

/* Neighbours on the machine only ever slow a case down: of two at one footprint the better one is nearer to the truth.
 */
static size_t keep_better(struct curve_point *points, size_t count, bool lower_is_better)
{
    size_t kept = 0;
    for (size_t k = 0; k < count; k++) {
        if (!kept || points[kept - 1].footprint < points[k].footprint)
            points[kept++] = points[k];
        else {
            struct curve_point *held = &points[kept - 1];
            const double best = (points[k].best < held->best) == lower_is_better ? points[k].best : held->best;
            if ((points[k].value < held->value) == lower_is_better)
                *held = points[k];
            held->best = best;
        }
    }
    return kept;
}

size_t curve_collect(struct curve_point *points, const struct result *result, const char *class, const char *kernel)
{
    const bool latency = !strcmp(class, "latency");
    size_t count = 0;
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        if (!ceilings_usable(c) || strcmp(c->class, class) || (kernel && strcmp(c->kernel, kernel)))
            continue;
        /* What takes a path of its own (a link) tells nothing about the memory; a chain without loads neither. */
        if (c->work.level[0] || (latency && c->work.read_bytes <= 0))
            continue;
        const double value = latency ? c->stats.median / c->work.items : c->bytes_per_s;
        if (isfinite(value) && value > 0 && c->work.footprint_bytes > 0)
            points[count++] = (struct curve_point){
                c->work.footprint_bytes, value, latency ? value / speed_up(c) : value * speed_up(c), ceilings_ci(c), c};
    }
    qsort(points, count, sizeof(*points), by_footprint);
    return kernel ? keep_better(points, count, latency) : count;
}

const char *curve_widest(const struct result *result, const char *class, struct curve_point *scratch)
{
    const char *best = NULL;
    size_t most = 0;
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        if (strcmp(c->class, class) || (best && !strcmp(best, c->kernel)))
            continue;
        const size_t count = curve_collect(scratch, result, class, c->kernel);
        if (count > most) {
            most = count;
            best = c->kernel;
        }
    }
    return best;
}

/* How much worse `after` is than `before`: a ratio of at least 1 is a step outward. */
static double worse(double before, double after, bool rises)
{
    return rises ? after / before : before / after;
}

/* One disturbed case must not look like a border: what is worse than both its neighbours by more than a level is drawn
 * up to the nearer one. A step is worse than one of them at most, and stays as it is. */
static void take_out_spikes(double *y, const struct curve_point *points, size_t count, bool rises)
{
    for (size_t k = 0; k < count; k++) {
        y[k] = points[k].best;
        if (!k || k + 1 == count)
            continue;
        const double a = points[k - 1].best, b = points[k + 1].best;
        const double nearer = worse(a, b, rises) > 1 ? b : a;
        if (worse(nearer, y[k], rises) > same_level_ratio)
            y[k] = nearer;
    }
}

size_t curve_borders(struct change_point borders[static CURVE_MAX_BORDERS], const struct curve_point *points,
                     size_t count, bool rises, uint64_t seed)
{
    struct change_point changes[MAX_CHANGES];
    double *x = calloc(2 * count + 1, sizeof(*x)), *y = x + count;
    if (!x)
        arena_out_of_memory(2 * count * sizeof(*x));
    for (size_t k = 0; k < count; k++)
        x[k] = points[k].footprint;
    take_out_spikes(y, points, count, rises);
    const size_t found = change_points(changes, MAX_CHANGES, x, y, count, MIN_POINTS, seed);
    free(x);
    size_t kept = 0;
    double plateau = found ? changes[0].before : 0;
    for (size_t k = 0; k < found && kept < CURVE_MAX_BORDERS; k++) {
        /* Only steps outward are borders of a cache; a better rate after the small end is launch cost fading out. */
        if (worse(plateau, changes[k].after, rises) < same_level_ratio || changes[k].confidence < least_confidence) {
            if (worse(plateau, changes[k].after, rises) < 1)
                plateau = changes[k].after;
            continue;
        }
        borders[kept++] = changes[k];
        plateau = changes[k].after;
    }
    return kept;
}
