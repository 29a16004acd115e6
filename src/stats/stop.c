/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "values.h"

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

static bool is_precise(const struct stop_rule *rule)
{
    double interval[2];
    const double median = median_sorted(rule->sorted, rule->n);
    median_interval(interval, rule->sorted, rule->n);
    return median > 0 && (interval[1] - interval[0]) / 2 <= rule->precision * median;
}

/* More samples of the same noise would not say more: nvbench's stdrel criterion. */
static bool is_stable(const struct stop_rule *rule)
{
    const size_t count = rule->noise_count < NOISE_WINDOW ? rule->noise_count : NOISE_WINDOW;
    if (count <= 64 || rule->noise_count % 16)
        return false;
    const struct moments m = moments_of(rule->noise, count);
    return sqrt(m.squares / (double)(count - 1)) < 0.05 * m.mean;
}

enum stop_reason stop_check(struct stop_rule *rule, double wall_ns)
{
    if (rule->n && rule->n >= rule->min_samples && rule->sum_ns >= rule->min_time_ns) {
        if (is_precise(rule))
            return STOP_PRECISE;
        if (is_stable(rule))
            return STOP_STABLE;
    }
    if (rule->n >= rule->max_samples || rule->n >= rule->capacity)
        return STOP_MAX_SAMPLES;
    return wall_ns >= rule->max_time_ns ? STOP_TIMEOUT : STOP_NONE;
}
