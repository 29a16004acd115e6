/* SPDX-License-Identifier: MIT */

#include "gate_internal.h"
#include "values.h"

/* No run-to-run sd below 0.2 % is believed. */
#define LEAST_SD 0.002

/* n values tell the sd by their MAD as well as 0.4 n do by their squares. */
#define MAD_EFFICIENCY 0.4
#define CLASS_WEIGHT 4
#define CARRIED_WEIGHT 8

/* pi / 2: variance of a median of n is 1.57 s^2 / n. */
#define MEDIAN_VARIANCE 1.57

#define CORRELATED 0.3
#define CORRELATED_VALUES 10
#define MOST_CORRELATED 0.7 /* a short baseline tells no more; the factor stays below 2.4 */

/* What has moved shows at least this part of the shift: in its runs, and in the fastest trial measured again. */
#define SHOWN 0.25

/* How long the change may have lasted, and the variance of what is compared with the baseline, in units of s^2. */
static const struct {
    size_t runs;
    double variance;
} changes[] = {{1, 1}, {2, 0.6}, {3, 0.449}, {5, 0.287}, {GATE_LONGEST, 0.211}};

struct baseline {
    const double *values;
    size_t count;
    double median, sigma, rho;
};

/* What one k says. */
struct finding {
    size_t k;
    double shift, z;
    struct baseline baseline;
};

void gate_points_of(struct gate_points *points, const struct gate_view *view)
{
    size_t count = 0, run = view->this_run + 1;
    while (run-- > view->segment.start && count < GATE_POINTS) {
        if (isnan(view->values[run]))
            continue;
        points->value[GATE_POINTS - 1 - count] = view->values[run];
        points->run[GATE_POINTS - 1 - count] = (uint32_t)run;
        count++;
    }
    memmove(points->value, points->value + GATE_POINTS - count, count * sizeof(points->value[0]));
    memmove(points->run, points->run + GATE_POINTS - count, count * sizeof(points->run[0]));
    points->count = count;
}

static double median_copied(const double *values, size_t count)
{
    double copy[GATE_POINTS];
    memcpy(copy, values, count * sizeof(*copy));
    return median_of(copy, count);
}

/* The larger of two views: the MAD sees the spread of levels (two modes, a drift), the successive differences the noise
 * from run to run. */
double gate_spread(const double *values, size_t count)
{
    double copy[GATE_POINTS];
    if (count < 2)
        return 0;
    memcpy(copy, values, count * sizeof(*copy));
    const double around = robust_sd(copy, count);
    return fmax(around, successive_sd(values, count, copy));
}

/* Lag 1, with the estimate's bias of -(1 + 3 rho) / n taken out (Kendall 1954). A handful of values tells nothing. */
static double autocorrelation(const double *values, size_t count)
{
    const double n = (double)count;
    const struct moments m = moments_of(values, count);
    if (count < CORRELATED_VALUES || !(m.squares > 0))
        return 0;
    return fmin(1, (n * m.products / m.squares + 1) / (n - 3));
}

static double distance(const double *after, size_t k, double median)
{
    const double first = after[0] - median, last = after[k - 1] - median;
    if (k > 2)
        return median_copied(after, k) - median;
    if (k == 1)
        return first;
    if (first * last <= 0)
        return 0;
    return fabs(first) < fabs(last) ? first : last;
}

/* Neighbouring runs that resemble each other make a run of high values likelier; one run is as likely as ever. */
static double correlated(double rho, size_t k)
{
    const double r = fmin(rho, MOST_CORRELATED);
    return k > 1 && r > CORRELATED ? sqrt((1 + r) / (1 - r)) : 1;
}

/* Two wild runs of three move their median. A level that has moved shows every run: of 3 runs none, of 5 or 7 at
 * most one may miss a quarter of the shift. Halves the false alarms of heavy tails (simulated). */
static bool stays(const double *after, size_t k, double median, double shift)
{
    return COUNT_WHERE(one, after, k, (*one - median) / shift < SHOWN) <= (k - 1) / 4;
}

static bool stands(struct finding *found, const struct gate_points *points, size_t change, const struct gate_view *view,
                   double s0, const struct gate_options *options)
{
    const size_t k = changes[change].runs, end = points->count - k;
    found->k = k;
    const size_t count = end < GATE_BASELINE ? end : GATE_BASELINE;
    const double *values = points->value + end - count;
    const double n = MAD_EFFICIENCY * (double)count, spread = gate_spread(values, count);
    const double known = view->segment.sigma > 0 ? view->segment.sigma : s0;
    const double weight = view->segment.sigma > 0 ? CARRIED_WEIGHT : CLASS_WEIGHT;
    const double sigma = sqrt((weight * known * known + n * spread * spread) / (weight + n));
    found->baseline = (struct baseline){
        .values = values,
        .count = count,
        .median = median_copied(values, count),
        .sigma = fmax(sigma, fmax(LEAST_SD, view->floor)),
        .rho = autocorrelation(values, count),
    };
    const double se = sqrt(changes[change].variance + MEDIAN_VARIANCE / (double)found->baseline.count);
    found->shift = distance(points->value + end, k, found->baseline.median);
    found->z = found->shift / (found->baseline.sigma * correlated(found->baseline.rho, k) * se);
    return fabs(found->z) > options->threshold && fabs(found->shift) > log1p(options->delta) &&
           stays(points->value + end, k, found->baseline.median, found->shift);
}

/* This run's finding, or the one of the largest |Z| among those that have stayed for some runs. True for a candidate.
 */
static bool search(struct finding *found, const struct gate_points *points, const struct gate_view *view, double s0,
                   const struct gate_options *options)
{
    bool candidate = stands(found, points, 0, view, s0, options);
    for (size_t a = 1; a < sizeof(changes) / sizeof(changes[0]); a++) {
        struct finding one;
        if (points->count < changes[a].runs + GATE_LEAST_BASELINE)
            break;
        if (!stands(&one, points, a, view, s0, options))
            continue;
        candidate = true;
        if (found->k == 1 || fabs(one.z) > fabs(found->z))
            *found = one;
    }
    return candidate;
}

/* Do the trials that were measured again show the same by themselves? Occasional interference affects them too, but
 * seldom all: without asking the fastest one, up to 6 runs in 100 were red for nothing (simulated). */
static bool stands_again(const struct finding *found, const struct gate_points *points, const struct gate_view *view,
                         double s0, const struct gate_options *options)
{
    struct gate_points again = *points;
    struct finding one;
    again.value[points->count - 1] = view->again;
    if (isnan(view->again) || !stands(&one, &again, 0, view, s0, options) || one.shift * found->shift <= 0)
        return false;
    return isnan(view->again_least) || (view->again_least - one.baseline.median) / one.shift >= SHOWN;
}

static double deviations(const double *values, size_t count, double median)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += fabs(values[k] - median);
    return sum;
}

/* The k are few, the change may lie between them: of the splits that leave two values or more, and no more than a few
 * more than the longest k, the one with the least absolute deviations from two medians. */
static size_t split_of(const struct gate_points *points, const struct finding *found)
{
    const size_t n = points->count, farthest = GATE_LONGEST + 3;
    size_t best = n - found->k;
    if (found->k == 1)
        return best;
    double least = INFINITY;
    for (size_t at = n > farthest + GATE_LEAST_BASELINE ? n - farthest : GATE_LEAST_BASELINE; at + 2 <= n; at++) {
        const double before = median_copied(points->value, at), after = median_copied(points->value + at, n - at);
        const double cost = deviations(points->value, at, before) + deviations(points->value + at, n - at, after);
        if ((after - before) * found->shift <= 0 || cost >= least)
            continue;
        least = cost;
        best = at;
    }
    return best;
}

static void raise_confirmed(struct gate_verdict *out, const struct gate_points *points, const struct finding *found)
{
    const size_t split = split_of(points, found);
    const double after = median_copied(points->value + split, points->count - split);
    const double before = median_copied(points->value, split);
    out->state = GATE_CONFIRMED;
    out->tau = points->run[split];
    out->shift = expm1(after - before);
    out->baseline_ns = exp(before);
    out->baseline_n = (uint32_t)split;
    out->segment = (struct gate_segment){out->tau, out->sigma};
}

void gate_judge(struct gate_verdict *out, const struct gate_view *view, double s0, const struct gate_options *options)
{
    struct gate_points points;
    struct finding found;
    *out = (struct gate_verdict){
        .state = GATE_MISSING,
        .segment = view->segment,
        .z = NAN,
        .sigma = NAN,
        .baseline_ns = NAN,
        .shift = NAN,
        .mde_run = NAN,
        .mde_week = NAN,
    };
    if (isnan(view->values[view->this_run]))
        return;
    gate_points_of(&points, view);
    out->state = GATE_LEARNING;
    out->baseline_n = (uint32_t)(points.count - 1);
    if (points.count <= GATE_LEAST_BASELINE)
        return;
    const bool candidate = search(&found, &points, view, s0, options);
    out->state = candidate ? GATE_TENTATIVE : GATE_QUIET;
    out->slower = found.shift > 0;
    out->tau = points.run[points.count - found.k];
    out->k = (uint32_t)found.k;
    out->shift = expm1(found.shift);
    out->z = found.z;
    out->baseline_ns = exp(found.baseline.median);
    out->baseline_n = (uint32_t)found.baseline.count;
    out->sigma = found.baseline.sigma;
    out->mde_run = gate_mde(out->sigma, 1, options->delta);
    out->mde_week = gate_mde(out->sigma, GATE_LONGEST, options->delta);
    out->too_noisy = out->mde_week > GATE_TOO_NOISY;
    if (candidate && (found.k > 1 || stands_again(&found, &points, view, s0, options)))
        raise_confirmed(out, &points, &found);
}

double gate_mde(double sigma, unsigned runs, double delta)
{
    const double s = fmax(sigma, LEAST_SD), least = log1p(delta);
    return expm1(runs < GATE_LONGEST ? fmax(6.5 * s, least + 1.3 * s) : fmax(3.3 * s, least + 0.7 * s));
}
