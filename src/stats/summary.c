/* SPDX-License-Identifier: MIT */
#include "rooftile/summary.h"

#include <math.h>
#include <string.h>

#include "stats_internal.h"

/* Type 7 of Hyndman and Fan 1996: linear interpolation of order statistics. */
static double quantile(const double *sorted, size_t count, double share)
{
    if (!count)
        return NAN;
    const double at = share * (double)(count - 1);
    const size_t below = (size_t)at;
    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

static void add_moments(struct summary *summary, const double *samples, size_t count)
{
    double sum = 0, squares = 0, products = 0;
    for (size_t k = 0; k < count; k++)
        sum += samples[k];
    summary->mean = count ? sum / (double)count : NAN;
    for (size_t k = 0; k < count; k++) {
        const double deviation = samples[k] - summary->mean;
        squares += deviation * deviation;
        if (k + 1 < count)
            products += deviation * (samples[k + 1] - summary->mean);
    }
    summary->sd = count > 1 ? sqrt(squares / (double)(count - 1)) : NAN;
    summary->lag1 = count > 2 && squares > 0 ? products / squares : NAN;
}

/* Fewer than two samples a quarter say nothing about a trend. */
static double drift(const double *samples, size_t count, double *scratch)
{
    const size_t quarter = count / 4;
    if (quarter < 2)
        return NAN;
    memcpy(scratch, samples, quarter * sizeof(*scratch));
    const double first = median_of(scratch, quarter);
    memcpy(scratch, samples + count - quarter, quarter * sizeof(*scratch));
    const double last = median_of(scratch, quarter);
    return first > 0 ? last / first - 1 : NAN;
}

static uint32_t modes(const double *sorted, size_t count)
{
    const size_t least = (count + 9) / 10;
    size_t split = 0;
    double gap = 0;
    if (count < 20)
        return 1;
    for (size_t k = least; k + least <= count; k++) {
        if (sorted[k] - sorted[k - 1] <= gap)
            continue;
        gap = sorted[k] - sorted[k - 1];
        split = k;
    }
    if (!split || gap < 0.01 * median_sorted(sorted, count))
        return 1;
    const double low = mad_sorted(sorted, split, median_sorted(sorted, split));
    const double high = mad_sorted(sorted + split, count - split, median_sorted(sorted + split, count - split));
    return gap > 6 * fmax(low, high) ? 2 : 1;
}

void summary_compute(struct summary *summary, const double *samples, size_t count, double *scratch)
{
    double *sorted = scratch, *spare = scratch + count;
    if (count)
        memcpy(sorted, samples, count * sizeof(*sorted));
    sort_values(sorted, count);
    *summary = (struct summary){.n = count, .median = median_sorted(sorted, count)};
    median_interval(summary->ci95, sorted, count);
    summary->min = quantile(sorted, count, 0);
    summary->p05 = quantile(sorted, count, 0.05);
    summary->q1 = quantile(sorted, count, 0.25);
    summary->q3 = quantile(sorted, count, 0.75);
    summary->p95 = quantile(sorted, count, 0.95);
    summary->max = quantile(sorted, count, 1);
    add_moments(summary, samples, count);
    summary->mad = count > 1 ? mad_sorted(sorted, count, summary->median) : NAN;
    summary->rel_noise = summary->median > 0 ? 1.4826 * summary->mad / summary->median : NAN;
    summary->drift = drift(samples, count, spare);
    summary->modes = modes(sorted, count);
}
