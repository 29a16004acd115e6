/* SPDX-License-Identifier: MIT
 *
 * Statistics of one case's samples, and the rule when to stop sampling.
 */

#include "values.h"

const char *const stop_reason_names[] = {
    [STOP_NONE] = "none",       [STOP_PRECISE] = "precise",         [STOP_STABLE] = "stable",
    [STOP_TIMEOUT] = "timeout", [STOP_MAX_SAMPLES] = "max_samples",
};

/* Fewer than two samples per quarter show no trend. */
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

/* Returns the median distance of sorted values from `centre`; `spare` has room for them. */
static double mad(const double *sorted, size_t count, double centre, double *spare)
{
    for (size_t k = 0; k < count; k++)
        spare[k] = fabs(sorted[k] - centre);
    return median_of(spare, count);
}

static uint32_t modes(const double *sorted, size_t count, double *spare)
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
    const double *upper = sorted + split;
    const double low = mad(sorted, split, median_sorted(sorted, split), spare),
                 high = mad(upper, count - split, median_sorted(upper, count - split), spare);
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
    summary->min = quantile_sorted(sorted, count, 0);
    summary->p05 = quantile_sorted(sorted, count, 0.05);
    summary->q1 = quantile_sorted(sorted, count, 0.25);
    summary->q3 = quantile_sorted(sorted, count, 0.75);
    summary->p95 = quantile_sorted(sorted, count, 0.95);
    summary->max = quantile_sorted(sorted, count, 1);
    const struct moments m = moments_of(samples, count);
    summary->mean = m.mean;
    summary->sd = count > 1 ? sqrt(m.squares / (double)(count - 1)) : NAN;
    summary->lag1 = count > 2 && m.squares > 0 ? m.products / m.squares : NAN;
    summary->mad = count > 1 ? mad(sorted, count, summary->median, spare) : NAN;
    summary->rel_noise = summary->median > 0 ? MAD_TO_SD * summary->mad / summary->median : NAN;
    summary->drift = drift(samples, count, spare);
    summary->modes = modes(sorted, count, spare);
}

/* ---- the stop rule ---- */

#define NOISE_WINDOW (sizeof(((struct stop_rule *)0)->noise) / sizeof(double))

void stop_init(struct stop_rule *rule, double *sorted, uint32_t capacity)
{
    rule->sorted = sorted;
    rule->capacity = capacity;
    rule->n = 0;
    rule->sum_ns = rule->mean = rule->m2 = 0;
    rule->noise_count = 0;
}

void stop_add(struct stop_rule *rule, double sample_ns, double busy_ns)
{
    rule->sum_ns += busy_ns;
    if (rule->n >= rule->capacity)
        return;
    insert_sorted(rule->sorted, rule->n++, sample_ns);
    /* Welford 1962 */
    const double before = sample_ns - rule->mean;
    rule->mean += before / rule->n;
    rule->m2 += before * (sample_ns - rule->mean);
    if (rule->n < 5 || rule->mean <= 0)
        return;
    rule->noise[rule->noise_count % NOISE_WINDOW] = sqrt(rule->m2 / (rule->n - 1)) / rule->mean;
    rule->noise_count++;
}

enum stop_reason stop_check(struct stop_rule *rule, double wall_ns)
{
    if (rule->n && rule->n >= rule->min_samples && rule->sum_ns >= rule->min_time_ns) {
        const double median = median_sorted(rule->sorted, rule->n);
        double interval[2];
        median_interval(interval, rule->sorted, rule->n);
        if (median > 0 && (interval[1] - interval[0]) / 2 <= rule->precision * median)
            return STOP_PRECISE;
        /* More samples would not reduce the noise: nvbench's stdrel criterion. */
        const size_t count = rule->noise_count < NOISE_WINDOW ? rule->noise_count : NOISE_WINDOW;
        if (count > 64 && rule->noise_count % 16 == 0 &&
            sd_of(rule->noise, count) < 0.05 * moments_of(rule->noise, count).mean)
            return STOP_STABLE;
    }
    if (rule->n >= rule->max_samples || rule->n >= rule->capacity)
        return STOP_MAX_SAMPLES;
    return wall_ns >= rule->max_time_ns ? STOP_TIMEOUT : STOP_NONE;
}
